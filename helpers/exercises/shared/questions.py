"""The questions that checks ask: of a known mistake, of large scores, of flat columns."""

import numpy as np

from helpers.exercises.engine.exercise import Wrong
from helpers.exercises.shared.compare import matches, same, unchanged

__all__ = [
    "FLAT",
    "LARGE",
    "NOT_THE_LARGEST",
    "OVERFLOW",
    "UNDERFLOW",
    "UNSCALED",
    "differentiable",
    "recognize",
    "run",
    "survives",
    "without_squares",
]

OVERFLOW = (
    "np.exp(1000) overflows, and np.exp(-1000) is 0. What can be subtracted from all the scores of "
    "one softmax without changing its weights?"
)
UNDERFLOW = (
    "Every exponential was 0, and 0/0 is not a number: subtract the largest score of each softmax."
)
NOT_THE_LARGEST = (
    "Is what you subtract from the scores of one softmax the largest of them, or something else, "
    "such as their mean, the smallest or the first?"
)
# Three keys and three queries of one entry each, the scores they make, and why NaN comes: no number
# but the largest score of each query survives all of them.
LARGE = (
    ((1000.0, 1001.0, 999.0), (1.0, 1.0, 1.0), "scores around 1000", OVERFLOW),
    ((1000.0, 1001.0, 999.0), (1.0, -1.0, 1.0), "scores around 1000, and around -1000", UNDERFLOW),
    (
        (1000.0, -1000.0, 1.0),
        (1.0, -1.0, 1.0),
        "scores of 1000 and -1000 for the same query",
        NOT_THE_LARGEST,
    ),
)
FLAT = "beta_q is D_q × 1 and Omega_q @ X[:, n] is flat: together they make D_q × D_q. "
UNSCALED = (
    "The scores are divided by √D_q. In this section they are not: scaling comes in a later "
    "notebook. Does the equation here have a root?"
)


def recognize(got, expected, what, mistakes):
    """Raise Wrong unless `got` is `expected`: with the question of the mistake that leads to it.

    mistakes: dict from the question to ask to the result, or a tuple of the results, that the
              mistake leads to.
    """
    if not matches(got, expected):
        for question, results in mistakes.items():
            results = results if isinstance(results, tuple) else (results,)
            if any(matches(got, mistaken) for mistaken in results):
                raise Wrong(question, expected, got)
        if np.ndim(expected) == 2:
            for axis, name in enumerate(("row", "column")):
                first_alone = _first_alone(expected, axis)
                if first_alone.any() and matches(got, first_alone):
                    raise Wrong(
                        f"Only {name} 0 is filled, and all else is 0: does a loop end in its first "
                        "turn, with a return that stands inside it?",
                        expected,
                        got,
                    )
    same(got, expected, what)


def _first_alone(expected, axis):
    """The matrix with zeros but in its first row (axis 0) or column (axis 1)."""
    expected = np.asarray(expected)
    return np.where(np.indices(expected.shape)[axis] == 0, expected, 0)


def run(answer, *inputs, errors):
    """unchanged(answer, *inputs), with a question where it stops with an error that tells why.

    errors: dict from words of the error's message to the question.
    """
    try:
        return unchanged(answer, *inputs)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        for words, question in errors.items():
            if words in str(error):
                raise Wrong(question) from None
        raise


def survives(got, expected, what, why=OVERFLOW, size=1.0):
    """As `same`, for large scores, after small ones have come out right.

    why: the sentence if NaN occurs.
    """
    same(got, expected, what, size, nan=why, far="were large scores cut off, or NaN replaced?")


def differentiable(answer, *inputs):
    """answer(*inputs) as a tensor that gradients can go back through, or Wrong."""
    lost = Wrong(
        "No gradient can go back through your result, so nothing could be trained with it: where "
        "does it leave PyTorch's operations?"
    )
    try:
        got = answer(*inputs)
    except RuntimeError as error:  # the way to NumPy
        if "requires grad" in str(error):
            raise lost from None
        raise
    if not getattr(got, "requires_grad", False):
        raise lost
    return got


def without_squares(answer, *inputs):
    """unchanged(answer, *inputs), with a question where NumPy stops at a column made a square."""
    squares = {f"broadcast shape ({len(x)},{len(x)})" for x in inputs if hasattr(x, "shape")}
    try:
        return unchanged(answer, *inputs)
    except ValueError as error:
        for words in "setting an array element with a sequence", *squares:
            if words in str(error):
                raise Wrong(
                    f"Several numbers came where one was to be stored. {FLAT}Are queries, keys and "
                    "values one column or one flat vector each, and is every dot product summed?"
                ) from None
        raise
