"""Exercise 9.2, Two ways back."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.cross_attention import (
    linear,
    random_cross_parameters,
    random_padding,
)
from helpers.exercises.shared.questions import NOT_THE_LARGEST, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "9.2",
    "Two ways back",
    stars=3,
    stub='''\
def read_source_backward(X_dec, X_enc, padding, parameters, dY):
    """The gradients of a loss through cross-attention with one head, scaled by √D_q.

    X_dec, X_enc, padding, parameters: as in exercise 9.1; X_dec is D × N_d, X_enc D_e × N_e, and
    padding says which tokens of the source no query may see, not all of them.
    dY: D_v × N_d, the gradient of the loss with respect to the outputs.
    Returns a dict with the gradients with respect to "X_dec", "X_enc", "Omega_q", "beta_q",
    "Omega_k", "beta_k", "Omega_v" and "beta_v", each of the shape of what it belongs to. Scores may
    be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Compute Q, K, V, the scores and A once more, with padding hidden. Then walk back: from dY "
        "to dV and dA, from dA to the gradient of the scores, and from there to dQ and dK. "
        "Exercise 2.8 has the same steps.",
        "The softmax: with a for the weights of a query and g for their gradient, that of its "
        "scores is a ∘ (g − the sum over a ∘ g). Where a weight is 0, so is this: padding needs no "
        "line of its own. And what does a division by √D_q do to a gradient?",
        "In how many ways does X_dec reach the outputs, and in how many does X_enc? Where a matrix "
        "was used for keys, its gradient is dK X_encᵀ: whose tokens made the queries?",
    ),
    notice="So a loss on the translation trains the encoder: its gradient comes through the keys "
    "and the values, from every word of the target at once, and in every layer of the decoder.",
)


@exercise.solution
def read_source_backward(X_dec, X_enc, padding, parameters, dY):
    p = parameters
    # Forward, once more
    Q = p["beta_q"] + p["Omega_q"] @ X_dec
    K, V = (p[f"beta_{role}"] + p[f"Omega_{role}"] @ X_enc for role in "kv")
    root = np.sqrt(len(Q))
    scores = np.where(padding[:, None], -np.inf, K.T @ Q / root)
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    # Backward: Y = V A, then the softmax, then S = KᵀQ / √D_q
    dV, dA = dY @ A.T, V.T @ dY
    dS = A * (dA - (A * dA).sum(axis=0)) / root
    dQ, dK = K @ dS, Q @ dS.T
    gradients = {"X_dec": p["Omega_q"].T @ dQ}
    gradients["X_enc"] = p["Omega_k"].T @ dK + p["Omega_v"].T @ dV
    for role, dZ, X in ("q", dQ, X_dec), ("k", dK, X_enc), ("v", dV, X_enc):
        gradients[f"Omega_{role}"] = dZ @ X.T
        gradients[f"beta_{role}"] = dZ.sum(axis=1, keepdims=True)
    return gradients


@exercise.right
def word_by_word(X_dec, X_enc, padding, parameters, dY):
    p = parameters
    seen = X_enc[:, ~padding]
    Q, K, V = (
        p[f"Omega_{role}"] @ X + p[f"beta_{role}"]
        for role, X in (("q", X_dec), ("k", seen), ("v", seen))
    )
    scale = len(p["beta_q"]) ** -0.5
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for n, q in enumerate(Q.T):
        a = softmax_columns(K.T @ q * scale)
        ds = (np.diag(a) - np.outer(a, a)) @ (V.T @ dY[:, n]) * scale
        dQ[:, n] = K @ ds
        dK += np.outer(q, ds)
        dV += np.outer(dY[:, n], a)
    dX_enc = np.zeros(X_enc.shape)
    dX_enc[:, ~padding] = p["Omega_k"].T @ dK + p["Omega_v"].T @ dV
    return {
        "X_dec": p["Omega_q"].T @ dQ,
        "X_enc": dX_enc,
        **{"Omega_q": dQ @ X_dec.T, "Omega_k": dK @ seen.T, "Omega_v": dV @ seen.T},
        **{f"beta_{r}": d.sum(axis=1)[:, None] for r, d in zip("qkv", (dQ, dK, dV), strict=True)},
    }


@exercise.right
def by_imaginary_steps(X_dec, X_enc, padding, parameters, dY):
    def outputs(X_dec, X_enc, **p):
        Q = p["beta_q"] + p["Omega_q"] @ X_dec
        K, V = (p[f"beta_{role}"] + p[f"Omega_{role}"] @ X_enc for role in "kv")
        scores = (K.T @ Q)[~padding] / len(Q) ** 0.5
        exponentials = np.exp(scores - scores.real.max(axis=0))
        return V[:, ~padding] @ (exponentials / exponentials.sum(axis=0))

    inputs = {"X_dec": X_dec, "X_enc": X_enc} | parameters
    gradients = {name: np.zeros(matrix.shape) for name, matrix in inputs.items()}
    for name, matrix in inputs.items():
        for place in np.ndindex(matrix.shape):
            step = np.zeros(matrix.shape, dtype=complex)
            step[place] = 1e-30j  # f(x + ih) = f(x) + ih f'(x): nothing is subtracted
            moved = outputs(**inputs | {name: matrix + step})
            gradients[name][place] = (moved.imag / 1e-30 * dY).sum()
    return gradients


