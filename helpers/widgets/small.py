"""What the three small widgets share in Python: numbers in words, and checks."""

import numpy as np

__all__ = ["fixed", "short", "two", "vector"]


def two(number):
    """The number with two decimals and a true minus sign; never "−0.00"."""
    return f"{round(float(number), 2) + 0.0:.2f}".replace("-", "−")


def short(numbers):
    """Given numbers without needless zeros: one as it is, several in brackets."""
    return in_brackets([f"{round(float(x), 2) + 0.0:g}".replace("-", "−") for x in numbers])


def fixed(numbers):
    """Computed numbers with two decimals each: one as it is, several in brackets."""
    return in_brackets([two(x) for x in numbers])


def in_brackets(words):
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def vector(numbers, size, what):
    """`numbers` as a float64 vector (size,); ValueError, with `what` as its subject, otherwise.

    A column (size, 1) counts as a vector. NaN and infinities are refused: nobody can draw them.
    """
    got = np.asarray(numbers, dtype=np.float64)
    if got.shape not in {(size,), (size, 1)}:
        raise ValueError(f"{what} should have the shape ({size},); got {got.shape}.")
    if not np.isfinite(got).all():
        raise ValueError(f"{what} should hold finite numbers; got {got.ravel().tolist()}.")
    return got.reshape(size)
