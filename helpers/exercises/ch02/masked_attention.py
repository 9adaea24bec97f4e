"""Exercise 2.5, Attention with a mask."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.questions import LARGE, UNSCALED, recognize, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "2.5",
    "Attention with a mask",
    stars=2,
    stub='''\
def masked_attention(Q, K, V, mask):
    """Attention (without scaling) in which some queries may not see some keys.

    Q: D_q × N; K: D_q × M; V: D_v × M, one vector in each column.
    mask: M × N of truth values; True at [m, n]: query n may not see key m.
    Returns the outputs, D_v × N. The weights of the keys that a query may see sum to one; the
    output of a query that may see no key at all is zero. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "A key that is not seen must get the weight 0, and the others must still sum to one. Is "
        "it simpler to change the weights afterwards, or the scores before the softmax?",
        "exp(0) is 1, so a score of 0 hides nothing. Which score has the exponential 0?",
        "np.where(mask, -np.inf, scores), then the softmax of each column. What is the maximum of "
        "a column with every entry −∞, and what is −∞ minus −∞?",
        "For a column without any visible key, subtract 0 instead of its maximum, and divide by "
        "1 instead of by the sum, which is 0: its weights are then all 0.",
    ),
    notice="What a fully masked column means is a decision. Zero says “nothing was seen”; left "
    "alone, the formula gives NaN, and a large finite score in place of −∞ gives a plain average.",
)


@exercise.solution
def masked_attention(Q, K, V, mask):
    scores = np.where(mask, -np.inf, K.T @ Q)  # M × N
    blind = mask.all(axis=0)  # queries that see no key
    exponentials = np.exp(scores - np.where(blind, 0.0, scores.max(axis=0)))
    A = exponentials / np.where(blind, 1.0, exponentials.sum(axis=0))
    return V @ A  # D_v × N


@exercise.right
def by_loop(Q, K, V, mask):
    outputs = np.zeros((V.shape[0], Q.shape[1]))
    for n in range(Q.shape[1]):
        seen = ~mask[:, n]
        if seen.any():
            outputs[:, n] = V[:, seen] @ softmax_columns(K[:, seen].T @ Q[:, n])
    return outputs


@exercise.right
def by_large_score(Q, K, V, mask):
    scores = np.where(mask, -1e30, K.T @ Q)
    return V @ np.where(mask, 0.0, softmax_columns(scores))


@exercise.wrong("they no longer sum to one")
def afterwards(Q, K, V, mask):
    return V @ np.where(mask, 0.0, softmax_columns(K.T @ Q))


@exercise.wrong("a score of 0 hides nothing")
def by_zero(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, 0.0, K.T @ Q))


@exercise.wrong("does True mean")
def inverted(Q, K, V, mask):
    return masked_attention(Q, K, V, ~mask)


@exercise.wrong("does the mask's first index count")
def transposed(Q, K, V, mask):
    return masked_attention(Q, K, V, mask.T)


@exercise.wrong("has the mask a say")
def ignored(Q, K, V, mask):
    return V @ softmax_columns(K.T @ Q)


@exercise.wrong("what is −∞ minus −∞")
def with_nan(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -np.inf, K.T @ Q))


@exercise.wrong("sees every key alike")
def uniform(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -1e30, K.T @ Q))


@exercise.wrong("np.exp(1000) overflows")
def unstable(Q, K, V, mask):
    exponentials = np.where(mask, 0.0, np.exp(K.T @ Q))
    sums = exponentials.sum(axis=0)
    return V @ (exponentials / np.where(sums == 0, 1, sums))


@exercise.wrong("very exponential was 0")
def one_maximum(Q, K, V, mask):
    exponentials = np.where(mask, 0.0, np.exp(K.T @ Q - (K.T @ Q).max()))
    return V @ (exponentials / np.where(mask.all(axis=0), 1.0, exponentials.sum(axis=0)))


@exercise.wrong("belonged to a hidden key")
def then_normalized(Q, K, V, mask):
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max(axis=0)) * ~mask
    sums = exponentials.sum(axis=0)
    return V @ (exponentials / np.where(mask.all(axis=0), 1.0, sums))


@exercise.wrong("is your large negative number large enough")
def by_small_score(Q, K, V, mask):
    return V @ np.where(mask.all(axis=0), 0.0, softmax_columns(np.where(mask, -1e3, K.T @ Q)))


@exercise.wrong("0 · ∞")
def by_product(Q, K, V, mask):
    return V @ softmax_columns(K.T @ Q + mask * -np.inf)


@exercise.wrong("scaling comes in a later notebook")
def scaled(Q, K, V, mask):
    return masked_attention(Q / np.sqrt(Q.shape[0]), K, V, mask)


@exercise.wrong("which axis runs over the keys")
def over_queries(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -np.inf, K.T @ Q).T).T


@exercise.wrong("their softmax divides by the sum of them")
def unnormalized(Q, K, V, mask):
    return V @ np.where(mask, 0.0, np.exp(K.T @ Q))


@exercise.wrong("a return that stands inside it")
def returned_early(Q, K, V, mask):
    outputs = np.zeros((V.shape[0], Q.shape[1]))
    for n in range(Q.shape[1]):
        outputs[:, n] = masked_attention(Q, K, V, mask)[:, n]
        return outputs


@exercise.wrong("the largest of them, or something else")
def less_the_mean(Q, K, V, mask):
    scores, blind = K.T @ Q, mask.all(axis=0)
    exponentials = np.where(mask, 0.0, np.exp(scores - scores.mean(axis=0)))
    return V @ (exponentials / np.where(blind, 1.0, exponentials.sum(axis=0)))