def backward(X, E, padding, p, dY, slip=""):
    """The backward pass, with the mistake that slip names."""
    Q, K, V = (linear(role, of, p) for role, of in (("q", X), ("k", E), ("v", E)))
    root = 1 if slip == "unscaled layer" else np.sqrt(len(Q))
    hidden = np.zeros((len(padding), 1), bool) if slip == "padding read" else padding[:, None]
    A = softmax_columns(np.where(hidden, -np.inf, K.T @ Q / root))
    dA = V.T @ dY
    if slip == "softmax as product":
        dS = A * dA
    elif slip == "softmax by diagonal":
        dS = A * (1 - A) * dA
    elif slip == "no softmax":
        dS = dA
    elif slip == "sum over queries":
        dS = A * (dA - (A * dA).sum(axis=1, keepdims=True))
    else:
        dS = A * (dA - (A * dA).sum(axis=0))
    dS = dS * {"unscaled": 1, "scaled by D_q": 1 / len(Q), "multiplied": root}.get(slip, 1 / root)
    dQ, dK, dV = K @ dS, Q @ dS.T, dY @ A.T
    gradients = {"X_dec": p["Omega_q"].T @ dQ}
    ways = {"keys": p["Omega_k"].T @ dK, "values": p["Omega_v"].T @ dV}
    gradients["X_enc"] = sum(way for name, way in ways.items() if slip != f"without {name}")
    tokens = {"q": X, "k": E, "v": E}
    if slip == "tokens exchanged" and X.shape == E.shape:
        tokens = {"q": E, "k": X, "v": X}
    for role, dZ in ("q", dQ), ("k", dK), ("v", dV):
        gradients[f"Omega_{role}"] = dZ @ tokens[role].T
        gradients[f"beta_{role}"] = dZ.sum(axis=1, keepdims=True)
    if slip == "all added to X_dec" and X.shape == E.shape:
        gradients["X_dec"] = gradients["X_dec"] + gradients["X_enc"]
    if slip == "all added to X_enc" and X.shape == E.shape:
        gradients["X_enc"] = gradients["X_dec"] + gradients["X_enc"]
    if slip == "sources exchanged":
        gradients["X_dec"], gradients["X_enc"] = gradients["X_enc"], gradients["X_dec"]
    if slip == "exchanged":
        for name in "Omega", "beta":
            of_q, of_k = gradients[f"{name}_q"], gradients[f"{name}_k"]
            gradients[f"{name}_q"], gradients[f"{name}_k"] = of_k, of_q
    if slip == "turned" and dS.shape[0] == dS.shape[1]:
        gradients |= {"Omega_q": K @ dS.T @ X.T, "Omega_k": Q @ dS @ E.T}
        gradients["X_dec"] = p["Omega_q"].T @ K @ dS.T
    if slip == "values turned" and dS.shape[0] == dS.shape[1]:
        gradients["Omega_v"], gradients["beta_v"] = dY @ A @ E.T, (dY @ A).sum(1, keepdims=True)
    if slip == "values unrouted" and X.shape[1] == E.shape[1]:
        gradients["Omega_v"] = dY @ E.T
    if slip == "transposed":
        gradients |= {name: gradients[name].T for name in gradients if name[0] == "O"}
    if slip == "negative":
        gradients = {name: -gradient for name, gradient in gradients.items()}
    if slip == "mean":
        for role, of in tokens.items():
            gradients[f"beta_{role}"] = gradients[f"beta_{role}"] / of.shape[1]
    if slip == "not added up":
        gradients |= {"beta_q": dQ, "beta_k": dK, "beta_v": dV}
    if slip == "flat":
        gradients |= {f"beta_{role}": gradients[f"beta_{role}"][:, 0] for role in "qkv"}
    return gradients


@exercise.right
def by_parts(X_dec, X_enc, padding, parameters, dY):
    return backward(X_dec, X_enc, padding, parameters, dY)


