"""Exercise 4.2, Scaled dot products."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, recognize, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "4.2",
    "Scaled dot products",
    stars=1,
    stub='''\
def scaled_dot_product(Q, K, V):
    """Scaled dot-product attention: V · Softmax[KᵀQ / √D_q].

    Q: D_q × N; K: D_q × M; V: D_v × M, one vector in each column.
    Returns the outputs, D_v × N. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Write KᵀQ and its shape on paper. Which of the three sizes D_q, M and N did the product "
        "sum over, and in which array can you still read it?",
        "A sum of D_q products of independent numbers has a standard deviation that grows with "
        "√D_q. Dividing the scores by it must happen before they become weights.",
        "D_q is the number of rows of Q. Divide the scores by its root, then take the safe "
        "softmax of each column, and let V stand on the left of it.",
    ),
    notice="It is one division more than in exercise 2.3, and D_v has no say in it. Whether the "
    "scores or the queries are divided makes no difference to the result.",
)


@exercise.solution
def scaled_dot_product(Q, K, V):
    scores = K.T @ Q / np.sqrt(Q.shape[0])  # M × N
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)  # columns sum to one
    return V @ A  # D_v × N


@exercise.right
def by_loops(Q, K, V):
    D_q, N = Q.shape
    outputs = np.zeros((V.shape[0], N))
    for n in range(N):
        scores = np.array([key @ Q[:, n] / D_q**0.5 for key in K.T])
        weights = np.exp(scores - scores.max())
        for m, weight in enumerate(weights / weights.sum()):
            outputs[:, n] += weight * V[:, m]
    return outputs


@exercise.right
def scaled_before(Q, K, V):
    fourth_root = len(K) ** 0.25
    return V @ softmax_columns((K / fourth_root).T @ (Q / fourth_root))


@exercise.right
def in_rows(Q, K, V):
    scores = Q.T @ K * len(Q) ** -0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True) @ V.T).T


@exercise.wrong("by what are they to be divided")
def unscaled(Q, K, V):
    return V @ softmax_columns(K.T @ Q)


@exercise.wrong("divided by D_q itself")
def by_dimension(Q, K, V):
    return V @ softmax_columns(K.T @ Q / len(Q))


@exercise.wrong("multiplied by √D_q")
def multiplied(Q, K, V):
    return V @ softmax_columns(K.T @ Q * np.sqrt(len(Q)))


@exercise.wrong("divided by √D_v")
def by_values(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(len(V)))


@exercise.wrong("the fourth root of D_q")
def by_fourth_root(Q, K, V):
    return V @ softmax_columns(K.T @ Q / len(Q) ** 0.25)


@exercise.wrong("which size counts the entries")
def by_keys(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(K.shape[1]))


@exercise.wrong("which size counts the entries")
def by_tokens(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(Q.shape[1]))


@exercise.wrong("what is it that must not grow too large")
def afterwards(Q, K, V):
    return V @ softmax_columns(K.T @ Q) / np.sqrt(len(Q))


@exercise.wrong("rows of your weights sum to one")
def over_rows(Q, K, V):
    return V @ softmax_columns(Q.T @ K / np.sqrt(len(Q))).T


@exercise.wrong("query and key are exchanged")
def exchanged(Q, K, V):
    return V @ softmax_columns(Q.T @ K / np.sqrt(len(Q)))


@exercise.wrong("mixed by a row of A")
def transposed(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(len(Q))).T


@exercise.wrong("what turns scores into weights")
def without_softmax(Q, K, V):
    return V @ (K.T @ Q) / np.sqrt(len(Q))


@exercise.wrong("np.exp(1000) overflows")
def unstable(Q, K, V):
    exponentials = np.exp(K.T @ Q / np.sqrt(len(Q)))
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.wrong("very exponential was 0")
def one_maximum(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    exponentials = np.exp(scores - scores.max())
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.check
def check(answer):
    # D_q, D_v and N all differ, so that each root tells where it comes from. M = N: there,
    # transposed weights run without an error.
    Q = np.array([[1.0, 0, 2], [0, 1, 0], [1, 1, 0], [0, 2, 1], [1, 0, 0]])
    K = np.array([[2.0, 0, 1], [0, 1, 1], [0, 2, 0], [1, 0, 1], [0, 1, 2]])
    V = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 8.0]])
    inputs = Q, K, V
    recognize(
        unchanged(answer, *inputs),
        scaled_dot_product(*inputs),
        "the outputs for D_q=5, D_v=2, M=N=3",
        {
            "The scores went into the softmax as they were: by what are they to be divided?": (
                unscaled(*inputs)
            ),
            "The scores are divided by D_q itself: where is the root, or were both Q and K "
            "divided by √D_q?": by_dimension(*inputs),
            "The scores are multiplied by √D_q, which makes them larger still: is the softmax to "
            "become sharper or softer?": multiplied(*inputs),
            "The scores are divided by √D_v: over how many products does a dot product of query "
            "and key sum?": by_values(*inputs),
            "The scores are divided by the root of the number of tokens, the columns of Q or of K: "
            "which size counts the entries of one query?": by_tokens(*inputs),
            "The scores are divided by the fourth root of D_q: if only one of Q and K is divided, "
            "by which root?": by_fourth_root(*inputs),
            "The outputs are divided by √D_q, after the softmax, so that the weights no longer "
            "sum to one: what is it that must not grow too large?": afterwards(*inputs),
            "The rows of your weights sum to one, the columns do not: over what does one query's "
            "softmax run, keys or queries?": over_rows(*inputs),
            "In your scores query and key are exchanged: keys run down and queries across; which "
            "of the two has to stand transposed on the left?": exchanged(*inputs),
            "Every output is mixed by a row of A, yet the columns of A sum to one: which index "
            "of A counts the outputs?": transposed(*inputs),
            "The values are weighted with the scores themselves: what turns scores into weights?": (
                without_softmax(*inputs)
            ),
        },
    )
    rng = np.random.default_rng(41)
    for D_q, D_v, M, N in (1, 1, 1, 1), (9, 2, 4, 3), (2, 5, 3, 6), (64, 3, 7, 7), (3, 4, 5, 1):
        Q, K, V = (rng.normal(size=size) for size in ((D_q, N), (D_q, M), (D_v, M)))
        what = f"the outputs for D_q={D_q}, D_v={D_v}, M={M}, N={N}"
        same(unchanged(answer, Q, K, V), scaled_dot_product(Q, K, V), what)
    V = np.array([[5.0, 7.0, 4.0]])
    for keys, queries, scores, why in LARGE:
        Q, K = np.array([queries]), np.array([keys])
        got, expected = unchanged(answer, Q, K, V), scaled_dot_product(Q, K, V)
        survives(got, expected, f"the outputs for {scores}, with D_q=1", why)
