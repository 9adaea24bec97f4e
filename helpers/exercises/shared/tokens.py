"""Comparisons for results that are no arrays: tokens, pairs, numbers of tokens, counts of pairs.

`tokens`, `pairs`, `token_numbers` and `pair_counts` make plain Python of a result, or raise Wrong;
`exactly` and `recognize_exactly` compare that, and everything counts, to the last letter.
"""

import numbers

import numpy as np

from helpers.exercises.engine.exercise import Wrong
from helpers.exercises.engine.wording import kind, short

__all__ = [
    "Shown",
    "exactly",
    "merged",
    "not_one_text",
    "pair_counts",
    "pairs",
    "recognize_exactly",
    "token_numbers",
    "tokens",
    "with_overlaps",
]

ROOM = 8  # tokens shown of a list, entries shown of a dict


class Shown:
    """Words that a box shows as they are, without quotation marks around them."""

    def __init__(self, words):
        self._words = words

    def __repr__(self):
        return self._words


def merged(symbols, pair):
    """The symbols with a pair merged from left to right, as a new list."""
    result, i = [], 0
    while i < len(symbols):
        step = 2 if tuple(symbols[i : i + 2]) == pair else 1
        result.append("".join(symbols[i : i + step]))
        i += step
    return result


def with_overlaps(symbols, pair):
    """The mistake of `merged` in which a symbol may be used up twice: merged symbols overlap."""
    result = []
    for i, symbol in enumerate(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            result.append("".join(pair))
        elif not i or tuple(symbols[i - 1 : i + 1]) != pair:
            result.append(symbol)
    return result


def not_one_text(got, expected, of):
    """Raise Wrong if a list is expected of what is named by `of`, and one text has come."""
    if isinstance(got, str):
        raise Wrong(
            f"The result comes as one text, and a list of {of}s is expected: where does one {of} "
            "end and the next begin?",
            expected,
            got,
        )


def tokens(got, what):
    """The result as a list of texts, or Wrong."""
    return [_text(token, what) for token in _items(got, what, "texts")]


def pairs(got, what):
    """The result as a list of pairs of texts, each a tuple, or Wrong."""
    return [_pair(pair, what) for pair in _items(got, what, "pairs (left, right)")]


def token_numbers(got, what):
    """The result as a list of whole numbers, or Wrong."""
    got = _items(got, what, "whole numbers")
    for number in got:
        if not _is_whole(number):
            raise Wrong(f"{_capital(what)}: expected whole numbers, and {short(number)} is none.")
    return [int(number) for number in got]


def pair_counts(got, what):
    """The result as a dict from pairs of texts to whole numbers, or Wrong."""
    if not isinstance(got, dict):
        raise Wrong(f"{_capital(what)}: expected a dict, got {kind(got)}{_return(got)}")
    counts = {}
    for pair, count in got.items():
        pair = _pair(pair, what)
        if not _is_whole(count):
            raise Wrong(
                f"{_capital(what)}: {pair} has {short(count)}, where a whole number is expected."
            )
        counts[pair] = int(count)
    return counts


def recognize_exactly(got, expected, what, mistakes):
    """Raise Wrong unless `got` equals `expected`: with the question of the mistake behind it.

    got, expected: lists, dicts, or texts, as the functions above return them.
    mistakes: dict from the question to ask to the result, or a tuple of the results, that the
              mistake leads to.
    """
    for question, results in mistakes.items():
        results = results if isinstance(results, tuple) else (results,)
        if got != expected and got in results:
            raise Wrong(question, *_where_they_differ(expected, got))
    exactly(got, expected, what)


def exactly(got, expected, what, entry="the count of"):
    """Raise Wrong unless `got` equals `expected`, with the first difference in words.

    entry: what a dict has for a pair.
    """
    if got == expected:
        return
    examples = _where_they_differ(expected, got)
    if isinstance(expected, dict):
        words = _first_entry(got, expected, entry)
    elif isinstance(expected, list) and len(got) != len(expected):
        words = f"expected {len(expected)}, got {len(got)}; {_first_place(got, expected)}"
    else:
        words = _first_place(got, expected)
    raise Wrong(f"{_capital(what)}: {words}.", *examples)


def _items(got, what, of):
    if isinstance(got, np.ndarray) and got.ndim:
        got = got.tolist()
    if not isinstance(got, list | tuple):
        raise Wrong(f"{_capital(what)}: expected a list of {of}, got {kind(got)}{_return(got)}")
    return list(got)


def _text(token, what):
    if not isinstance(token, str):
        raise Wrong(f"{_capital(what)}: expected texts, and {short(token)} is {kind(token)}.")
    return str(token)


def _pair(pair, what):
    if not isinstance(pair, list | tuple) or [isinstance(side, str) for side in pair] != [True] * 2:
        raise Wrong(
            f"{_capital(what)}: expected pairs (left, right) of texts, and {short(pair)} is none."
        )
    return tuple(map(str, pair))


def _is_whole(number):
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


def _first_place(got, expected):
    differ = (a != b for a, b in zip(got, expected, strict=False))
    place = next((i for i, differs in enumerate(differ) if differs), min(len(got), len(expected)))
    return f"the first difference is at place {place} (counted from 0)"


def _first_entry(got, expected, entry):
    for pair, value in expected.items():
        if pair not in got:
            return f"the pair {pair} is missing"
        if got[pair] != value:
            return f"{entry} {pair}: expected {value}, got {short(got[pair])}"
    extra = next(pair for pair in got if pair not in expected)
    return f"the pair {extra} does not occur"


def _where_they_differ(expected, got):
    """Both as a box shows them: of a list the part, of a dict the entries, that differ."""
    if isinstance(expected, dict):
        keys = [key for key in {**expected, **got} if expected.get(key) != got.get(key)][:ROOM]
        note = "\n(where they differ)" if len(keys) < len({**expected, **got}) else ""
        return tuple(
            Shown(f"{ {key: counts[key] for key in keys if key in counts} }{note}")
            for counts in (expected, got)
        )
    if isinstance(expected, list):
        same = [a == b for a, b in zip(expected, got, strict=False)]
        start = max(0, (same.index(False) if False in same else len(same)) - ROOM // 2)
        return tuple(Shown(_part(items, start)) for items in (expected, got))
    return expected, got


def _part(items, start):
    """The items from one on as Python writes them, as many as there is room for."""
    written = ", ".join(map(repr, items[start : start + ROOM]))
    before, after = "…, " * (start > 0), ", …" * (start + ROOM < len(items))
    return f"[{before}{written}{after}]"


def _return(got):
    return ": does your function end with return?" if got is None else "."


def _capital(what):
    return what[0].upper() + what[1:]