MISTAKES = {
    "negative": "It has the wrong sign: is it the gradient, or already the step downhill?",
    "padding read": "Already your weights differ: padding has some. Is it hidden when A is "
    "computed once more?",
    "unscaled layer": "Already your weights differ: is KᵀQ divided by √D_q before the softmax?",
    "transposed": "It stands transposed: for Z = Omega X, which of dZ Xᵀ and X dZᵀ has the shape "
    "of Omega?",
    "not added up": "It has a column for each token, and a bias was added to all of them: what "
    "becomes of their gradients?",
    "flat": "It is flat, and the bias is a column: which shape has what it belongs to?",
    "mean": "Yours is a mean over the tokens, and the bias was added to each of them: do their "
    "gradients add up?",
    "values turned": "Which outputs did value m go to, those of row m of A, or of column m?",
    "values unrouted": "dY went on to the values as it is: through which matrix did they reach the "
    "outputs?",
    "tokens exchanged": "The tokens of source and target are exchanged: from which of them were "
    "queries made, and from which keys and values?",
    "exchanged": "The gradients of queries and keys are exchanged: in S = KᵀQ / √D_q, which factor "
    "multiplies dS to give dQ?",
    "turned": "dS stands transposed: which index of it counts the queries, the row or the column?",
    "softmax as product": "A ∘ dA lacks a term on the way back through the softmax: a column of A "
    "sums to one, so can one weight change alone?",
    "softmax by diagonal": "A ∘ (1 − A) is the diagonal of the softmax's Jacobian: how does a "
    "weight depend on the other scores of its column?",
    "no softmax": "dA went on as if it were that of the scores: what stands between scores and "
    "weights?",
    "sum over queries": "What is subtracted in the softmax's backward step is a sum over the "
    "queries: over what did the softmax of one query run?",
    "unscaled": "The scores were divided by √D_q: what happens to their gradient on the way back?",
    "scaled by D_q": "The gradient of the scores is divided by D_q: by what were the scores?",
    "multiplied": "The gradient of the scores is multiplied by √D_q: were the scores?",
    "sources exchanged": "Those of X_dec and X_enc are exchanged: which of them asked?",
    "all added to X_dec": "In self-attention all three ways lead to the same tokens: which of them "
    "leads to the target here?",
    "all added to X_enc": "In self-attention all three ways lead to the same tokens: which two of "
    "them lead to the source here?",
    "without keys": "X_enc reaches the outputs in two ways, and yours counts the values alone: "
    "what about the keys?",
    "without values": "X_enc reaches the outputs in two ways, and yours counts the keys alone: "
    "what about the values?",
}


def with_slip(slip):
    """The backward pass with one mistake."""
    return lambda *inputs: backward(*inputs, slip)


for slip, question in MISTAKES.items():
    exercise.wrong(question)(with_slip(slip))


@exercise.wrong("the key 'X_enc' is missing")
def without_source(*inputs):
    gradients = read_source_backward(*inputs)
    del gradients["X_enc"]
    return gradients


@exercise.wrong("expected a dict, got a tuple")
def as_tuple(*inputs):
    return tuple(read_source_backward(*inputs).values())


@exercise.wrong("padding was never read")
def padding_trained(X, E, padding, parameters, dY):
    """The gradient of the first word is written into the places of padding."""
    gradients = read_source_backward(X, E, padding, parameters, dY)
    first = gradients["X_enc"][:, [np.flatnonzero(~padding)[0]]]
    return gradients | {"X_enc": np.where(padding, first, gradients["X_enc"])}


@exercise.wrong("expected an array of")
def seen_alone(X, E, padding, parameters, dY):
    gradients = read_source_backward(X, E, padding, parameters, dY)
    return gradients | {"X_enc": gradients["X_enc"][:, ~padding]}


@exercise.wrong("the largest of them, or something else")
def less_the_mean(X, E, padding, p, dY):
    with np.errstate(all="ignore"):
        return forward_with(lambda scores: scores.mean(axis=0), X, E, padding, p, dY)


@exercise.wrong("the largest of them, or something else")
def less_one_largest(X, E, padding, p, dY):
    with np.errstate(all="ignore"):
        return forward_with(lambda scores: scores.max(), X, E, padding, p, dY)


def forward_with(subtracted, X, E, padding, p, dY):
    """The backward pass with another number subtracted from the scores, of what is seen."""
    seen = E[:, ~padding]
    Q, K = linear("q", X, p), linear("k", seen, p)
    scores = K.T @ Q / np.sqrt(len(Q))
    exponentials = np.exp(scores - subtracted(scores))
    A = exponentials / exponentials.sum(axis=0)
    right = read_source_backward(X, E, padding, p, dY)
    return right | {"beta_v": (dY @ A.T).sum(axis=1, keepdims=True)}


# In the order in which the gradient reaches them; what to ask where no known mistake fits
ORDER = {
    "beta_v": "how does a gradient pass from V A to V?",
    "Omega_v": "is X_enc its other factor?",
    "beta_q": "how does the gradient pass from A to the scores, and from these to the queries?",
    "Omega_q": "is X_dec its other factor?",
    "beta_k": "can one number, added to all scores of a query, change its softmax?",
    "Omega_k": "how does the gradient pass from the scores to the keys, and is X_enc its other "
    "factor?",
    "X_dec": "it asks, and nothing else: which Omega leads back to it?",
    "X_enc": "it makes keys and values: in how many ways does it reach the outputs?",
}


