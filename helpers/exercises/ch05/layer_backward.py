"""Exercise 5.9, The backward pass of a layer."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.questions import NOT_THE_LARGEST, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "5.9",
    "The backward pass of a layer",
    stars=3,
    stub='''\
def layer_backward(X, parameters, dY):
    """The gradients of a loss through a whole transformer layer, LayerNorm after the additions.

    X: D × N, one token in each column.
    parameters: a dict. Attention has one head with D_q = D_v = D, scaled by √D: "Omega_q",
    "Omega_k", "Omega_v", "Omega_c", D × D, and "beta_q", "beta_k", "beta_v", "beta_c", D × 1.
    The MLP, with a ReLU: "Omega_1", D_mlp × D, "beta_1", D_mlp × 1, "Omega_2", D × D_mlp, and
    "beta_2", D × 1. The two LayerNorms, with epsilon 1e-5: "norm_1_weight", "norm_1_bias",
    "norm_2_weight" and "norm_2_bias", D × 1.
    dY: D × N, the gradient of the loss with respect to the layer's output.
    Returns a dict with the gradients with respect to "X" and to each of the parameters, each of
    the shape of what it belongs to. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Compute the layer once more and keep every matrix on the way: Q, K, V, A, the sum after "
        "attention, that sum normalized, the hidden units, the second sum. Then walk back from dY, "
        "one step at a time, and check each step by small changes of an input before you go on.",
        "Two steps occur again and again, so write a function for each. A linear map Z = beta 1ᵀ + "
        "Omega X: its three gradients are products and sums that exercise 2.8 has used. And a "
        "LayerNorm, twice.",
        "LayerNorm: with x̂ for a normalized token before weight and bias, and g for the gradient "
        "times the weight, the token's gradient is (g − mean of g − x̂ · mean of g x̂) divided by "
        "the root of (variance + epsilon). The means run over the D entries of the token.",
        "Where X goes two ways, into a sublayer and past it, the gradients of both ways are added. "
        "The ReLU lets a gradient through where its hidden unit was above 0; and the division by "
        "√D stands between dS and both dQ and dK.",
    ),
    notice="Each addition copies the gradient: one copy goes through the sublayer, one past it. "
    "But with LayerNorm after the addition, both have come through a LayerNorm before, which "
    "divided them by the token's spread: twice in every layer of a deep stack.",
)


@exercise.solution
def layer_backward(X, parameters, dY):
    p, gradients = parameters, {}

    def linear(name, X):
        return p[f"beta_{name}"] + p[f"Omega_{name}"] @ X

    def linear_backward(name, X, dZ):
        gradients[f"Omega_{name}"] = dZ @ X.T
        gradients[f"beta_{name}"] = dZ.sum(axis=1, keepdims=True)
        return p[f"Omega_{name}"].T @ dZ

    def normalize(X):  # before weight and bias
        spread = np.sqrt(X.var(axis=0) + 1e-5)
        return (X - X.mean(axis=0)) / spread, spread

    def norm_backward(name, normalized, spread, dZ):
        gradients[f"{name}_weight"] = (dZ * normalized).sum(axis=1, keepdims=True)
        gradients[f"{name}_bias"] = dZ.sum(axis=1, keepdims=True)
        g = p[f"{name}_weight"] * dZ
        return (g - g.mean(axis=0) - normalized * (g * normalized).mean(axis=0)) / spread

    # Forward, once more
    Q, K, V = (linear(name, X) for name in "qkv")
    scores = K.T @ Q / np.sqrt(len(X))
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    normalized_1, spread_1 = normalize(X + linear("c", V @ A))
    between = p["norm_1_weight"] * normalized_1 + p["norm_1_bias"]
    hidden = np.maximum(0, linear("1", between))
    normalized_2, spread_2 = normalize(between + linear("2", hidden))
    # Backward: the MLP's half, where the gradient of the sum goes two ways …
    dsum = norm_backward("norm_2", normalized_2, spread_2, dY)
    dhidden = linear_backward("2", hidden, dsum) * (hidden > 0)
    dbetween = dsum + linear_backward("1", between, dhidden)
    # … then attention's half, likewise
    dsum = norm_backward("norm_1", normalized_1, spread_1, dbetween)
    dattended = linear_backward("c", V @ A, dsum)
    dV, dA = dattended @ A.T, V.T @ dattended
    dS = A * (dA - (A * dA).sum(axis=0)) / np.sqrt(len(X))
    gradients["X"] = dsum
    for name, dZ in ("q", K @ dS), ("k", Q @ dS.T), ("v", dV):
        gradients["X"] = gradients["X"] + linear_backward(name, X, dZ)
    return gradients


