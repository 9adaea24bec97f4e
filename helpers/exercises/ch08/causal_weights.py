"""Exercise 8.1, Weights without the future."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import NOT_THE_LARGEST, OVERFLOW, recognize, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "8.1",
    "Weights without the future",
    stars=2,
    stub='''\
def causal_weights(scores):
    """Attention weights when no query may see a later key.

    scores: M × N, keys down, queries across, scaled already. The keys are those of the M tokens of
    a text, in their order; the queries are those of its last N tokens, N ≤ M. So the last query
    stands at the last key, and with M = N query n stands at key n.
    A query sees the keys of the tokens before its own, and its own.
    Returns the weights, M × N: 0 for hidden keys, and each column sums to one. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Draw the matrix for M = N = 3, cross out what is hidden, and then for M = 5 and N = 2. At "
        "which key does query n stand, if the last one stands at key M − 1?",
        "Query n stands at key M − N + n, and a key is hidden where its number is larger. A column "
        "of M numbers compared with a row of N numbers gives all truth values at once.",
        "Hidden scores become −∞ before the softmax. Subtract from each column its largest score, "
        "once the hidden ones are −∞: each query sees at least itself, so this is a number.",
    ),
    notice="With N = 1 nothing is hidden: the newest token may see all that was written before. "
    "That is why a decoder that keeps its keys and values needs no mask.",
)


@exercise.solution
def causal_weights(scores):
    M, N = scores.shape
    hidden = np.arange(M)[:, None] > np.arange(M - N, M)  # M × N, keys down
    masked = np.where(hidden, -np.inf, scores)
    exponentials = np.exp(masked - masked.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


@exercise.right
def by_columns(scores):
    M, N = scores.shape
    A = np.zeros((M, N))
    for n in range(N):
        seen = scores[: M - N + n + 1, n]
        exponentials = np.exp(seen - max(seen))
        A[: len(seen), n] = exponentials / sum(exponentials)
    return A


@exercise.right
def by_triangle(scores):
    M, N = scores.shape
    seen = np.triu(np.ones((M, N)), N - M)
    masked = np.where(seen == 1, scores, -np.inf)
    return np.exp(masked - np.logaddexp.reduce(masked))


@exercise.right
def by_large_number(scores):
    M, N = scores.shape
    return softmax_columns(scores - 1e30 * np.tri(M, N, N - M - 1))


def weights(scores, hidden, axis=0):
    """The softmax along an axis of the scores without the hidden ones; NaN where all are."""
    with np.errstate(all="ignore"):
        exponentials = np.exp(np.where(hidden, -np.inf, scores))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)


def later(scores, more=0, start=None):
    """Which keys stand after a query, or `more` keys after it; the first query stands at start."""
    M, N = scores.shape
    start = M - N if start is None else start
    return np.arange(M)[:, None] > np.arange(start, start + N) + more


# The question to ask, and the wrong answer
MISTAKES = {
    "Your queries do not see their own key: from which key on is something hidden, that of the "
    "token itself or the next?": lambda scores: weights(scores, later(scores, -1)),
    "Your queries see one key of the future, and that is the word they have to predict: is the "
    "mask off by one?": lambda scores: weights(scores, later(scores, 1)),
    "The wrong half is hidden, your queries see the future and not the past: which of the two "
    "indices counts the keys?": (
        lambda scores: weights(scores, ~later(scores, -1)),
        lambda scores: weights(scores, ~later(scores)),
    ),
    "Your weights are those without a mask: where does it act?": softmax_columns,
    "Hidden keys still have weight. exp(0) is 1, so a score of 0 hides nothing: which score has "
    "the exponential 0?": lambda scores: softmax_columns(np.where(later(scores), 0, scores)),
    "The hidden weights were set to 0 after the softmax, and the columns no longer sum to one: "
    "should the mask act after the softmax, or before it?": (
        lambda scores: np.where(later(scores), 0, softmax_columns(scores))
    ),
    "Your rows sum to one: over what does the softmax of one query run, keys or queries?": (
        lambda scores: weights(scores, later(scores), axis=1)
    ),
    "All your weights together sum to one: does each query have its own softmax?": (
        lambda scores: weights(scores, later(scores), axis=(0, 1))
    ),
    "These are exponentials: what do you divide by, so that each column sums to one?": (
        lambda scores: np.where(later(scores), 0, np.exp(scores)),
        lambda scores: np.exp(
            np.where(later(scores), -np.inf, scores)
            - np.where(later(scores), -np.inf, scores).max(axis=0)
        ),
    ),
    "These are the masked scores: what makes weights of them?": (
        lambda scores: np.where(later(scores), -np.inf, scores)
    ),
    "All visible keys have the same weight: where do the scores enter?": (
        lambda scores: weights(0 * scores, later(scores))
    ),
}
# The same, of answers that are right for as many keys as queries
OF_MORE_KEYS = {
    "Your query n stands at key n, though there are more keys than queries: at which key does the "
    "last query stand?": lambda scores: weights(scores, later(scores, start=0)),
    "Your query n sees one key too many: at which key does it stand, if the last query stands at "
    "key M − 1?": lambda scores: weights(scores, later(scores, len(scores) > len(scores.T))),
    "Your query n sees one key too few: at which key does it stand, if the last query stands at "
    "key M − 1?": lambda scores: weights(scores, later(scores, -(len(scores) > len(scores.T)))),
    "With more keys than queries yours see everything: which keys are hidden from the first?": (
        lambda scores: (causal_weights if len(scores) == len(scores.T) else softmax_columns)(scores)
    ),
}
register(exercise, MISTAKES | OF_MORE_KEYS)


