"""Exercise 6.2, Merge a pair."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run
from helpers.exercises.shared.tokens import (
    exactly,
    merged,
    not_one_text,
    recognize_exactly,
    tokens,
    with_overlaps,
)

exercise = Exercise(
    "6.2",
    "Merge a pair",
    stars=2,
    stub='''\
def merge_pair(symbols, pair):
    """Merge a pair of symbols wherever it occurs in a word.

    symbols: a list of symbols, each a text of one or more characters.
    pair: (left, right), two symbols.
    From left to right, a left that is followed by right becomes the one symbol left + right. A
    symbol that is used up is gone: "a", "a", "a" becomes "aa", "a".
    Returns a new list.
    """
    return ...  # your code here
''',
    hints=(
        "Go through the word with a finger. How far does it move after a merge, and how far where "
        "nothing was merged? Which loop lets you choose?",
        "A while loop with a place i of your own: at i either the pair stands, or one symbol is "
        "copied as it is. What is symbols[i : i + 2] where i is the last place?",
        "Compare the two symbols with the pair, not the letters of both together: (“ab”, “c”) and "
        "(“a”, “bc”) are the same letters.",
        "Where the slice of two symbols equals [left, right], append left + right and add 2 to i; "
        "otherwise append symbols[i] and add 1, as long as i < len(symbols).",
    ),
    notice="In “aaa” two pairs were counted, and one was merged. So the count that chose the pair "
    "may promise more than the merge keeps; trainers live with that.",
)


@exercise.solution
def merge_pair(symbols, pair):
    left, right = pair
    result, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == [left, right]:
            result.append(left + right)
            i += 2
        else:
            result.append(symbols[i])
            i += 1
    return result


@exercise.right
def by_iterator(symbols, pair):
    result, waiting = [], None
    for symbol in symbols:
        if (waiting, symbol) == pair:
            result.append(waiting + symbol)
            waiting = None
        else:
            if waiting is not None:
                result.append(waiting)
            waiting = symbol
    return result if waiting is None else [*result, waiting]


@exercise.right
def by_deleting(symbols, pair):
    result = list(symbols)
    place = 0
    while place + 1 < len(result):
        if (result[place], result[place + 1]) == pair:
            result[place : place + 2] = ["".join(pair)]
        place += 1
    return result


@exercise.right
def by_recursion(symbols, pair):
    if not symbols:
        return []
    if tuple(symbols[:2]) == pair:
        return ["".join(pair), *by_recursion(symbols[2:], pair)]
    return [symbols[0], *by_recursion(symbols[1:], pair)]


def from_the_right(symbols, pair):
    backward = merged([s[::-1] for s in symbols[::-1]], (pair[1][::-1], pair[0][::-1]))
    return [symbol[::-1] for symbol in backward[::-1]]


def first_alone(symbols, pair):
    for i in range(len(symbols)):
        if tuple(symbols[i : i + 2]) == pair:
            return [*symbols[:i], "".join(pair), *symbols[i + 2 :]]
    return list(symbols)


def with_right_kept(symbols, pair):
    result = []
    for i, symbol in enumerate(symbols):
        result.append("".join(pair) if tuple(symbols[i : i + 2]) == pair else symbol)
    return result


def as_doubled(symbols, pair):
    result = []
    for i, symbol in enumerate(symbols):
        result += ["".join(pair)] * (tuple(symbols[i : i + 2]) == pair) + [symbol]
    return result


def last_lost(symbols, pair):
    result, i = [], 0
    while i < len(symbols) - 1:
        step = 2 if tuple(symbols[i : i + 2]) == pair else 1
        result.append("".join(symbols[i : i + step]))
        i += step
    return result


def last_kept_twice(symbols, pair):
    return last_lost(symbols, pair) + list(symbols[-1:])


def by_the_letters(symbols, pair):
    result, i = [], 0
    while i < len(symbols):
        step = 2 if "".join(symbols[i : i + 2]) == "".join(pair) else 1
        result.append("".join(symbols[i : i + step]))
        i += step
    return result


def in_characters(symbols, pair):
    return merged("".join(symbols), pair)


def by_left_alone(symbols, pair):
    result, i = [], 0
    while i < len(symbols):
        step = 2 if symbols[i] == pair[0] else 1
        result.append("".join(symbols[i : i + step]))
        i += step
    return result


def in_either_order(symbols, pair):
    result, i = [], 0
    while i < len(symbols):
        step = 2 if tuple(symbols[i : i + 2]) in (pair, pair[::-1]) else 1
        result.append("".join(symbols[i : i + step]))
        i += step
    return result


def backward(symbols, pair):
    return merged(symbols, pair[::-1])


def right_before_left(symbols, pair):
    return [s if s in symbols else pair[1] + pair[0] for s in merged(symbols, pair)]


def removed(symbols, pair):
    return [s for s in merged(symbols, pair) if s != "".join(pair)]


def untouched(symbols, pair):
    return list(symbols)


def merges_alone(symbols, pair):
    return ["".join(pair)] * merged(symbols, pair).count("".join(pair))


# The question that a mistake gets, and the answer that makes it
MISTAKES = {
    "Your symbols overlap: of the three a's in a, a, a, the second is in two symbols. Which "
    "symbols are used up by a merge, and how far on does the next one begin?": with_overlaps,
    "Your merges begin at the end of the word: from which side is a, a, a read?": from_the_right,
    "Only the first place is merged: does the loop go on after a merge?": first_alone,
    "The right symbol of a merged pair is still there, on its own: it is inside the new symbol, "
    "so what does the loop have to skip?": with_right_kept,
    "Both symbols of a merged pair are still there beside the new one: is something appended in "
    "either case?": as_doubled,
    "The last symbol of the word is lost: it begins no pair, and yet it has to be copied.": (
        last_lost
    ),
    "The last symbol comes twice, although it has been used in a merge: which symbols are left "
    "when the loop ends?": last_kept_twice,
    "“ab”, “c” are the letters of the pair (“a”, “bc”) and not its symbols: what do you compare?": (
        by_the_letters
    ),
    "The word was taken apart into characters again, and then merged: what becomes of symbols of "
    "two letters?": in_characters,
    "Whatever follows the left symbol is merged with it: is the right one compared, too?": (
        by_left_alone
    ),
    "The pair is merged in either order: is (e, s) the pair (s, e)?": in_either_order,
    "It is the pair (e, s) that has been merged, not (s, e): which of the two stands first in the "
    "word?": backward,
    "The new symbol has the right one before the left one: left + right, or right + left?": (
        right_before_left
    ),
    "Both symbols of the pair are gone, and nothing has come: what takes their place?": removed,
    "Nothing has been merged: is a slice of a list compared with a tuple, which never equals it?": (
        untouched
    ),
    "The symbols that are in no pair are lost: what becomes of a symbol that does not fit?": (
        merges_alone
    ),
}

register(exercise, MISTAKES)


@exercise.wrong("got None: does your function end with return")
def by_remove(symbols, pair):
    return list(symbols).append("".join(pair))


@exercise.wrong("as one text")
def by_replace(symbols, pair):
    return " ".join(symbols).replace(" ".join(pair), "".join(pair))


@exercise.wrong("inside other symbols")
def by_replace_and_split(symbols, pair):
    return by_replace(symbols, pair).split()


@exercise.wrong("is a tuple")
def pair_as_it_is(symbols, pair):
    return [pair if s == "".join(pair) else s for s in merged(symbols, pair)]


@exercise.wrong("is there one after the last")
def beyond_the_end(symbols, pair):
    result, i = [], 0
    while i < len(symbols):
        if symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            result.append("".join(pair))
            i += 2
        else:
            result.append(symbols[i])
            i += 1
    return result


@exercise.wrong("in place")
def in_place(symbols, pair):
    i = 0
    while i < len(symbols) - 1:
        if tuple(symbols[i : i + 2]) == pair:
            symbols[i : i + 2] = ["".join(pair)]
        i += 1
    return symbols


BEYOND = {
    "list index out of range": "It asks for the symbol after symbols[i]: is there one after the "
    "last? A slice, symbols[i : i + 2], is shorter there and stops with no error."
}


@exercise.check
def check(answer):
    for symbols, pair in (
        (["s", "e", "e", "s", "e", "_"], ("s", "e")),
        (["a", "a", "a", "b", "a", "a"], ("a", "a")),
        (["ab", "c", "b", "a", "bc", "a"], ("a", "bc")),
        (["ba", "a", "b", "a", "ab", "a", "bb"], ("b", "a")),
    ):
        what = f"the symbols of {' '.join(symbols)} with ({', '.join(pair)}) merged"
        got = run(answer, symbols, pair, errors=BEYOND)
        expected = merged(symbols, pair)
        not_one_text(got, expected, "symbol")
        recognize_exactly(
            tokens(got, what),
            expected,
            what,
            results(MISTAKES, symbols, pair)
            | {
                "The pair was found inside other symbols: in the text “ba a b a ab”, where does a "
                "symbol begin?": by_replace_and_split(symbols, pair)
            },
        )
    # The last ones change one input at a time: nothing may be kept from the call before.
    examples = [([], ("a", "b")), (["a"], ("a", "a")), (["b", "a"], ("a", "b"))]
    rng = np.random.default_rng(62)
    for length in 2, 5, 9, 30, 100:
        symbols = rng.choice(["a", "b", "ab"], size=length, p=(0.5, 0.3, 0.2)).tolist()
        examples += [(symbols, pair) for pair in (("a", "a"), ("ab", "a"), ("b", "ab"))]
    for symbols, pair in examples:
        what = f"the symbols of a word of {len(symbols)} with ({', '.join(pair)}) merged"
        got = run(answer, symbols, pair, errors=BEYOND)
        exactly(tokens(got, what), merged(symbols, pair), what)


exercise.equivalent(
    "what waits at the end is the last symbol",
    "by_iterator: * → return result if waiting is None else [*result, symbol]",
)
