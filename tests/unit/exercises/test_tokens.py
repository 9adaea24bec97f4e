"""Results that are no arrays: what is accepted, and the words that others get."""

import numpy as np
import pytest

from helpers.exercises.engine.exercise import Wrong
from helpers.exercises.shared.tokens import (
    exactly,
    merged,
    pair_counts,
    pairs,
    recognize_exactly,
    token_numbers,
    tokens,
)


@pytest.mark.parametrize(
    ("symbols", "pair", "expected"),
    [
        ("aaa", ("a", "a"), ["aa", "a"]),
        ("aaaa", ("a", "a"), ["aa", "aa"]),
        ("sees", ("s", "e"), ["se", "e", "s"]),
        (["ab", "c", "a", "bc"], ("a", "bc"), ["ab", "c", "abc"]),
        ("", ("a", "b"), []),
    ],
)
def test_merged(symbols, pair, expected):
    assert merged(symbols, pair) == expected


def test_plain_python_is_made_of_what_holds_the_same():
    assert tokens(np.array(["a", "bc"]), "it") == ["a", "bc"]
    assert pairs((["a", "b"], ("c", "d")), "it") == [("a", "b"), ("c", "d")]
    assert token_numbers(np.array([3, 4], dtype=np.uint8), "it") == [3, 4]
    assert pair_counts({("a", "b"): np.int64(3)}, "it") == {("a", "b"): 3}


@pytest.mark.parametrize(
    ("read", "result", "words"),
    [
        (tokens, None, "It: expected a list of texts, got None: does your function end with"),
        (tokens, "ab", "It: expected a list of texts, got a str."),
        (tokens, ["a", b"b"], "It: expected texts, and b'b' is a bytes."),
        (tokens, np.array(3), "It: expected a list of texts, got an array."),
        (pairs, ["ab"], "It: expected pairs (left, right) of texts, and 'ab' is none."),
        (pairs, [("a", "b", "c")], "of texts, and ('a', 'b', 'c') is none."),
        (token_numbers, [1, 2.5], "It: expected whole numbers, and 2.5 is none."),
        (token_numbers, [True], "It: expected whole numbers, and True is none."),
        (pair_counts, [], "It: expected a dict, got a list."),
        (pair_counts, {"ab": 1}, "of texts, and 'ab' is none."),
        (pair_counts, {("a", "b"): 1.5}, "('a', 'b') has 1.5, where a whole number is expected."),
    ],
)
def test_all_else_gets_a_sentence(read, result, words):
    with pytest.raises(Wrong) as fault:
        read(result, "it")
    assert words in fault.value.sentence


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        ([1, 2], [1, 3], "It: the first difference is at place 1 (counted from 0)."),
        ([1], [1, 3], "It: expected 2, got 1; the first difference is at place 1"),
        ("se", "sea", "It: the first difference is at place 2 (counted from 0)."),
        ({}, {("a", "b"): 1}, "It: the pair ('a', 'b') is missing."),
        ({("a", "b"): 2}, {("a", "b"): 1}, "It: the count of ('a', 'b'): expected 1, got 2."),
        ({("a", "b"): 0}, {}, "It: the pair ('a', 'b') does not occur."),
    ],
)
def test_the_first_difference_is_named(got, expected, words):
    exactly(expected, expected, "it")
    with pytest.raises(Wrong) as fault:
        exactly(got, expected, "it")
    assert words in fault.value.sentence


def test_a_mistake_is_recognized_by_what_it_leads_to():
    with pytest.raises(Wrong, match="Which way"):
        recognize_exactly([2, 1], [1, 2], "it", {"Which way?": ([3], [2, 1])})
    recognize_exactly([1, 2], [1, 2], "it", {"Which way?": [1, 2]})  # right all the same


def test_a_box_shows_the_part_that_differs():
    expected = list(range(30))
    with pytest.raises(Wrong) as fault:
        exactly([*range(20), -1, *range(21, 30)], expected, "it")
    assert fault.value.example == (
        "[…, 16, 17, 18, 19, 20, 21, 22, 23, …]",
        "[…, 16, 17, 18, 19, -1, 21, 22, 23, …]",
    )
    counts = {("a", "b"): 1, ("b", "c"): 2}
    with pytest.raises(Wrong) as fault:
        exactly(counts | {("b", "c"): 3}, counts, "it")
    assert fault.value.example == (
        "{('b', 'c'): 2}\n(where they differ)",
        "{('b', 'c'): 3}\n(where they differ)",
    )
