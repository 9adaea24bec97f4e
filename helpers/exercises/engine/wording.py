"""Short, safe words for any object: nothing here raises, grows long or shows a memory address."""

import math
import re
import reprlib

import numpy as np

from helpers.exercises.engine.limits import Stopped

__all__ = ["error_text", "kind", "outline", "shape_text", "short", "told_apart"]

EDGE = 6  # rows and columns shown of an array
LONGEST = 600  # characters


def short(value):
    """The value in at most a few lines; of an array, the corner of at most 6 × 6 entries."""
    return _safely(_value_text, value) or f"({kind(value)} that cannot be shown)"


def outline(value):
    """As `short`, but of matrices in lists and dicts only the shapes."""
    if isinstance(value, (dict, list, tuple)):
        return _safely(_Outline().repr, value) or short(value)
    return short(value)


def told_apart(expected, got):
    """Both in words as `short` puts them; where these are the same, with what tells them apart.

    That is the part of the arrays with the largest difference, more digits, or the types.
    """
    words = short(expected), short(got)
    if words[0] == words[1]:
        words = _safely_both(_parts_that_differ, expected, got) or words
    if words[0] == words[1]:
        words = tuple(
            f"{w}\n({_type_text(v)})" for w, v in zip(words, (expected, got), strict=True)
        )
    return words


def kind(value):
    """What the value is, with an article: "a list", "an array", "a class"; None is "None"."""
    if value is None:
        return "None"
    name = "class" if isinstance(value, type) else _safely(lambda v: type(v).__name__, value)
    name = {"ndarray": "array", "Tensor": "tensor"}.get(name, name) or "object"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def error_text(error):
    """The name of an exception and, where it has one, its message, in one line."""
    message = " ".join(_safely(str, error).split())[:200].rstrip(".")
    return f"{_safely(lambda e: type(e).__name__, error)}{': ' if message else ''}{message}"


def shape_text(shape):
    """A shape in words: "a single number", "a vector of length 3", "an array of 3 × 5"."""
    if len(shape) < 2:
        return f"a vector of length {shape[0]}" if shape else "a single number"
    return "an array of " + " × ".join(map(str, shape))


def _safely(write, value):
    try:
        text = str.__getitem__(write(value), slice(LONGEST + 1))  # plain str, whatever the subclass
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
        return text if len(text) <= LONGEST else text[:LONGEST] + " …"
    except Stopped:
        raise
    except BaseException:  # a hostile __repr__ or __str__ may raise anything
        return ""


def _safely_both(write, one, other):
    try:
        return write(one, other)
    except Stopped:
        raise
    except BaseException:  # no arrays, or hostile ones
        return None


def _parts_that_differ(expected, got):
    """The corners of two arrays of one shape that begin where they differ most, in many digits."""
    expected, got = (
        np.asarray(value.detach().cpu() if hasattr(value, "detach") else value, dtype=float)
        for value in (expected, got)
    )
    difference = np.nan_to_num(np.abs(got - expected), nan=np.inf)
    if got.shape != expected.shape or not difference.any():
        return None
    if not got.ndim:
        return f"{expected.item()!r}", f"{got.item()!r}"
    place = np.unravel_index(np.argmax(difference), difference.shape)
    start = [*place[:-2], *(max(0, i - EDGE // 2) for i in place[-2:])]
    corner = (*start[:-2], *(slice(i, i + EDGE) for i in start[-2:]))
    where = f"from [{', '.join(map(str, start))}] on, of {shape_text(got.shape)}"
    note = f"\n({where})" if math.prod(got[corner].shape) < got.size else ""
    for digits in 4, 8, 12, 17:
        with np.printoptions(precision=digits, suppress=True, linewidth=100):
            texts = [f"{array[corner]}{note}" for array in (expected, got)]
        if texts[0] != texts[1]:
            break
    return tuple(texts)


def _type_text(value):
    return f"{kind(value)} of {value.dtype}" if hasattr(value, "dtype") else kind(value)


def _value_text(value):
    if hasattr(value, "detach"):  # a tensor: only the corner leaves the device
        corner = value.detach()[_corner(value.shape)].cpu()
        corner = (corner.float() if corner.is_floating_point() else corner).numpy()
        return _array_text(corner, tuple(value.shape))
    if isinstance(value, np.ndarray):
        return _array_text(np.asarray(value[_corner(value.shape)]), value.shape)
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, np.generic):
        value = value.item()
    return _Short().repr(value)


def _corner(shape):
    """The index of the corner that is shown: of more than two axes, the first of all others."""
    return (0,) * (len(shape) - 2) + (slice(EDGE),) * min(len(shape), 2)


def _array_text(corner, shape):
    text = np.array2string(corner, precision=4, suppress_small=True, max_line_width=100)
    if corner.shape == shape:
        return text
    part = "a corner of " if corner.size < math.prod(shape) else ""
    return f"{text}\n({part}{shape_text(shape)})"


class _Short(reprlib.Repr):
    """Containers of arrays, numbers and text; reprlib bounds their length and depth."""

    def __init__(self):
        super().__init__()
        self.maxstring = self.maxother = 200

    def repr_instance(self, x, level):
        if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "detach"):
            return _value_text(x)
        return repr(x)[: self.maxother]

    def repr_float(self, x, level):
        return f"{x:.6g}"


class _Outline(_Short):
    """As _Short; matrices are named by their shapes, so more of them find room."""

    def __init__(self):
        super().__init__()
        self.maxdict = 20

    def repr_instance(self, x, level):
        if len(getattr(x, "shape", ())) > 1:
            return shape_text(tuple(x.shape))
        return super().repr_instance(x, level)
