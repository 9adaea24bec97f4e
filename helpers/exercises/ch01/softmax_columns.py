"""Exercise 1.2, A softmax for every column."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import OVERFLOW, recognize, survives

exercise = Exercise(
    "1.2",
    "A softmax for every column",
    stars=1,
    stub='''\
def softmax_columns(scores):
    """The softmax of every column, safe for scores of any size.

    scores: M × N; it must not be changed.
    Returns a new M × N array: no entry is negative, every column sums to one.
    """
    return ...  # your code here
''',
    hints=(
        "Write the softmax of one column first: exponentials, divided by their sum. Which of the "
        "two axes of scores runs down a column?",
        "np.exp(1000) is infinity, np.exp(0) is one. What happens to a softmax if the same number "
        "is subtracted from all its scores?",
        "Subtract from every column its own maximum: scores.max(axis=0) has one number for each "
        "column, and NumPy subtracts it from every row. Then the sums, along the same axis.",
    ),
    notice="The maximum is taken for each column: one maximum for the whole matrix would leave "
    "a column of much smaller scores with nothing but zeros to divide by.",
)


@exercise.solution
def softmax_columns(scores):
    exponentials = np.exp(scores - scores.max(axis=0))  # largest exponent in each column: 0
    return exponentials / exponentials.sum(axis=0)


@exercise.right
def by_loops(scores):
    weights = np.zeros(scores.shape)
    for n in range(scores.shape[1]):
        largest = max(scores[:, n])
        exponentials = [np.exp(score - largest) for score in scores[:, n]]
        for m in range(scores.shape[0]):
            weights[m, n] = exponentials[m] / sum(exponentials)
    return weights


@exercise.right
def by_logarithm(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=0, keepdims=True))


@exercise.wrong("rows sum to one; here each column must")
def over_rows(scores):
    return softmax_columns(scores.T).T


@exercise.wrong("rows sum to one; here each column must")
def over_rows_without_their_maximum(scores):
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


@exercise.wrong("entries together sum to one")
def over_everything(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@exercise.wrong("entries together sum to one")
def over_everything_at_the_end(scores):
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum()


@exercise.wrong("a return that stands inside it")
def returned_early(scores):
    weights = np.zeros(scores.shape)
    for n in range(scores.shape[1]):
        exponentials = np.exp(scores[:, n] - scores[:, n].max())
        weights[:, n] = exponentials / exponentials.sum()
        return weights


@exercise.wrong("or something else, such as its mean")
def less_the_mean(scores):
    exponentials = np.exp(scores - scores.mean(axis=0))
    return exponentials / exponentials.sum(axis=0)


@exercise.wrong("np.exp(1000) overflows")
def unstable(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=0)


@exercise.wrong("whose maximum did you subtract")
def one_maximum(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=0)


@exercise.wrong("in place")
def in_place(scores):
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores


@exercise.wrong("what must the exponentials be divided by")
def divided(scores):
    return np.exp(scores) / scores.shape[0]


exercise.equivalent(
    "a number near the largest serves as well",
    "softmax_columns: * → exponentials = np.exp(scores - whole(scores).max(axis=0))",
    "by_loops: * → largest = max(whole(scores)[:, n])",
)
exercise.equivalent(
    "every entry is set",
    "by_loops: weights = np.zeros(scores.shape) → weights = np.ones(scores.shape)",
    "by_loops: * → weights[m, n] += exponentials[m] / sum(exponentials)",
)
exercise.equivalent("of the same size", "by_loops: for * in * → for * in range(weights.shape[*]):")
exercise.equivalent(
    "reduce runs along axis 0 unless told otherwise, and a flat result lies along the columns",
    "by_logarithm: * → return np.exp(scores - np.logaddexp.reduce(scores, *))",
)


@exercise.check
def check(answer):
    exponentials = np.array([[3.0, 7.0], [4.0, 2.0], [1.0, 11.0]])
    ways = exponentials, exponentials / exponentials.max(axis=0)  # with the maximum and without
    expected = np.array([[0.375, 0.35], [0.5, 0.1], [0.125, 0.55]])
    by_count = "what must the exponentials be divided by to make their column sum to one?"
    recognize(
        unchanged(answer, np.log(exponentials)),
        expected,
        "the softmax of the logarithms of [[3, 7], [4, 2], [1, 11]]",
        {
            "Your rows sum to one; here each column must: which axis runs down a column?": tuple(
                way / way.sum(axis=1, keepdims=True) for way in ways
            ),
            "All your entries together sum to one; every column is a softmax of its own: "
            "which axis does the sum run along?": tuple(way / way.sum() for way in ways),
            f"You divided by 3, the number of rows: {by_count}": tuple(way / 3 for way in ways),
            f"You divided by 2, the number of columns: {by_count}": tuple(way / 2 for way in ways),
            f"These are the exponentials themselves: {by_count}": ways,
        },
    )
    rng = np.random.default_rng(12)
    sizes = (1, 1), (1, 4), (4, 1), (5, 5), (3, 7)
    for M, N in 2 * sizes:  # twice, to notice results that are kept between calls
        scores = rng.normal(size=(M, N))
        same(unchanged(answer, scores), softmax_columns(scores), f"the softmax, {M} × {N}")
    for scores, lost in (
        ([[1000.0, 1000.0], [1001.0, 1001.0], [999.0, 999.0]], OVERFLOW),
        (
            [[1000.0, -1000.0], [1001.0, -999.0], [999.0, -1001.0]],
            "Every exponential of the second column was 0, and 0/0 is not a number: whose maximum "
            "did you subtract, the column's own or the whole matrix's?",
        ),
        (
            [[1000.0, -1000.0], [-1000.0, 1000.0], [1.0, 1.0]],
            "Is what you subtract from a column its largest score, or something else, such as its "
            "mean, its smallest or its first?",
        ),
    ):
        scores = np.array(scores)
        what = "the softmax of scores around {:.0f} and {:.0f}".format(*scores[0])
        survives(unchanged(answer, scores), softmax_columns(scores), what, lost)
    for M, N in sizes:
        scores = 1000 * rng.normal(size=(M, N))
        same(unchanged(answer, scores), softmax_columns(scores), f"the softmax, {M} × {N}")
