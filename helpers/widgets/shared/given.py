"""What an author hands to a widget, checked: a function, a list of words."""

import numpy as np

__all__ = ["as_list", "function", "words_of"]


def function(given, what):
    """`given`, if it can be called; TypeError, with `what` as its subject, otherwise."""
    if not callable(given):
        raise TypeError(f"{what} should be a function, not {type(given).__name__}.")
    return given


def as_list(given, what):
    """Anything that has items as a list; ValueError, with `what` as its subject, for the rest."""
    if isinstance(given, str | bytes | dict) or not np.iterable(given):
        raise ValueError(f"{what} should be a list, not {type(given).__name__}.")
    return list(given)


def words_of(given, what):
    """A list of texts as strings; ValueError, with `what` as its subject, for anything else."""
    if isinstance(given, str):
        raise ValueError(f"{what} should be a list of words, not one text: use text.split().")
    if not np.iterable(given):
        raise ValueError(f"{what} should be a list of words, not {type(given).__name__}.")
    return [str(text) for text in given]
