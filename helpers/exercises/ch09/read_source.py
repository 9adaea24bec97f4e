"""Exercise 9.1, Reading another sequence."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same
from helpers.exercises.shared.cross_attention import (
    linear,
    random_cross_parameters,
    random_padding,
)
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import (
    NOT_THE_LARGEST,
    OVERFLOW,
    UNDERFLOW,
    recognize,
    run,
    survives,
)
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "9.1",
    "Reading another sequence",
    stars=2,
    stub='''\
def read_source(X_dec, X_enc, padding, parameters):
    """Cross-attention with one head, scaled by √D_q; tokens are columns.

    X_dec: D × N_d, the tokens of the target; X_enc: D_e × N_e, those of the source, as the encoder
    returns them. D_e may differ from D, and N_e from N_d.
    padding: N_e truth values, True where a token of the source is padding: no query may see it.
    At least one token is none.
    parameters: a dict of "Omega_q", D_q × D, "Omega_k", D_q × D_e, "Omega_v", D_v × D_e, "beta_q"
    and "beta_k", D_q × 1, and "beta_v", D_v × 1.
    Every token of the target sees every token of the source that is no padding. Scores may be
    ±1000. Returns the outputs, D_v × N_d.
    """
    return ...  # your code here
''',
    hints=(
        "Who asks, and who answers? Write the shapes of Q, K and V below each other: which of them "
        "have N_d columns, which have N_e?",
        "KᵀQ is N_e × N_d, source tokens down and target tokens across. Which number divides it, "
        "and along which axis does the softmax of one query run?",
        "padding[:, None] is N_e × 1 and goes with every column of the scores: hidden rows become "
        "−∞ before the softmax. Is there a future to be hidden in a source that stands there as a "
        "whole?",
    ),
    notice="Nothing but the origin of keys and values tells it from self-attention. The matrix of "
    "weights need no longer be square, and nothing in it is causal: the whole source may be read "
    "before the first word is written.",
)


@exercise.solution
def read_source(X_dec, X_enc, padding, parameters):
    Q = parameters["beta_q"] + parameters["Omega_q"] @ X_dec  # D_q × N_d
    K = parameters["beta_k"] + parameters["Omega_k"] @ X_enc  # D_q × N_e
    V = parameters["beta_v"] + parameters["Omega_v"] @ X_enc  # D_v × N_e
    scores = np.where(padding[:, None], -np.inf, K.T @ Q / np.sqrt(len(Q)))  # N_e × N_d
    exponentials = np.exp(scores - scores.max(axis=0))
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.right
def without_padding(X_dec, X_enc, padding, parameters):
    seen, p = X_enc[:, ~padding], parameters
    queries = (p["Omega_q"] @ X_dec + p["beta_q"]) * len(p["beta_q"]) ** -0.5
    keys, values = (p[f"Omega_{role}"] @ seen + p[f"beta_{role}"] for role in "kv")
    return values @ softmax_columns(keys.T @ queries)


@exercise.right
def by_loops(X_dec, X_enc, padding, parameters):
    p, outputs = parameters, []
    for x in X_dec.T:
        query = p["beta_q"][:, 0] + p["Omega_q"] @ x
        scores, values = [], []
        for e, hidden in zip(X_enc.T, padding, strict=True):
            if not hidden:
                key = p["beta_k"][:, 0] + p["Omega_k"] @ e
                scores.append(key @ query / len(query) ** 0.5)
                values.append(p["beta_v"][:, 0] + p["Omega_v"] @ e)
        weights = np.exp(np.array(scores) - max(scores))
        outputs.append(weights @ values / weights.sum())
    return np.stack(outputs, axis=1)


@exercise.right
def in_rows(X_dec, X_enc, padding, parameters):
    q, k, v = (
        X.T @ parameters[f"Omega_{role}"].T + parameters[f"beta_{role}"].T
        for role, X in (("q", X_dec), ("k", X_enc), ("v", X_enc))
    )
    scores = q @ k.T / np.sqrt(k.shape[1]) + np.where(padding, -1e30, 0)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    return (weights @ v).T


def attend(X, E, padding, p, **slip):
    """The right answer, or one with slips.

    of: what queries, keys and values are made of. hidden: which scores are; a function of padding
    and the shape of the scores. scale: of D_q and D, what the scores are divided by. weigh:
    function of the scores and of what is hidden. biases: which there are. source, projected: what
    is done to E, to V. out: function of V and A.
    """
    p = {
        name: matrix * (name[0] == "O" or name[-1] in slip.get("biases", "qkv"))
        for name, matrix in p.items()
    }
    E = slip.get("source", lambda E, padding: E)(E, padding)
    Q, K, V = (
        linear(role, tokens, p)
        for role, tokens in zip("qkv", slip.get("of", lambda X, E: (X, E, E))(X, E), strict=True)
    )
    scores = (
        K.T
        @ Q
        / slip.get("scale", lambda D_q, D, D_v, N: D_q**0.5)(len(Q), len(X), len(V), len(K.T))
    )
    hidden = slip.get("hidden", lambda padding, shape: np.tile(padding, (shape[1], 1)).T)
    hidden = hidden(padding, scores.shape)
    A = slip.get("weigh", lambda scores, hidden: masked(scores, hidden, 0))(scores, hidden)
    return slip.get("out", lambda V, A, Q, K, E: V @ A)(V, A, Q, K, E)


def masked(scores, hidden, axis):
    """The softmax along an axis without what is hidden; NaN where all is."""
    exponentials = np.exp(np.where(hidden, -np.inf, scores))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def plain(scores):
    return masked(scores, False, 0)


def slipped(**slip):
    """A wrong answer: attend with slips."""
    return lambda *inputs: attend(*inputs, **slip)


def later(shape):
    """Where a key's place is after the query's."""
    return np.arange(shape[0])[:, None] > np.arange(shape[1])


def down(padding, shape):
    return np.tile(padding, (shape[1], 1)).T


def reads_both(X, E, padding, p):
    """Keys and values of the source and of the target side by side."""
    both = np.hstack([E, X])
    return attend(X, both, np.append(padding, np.zeros(len(X.T), bool)), p)


# The question to ask, and the wrong answer. The first example has as many tokens in the source as
# in the target, and of the same size, so that all of these come to an end.
MISTAKES = {
    "Source and target are exchanged: your source asks, and the target answers. Which of the two "
    "is being written, and asks for what it needs?": slipped(
        of=lambda X, E: (E, X, X), hidden=lambda padding, shape: np.zeros(shape, bool)
    ),
    "Source and target are exchanged, and padding hides tokens of the target: which of the two "
    "asks, and which has padding?": slipped(of=lambda X, E: (E, X, X)),
    "Your queries come from the source, too, so that it reads itself: which tokens ask in "
    "cross-attention?": slipped(of=lambda X, E: (E, E, E)),
    "Your keys and values come from the target, which is self-attention: whose keys and values are "
    "read in cross-attention?": (
        slipped(of=lambda X, E: (X, X, X)),
        slipped(of=lambda X, E: (X, X, X), hidden=lambda padding, shape: np.zeros(shape, bool)),
        slipped(of=lambda X, E: (X, X, X), hidden=lambda padding, shape: later(shape)),
    ),
    "Your keys come from the target: with whose keys do queries have to be compared, to find "
    "something in the source?": (
        slipped(of=lambda X, E: (X, X, E)),
        slipped(of=lambda X, E: (X, X, E), hidden=lambda padding, shape: np.zeros(shape, bool)),
    ),
    "Your values come from the target: what is brought back, if not something of the source?": (
        slipped(of=lambda X, E: (X, E, X))
    ),
    "Your queries read the target beside the source: whose keys and values are there in "
    "cross-attention?": reads_both,
    "Your scores have a causal mask: a source stands there as a whole before the first word is "
    "written, so which of it is the future?": (
        slipped(hidden=lambda padding, shape: down(padding, shape) | later(shape)),
        slipped(hidden=lambda padding, shape: later(shape)),
        slipped(hidden=lambda padding, shape: down(padding, shape) | later(shape[::-1]).T),
    ),
    "Padding of the source is read like words: where does the mask act?": slipped(
        hidden=lambda padding, shape: np.zeros(shape, bool)
    ),
    "Your padding is all that is read, and the words are hidden: what does True mean?": slipped(
        hidden=lambda padding, shape: down(~padding, shape)
    ),
    "Your padding hides queries, that is columns of the scores: which index of KᵀQ counts the "
    "tokens of the source?": (
        slipped(
            hidden=lambda padding, shape: np.tile(padding, (shape[0], 1)),
            weigh=lambda scores, hidden: plain(np.where(hidden, -1e30, scores)),
        ),
        slipped(hidden=lambda padding, shape: np.tile(padding, (shape[0], 1))),
        slipped(
            hidden=lambda padding, shape: np.tile(padding, (shape[0], 1)),
            weigh=lambda scores, hidden: plain(np.where(hidden, 0, scores)),
        ),
        slipped(
            hidden=lambda padding, shape: np.tile(padding, (shape[0], 1)),
            weigh=lambda scores, hidden: np.where(hidden, 0, plain(scores)),
        ),
    ),
    "Padding still takes a part of the weight, although nothing of it arrives: is it hidden before "
    "the softmax, or after it?": slipped(
        weigh=lambda scores, hidden: np.where(hidden, 0, plain(scores))
    ),
    "Padding has the score 0 in yours, and still weight, since exp(0) is 1: which score has the "
    "exponential 0?": slipped(weigh=lambda scores, hidden: plain(np.where(hidden, 0, scores))),
    "Your padding is made a token of zeros, but zeros have a key as well, the bias: what is to be "
    "hidden?": slipped(
        source=lambda E, padding: np.where(padding, 0, E),
        hidden=lambda padding, shape: np.zeros(shape, bool),
    ),
    "Your scores are not divided by √D_q: how large is D_q?": slipped(scale=lambda *sizes: 1),
    "Your scores are divided by D_q itself: is its root asked for?": slipped(
        scale=lambda D_q, D, D_v, N: D_q
    ),
    "Your scores are divided by √D, the size of a token: over how many products does a dot product "
    "of a query and a key sum?": slipped(scale=lambda D_q, D, D_v, N: D**0.5),
    "Your scores are divided by √D_v: over how many products does a dot product of a query and a "
    "key sum?": slipped(scale=lambda D_q, D, D_v, N: D_v**0.5),
    "Your scores are divided by the root of the number of tokens: over how many products does a "
    "dot product of a query and a key sum?": slipped(scale=lambda D_q, D, D_v, N: N**0.5),
    "Your scores are multiplied by √D_q: are they to become smaller or larger?": slipped(
        scale=lambda D_q, *others: D_q**-0.5
    ),
    "Your softmax runs over the queries, so each row of the weights sums to one: over what does "
    "one query's softmax run?": slipped(
        weigh=lambda scores, hidden: np.where(hidden, 0, masked(scores, False, 1))
    ),
    "All your weights together sum to one: does each query have its own softmax?": slipped(
        weigh=lambda scores, hidden: masked(scores, hidden, (0, 1))
    ),
    "Your weights are exponentials: by what are they divided in a softmax?": (
        slipped(weigh=lambda scores, hidden: np.exp(np.where(hidden, -np.inf, scores))),
        slipped(
            weigh=lambda scores, hidden: np.exp(
                np.where(hidden, -np.inf, scores) - np.where(hidden, -np.inf, scores).max(axis=0)
            )
        ),
    ),
    "Your values are weighted with the scores: what makes weights of them?": slipped(
        weigh=lambda scores, hidden: np.where(hidden, 0, scores)
    ),
    "Every output is the plain mean of the values: does each query meet each key?": slipped(
        weigh=lambda scores, hidden: masked(0 * scores, hidden, 0)
    ),
    "Every output is the value with the largest score: are the others not weighed at all?": slipped(
        weigh=lambda scores, hidden: np.float64(
            np.where(hidden, -np.inf, scores) == np.where(hidden, -np.inf, scores).max(axis=0)
        )
    ),
    "Every output is mixed by a row of your weights, though their columns sum to one: which index "
    "counts the outputs?": slipped(out=lambda V, A, Q, K, E: V @ A.T),
    "Yours is QᵀK, so that keys ask and queries answer: which index does the softmax run over?": (
        slipped(
            weigh=lambda scores, hidden: masked(scores.T, hidden, 0),
        )
    ),
    "Your weights mix the keys: what do they mix in attention?": slipped(
        out=lambda V, A, Q, K, E: K @ A
    ),
    "Your weights mix the tokens of the source as they are: what does Omega_v make of them "
    "first?": (slipped(out=lambda V, A, Q, K, E: E @ A)),
    "These are the weights, N_e × N_d: what do they mix?": slipped(out=lambda V, A, Q, K, E: A),
    "These are the values as they are: which weights mix them?": slipped(
        out=lambda V, A, Q, K, E: V
    ),
    "All your biases are missing: what is added to Omega @ X?": slipped(biases=""),
    "Your queries have no bias: what is added to Omega_q @ X_dec?": slipped(biases="kv"),
    "Your values have no bias: what is added to Omega_v @ X_enc?": (
        slipped(biases="qk"),
        slipped(biases="q"),  # a bias of the keys adds the same to all scores of a query
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("expected an array of 2 × 4, got an array of 4 × 2: is it transposed")
def transposed(*inputs):
    return attend(*inputs).T


@exercise.wrong("the result alone, got a tuple of 2")
def with_weights(*inputs):
    return attend(*inputs), attend(*inputs, out=lambda V, A, Q, K, E: A)


@exercise.wrong("np.exp(1000) overflows")
def unstable(*inputs):
    return quietly(*inputs)


def quietly(*inputs, **slip):
    with np.errstate(all="ignore"):
        return attend(*inputs, **slip)


@exercise.wrong("belonged to padding")
def largest_of_all(*inputs):
    return quietly(
        *inputs, weigh=lambda scores, hidden: masked(scores - scores.max(axis=0), hidden, 0)
    )


@exercise.wrong("belonged to padding")
def renormalized(*inputs):
    def weigh(scores, hidden):
        A = np.where(hidden, 0, softmax_columns(scores))
        return A / A.sum(axis=0)

    return quietly(*inputs, weigh=weigh)


@exercise.wrong("the largest of them, or something else")
def one_largest(*inputs):
    def weigh(scores, hidden):
        scores = np.where(hidden, -np.inf, scores)
        return masked(scores - scores.max(), hidden, 0)

    return quietly(*inputs, weigh=weigh)


@exercise.wrong("is your large negative number large enough")
def by_small_number(*inputs):
    return quietly(
        *inputs,
        weigh=lambda scores, hidden: softmax_columns(np.where(hidden, -1e3, scores)),
    )


@exercise.wrong("0 · ∞ is not a number")
def by_product(*inputs):
    with np.errstate(all="ignore"):
        return attend(
            *inputs, weigh=lambda scores, hidden: softmax_columns(scores + hidden * -np.inf)
        )


@exercise.wrong("were large scores cut off")
def cut_off(*inputs):
    return attend(
        *inputs,
        weigh=lambda scores, hidden: masked(
            np.clip(scores, -500, 500) - np.clip(scores, -500, 500).max(axis=0), hidden, 0
        ),
    )


@exercise.wrong("in place")
def in_place(X_dec, X_enc, padding, parameters):
    output = attend(X_dec, X_enc, padding, parameters)
    X_enc[:, padding] = 0
    return output


@exercise.check
def check(answer):
    rng = np.random.default_rng(91)
    padding = np.array([False, False, False, True])
    inputs = some_inputs(rng, 5, 5, 3, 2, 4, padding, digits=1)
    got, expected = run(answer, *inputs, errors={}), read_source(*inputs)
    if matches(got, np.full(expected.shape, np.nan)):
        raise Wrong(
            "NaN occurs: 0 · ∞ is not a number, and neither is −∞ minus −∞. How do scores of "
            "padding become −∞, and from what is what subtracted?",
            expected,
            got,
        )
    recognize(
        got,
        expected,
        "the outputs for D = D_e = 5, D_q = 3, D_v = 2 and N_d = N_e = 4, of which the last is "
        "padding",
        results(MISTAKES, *inputs),
    )
    for D, D_e, D_q, D_v, N_d, N_e in (
        *((5, 4, 3, 2, 6, 7), (2, 3, 4, 6, 5, 1), (3, 1, 2, 4, 1, 5), (1, 6, 1, 3, 8, 4)),
        *((4, 5, 2, 1, 3, 9), (4, 5, 2, 1, 3, 9), (6, 2, 5, 3, 7, 2)),
    ):
        for share in 0, 1:
            padding = share * random_padding(rng, N_e) > 0
            inputs = some_inputs(rng, D, D_e, D_q, D_v, N_d, padding)
            what = (
                f"the outputs for D={D}, D_e={D_e}, D_q={D_q}, D_v={D_v}, N_d={N_d}, N_e={N_e}, "
                f"{padding.sum()} of them padding"
            )
            same(run(answer, *inputs, errors={}), read_source(*inputs), what)
    check_large(answer)


def some_inputs(rng, D, D_e, D_q, D_v, N_d, padding, digits=15):
    """Random inputs of these sizes."""
    X, E = rng.normal(size=(D, N_d)).round(digits), rng.normal(size=(D_e, len(padding)))
    parameters = random_cross_parameters(rng, D, D_e, D_q, D_v)
    parameters = {name: matrix.round(digits) for name, matrix in parameters.items()}
    return X, E.round(digits), padding, parameters


def check_large(answer):
    """Two queries of one entry, and keys that are the scores for a query of 1."""
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    parameters = {"Omega_q": one, "beta_q": none, "Omega_k": np.array([[1.0, 0]]), "beta_k": none}
    parameters |= {"Omega_v": np.array([[0, 1.0]]), "beta_v": none}
    values = [5.0, 7.0, 2.0]
    for scores, queries, hidden, why in (
        ([1000.0, 1001.0, 999.0], (1.0, 0.5), [], OVERFLOW),
        ([-1000.0, -1001.0, -999.0], (1.0, 0.5), [], UNDERFLOW),
        ([1000.0, 1001.0, 999.0], (1.0, -1.0), [], NOT_THE_LARGEST),
        ([1000.0, 1.0, -1000.0], (1.0, -1.0), [], NOT_THE_LARGEST),
        ([3.0, 1.0, 1000.0], (1.0, -1.0), [2], ""),
        ([-1000.0, -1001.0, 0.0], (1.0, 0.5), [2], ""),
    ):
        padding = np.isin(range(3), hidden)
        inputs = np.array([queries]), np.array([scores, values]), padding, parameters
        got, expected = run(answer, *inputs, errors={}), read_source(*inputs)
        if not hidden:
            shown = " and ".join(f"{query:g} · {scores}" for query in queries)
            survives(got, expected, f"the outputs for scores of {shown}", why)
        elif matches(got, by_small_number(*inputs)) and not matches(got, expected):
            raise Wrong(
                "All that is read has scores around −1000, and padding has weight: is your large "
                "negative number large enough? What would −∞ do?",
                expected,
                got,
            )
        elif not matches(got, expected):
            raise Wrong(
                "The largest score of a query belonged to padding, and what it reads became "
                "exp(−1000) = 0, or exp(1000) overflowed: from what do you take the largest, and "
                "when?",
                expected,
                got,
            )


exercise.equivalent(
    "a bias of the keys adds the same number to all scores of a query",
    "read_source: * → K = parameters['Omega_k'] @ X_enc",
    "by_loops: * → key = p['Omega_k'] @ e",
    "by_loops: * → key = p['beta_k'][0, :] + *",
)
exercise.equivalent(
    "a key is as long as a query",
    "read_source: * → *np.sqrt(len(K))*",
    "by_loops: * → *len(key)*",
    "in_rows: * → *np.sqrt(q.shape[1])*",
)
exercise.equivalent(
    "p is a shorter name", "without_padding: * → *parameters[*", "by_loops: * → *parameters[*"
)
exercise.equivalent("a bias has one column", "by_loops: * → *[:, -1] + *")
exercise.equivalent(
    "empty lists and the factors of a dot product may be exchanged, and a list is made an array",
    "by_loops: * → values, scores = ([], [])",
    "by_loops: * → scores.append(query @ key / len(query) ** 0.5)",
    "by_loops: * → weights = np.exp(scores - max(scores))",
)
exercise.equivalent(
    "there are as many truth values as tokens of the source",
    "by_loops: * → for e, hidden in zip(X_enc.T, padding):",
    "by_loops: * → for e, hidden in zip(X_enc.T, padding, strict=False):",
)
exercise.equivalent(
    "any large number will do, and the same number may be added to all other scores",
    "in_rows: * → *np.where(padding, -2e+30, 0)",
    "in_rows: * → *np.where(padding, -1e+30, -1)",
    "in_rows: * → *np.where(padding, -1e+30, 1)",
)
