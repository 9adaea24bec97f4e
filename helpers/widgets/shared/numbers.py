"""What the widgets share in Python: arrays of what they are given, numbers in words, checks."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np

__all__ = ["as_array", "fixed", "short", "two", "vector"]

LARGEST = 1e12


def as_array(numbers, what="This"):
    """A copy in float64 of numbers, an array or a tensor.

    Raises ValueError, with `what` as its subject, for anything else.
    """
    try:
        if hasattr(numbers, "detach"):  # a tensor, perhaps on a GPU, with a gradient, in bfloat16
            numbers = numbers.detach().cpu().double().numpy()
        if np.iscomplexobj(numbers):  # NumPy would drop the imaginary part
            raise TypeError
        return np.array(numbers, dtype=np.float64)
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise ValueError(f"{what} should be numbers, in rows of one length.") from None


def two(number):
    """The number with two decimals and a true minus sign, as `two` in common.js writes it.

    Halves are rounded away from zero, and nothing becomes "−0.00".
    """
    with localcontext(rounding=ROUND_HALF_UP):
        words = f"{Decimal(float(number)):.2f}"
    return "0.00" if words == "-0.00" else words.replace("-", "−")


def short(numbers):
    """Given numbers without needless zeros: one as it is, several in brackets."""
    return in_brackets([two(x).rstrip("0").rstrip(".") for x in numbers])


def fixed(numbers):
    """Computed numbers with two decimals each: one as it is, several in brackets."""
    return in_brackets([two(x) for x in numbers])


def in_brackets(words):
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def vector(numbers, size, what):
    """`numbers` as a float64 vector (size,); ValueError, with `what` as its subject, otherwise.

    A column (size, 1) counts as a vector. NaN, infinities and numbers beyond 10¹² are refused:
    nobody can draw them.
    """
    got = as_array(numbers, what)
    if got.shape not in {(size,), (size, 1)}:
        raise ValueError(f"{what} should have the shape ({size},); got {got.shape}.")
    if not np.isfinite(got).all():
        raise ValueError(f"{what} should hold finite numbers; got {got.ravel().tolist()}.")
    if (np.abs(got) > LARGEST).any():
        raise ValueError(f"{what} should hold numbers up to 10¹², above and below zero.")
    return got.reshape(size)