@exercise.wrong("0 · ∞ is not a number, and")
def by_product(scores):
    with np.errstate(invalid="ignore"):
        return softmax_columns(scores + later(scores) * -np.inf)


@exercise.wrong("np.exp(1000) overflows")
def unstable(scores):
    return weights(scores, later(scores))


@exercise.wrong("belonged to a hidden key")
def largest_of_all(scores):
    return weights(scores - scores.max(axis=0), later(scores))


@exercise.wrong("the largest of them, or something else")
def one_largest(scores):
    masked = np.where(later(scores), -np.inf, scores)
    return weights(scores - masked.max(), later(scores))


@exercise.wrong("the largest of them, or something else")
def own_subtracted(scores):
    M, N = scores.shape
    return weights(scores - scores[np.arange(M - N, M), np.arange(N)], later(scores))


@exercise.wrong("belonged to a hidden key")
def renormalized(scores):
    A = np.where(later(scores), 0, softmax_columns(scores))
    with np.errstate(invalid="ignore"):
        return A / A.sum(axis=0)


@exercise.wrong("is your large negative number large enough")
def by_small_number(scores):
    return softmax_columns(np.where(later(scores), -1e3, scores))


@exercise.wrong("were large scores cut off")
def cut_off(scores):
    return causal_weights(np.clip(scores, -500, 500))


@exercise.wrong("in place")
def in_place(scores):
    scores[later(scores)] = -np.inf
    return causal_weights(scores)


@exercise.check
def check(answer):
    scores = np.log([[2.0, 3, 4], [5, 1, 6], [7, 8, 10]])
    got = unchanged(answer, scores)
    by_products = np.where(later(scores).any(axis=0), np.nan, causal_weights(scores))
    if matches(got, np.full((3, 3), np.nan)) or matches(got, by_products):
        raise Wrong(
            "NaN occurs: 0 · ∞ is not a number, and neither is −∞ minus −∞. How do hidden scores "
            "become −∞, and is what you subtract from a column a score that its query sees?",
            causal_weights(scores),
            got,
        )
    recognize(got, causal_weights(scores), "the weights for M = N = 3", results(MISTAKES, scores))
    rng = np.random.default_rng(81)
    scores = rng.normal(size=(5, 3)).round(1)
    recognize(
        unchanged(answer, scores),
        causal_weights(scores),
        "the weights for M = 5 keys and the last N = 3 queries",
        results(OF_MORE_KEYS, scores),
    )
    for M, N in (1, 1), (4, 1), (2, 2), (7, 6), (9, 4), (6, 6), (9, 4):
        scores = rng.normal(size=(M, N))
        what = f"the weights for M={M}, N={N}"
        same(unchanged(answer, scores), causal_weights(scores), what)
    check_large(answer)


def check_large(answer):
    """Large scores, of hidden keys and of those that a query sees."""
    scores = np.array([[1000.0, 1001.0], [0.0, 1000.0]])
    got, expected = unchanged(answer, scores), causal_weights(scores)
    survives(got, expected, "the weights for scores around 1000", OVERFLOW)
    hidden_large = np.array([[0.0, 2.0], [1000.0, 1.0]])
    got, expected = unchanged(answer, hidden_large), causal_weights(hidden_large)
    if not matches(got, expected):
        raise Wrong(
            "The largest score, 1000, belonged to a hidden key, and what a query sees became "
            "exp(−1000) = 0, or exp(1000) overflowed: from what do you take the largest, and when?",
            expected,
            got,
        )
    low = np.array([[-1000.0, 2.0, 1.0], [0.0, 1.0, 3.0], [0.0, 0.0, -1.0]])
    got, expected = unchanged(answer, low), causal_weights(low)
    recognize(
        got,
        expected,
        "the weights when a query sees a score of −1000 alone",
        {
            "A query sees a score of −1000 alone, and hidden keys have weight: is your large "
            "negative number large enough? What would −∞ do?": by_small_number(low),
            NOT_THE_LARGEST: one_largest(low),
        },
    )
    for scores, why in (
        (np.array([[-1000.0, 1000.0], [3.0, -1000.0]]), NOT_THE_LARGEST),
        (np.array([[5.0, -1000.0], [3.0, 1000.0], [1.0, 1001.0]]), OVERFLOW),
    ):
        got, expected = unchanged(answer, scores), causal_weights(scores)
        survives(got, expected, "the weights for scores around ±1000", why)


exercise.equivalent(
    "every entry is written once, and there are as many exponentials as keys that are seen",
    "by_columns: * → A[:len(seen), n] += *",
    "by_columns: * → A[:len(exponentials), n] = *",
)
exercise.equivalent(
    "any large number will do", "by_large_number: * → return softmax_columns(scores - 2e+30 * *"
)
