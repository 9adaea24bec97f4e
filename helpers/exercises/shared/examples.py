"""What a check finds in several examples together.

A single number, or a few whole ones, may come from several mistakes by chance; from the results of
many examples it can be told which one was made.
"""

import numpy as np

from helpers.exercises.shared.compare import matches

__all__ = ["first_fault", "shape_of"]


def first_fault(found, right, mistakes, examples):
    """The number of the first example with a wrong result, and the question to ask, or None.

    found: an answer's results; right: the right answer; mistakes: dict from a question to a wrong
    answer or to a tuple of them; examples: tuples of inputs. The question is that of the mistake
    with the same results in all examples; None if there is no such mistake. None, and no pair, if
    nothing is wrong.
    """
    fits = [matches(got, right(*inputs)) for got, inputs in zip(found, examples, strict=True)]
    if all(fits):
        return None
    for question, wrongs in mistakes.items():
        for wrong in wrongs if isinstance(wrongs, tuple) else (wrongs,):
            with np.errstate(all="ignore"):
                pairs = zip(found, examples, strict=True)
                if all(matches(got, wrong(*inputs)) for got, inputs in pairs):
                    return fits.index(False), question
    return fits.index(False), None


def shape_of(got):
    """The shape of a result as an array; None if its rows differ in length, or if it is none."""
    try:
        return np.shape(got)
    except ValueError:
        return None
