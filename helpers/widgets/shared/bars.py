"""Probabilities as bars: checked, in words, and how long a full bar is."""

from helpers.widgets.shared.numbers import as_array, two, vector

__all__ = ["full_bar", "in_words", "probability", "remainder"]

ENDS = (0.1, 0.25, 0.5, 1.0)  # what a full bar may stand for
ROUNDING = 1e-5  # of float32, in sums that should be 1


def probability(number):
    """A number from 0 to 1 as a float; ValueError for anything else."""
    number = float(vector(as_array(number, "A probability").reshape(-1), 1, "A probability")[0])
    if not -ROUNDING <= number <= 1 + ROUNDING:
        raise ValueError(f"A probability should be from 0 to 1; got {number:.3g}.")
    return min(max(number, 0.0), 1.0)


def remainder(shares):
    """What is missing to 1; what rounding alone leaves is nothing."""
    rest = 1 - sum(shares)
    return rest if rest > ROUNDING else 0.0


def in_words(share):
    """Two decimals; what is small but not nothing is not called nothing."""
    return "< 0.01" if 0 < share < 0.005 else two(share)


def full_bar(shares):
    """The end of the bars' scale, the same for all these probabilities."""
    return next(end for end in ENDS if end >= max(shares, default=0))