exercise.equivalent(
    "what is hidden stays −∞, and its exponential 0, whatever it is measured by",
    "masked_attention: * → exponentials = np.exp(scores - np.where(mask, *))",
    "masked_attention: * → exponentials = np.exp(scores - np.where(blind, *))",
    "masked_attention: * → A = exponentials / np.where(mask, 1.0, exponentials.sum(axis=0))",
    "masked_attention: * → A = exponentials / np.where(blind, *, exponentials.sum(axis=0))",
    "by_large_score: scores = * → scores = np.where(mask, -2e+30, K.T @ Q)",
)
exercise.equivalent(
    "of the same size",
    "by_loop: outputs = * → outputs = np.zeros((V.shape[0], mask.shape[1]))",
    "by_loop: for * → for n in range(*.shape[1]):",
)
exercise.equivalent("every column is set once", "by_loop: outputs[:, n] = V* → outputs[:, n] += V*")


@exercise.check
def check(answer):
    rng = np.random.default_rng(24)
    # As many keys as queries: there, a transposed mask runs without an error and can be named.
    Q, K, V = (rng.normal(size=size).round(1) for size in ((2, 3), (2, 3), (4, 3)))
    seen = np.zeros((3, 3), dtype=bool)
    scores = K.T @ Q
    got, expected = unchanged(answer, Q, K, V, seen), V @ softmax_columns(scores)
    if not matches(got, expected) and matches(answer(Q, K, V, ~seen), expected):
        raise Wrong(
            "With nothing masked the outputs come out wrong, and with everything masked right: "
            "does True mean that a key may be seen, or that it may not?",
            expected,
            got,
        )
    recognize(
        got,
        expected,
        "the outputs with nothing masked",
        {
            "Nothing is masked, and every output is NaN: is the mask multiplied by −∞, where 0 · ∞ "
            "is not a number, or 0 divided by 0?": np.full((4, 3), np.nan),
            UNSCALED: V @ softmax_columns(scores / np.sqrt(2)),
            "Your rows sum to one, over the queries: which axis runs over the keys?": (
                V @ softmax_columns(scores.T).T
            ),
            "The values are weighted with the exponentials of the scores, and their softmax "
            "divides by the sum of them: over what does it run?": V @ np.exp(scores),
        },
    )
    mask = seen.copy()
    mask[1, 0] = True
    inputs = K, Q, V, mask  # other queries and keys of the same sizes
    recognize(
        unchanged(answer, *inputs),
        masked_attention(*inputs),
        "the outputs when query 0 may not see key 1",
        {
            "The weight of the masked key is gone and the others are as before, so they no longer "
            "sum to one: should the mask act after the softmax, or before?": afterwards(*inputs),
            "The masked key still gets attention. exp(0) is 1, so a score of 0 hides nothing: "
            "which score has the exponential 0?": by_zero(*inputs),
            "Query 0 may not see key 1, and in your weights query 1 cannot see key 0: does the "
            "mask's first index count keys or queries?": transposed(*inputs),
            "The outputs are the same with the mask and without: has the mask a say?": (
                ignored(*inputs)
            ),
        },
    )
    blind = seen.copy()
    blind[:, 1] = True
    inputs = Q, K, V, blind
    got, expected = unchanged(answer, *inputs), masked_attention(*inputs)
    if matches(got, np.where(blind[:1], np.nan, expected)):
        raise Wrong(
            "Query 1 may see no key, and its output is NaN: what is −∞ minus −∞, and what is 0 "
            "divided by 0? Its output should be zero.",
            expected,
            got,
        )
    recognize(
        got,
        expected,
        "the outputs when query 1 may see no key",
        {
            "Query 1 may see no key, and your query 1 sees every key alike: a softmax always sums "
            "to one, even over nothing but masked keys. What should its output be?": (
                uniform(*inputs)
            ),
            "Query 1 may see no key, and it sees them all: has the mask a say there?": (
                ignored(*inputs)
            ),
        },
    )
    for D_q, D_v, M, N in 2 * ((1, 1, 1, 1), (2, 3, 4, 5), (4, 2, 3, 3), (3, 1, 7, 2)):
        Q, K, V = (rng.normal(size=size) for size in ((D_q, N), (D_q, M), (D_v, M)))
        mask = rng.random((M, N)) < 0.5
        mask[:, -1] = True
        what = f"the outputs for D_q={D_q}, D_v={D_v}, M={M}, N={N}"
        same(unchanged(answer, Q, K, V, mask), masked_attention(Q, K, V, mask), what)
    V, seen = np.array([[5.0, 7.0, 4.0]]), np.zeros((3, 3), dtype=bool)
    for keys, queries, scores, why in LARGE:
        Q, K = np.array([queries]), np.array([keys])
        got, expected = unchanged(answer, Q, K, V, seen), masked_attention(Q, K, V, seen)
        survives(got, expected, f"the outputs for {scores}, with nothing masked", why)
    Q, V = np.ones((1, 1)), np.array([[5.0, 7.0, 9.0]])
    for scores, question in (
        (
            [1000.0, 0.0, 1.0],
            "The largest score belonged to a hidden key, so all visible ones became exp(−1000) = "
            "0: subtract the largest of the visible scores.",
        ),
        (
            [0.0, -1000.0, -1001.0],
            "The visible scores are −1000 and −1001, and a third key is hidden: is your large "
            "negative number large enough? What would −∞ do?",
        ),
    ):
        inputs = Q, np.array([scores]), V, np.array([[True], [False], [False]])
        got, expected = unchanged(answer, *inputs), masked_attention(*inputs)
        if not matches(got, expected):
            raise Wrong(question, expected, got)
