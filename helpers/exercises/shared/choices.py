"""What checks ask of answers that choose some of several tokens: which of equally probable ones?"""

import numpy as np

from helpers.exercises.shared.compare import matches

__all__ = ["OTHERS", "other_of_equal"]

OTHERS = (
    "Of equally probable tokens others stay in yours than those with the smallest numbers: plain "
    "argsort promises no order among equal ones. Which kind of sorting does?"
)


def other_of_equal(got, expected, probabilities):
    """Whether other tokens stay than should, as many and as probable ones."""
    if hasattr(got, "detach"):  # a tensor, perhaps on a GPU, perhaps with a gradient
        got = got.detach().cpu().numpy()
    if np.shape(got) != expected.shape:
        return False
    kept = np.where(np.asarray(got) > 0, probabilities, 0)
    return matches(np.sort(got), np.sort(expected)) and matches(got, kept / kept.sum())
