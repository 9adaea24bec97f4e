"""Exercise 2.8, The backward pass by hand."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, recognize, survives
from helpers.exercises.shared.reference import project, random_parameters, softmax_columns

exercise = Exercise(
    "2.8",
    "The backward pass by hand",
    stars=3,
    stub='''\
def self_attention_backward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    """The gradients of a loss through Y = V · Softmax[KᵀQ] (without scaling).

    X: D × N, one token in each column.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    dY: D_v × N, the gradient of the loss with respect to the outputs. Scores may be ±1000.
    Returns a dict with the gradients with respect to "X", "Omega_q", "beta_q", "Omega_k",
    "beta_k", "Omega_v" and "beta_v", each of the shape of what it belongs to.
    """
    return ...  # your code here
''',
    hints=(
        "Compute Q, K, V, the scores S and A once more, then walk back: from dY to dV and dA, "
        "from dA to dS, from dS to dQ and dK, and from these to the parameters and X. For which "
        "products in a row is C = A B, with dA = dC Bᵀ and dB = Aᵀ dC?",
        "Y = V A is such a product, and so are S = Kᵀ Q and Q = beta 1ᵀ + Omega X. For a bias: "
        "it was added to every column, so what happens to the columns of dQ?",
        "The softmax: each weight depends on every score of its column. With s for the scores "
        "and a for the weights of a column, da_m / ds_j is a_m (1 − a_m) for m = j and −a_m a_j "
        "otherwise.",
        "So dS = A ∘ (dA − c), where c is one number for each column: the sum over A ∘ dA. "
        "X is used three times, and its gradient is a sum of three terms.",
    ),
    notice="Every column of dS sums to zero, because a shift of all scores changes nothing; so "
    "the gradient of beta_k is exactly zero: the key's bias cannot be learned, and has no effect.",
)


@exercise.solution
def self_attention_backward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    # Forward, once more
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    scores = K.T @ Q
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    # Backward: Y = V A, then the softmax, then S = KᵀQ
    dV, dA = dY @ A.T, V.T @ dY
    dS = A * (dA - (A * dA).sum(axis=0))
    dQ, dK = K @ dS, Q @ dS.T
    return {
        "X": Omega_q.T @ dQ + Omega_k.T @ dK + Omega_v.T @ dV,
        "Omega_q": dQ @ X.T,
        "beta_q": dQ.sum(axis=1, keepdims=True),
        "Omega_k": dK @ X.T,
        "beta_k": dK.sum(axis=1, keepdims=True),
        "Omega_v": dV @ X.T,
        "beta_v": dV.sum(axis=1, keepdims=True),
    }


@exercise.right
def by_jacobians(*inputs):
    *inputs, dY = inputs
    Q, K, V, A = forward(*inputs)
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for n in range(A.shape[1]):
        a = A[:, n]
        ds = (np.diag(a) - np.outer(a, a)) @ (V.T @ dY[:, n])
        dQ[:, n] = K @ ds
        dK += np.outer(Q[:, n], ds)
        dV += np.outer(dY[:, n], a)
    return gather(inputs, dQ, dK, dV)


def forward(*inputs):
    """Q, K, V and A."""
    Q, K, V = project(*inputs)
    return Q, K, V, softmax_columns(K.T @ Q)


def gather(inputs, dQ, dK, dV):
    """The dict of gradients, from those of the queries, keys and values."""
    X, Omega_q, _, Omega_k, _, Omega_v, _ = inputs
    gradients = {"X": Omega_q.T @ dQ + Omega_k.T @ dK + Omega_v.T @ dV}
    for letter, gradient in ("q", dQ), ("k", dK), ("v", dV):
        gradients[f"Omega_{letter}"] = np.einsum("rn,cn->rc", gradient, X)
        gradients[f"beta_{letter}"] = gradient.sum(axis=1, keepdims=True)
    return gradients


def softmax_rule(A, dA):
    """dS, the gradient of the scores."""
    return A * (dA - (A * dA).sum(axis=0))


def backward_with(rule):
    """The backward pass with another rule(A, dA) for the softmax."""

    def backward(*inputs):
        *inputs, dY = inputs
        Q, K, V, A = forward(*inputs)
        dS = rule(A, V.T @ dY)
        return gather(inputs, K @ dS, Q @ dS.T, dY @ A.T)

    return backward


# dS in place of A ∘ (dA − c), and the question it gets
SOFTMAX_MISTAKES = {
    "A ∘ dA lacks a term. A column of A sums to one, so can the weight of a single token change "
    "with its score?": backward_with(lambda A, dA: A * dA),
    "A ∘ (1 − A) is the diagonal of the softmax's Jacobian; how does one weight depend on the "
    "other scores?": backward_with(lambda A, dA: A * (1 - A) * dA),
    "dA went on as if it were dS: what stands between the scores and the weights?": (
        backward_with(lambda A, dA: dA)
    ),
    "Aᵀ dA compares every column of A with every column of dA: with which column of dA does the "
    "softmax of one query deal?": backward_with(lambda A, dA: A * (dA - A.T @ dA)),
    "dS = Aᵀ dA is the rule for a matrix product, and the softmax is none: how does a weight "
    "depend on the scores of its column?": backward_with(lambda A, dA: A.T @ dA),
}


for question, mistaken in SOFTMAX_MISTAKES.items():
    exercise.wrong(question)(mistaken)


def turned(*inputs):
    """The backward pass with dS transposed in dQ and in dK."""
    *inputs, dY = inputs
    Q, K, V, A = forward(*inputs)
    dS = softmax_rule(A, V.T @ dY)
    return gather(inputs, K @ dS.T, Q @ dS, dY @ A.T)


@exercise.wrong("dQ sums over the keys")
def query_turned(*inputs):
    return self_attention_backward(*inputs) | {"Omega_q": turned(*inputs)["Omega_q"]}


@exercise.wrong("dK sums over the queries")
def key_turned(*inputs):
    return self_attention_backward(*inputs) | {"Omega_k": turned(*inputs)["Omega_k"]}


@exercise.wrong("counts the values alone")
def by_values(*inputs):
    return self_attention_backward(*inputs) | {"X": paths(*inputs)["values"]}


def paths(*inputs):
    """The parts of the gradient of X: through the queries, the keys and the values."""
    *inputs, dY = inputs
    _, Omega_q, _, Omega_k, _, Omega_v, _ = inputs
    Q, K, V, A = forward(*inputs)
    dS = softmax_rule(A, V.T @ dY)
    return {
        "queries": Omega_q.T @ K @ dS,
        "keys": Omega_k.T @ Q @ dS.T,
        "values": Omega_v.T @ dY @ A.T,
    }


@exercise.wrong("leaves out the keys")
def without_keys(*inputs):
    right = self_attention_backward(*inputs)
    return right | {"X": right["X"] - paths(*inputs)["keys"]}


@exercise.wrong("gradients of queries and keys are exchanged")
def exchanged(*inputs):
    right = self_attention_backward(*inputs)
    swapped = {"Omega_q": "Omega_k", "beta_q": "beta_k", "Omega_k": "Omega_q", "beta_k": "beta_q"}
    return right | {name: right[other] for name, other in swapped.items()}


@exercise.wrong("a mean over the tokens")
def averaged(X, *others):
    right = self_attention_backward(X, *others)
    return right | {name: right[name] / X.shape[1] for name in ("beta_q", "beta_k", "beta_v")}


@exercise.wrong("which outputs did value m go to")
def untransposed(*inputs):
    *inputs, dY = inputs
    Q, K, V, A = forward(*inputs)
    dS = softmax_rule(A, V.T @ dY)
    return gather(inputs, K @ dS, Q @ dS.T, dY @ A)


@exercise.wrong("the largest of them, or something else")
def less_the_mean(*inputs):
    *inputs, dY = inputs
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q - (K.T @ Q).mean(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    dS = softmax_rule(A, V.T @ dY)
    return gather(inputs, K @ dS, Q @ dS.T, dY @ A.T)


@exercise.wrong("very exponential was 0")
def one_maximum(*inputs):
    *inputs, dY = inputs
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max())
    A = exponentials / exponentials.sum(axis=0)
    dS = softmax_rule(A, V.T @ dY)
    return gather(inputs, K @ dS, Q @ dS.T, dY @ A.T)


exercise.equivalent(
    "the same number added to every score of a query, or to every entry of a column of dA, changes "
    "nothing",
    "self_attention_backward: * → Q, K, V = (beta_q + Omega_q @ X, *Omega_k @ X, *Omega_v @ X)",
)
exercise.equivalent(
    "the gradient of beta_k is zero, and a sum or a mean of zeros is, too",
    "self_attention_backward: return * → *'beta_k': dK.mean(axis=1, keepdims=True)*",
)
exercise.equivalent(
    "the weights of each output sum to one, so that its gradient reaches beta_v as it is",
    "self_attention_backward: return * → *'beta_v': dY.sum(axis=1, keepdims=True)*",
)
exercise.equivalent(
    "of the same size",
    "by_jacobians: dQ, dK, dV = * → *(np.zeros(*.shape), np.zeros(*.shape), np.zeros(*.shape))",
    "by_jacobians: for * → for n in range(*.shape[*]):",
)
exercise.equivalent(
    "every column of dQ is set once",
    "by_jacobians: dQ, dK, dV = * → *(np.ones(Q.shape), np.zeros(K.shape), np.zeros(V.shape))",
    "by_jacobians: dQ[:, n] = K @ ds → dQ[:, n] += K @ ds",
)
exercise.equivalent(
    "the Jacobian of a softmax is symmetric",
    "by_jacobians: ds = * → ds = V.T @ dY[:, n] @ (np.diag(a) - np.outer(a, a))",
)


@exercise.check
def check(answer):
    rng = np.random.default_rng(28)
    sizes = (3, 2, 4, 5), (4, 3, 2, 5), (2, 2, 2, 2), (1, 4, 3, 7), (2, 3, 2, 1)
    for D, D_q, D_v, N in 2 * sizes:
        X, parameters = rng.normal(size=(D, N)), random_parameters(rng, D, D_q, D_v)
        inputs = X, *parameters, rng.normal(size=(D_v, N))
        check_gradients(unchanged(answer, *inputs), inputs)
    first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
    none, dY = np.zeros((1, 1)), np.array([[2.0, -1.0, 0.5]])
    for keys, queries, scores, why in LARGE:
        X = np.array([keys, queries, [4.0, 8.0, 1.0]])
        inputs = X, second, none, first, none, third, none, dY
        got = unchanged(answer, *inputs)
        for name, expected in self_attention_backward(*inputs).items():
            what = f"the gradient of {name} for {scores}"
            # Terms of this size cancel: keys or queries, times X for a matrix that made them.
            size = 1e6 if name in ("Omega_q", "Omega_k") else 1e3
            survives(got[name], expected, what, why, size)


def check_gradients(got, inputs):
    """From the values to the scores to X, so that the first fault found is the first made."""
    expected = self_attention_backward(*inputs)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the gradients")  # says what is missing

    def compare(name, mistakes):
        recognize(got[name], expected[name], f"the gradient of {name}", mistakes)

    compare(
        "Omega_v",
        {
            "The gradient of Omega_v: which outputs did value m go to, those of row m of A, or of "
            "column m?": untransposed(*inputs)["Omega_v"]
        },
    )
    for name, other, sums in (
        ("Omega_q", "Omega_k", "dQ sums over the keys"),
        ("Omega_k", "Omega_q", "dK sums over the queries"),
    ):
        mistakes = {
            "The gradients of queries and keys are exchanged: in S = KᵀQ, which factor multiplies "
            "dS to give dQ?": expected[other],
            f"The gradient of {name}: {sums}; which index of dS counts them, the row or the "
            "column?": turned(*inputs)[name],
        }
        for question, backward in SOFTMAX_MISTAKES.items():
            mistakes[f"The gradient of {name}: {question}"] = backward(*inputs)[name]
        compare(name, mistakes)
    N = inputs[0].shape[1]
    for name in "beta_v", "beta_q", "beta_k":
        mean = f"The gradient of {name} is a mean over the tokens: {name} was added to each of "
        compare(name, {mean + "them; do their gradients add up?": expected[name] / N})
    by_way = paths(*inputs)
    ways = "X reaches the outputs in three ways, and its gradient here "
    compare(
        "X",
        {f"{ways}counts the values alone: what about the queries and the keys?": by_way["values"]}
        | {
            f"{ways}leaves out the {name}: what about them?": expected["X"] - part
            for name, part in by_way.items()
        },
    )
