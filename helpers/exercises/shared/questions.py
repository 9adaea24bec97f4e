"""The questions that checks ask: of a known mistake, of large scores, of flat columns."""

from helpers.exercises.engine.exercise import Wrong
from helpers.exercises.shared.compare import matches, same, unchanged

__all__ = [
    "FLAT",
    "LARGE",
    "OVERFLOW",
    "UNDERFLOW",
    "UNSCALED",
    "recognize",
    "survives",
    "without_squares",
]

OVERFLOW = (
    "np.exp(1000) overflows. What can be subtracted from all the scores of one query without "
    "changing their softmax?"
)
UNDERFLOW = (
    "Every exponential was 0, and 0/0 is not a number: subtract the largest score of each query."
)
# For two keys, 1000 and 1001, and the queries 1 and `second`: (second, their scores, why NaN comes)
LARGE = (
    (1.0, "scores of 1000 and 1001", OVERFLOW),
    (-1.0, "scores of 1000 and 1001, and of -1000 and -1001", UNDERFLOW),
)
FLAT = "beta_q is D_q × 1 and Omega_q @ X[:, n] is flat: together they make D_q × D_q. "
UNSCALED = (
    "The scores are divided by √D_q. In this section they are not: scaling comes in a later "
    "notebook. Does the equation here have a root?"
)


def recognize(got, expected, what, mistakes, atol=1e-8):
    """Raise Wrong unless `got` is `expected`: with the question of the mistake that leads to it.

    mistakes: dict from the question to ask to the result, or a tuple of the results, that the
              mistake leads to.
    """
    if not matches(got, expected, atol):
        for question, results in mistakes.items():
            results = results if isinstance(results, tuple) else (results,)
            if any(matches(got, mistaken, atol) for mistaken in results):
                raise Wrong(question, expected, got)
    same(got, expected, what, atol)


def survives(got, expected, what, why=OVERFLOW, atol=1e-8):
    """As `same`, for large scores, after small ones have come out right.

    why: the sentence if NaN occurs.
    """
    same(got, expected, what, atol, why, far="were large scores cut off, or NaN replaced?")


def without_squares(answer, *inputs):
    """unchanged(answer, *inputs), with a question where NumPy stops at a column made a square."""
    try:
        return unchanged(answer, *inputs)
    except ValueError as error:
        for words in "setting an array element with a sequence", "non-broadcastable output":
            if words in str(error):
                raise Wrong(
                    f"Several numbers came where one was to be stored. {FLAT}Are queries, keys and "
                    "values still one column each?"
                ) from None
        raise