@exercise.check
def check(answer):
    rng = np.random.default_rng(910)
    inputs = random_inputs(rng, 3, 3, 2, 4, 5, np.arange(5) > 3)
    check_gradients(unchanged(answer, *inputs), inputs)
    # The last sizes come twice: nothing may be kept from the call before.
    for D, D_e, D_q, D_v, N_d, N_e in (
        *((4, 2, 3, 5, 6, 7), (2, 5, 4, 3, 1, 6), (3, 1, 2, 6, 4, 1), (1, 2, 1, 1, 3, 5)),
        *((5, 4, 2, 3, 7, 6), (5, 4, 2, 3, 7, 6)),
    ):
        inputs = random_inputs(rng, D, D_e, D_q, D_v, N_d, random_padding(rng, N_e))
        check_gradients(unchanged(answer, *inputs), inputs)
    X, E, padding, parameters, dY = random_inputs(rng, 4, 3, 2, 5, 6, np.arange(7) % 3 == 1)
    for name in "Omega_q", "Omega_k":
        parameters[name] *= 17  # scores of about ±1000
    got = unchanged(answer, X, E, padding, parameters, dY)
    for name, expected in read_source_backward(X, E, padding, parameters, dY).items():
        what = f"the gradient of {name} for scores that are not small"
        survives(got[name], expected, what, NOT_THE_LARGEST, size=1e3)


def random_inputs(rng, D, D_e, D_q, D_v, N_d, padding):
    """X_dec, X_enc, padding, the parameters, and dY."""
    X, E = rng.normal(size=(D, N_d)), rng.normal(size=(D_e, len(padding)))
    parameters = random_cross_parameters(rng, D, D_e, D_q, D_v)
    return X, E, padding, parameters, rng.normal(size=(D_v, N_d))


def check_gradients(got, inputs):
    """From the values to the scores to the tokens, so that the first fault found is the first."""
    expected = read_source_backward(*inputs)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the gradients")  # says what is missing
    for name, question in ORDER.items():
        if matches(got[name], expected[name]):
            continue
        for slip, asks in MISTAKES.items():
            if matches(got[name], backward(*inputs, slip)[name]):
                raise Wrong(f"The gradient of {name}: {asks}", expected[name], got[name])
        padding = inputs[2]
        if name == "X_enc" and np.shape(got[name]) == expected[name].shape:
            seen = matches(np.asarray(got[name])[:, ~padding], expected[name][:, ~padding])
            if seen and padding.any():
                raise Wrong(
                    "The gradient of X_enc: it is right for all words, and is not 0 where padding "
                    "stands. But padding was never read: what does the loss know of it?",
                    expected[name],
                    got[name],
                )
        same(got[name], expected[name], f"the gradient of {name}", far=question)


exercise.equivalent(
    "p is a shorter name",
    "read_source_backward: * → *parameters[*",
    "word_by_word: * → *parameters[*",
)
exercise.equivalent(
    "there are three of each, and the weights of each output sum to one, so that its gradient "
    "reaches beta_v as it is",
    "word_by_word: return * → *zip('qkv', (dQ, dK, dV))}}",
    "word_by_word: return * → *zip('qkv', (dQ, dK, dV), strict=False)}}",
    "word_by_word: return * → *zip('qkv', (dQ, dK, dY), strict=True)}}",
)
exercise.equivalent(
    "a bias of the keys adds the same number to all scores of a query",
    "read_source_backward: * → K, V = (p[f'Omega_{role}'] @ X_enc for role in 'kv')",
)
exercise.equivalent(
    "a key is as long as a query",
    "read_source_backward: * → root = np.sqrt(len(K))",
    "by_imaginary_steps: * → *len(K) ** 0.5",
)
exercise.equivalent(
    "the gradients may stand in any order, and every place is written once",
    "read_source_backward: * → for role, dZ, X in (('k', *",
    "word_by_word: * → dQ, dK, dV = (np.ones(Q.shape), *",
    "word_by_word: * → dQ[:, n] += K @ ds",
    "word_by_word: * → dX_enc[:, ~padding] += *",
    "by_imaginary_steps: * → gradients = {name: np.ones(*",
    "by_imaginary_steps: * → step[place] += 1e-30j",
    "by_imaginary_steps: * → gradients[name][place] += *",
)
exercise.equivalent(
    "the Jacobian of a softmax is symmetric",
    "word_by_word: * → ds = V.T @ dY[:, n] @ (np.diag(a) - np.outer(a, a)) * scale",
)
