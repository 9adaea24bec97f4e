"""Exercise 2.2, All weights at once."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, UNSCALED, recognize, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "2.2",
    "All weights at once",
    stars=1,
    stub='''\
def attention_matrix(Q, K):
    """All attention weights (without scaling): the softmax of KᵀQ, column by column.

    Q: D_q × N, one query in each column; K: D_q × M, one key in each column.
    Returns A, M × N: keys down, queries across, every column sums to one. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Entry [m, n] is the dot product of key m with query n. Which index counts the rows?",
        "The entries of Kᵀ Q are those dot products: rows of Kᵀ are keys, columns of Q are "
        "queries.",
        "Then a safe softmax along axis 0, the one that runs over the keys.",
    ),
    notice="M and N need not agree: each query makes a column, whatever the number of keys. "
    "Notebook 09 lets one sentence read another with this same line.",
)


@exercise.solution
def attention_matrix(Q, K):
    scores = K.T @ Q  # M × N
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


@exercise.right
def by_loops(Q, K):
    A = np.zeros((K.shape[1], Q.shape[1]))
    for n in range(Q.shape[1]):
        scores = np.array([K[:, m] @ Q[:, n] for m in range(K.shape[1])])
        exponentials = np.exp(scores - scores.max())
        A[:, n] = exponentials / exponentials.sum()
    return A


@exercise.right
def by_einsum(Q, K):
    scores = np.einsum("dm,dn->mn", K, Q)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=0))


@exercise.wrong("queries run down")
def transposed(Q, K):
    return softmax_columns(Q.T @ K)


@exercise.wrong("rows sum to one and your columns do not")
def over_rows(Q, K):
    return softmax_columns((K.T @ Q).T).T


@exercise.wrong("the transpose of the answer")
def of_pytorch(Q, K):
    return softmax_columns(K.T @ Q).T


@exercise.wrong("pairs of features")
def of_features(Q, K):
    return softmax_columns(K @ Q.T)


@exercise.wrong("so that its rows are keys")
def untransposed(Q, K):
    return softmax_columns(K @ Q)


@exercise.wrong("scaling comes in a later notebook")
def scaled(Q, K):
    return softmax_columns(K.T @ Q / np.sqrt(Q.shape[0]))


@exercise.wrong("these are the scores")
def scores_alone(Q, K):
    return K.T @ Q


@exercise.wrong("what must they be divided by")
def unnormalized(Q, K):
    return np.exp(K.T @ Q)


@exercise.wrong("All your weights together")
def over_everything(Q, K):
    exponentials = np.exp(K.T @ Q)
    return exponentials / exponentials.sum()


@exercise.wrong("a return that stands inside it")
def returned_early(Q, K):
    A = np.zeros((K.shape[1], Q.shape[1]))
    for n in range(Q.shape[1]):
        A[:, n] = softmax_columns(K.T @ Q[:, n])
        return A


@exercise.wrong("the largest of them, or something else")
def less_the_mean(Q, K):
    scores = K.T @ Q
    exponentials = np.exp(scores - scores.mean(axis=0))
    return exponentials / exponentials.sum(axis=0)


@exercise.wrong("np.exp(1000) overflows")
def unstable(Q, K):
    exponentials = np.exp(K.T @ Q)
    return exponentials / exponentials.sum(axis=0)


@exercise.wrong("very exponential was 0")
def one_maximum(Q, K):
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max())
    return exponentials / exponentials.sum(axis=0)


@exercise.wrong("were large scores cut off")
def cut_off(Q, K):
    exponentials = np.exp(np.minimum(K.T @ Q, 700))
    return exponentials / exponentials.sum(axis=0)


exercise.equivalent(
    "every entry is set",
    "by_loops: * → A = np.ones((K.shape[1], Q.shape[1]))",
    "by_loops: * → A[:, n] += exponentials / exponentials.sum()",
)
exercise.equivalent(
    "the dot products themselves, in the same places",
    "by_loops: * → for n in range(A.shape[1]):",
    "by_loops: * → scores = np.array([Q[:, n] @ K[:, m] for m in range(K.shape[1])])",
    "by_einsum: * → return np.exp(scores - np.logaddexp.reduce(scores))",
)


@exercise.check
def check(answer):
    # As many tokens as features: there, a wrong product runs without an error and can be named.
    rng = np.random.default_rng(22)
    Q, K = rng.normal(size=(2, 3, 3)).round(1)
    scores = K.T @ Q
    A = softmax_columns(scores)
    ways = np.exp(scores), np.exp(scores - scores.max(axis=0))  # of making exponentials
    recognize(
        unchanged(answer, Q, K),
        A,
        "A for three queries and three keys, D_q=3",
        {
            "In your scores queries run down and keys across: which of the two has to stand "
            "transposed on the left, so that the softmax of a column compares keys?": (
                softmax_columns(scores.T)
            ),
            "Your rows sum to one and your columns do not: a column belongs to one query; "
            "along which axis do its keys run?": softmax_columns(scores.T).T,
            "This is the transpose of the answer, as PyTorch lays it out: here keys run down and "
            "queries across. Do your columns sum to one?": A.T,
            "K Qᵀ compares pairs of features, summed over tokens: which transpose leaves one "
            "number for each key and query?": softmax_columns(K @ Q.T),
            "In K Q a row of K is one feature of all the keys, and a column of Q is one query: "
            "what must happen to K, so that its rows are keys?": softmax_columns(K @ Q),
            UNSCALED.replace("√D_q", "√3"): softmax_columns(scores / np.sqrt(3)),
            "The products are right, but these are the scores: what makes a column sum to one?": (
                scores
            ),
            "These are the exponentials of the scores: what must they be divided by to make their "
            "column sum to one?": ways,
            "All your weights together sum to one; every column is a softmax of its own: which "
            "axis does the sum run along?": tuple(way / way.sum() for way in ways),
        },
    )
    for D_q, M, N in 2 * ((1, 1, 1), (3, 1, 1), (2, 4, 3), (1, 2, 5), (4, 4, 4), (5, 6, 1)):
        Q, K = rng.normal(size=(D_q, N)), rng.normal(size=(D_q, M))
        same(unchanged(answer, Q, K), attention_matrix(Q, K), f"A for D_q={D_q}, M={M}, N={N}")
    for keys, queries, scores, why in LARGE:
        Q, K = np.array([queries]), np.array([keys])
        survives(unchanged(answer, Q, K), attention_matrix(Q, K), f"A for {scores}", why)