def layer(X, p):
    """The layer's output, D × N, for real or complex numbers."""

    def norm(X, weight, bias):
        centered = X - X.mean(axis=0)
        return weight * centered / np.sqrt((centered**2).mean(axis=0) + 1e-5) + bias

    Q, K, V = (p[f"beta_{name}"] + p[f"Omega_{name}"] @ X for name in "qkv")
    scores = K.T @ Q / np.sqrt(len(X))
    exponentials = np.exp(scores - scores.real.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    X = norm(X + p["beta_c"] + p["Omega_c"] @ V @ A, p["norm_1_weight"], p["norm_1_bias"])
    Z = p["beta_1"] + p["Omega_1"] @ X
    mlp = p["beta_2"] + p["Omega_2"] @ (Z * (Z.real > 0))
    return norm(X + mlp, p["norm_2_weight"], p["norm_2_bias"])


@exercise.right
def by_imaginary_steps(X, parameters, dY):
    inputs = {"X": X} | parameters
    gradients = {name: np.zeros(matrix.shape) for name, matrix in inputs.items()}
    for name, matrix in inputs.items():
        for place in np.ndindex(matrix.shape):
            step = np.zeros(matrix.shape, dtype=complex)
            step[place] = 1e-30j  # f(x + ih) = f(x) + ih f'(x): nothing is subtracted
            moved = inputs | {name: matrix + step}
            change = layer(moved.pop("X"), moved).imag / 1e-30
            gradients[name][place] = (change * dY).sum()
    return gradients


@exercise.right
def by_differences(X, parameters, dY):
    inputs = {"X": X} | parameters
    gradients = {name: np.zeros(matrix.shape) for name, matrix in inputs.items()}
    for name, matrix in inputs.items():
        for place in np.ndindex(matrix.shape):
            step = np.zeros(matrix.shape)
            step[place] = 1e-5
            ahead, behind = inputs | {name: matrix + step}, inputs | {name: matrix - step}
            change = layer(ahead.pop("X"), ahead) - layer(behind.pop("X"), behind)
            gradients[name][place] = (change * dY).sum() / 2e-5
    return gradients


def backward(X, p, dY, slip=""):
    """The same by Jacobians, token by token; with the mistake that slip names."""
    D, N = X.shape
    root = 1 if slip == "unscaled layer" else np.sqrt(D)
    gradients = {}

    def linear(name, X):
        return p[f"beta_{name}"] + p[f"Omega_{name}"] @ X

    def normalize(X):
        spread = np.sqrt(X.var(axis=0) + 1e-5)
        return (X - X.mean(axis=0)) / spread, spread

    def through_norm(number, normalized, spread, dZ):
        gradients[f"norm_{number}_weight"] = add_up(dZ * normalized)
        gradients[f"norm_{number}_bias"] = add_up(dZ)
        if slip != "without weight":
            dZ = dZ * p[f"norm_{number}_weight"]
        columns = []
        for x, width, g in zip(normalized.T, spread, dZ.T, strict=True):
            jacobian = np.eye(D)
            if slip not in ("no means", "no first mean"):
                jacobian -= 1 / D
            if slip not in ("no means", "no second mean"):
                jacobian -= np.outer(x, x) / D
            columns.append(jacobian @ g / (1 if slip == "without spread" else width))
        return np.stack(columns, axis=1)

    def through_linear(name, X, dZ):
        gradients[f"Omega_{name}"] = sum(np.outer(dZ[:, n], X[:, n]) for n in range(N))
        gradients[f"beta_{name}"] = add_up(dZ)
        return p[f"Omega_{name}"].T @ dZ

    def add_up(dZ):
        if slip == "not added up":
            return dZ
        return dZ.sum(axis=1, keepdims=True) / (N if slip == "mean" else 1)

    Q, K, V = (linear(name, X) for name in "qkv")
    A = softmax_columns(K.T @ Q / root)
    normalized_1, spread_1 = normalize(X + linear("c", V @ A))
    between = p["norm_1_weight"] * normalized_1 + p["norm_1_bias"]
    Z = linear("1", between)
    hidden = np.maximum(0, Z)
    normalized_2, spread_2 = normalize(between + linear("2", hidden))

    dsum = through_norm(2, normalized_2, spread_2, dY)
    dhidden = through_linear("2", hidden, dsum)
    gate = {"no gate": 1.0, "gate of gradient": dhidden > 0, "gated units": hidden}
    dhidden = dhidden * gate.get(slip, Z > 0)
    past = 0 if slip == "no second residual" else dsum
    dsum = through_norm(1, normalized_1, spread_1, past + through_linear("1", between, dhidden))
    dattended = through_linear("c", V @ A, dsum)
    if slip == "without Omega_c":
        dattended = dsum
    dA = V.T @ dattended
    if slip == "softmax as product":
        dS = A * dA
    elif slip == "softmax by diagonal":
        dS = A * (1 - A) * dA
    else:
        dS = np.stack(
            [(np.diag(a) - np.outer(a, a)) @ da for a, da in zip(A.T, dA.T, strict=True)], axis=1
        )
    dS = dS / (1 if slip == "unscaled" else root)
    dQ, dK = K @ dS, Q @ dS.T
    if slip == "exchanged":
        dQ, dK = dK, dQ
    if slip == "turned":
        dQ, dK = K @ dS.T, Q @ dS
    dV = dattended @ (A if slip == "values turned" else A.T)
    ways = [through_linear(name, X, dZ) for name, dZ in (("q", dQ), ("k", dK), ("v", dV))]
    if slip == "values alone":
        ways = ways[2:]
    gradients["X"] = sum(ways) + (0 if slip == "no first residual" else dsum)
    if slip == "transposed":
        gradients |= {name: gradients[name].T for name in gradients if name[0] == "O"}
    if slip == "negative":
        gradients = {name: -gradient for name, gradient in gradients.items()}
    return gradients


@exercise.right
def by_jacobians(X, parameters, dY):
    return backward(X, parameters, dY)


MISTAKES = {
    "negative": "It has the wrong sign: is it the gradient, or already the step downhill?",
    "unscaled layer": "Already your layer itself differs: is KᵀQ divided by √D before the softmax?",
    "not added up": "It has a column for each token, and this parameter was used for all of them: "
    "what becomes of the N gradients?",
    "mean": "Yours is a mean over the tokens, and this parameter was used for each of them: do "
    "their gradients add up?",
    "transposed": "It stands transposed: for Z = Omega X, which of dZ Xᵀ and X dZᵀ has the shape "
    "of Omega?",
    "no means": "The gradient passed LayerNorm as if mean and variance were fixed numbers: how do "
    "they change when one entry of the token does?",
    "no first mean": "In LayerNorm's backward step a term is missing: every entry also moves the "
    "token's mean. What has to be subtracted for that?",
    "no second mean": "In LayerNorm's backward step a term is missing: every entry also moves the "
    "token's variance. What has to be subtracted for that?",
    "without spread": "LayerNorm divides by the root of (variance + epsilon): what happens to a "
    "gradient on the way back through a division?",
    "without weight": "On the way back through LayerNorm, what happened to its weight? It "
    "multiplied the normalized token.",
    "no gate": "The gradient passed the ReLU everywhere: what does a hidden unit do that was below "
    "0 before the ReLU?",
    "gate of gradient": "Your ReLU lets positive gradients through: is it the sign of the gradient "
    "that decides, or that of the hidden unit?",
    "gated units": "Your gradient was multiplied by the hidden units themselves: what is the slope "
    "of ReLU where its input is above 0?",
    "no second residual": "The gradient came back through the MLP alone: which other way did the "
    "normalized token take to the second sum?",
    "without Omega_c": "On the way back from the first sum to V A, through which matrix does the "
    "gradient pass?",
    "softmax as product": "A ∘ dA lacks a term on the way back through the softmax: a column of A "
    "sums to one, so can one weight change alone?",
    "softmax by diagonal": "A ∘ (1 − A) is the diagonal of the softmax's Jacobian: how does a "
    "weight depend on the other scores of its column?",
    "unscaled": "The scores were divided by √D: what happens to their gradient on the way back?",
    "exchanged": "The gradients of queries and keys are exchanged: in S = KᵀQ/√D, which factor "
    "multiplies dS to give dQ?",
    "turned": "dS stands transposed in your dQ and dK: which index of dS counts the queries, the "
    "row or the column?",
    "values turned": "Which outputs did value m go to, those of row m of A, or of column m?",
    "values alone": "X reaches the sum through queries, keys, values and past attention: are "
    "queries and keys part of your sum?",
    "no first residual": "The gradient came back through attention alone: which other way did X "
    "take to the first sum?",
}


def with_slip(slip):
    """The backward pass with one mistake."""
    return lambda X, parameters, dY: backward(X, parameters, dY, slip)


for slip, question in MISTAKES.items():
    exercise.wrong(question)(with_slip(slip))


@exercise.wrong("the key 'Omega_c' is missing")
def without_combining(*inputs):
    gradients = layer_backward(*inputs)
    del gradients["Omega_c"]
    return gradients


@exercise.wrong("is the normalized token before weight and bias a factor")
def weight_as_bias(*inputs):
    gradients = layer_backward(*inputs)
    return gradients | {"norm_1_weight": gradients["norm_1_bias"]}


# In the order in which the gradient reaches them; what to ask where no known mistake fits
ORDER = {
    "norm_2_bias": "the output is weight · (normalized token) + bias; is dY added up over tokens?",
    "norm_2_weight": "is the normalized token before weight and bias a factor, and does your layer "
    "come to the same output?",
    "beta_2": "which gradient leaves the second LayerNorm?",
    "Omega_2": "are the hidden units, after the ReLU, its other factor?",
    "beta_1": "how does the gradient pass the ReLU?",
    "Omega_1": "is what the first LayerNorm returns its other factor?",
    "norm_1_bias": "which ways lead from the first LayerNorm to the output, through the MLP and "
    "past it?",
    "norm_1_weight": "is the normalized token before weight and bias a factor?",
    "beta_c": "which gradient leaves the first LayerNorm?",
    "Omega_c": "are the head's outputs, V A, its other factor?",
    "beta_v": "how does a gradient pass from V A to V?",
    "Omega_v": "is X its other factor?",
    "Omega_q": "how does the gradient pass from A to the scores, and from these to the queries?",
    "beta_q": "how does the gradient pass from A to the scores, and from these to the queries?",
    "Omega_k": "how does the gradient pass from the scores to the keys?",
    "beta_k": "can one number, added to all scores of a query, change its softmax?",
    "X": "in how many ways does X reach the first sum?",
}


@exercise.check
def check(answer):
    rng = np.random.default_rng(59)
    # The last sizes come twice: nothing may be kept from the call before.
    for D, D_mlp, N in (3, 5, 4), (4, 16, 6), (3, 3, 3), (2, 8, 1), (1, 4, 3), (5, 2, 9), (5, 2, 9):
        inputs = random_inputs(rng, D, D_mlp, N)
        check_gradients(unchanged(answer, *inputs), inputs)
    X, parameters, dY = random_inputs(rng, 4, 5, 7)
    for name in "Omega_q", "Omega_k":
        parameters[name] *= 13  # scores from −800 to 1700
    got, expected = unchanged(answer, X, parameters, dY), layer_backward(X, parameters, dY)
    for name in ORDER:
        what = f"the gradient of {name} for scores that are not small"
        survives(got[name], expected[name], what, NOT_THE_LARGEST)


def random_inputs(rng, D, D_mlp, N):
    """X, the dict of parameters, and dY."""
    sizes = {f"Omega_{name}": (D, D) for name in "qkvc"}
    sizes |= {f"beta_{name}": (D, 1) for name in "qkvc2"}
    sizes |= {"Omega_1": (D_mlp, D), "beta_1": (D_mlp, 1), "Omega_2": (D, D_mlp)}
    for norm in "norm_1", "norm_2":
        sizes |= {f"{norm}_weight": (D, 1), f"{norm}_bias": (D, 1)}
    parameters = {name: rng.normal(size=size) for name, size in sizes.items()}
    return rng.normal(size=(D, N)), parameters, rng.normal(size=(D, N))


def check_gradients(got, inputs):
    """From the output to X, so that the first fault found is the first made."""
    expected = layer_backward(*inputs)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the gradients")  # says what is missing
    for name, question in ORDER.items():
        if matches(got[name], expected[name]):
            continue
        for slip, asks in MISTAKES.items():
            if matches(got[name], backward(*inputs, slip)[name]):
                raise Wrong(f"The gradient of {name}: {asks}", expected[name], got[name])
        same(got[name], expected[name], f"the gradient of {name}", far=question)


exercise.equivalent("p is parameters", "layer_backward: * → *parameters[*")
exercise.equivalent(
    "what is overwritten is the layer's own, and is not needed again",
    "layer_backward: * → return (in_place('sub', X, X.mean(axis=0)) / spread, spread)",
    "layer_backward: * → *in_place('mul', normalized, *",
)
exercise.equivalent("all these matrices have D rows", "layer_backward: * → * / np.sqrt(len(*))")
exercise.equivalent(
    "of two numbers the larger, whichever comes first",
    "layer_backward: * → hidden = np.maximum(linear('1', between), 0)",
)
exercise.equivalent(
    "gradients are added in any order",
    "layer_backward: * → for name, dZ in (('k', Q @ dS.T), ('q', K @ dS), ('v', dV)):",
)
exercise.equivalent(
    "every entry is written once",
    "by_*: * → gradients = {name: np.ones(*",
    "by_*: * → step[place] += *",
    "by_*: * → gradients[name][place] += *",
)
