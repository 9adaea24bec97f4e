"""Claims: sentences in the text that a cell proves, or fails trying."""

from dataclasses import dataclass

import numpy as np

__all__ = ["below", "claim", "close"]


@dataclass(frozen=True)
class Comparison:
    """The outcome of comparing numbers: whether it holds, and by how much."""

    holds: bool
    detail: str

    def __bool__(self):
        return self.holds


def claim(text, holds):
    """Print a tick and the text, or fail the cell with the text.

    text:  one sentence, as the reader should remember it.
    holds: True or False, or the outcome of `close` or `below`, which also know by how much.
    Raises AssertionError if the claim does not hold, TypeError if `holds` is no single truth value
    (an array of truth values needs .all()).
    """
    if not isinstance(holds, (bool, np.bool_, Comparison)):
        raise TypeError(
            "A claim needs one True or False, or close(...) or below(...), "
            f"not {type(holds).__name__}."
        )
    if not holds:
        detail = f" ({holds.detail})" if isinstance(holds, Comparison) else ""
        raise AssertionError(f"Not so: {text}{detail}")
    print(f"✓ {text}")


def close(got, expected, atol=1e-12, rtol=0.0):
    """Compare two arrays (NumPy, PyTorch or plain numbers), entry by entry.

    Holds where |got − expected| ≤ atol + rtol · |expected| everywhere, as in numpy.allclose; NaN
    equals nothing. `expected` may be a single number; otherwise the shapes must agree.
    """
    got, expected = _array(got), _array(expected)
    if expected.ndim and got.shape != expected.shape:
        return Comparison(False, f"shapes {got.shape} and {expected.shape} differ")
    if not got.size:
        return Comparison(False, "nothing was compared")
    # Equal entries first: infinity equals infinity, though their difference is NaN.
    with np.errstate(invalid="ignore"):
        difference = np.where(got == expected, 0.0, np.abs(got - expected))
        allowed = atol + (rtol * np.abs(expected) if rtol else 0.0)
        holds = bool(((difference <= allowed) & np.isfinite(difference)).all())
    worst = float(np.nan if np.isnan(difference).any() else difference.max(initial=0.0))
    return Comparison(
        holds, f"largest difference {worst:.3g}, allowed {float(np.max(allowed)):.3g}"
    )


def below(smaller, larger):
    """Compare two numbers: holds where smaller < larger."""
    smaller, larger = float(smaller), float(larger)
    return Comparison(smaller < larger, f"{smaller:.4g} is not below {larger:.4g}")


def _array(x):
    if hasattr(x, "detach"):  # a tensor, perhaps on a GPU, perhaps with a gradient
        x = x.detach().cpu()
        x = (x.double() if x.is_floating_point() else x).numpy()  # NumPy has no bfloat16
    return np.asarray(x, dtype=np.float64)
