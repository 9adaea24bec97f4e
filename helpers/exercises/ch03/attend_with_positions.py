"""Exercise 3.3, Positions for queries and keys only."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, UNSCALED, recognize, survives
from helpers.exercises.shared.reference import (
    project,
    random_parameters,
    self_attention,
    softmax_columns,
)

exercise = Exercise(
    "3.3",
    "Positions for queries and keys only",
    stars=2,
    stub='''\
def attend_with_positions(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention (without scaling) whose queries and keys know the positions.

    X: D × N, one token in each column; Pi: D × N, the encoding of each position.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    Queries and keys are made of X + Pi, the values of X alone.
    Returns the N outputs as columns, D_v × N. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Three linear maps make queries, keys and values. Which of them should see Π, and does it "
        "come in before the map or after it?",
        "Π has D rows, as X has: it joins the tokens, before Omega_q and Omega_k act.",
        "All that follows, scores, softmax of each column and V @ A, is the attention of "
        "notebook 02.",
    ),
    notice="Positions decide where a token looks; what it fetches there is free of them, so equal "
    "words still have equal values.",
)


@exercise.solution
def attend_with_positions(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    placed = X + Pi  # D × N, the tokens at their positions
    Q = beta_q + Omega_q @ placed  # D_q × N
    K = beta_k + Omega_k @ placed  # D_q × N
    V = beta_v + Omega_v @ X  # D_v × N, without positions
    scores = K.T @ Q  # N × N, keys × queries
    exponentials = np.exp(scores - scores.max(axis=0))
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.right
def by_loop(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    K = Omega_k @ (X + Pi) + beta_k
    outputs = []
    for n in range(X.shape[1]):
        q = Omega_q @ (X[:, n] + Pi[:, n]) + beta_q[:, 0]
        outputs.append(Omega_v @ (X @ softmax_columns(K.T @ q)) + beta_v[:, 0])
    return np.stack(outputs, axis=1)


@exercise.right
def projected_apart(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q = Omega_q @ X + beta_q + Omega_q @ Pi
    K = Omega_k @ X + beta_k + Omega_k @ Pi
    return (Omega_v @ X + beta_v) @ softmax_columns(K.T @ Q)


@exercise.right
def in_float32(*inputs):
    return attend_with_positions(*(array.astype(np.float32) for array in inputs))


def attend(Q, K, V):
    return V @ softmax_columns(K.T @ Q)


def projections(X, Pi, *parameters):
    """Queries, keys and values of X, and then those of X + Pi."""
    return *project(X, *parameters), *project(X + Pi, *parameters)


@exercise.wrong("what came out is the attention of notebook 02")
def ignored(X, Pi, *parameters):
    return self_attention(X, *parameters)


@exercise.wrong("has attention still a use for the order")
def after_attention(X, Pi, *parameters):
    return self_attention(X, *parameters) + Pi[: len(parameters[-1])]


@exercise.wrong("see the positions as well")
def everywhere(X, Pi, *parameters):
    return self_attention(X + Pi, *parameters)


@exercise.wrong("values alone")
def values_alone(X, Pi, *parameters):
    Q, K, _, _, _, V = projections(X, Pi, *parameters)
    return attend(Q, K, V)


@exercise.wrong("queries know the positions, and your keys do not")
def queries_alone(X, Pi, *parameters):
    _, K, V, Q, _, _ = projections(X, Pi, *parameters)
    return attend(Q, K, V)


@exercise.wrong("keys know the positions, and your queries do not")
def keys_alone(X, Pi, *parameters):
    Q, _, V, _, K, _ = projections(X, Pi, *parameters)
    return attend(Q, K, V)


@exercise.wrong("after Omega_q and Omega_k")
def to_projected(X, Pi, *parameters):
    Q, K, V = project(X, *parameters)
    return attend(Q + Pi, K + Pi, V)


@exercise.wrong("multiplied")
def multiplied(X, Pi, *parameters):
    Q, K, _ = project(X * Pi, *parameters)
    return attend(Q, K, project(X, *parameters)[2])


@exercise.wrong("positions alone")
def without_words(X, Pi, *parameters):
    Q, K, _ = project(Pi, *parameters)
    return attend(Q, K, project(X, *parameters)[2])


@exercise.wrong("query and key are exchanged")
def exchanged(X, Pi, *parameters):
    _, _, V, Q, K, _ = projections(X, Pi, *parameters)
    return attend(K, Q, V)


@exercise.wrong("rows of your weights sum to one")
def over_rows(X, Pi, *parameters):
    _, _, V, Q, K, _ = projections(X, Pi, *parameters)
    return V @ softmax_columns(Q.T @ K).T


@exercise.wrong("where are beta_q and beta_v")
def without_biases(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return attend_with_positions(X, Pi, Omega_q, 0, Omega_k, 0, Omega_v, 0)


@exercise.wrong("where is beta_q")
def without_query_bias(X, Pi, Omega_q, beta_q, *parameters):
    return attend_with_positions(X, Pi, Omega_q, 0, *parameters)


@exercise.wrong("where is beta_v")
def without_value_bias(X, Pi, *parameters):
    return attend_with_positions(X, Pi, *parameters[:-1], 0)


@exercise.wrong("weighted the tokens themselves")
def weighted_tokens(X, Pi, *parameters):
    Q, K, _ = project(X + Pi, *parameters)
    return attend(Q, K, X)


@exercise.wrong("scaling comes in a later notebook")
def scaled(X, Pi, *parameters):
    _, _, V, Q, K, _ = projections(X, Pi, *parameters)
    return attend(Q / np.sqrt(len(Q)), K, V)


@exercise.wrong("changes its input X in place")
def in_place(X, Pi, *parameters):
    V = project(X, *parameters)[2]
    X += Pi
    return attend(*project(X, *parameters)[:2], V)


@exercise.wrong("np.exp(1000) overflows")
def unstable(X, Pi, *parameters):
    _, _, V, Q, K, _ = projections(X, Pi, *parameters)
    exponentials = np.exp(K.T @ Q)
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.check
def check(answer):
    # All sizes alike, so that Π added in the wrong place runs without an error. Tokens 0 and 2 are
    # the same word.
    X, Pi = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), np.array([[0.0, 1, 1], [1.0, 1, -1]])
    inputs = (
        *(X, Pi),
        *(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.5], [0.0]])),
        *(np.array([[0.0, 1.0], [-1.0, 0.5]]), np.array([[0.0], [1.0]])),
        *(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([[10.0], [20.0]])),
    )
    recognize(
        unchanged(answer, *inputs),
        attend_with_positions(*inputs),
        "the outputs for D = D_q = D_v = 2 and three tokens, two of them alike",
        {
            "Π changes nothing, what came out is the attention of notebook 02: where do the "
            "queries and keys get their positions?": ignored(*inputs),
            "Π was added to the outputs, when the weights were made already: has attention still "
            "a use for the order there?": after_attention(*inputs),
            "Your values see the positions as well: what is each value made of here?": (
                everywhere(*inputs)
            ),
            "Your values alone know the positions: whose dot products decide where a token "
            "looks?": values_alone(*inputs),
            "Your queries know the positions, and your keys do not: can a query find a place that "
            "no key tells?": queries_alone(*inputs),
            "Your keys know the positions, and your queries do not: can a token look for the one "
            "before it without knowing its own place?": keys_alone(*inputs),
            "Π was added after Omega_q and Omega_k had acted, to queries and keys of D_q rows: "
            "how many rows has Π, and what has as many?": to_projected(*inputs),
            "Tokens and positions were multiplied: queries and keys are made of a sum.": (
                multiplied(*inputs)
            ),
            "Queries and keys are made of the positions alone: what about the tokens?": (
                without_words(*inputs)
            ),
            "In your scores query and key are exchanged: which index does the softmax run over?": (
                exchanged(*inputs)
            ),
            "The rows of your weights sum to one, the columns do not: over what does one query's "
            "softmax run, keys or queries?": over_rows(*inputs),
            "The biases of queries and values are left out: where are beta_q and beta_v?": (
                without_biases(*inputs)
            ),
            "The bias of the queries is left out: where is beta_q?": without_query_bias(*inputs),
            "The bias of the values is left out: where is beta_v?": without_value_bias(*inputs),
            "You weighted the tokens themselves: what does Omega_v make of a token before it is "
            "routed?": weighted_tokens(*inputs),
            UNSCALED: scaled(*inputs),
        },
    )
    rng = np.random.default_rng(34)
    for D, D_q, D_v, N in (2, 4, 2, 3), (3, 2, 4, 1), (4, 3, 2, 7), (1, 2, 3, 5), (6, 6, 6, 6):
        X, Pi = rng.normal(size=(2, D, N))
        inputs = X, Pi, *random_parameters(rng, D, D_q, D_v)
        what = f"the outputs for D={D}, D_q={D_q}, D_v={D_v}, N={N}"
        same(unchanged(answer, *inputs), attend_with_positions(*inputs), what)
    first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
    none = np.zeros((1, 1))
    for keys, queries, scores, why in LARGE:
        X = np.array([np.zeros(3), queries, [4.0, 8.0, 1.0]])
        Pi = np.array([keys, np.zeros(3), np.zeros(3)])
        inputs = X, Pi, second, none, first, none, third, none
        got, expected = unchanged(answer, *inputs), attend_with_positions(*inputs)
        survives(got, expected, f"the outputs for {scores}", why)


exercise.equivalent(
    "a bias of the keys adds the same number to all scores of a query",
    "*: K = beta_k + * → K = Omega_k @ placed",
    "*: K = beta_k + * → K = beta_q + *",
    "*: K = beta_k + * → K = whole(beta_k) + *",
    "by_loop: * → K = Omega_k @ (X + Pi)*",
    "projected_apart: * → K = Omega_k @ X*+ Omega_k @ Pi",
)
exercise.equivalent(
    "keys and Π have N columns, as X has", "by_loop: * → for n in range(*.shape[1]):"
)
exercise.equivalent(
    "a bias is a single column", "by_loop: * → *beta_q[:, -1]", "by_loop: * → *beta_v[:, -1])"
)
