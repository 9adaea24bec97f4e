"""The comparisons that checks use: each raises Wrong with a sentence that says what differs."""

import copy
import inspect

import numpy as np

from helpers.exercises.engine.exercise import Untouched, Wrong
from helpers.exercises.engine.wording import kind, shape_text

__all__ = ["matches", "numbers", "query_and_key_matrices", "same", "unchanged"]

NAN = "Is zero divided by zero, infinity divided by infinity, or subtracted from infinity?"
# A difference up to this part of a number, or of 1 if it is smaller, is rounding. One operation in
# float32 is off by up to 6e-8 of the result; the solutions computed in it are off by up to 2e-6.
ROUNDING = 1e-5


def same(got, expected, what="the result", size=1.0, nan=NAN, far=""):
    """Raise Wrong unless `got` holds the numbers of `expected`.

    got:      NumPy array, PyTorch tensor, number, or (nested) list; a dict if `expected` is one.
    what:     the noun that the sentence begins with, as in "the weights".
    size:     how large the numbers are that it is computed from, where that is far from 1.
    nan, far: what to ask where NaN occurs, and where numbers differ.

    Kind, shape, NaN and infinity are looked at first, each with a sentence of its own. Then one
    rule holds for all exercises: whole numbers are compared exactly, all others as closely as a
    computation in float32 may be trusted, whatever the type of `got`.
    """
    what = _given(got, what)
    if isinstance(expected, dict):
        _same_dict(got, expected, what)
        return
    got, expected = numbers(got, expected, what, nan), _numbers(expected, what)
    whole = got.dtype.kind in "biu" and expected.dtype.kind in "biu"
    allowed = 0 if whole else ROUNDING * np.maximum(size, np.abs(expected.astype(float)))
    equal = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(all="ignore"):
        difference = np.abs(np.subtract(got, expected, dtype=float))
    wrong = ~equal & ~((difference <= allowed) & np.isfinite(difference))
    if wrong.any():
        words = _worst(difference, wrong) if got.ndim else _both(expected, got)
        raise Wrong(f"{what}: {words}{f': {far}' if far else '.'}", expected, got)


def numbers(got, like, what="the result", nan=NAN):
    """The numbers of `got` as a NumPy array, for a check that looks into them itself.

    Raises Wrong unless it has the shape of `like`, and NaN or infinity only where that has some.
    """
    what = _given(got, what)
    like = _numbers(like, what)
    if isinstance(got, tuple):
        shapes = [tuple(getattr(part, "shape", ())) for part in got]
        if any(shapes) and shapes != [row.shape for row in np.atleast_1d(like)]:
            raise Wrong(f"{what}: expected the result alone, got a tuple of {len(got)}.")
    got = _numbers(got, what)
    if got.shape != like.shape:
        transposed = got.shape == like.shape[::-1]
        raise Wrong(
            f"{what}: expected {shape_text(like.shape)}, got {shape_text(got.shape)}"
            + (": is it transposed?" if transposed else "."),
            like,
            got,
        )
    if np.isnan(got).any() and not np.isnan(like).any():
        raise Wrong(f"{what}: NaN (not a number) occurs. {nan}", like, got)
    if np.isinf(got).any() and not np.isinf(like).any():
        raise Wrong(f"{what}: infinity occurs. Does a number overflow?", like, got)
    return got


def matches(got, expected):
    """Whether `same` would accept; for recognizing a typical mistake by the result it leads to."""
    try:
        same(got, expected)
        return True
    except Wrong:
        return False


def unchanged(answer, *inputs):
    """Return answer(*inputs) for copies of the inputs; raise Wrong if it changes one in place."""
    copies = copy.deepcopy(inputs)
    result = answer(*copies)
    for i, (after, before) in enumerate(zip(copies, inputs, strict=True)):
        if not _equal(after, before):
            try:
                name = list(inspect.signature(answer).parameters)[i]
            except (IndexError, ValueError):  # *args, or compiled
                name = f"number {i + 1}"
            new = type(before).__name__ if isinstance(before, (dict, list)) else "array"
            raise Wrong(
                f"It changes its input {name} in place, which its caller may still need: "
                f"can you compute the result in a new {new}?",
                before,
                after,
            )
    return result


def _same_dict(got, expected, what):
    if not isinstance(got, dict):
        raise Wrong(f"{what}: expected a dict, got {kind(got)}.", expected, got)
    missing = [key for key in expected if key not in got]
    if missing:
        raise Wrong(f"{what}: the key {missing[0]!r} is missing.", list(expected), list(got))
    for key, value in expected.items():
        same(got[key], value, f"{what}, {key!r}")


def _given(got, what):
    """`what` as the beginning of a sentence, once it is sure that there is a result at all."""
    if got is ...:
        raise Untouched
    what = what[0].upper() + what[1:]
    if got is None:
        raise Wrong(f"{what}: expected a value, got None: does your function end with return?")
    return what


def _numbers(value, what):
    """The value as an array of real numbers, or Wrong."""
    if hasattr(value, "detach"):  # a tensor, perhaps on a GPU, perhaps with a gradient
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths, or a strange object
        raise Wrong(f"{what}: expected numbers, got {kind(value)} that holds no array.") from None
    if array.dtype.kind not in "biuf":
        of = f" of {array.dtype}" if isinstance(value, np.ndarray) else ""
        raise Wrong(f"{what}: expected numbers, got {kind(value)}{of}.")
    return array


def _both(expected, got):
    """Two single numbers, with all digits that may tell them apart."""
    expected, got = (
        f"{x:.12g}" if isinstance(x, float) else x for x in (expected.item(), got.item())
    )
    return f"expected {expected}, got {got}"


def _worst(difference, wrong):
    """The largest difference and its place."""
    place = np.unravel_index(np.argmax(np.where(wrong, difference, -1)), wrong.shape)
    words = f"the largest difference is {difference[place]:.3g}"
    if wrong.ndim == 2:
        return f"{words}, in row {place[0]}, column {place[1]} (counted from 0)"
    return f"{words}, at [{', '.join(map(str, place))}]"


def _equal(a, b):
    """Whether two inputs are equal throughout; NaN equals NaN."""
    if isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in b)
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if hasattr(b, "detach"):
        a, b = a.detach().cpu().numpy(), b.detach().cpu().numpy()
    if isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=b.dtype.kind == "f")
    return a == b


def query_and_key_matrices(result, fits, shape):
    """Omega_q and Omega_k as arrays of finite numbers, or Wrong.

    fits(matrix): whether its shape is right; shape: the end of "Omega_q must …", if it is not.
    """
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Wrong("Two matrices are expected: does your function return Omega_q, Omega_k?")
    try:
        Omega_q, Omega_k = (_numbers(matrix, "the matrix").astype(float) for matrix in result)
    except Wrong:
        raise Wrong("Omega_q and Omega_k must be matrices of numbers.") from None
    for name, matrix in ("Omega_q", Omega_q), ("Omega_k", Omega_k):
        if not fits(matrix):
            raise Wrong(f"{name} must {shape}")
        if not np.isfinite(matrix).all():
            raise Wrong(f"{name} must hold finite numbers.")
    return Omega_q, Omega_k
