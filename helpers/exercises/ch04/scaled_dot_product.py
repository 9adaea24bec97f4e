"""Exercise 4.2, Scaled dot products."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, recognize, run, survives
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


@exercise.wrong("divided by √M")
def by_keys(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(K.shape[1]))


@exercise.wrong("divided by √N")
def by_tokens(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(Q.shape[1]))


@exercise.wrong("the same number whatever D_q is")
def by_constant(Q, K, V):
    return V @ softmax_columns(K.T @ Q / np.sqrt(2))


@exercise.wrong("keys run down and queries across")
def product_of_rows(Q, K, V):
    return V @ softmax_columns(K @ Q / np.sqrt(len(Q)))


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(Q, K, V):
    outputs = np.zeros((len(V), Q.shape[1]))
    for n in range(Q.shape[1]):
        outputs[:, n] = scaled_dot_product(Q, K, V)[:, n]
        return outputs


@exercise.wrong("what is it that must not grow too large")
def afterwards(Q, K, V):
    return V @ softmax_columns(K.T @ Q) / np.sqrt(len(Q))


@exercise.wrong("rows of your weights sum to one")
def over_rows(Q, K, V):
    return V @ softmax_columns(Q.T @ K / np.sqrt(len(Q))).T


@exercise.wrong("keys run down and queries across")
def exchanged(Q, K, V):
    return V @ softmax_columns(Q.T @ K / np.sqrt(len(Q)))


@exercise.wrong("keys run down and queries across")
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


# For D_q = 3, M = 7 and N = 5: the sizes that do not fit, as NumPy tells them, and the question
MISFITS = dict.fromkeys(
    ("size 5 is different from 7", "size 7 is different from 5", "size 3 is different from 7"),
    "The sizes of a product do not fit. KᵀQ is M × N: keys run down and queries across. Does the "
    "right one of K and Q stand transposed on the left, or is A transposed on its way to V?",
)


@exercise.check
def check(answer):
    # All sizes differ, so that each root tells where it comes from.
    rng = np.random.default_rng(40)
    sizes = (3, 5), (3, 7), (4, 7)
    Q, K, V = (rng.integers(-3, 4, size).astype(float) for size in sizes)
    inputs = Q, K, V
    recognize(
        run(answer, *inputs, errors=MISFITS),
        scaled_dot_product(*inputs),
        "the outputs for D_q=3, D_v=4, M=7, N=5",
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
            "The scores are divided by √M, the root of the number of keys: which size counts the "
            "entries of one query?": by_keys(*inputs),
            "The scores are divided by √N, the root of the number of queries: which size counts "
            "the entries of one query?": by_tokens(*inputs),
            "The scores are divided by √2, the same number whatever D_q is: which size counts the "
            "entries of one query?": by_constant(*inputs),
            "The scores are divided by the fourth root of D_q: if only one of Q and K is divided, "
            "by which root?": by_fourth_root(*inputs),
            "The outputs are divided by √D_q, after the softmax, so that the weights no longer "
            "sum to one: what is it that must not grow too large?": afterwards(*inputs),
            "The rows of your weights sum to one, the columns do not: over what does one query's "
            "softmax run, keys or queries?": over_rows(*inputs),
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


exercise.equivalent(
    "queries and keys have the same length",
    "* → *np.sqrt(K.shape[0])",
    "scaled_before: * → fourth_root = len(*) ** 0.25",
    "in_rows: * → *len(*) ** (-0.5)",
)
exercise.equivalent("of two vectors either may come first", "by_loops: * → *[Q[:, n] @ key */*")
