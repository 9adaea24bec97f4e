"""Exercise 6.1, Count the pairs."""

import itertools
from collections import Counter

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.tokens import exactly, pair_counts, recognize_exactly

exercise = Exercise(
    "6.1",
    "Count the pairs",
    stars=1,
    stub='''\
def count_pairs(words):
    """How often each pair of neighboring symbols occurs in a text.

    words: a dict from each different word of the text, a tuple of symbols, to how often the text
    has it: {("s", "e", "a", "_"): 6, …}.
    Pairs lie within words. Every two neighbors count, so ("a", "a", "a") has ("a", "a") twice.
    Returns a dict from each pair (left, right) that occurs to its count in the whole text.
    """
    return ...  # your code here
''',
    hints=(
        "Take one word of four symbols. How many pairs of neighbors has it, and which symbol "
        "begins none of them?",
        "The pair that begins at place i is (word[i], word[i + 1]). How far may i go, and how much "
        "does one such pair add to its count?",
        "Go through words.items(), which gives a word and how often it occurs; for each pair of "
        "the word add that number to the pair's count, which begins at 0: counts.get(pair, 0).",
    ),
    notice="A word that occurs six times is looked at once. English texts repeat their words so "
    "much that this alone makes a trainer many times faster.",
)


@exercise.solution
def count_pairs(words):
    counts = {}
    for word, frequency in words.items():
        for i in range(len(word) - 1):
            pair = word[i], word[i + 1]
            counts[pair] = counts.get(pair, 0) + frequency
    return counts


@exercise.right
def by_counter(words):
    counts = Counter()
    for word, frequency in words.items():
        left = word[0]
        for right in word[1:]:
            counts[left, right] += frequency
            left = right
    return counts


@exercise.right
def by_pairwise(words):
    texts = (itertools.pairwise(word) for word, n in words.items() for _ in range(n))
    return Counter(itertools.chain.from_iterable(texts))


def with_pairs(pairs_of, weight=lambda frequency: frequency):
    """An answer that counts the pairs pairs_of(word), each as weight(frequency)."""

    def answer(words):
        counts = Counter()
        for word, frequency in words.items():
            for pair in pairs_of(word):
                counts[pair] += weight(frequency)
        return dict(counts)

    return answer


def neighbors(word):
    """All pairs of neighbors of a word, a list."""
    return list(itertools.pairwise(word))


def without_overlaps(word):
    """The pairs of a word that could be merged: no symbol belongs to two equal ones."""
    chosen, ends = [], {}
    for i, pair in enumerate(neighbors(word)):
        if ends.get(pair) != i:
            chosen.append(pair)
            ends[pair] = i + 1
    return chosen


# The question that a mistake gets, and the answer that makes it
MISTAKES = {
    "Each different word is counted once: how often does the text have it?": (
        with_pairs(neighbors, weight=lambda frequency: 1)
    ),
    "In (a, a, a) your function counts the pair of two a's once. That is how often it could be "
    "merged, and all neighbors count: how many pairs of them are there?": with_pairs(
        without_overlaps
    ),
    "A pair that a word has twice is counted once in it: does a set, or a question such as "
    "`in`, lose the second one?": with_pairs(lambda word: dict.fromkeys(neighbors(word))),
    "The two symbols of a pair stand in the order of the alphabet: is (left, right) the same pair "
    "as (right, left)?": with_pairs(lambda word: [tuple(sorted(p)) for p in neighbors(word)]),
    "The two symbols of each pair are exchanged: which of them stands on the left in the word?": (
        with_pairs(lambda word: [p[::-1] for p in neighbors(word)])
    ),
    "Of each word, the last pair is missing: which symbol is the last to begin a pair?": (
        with_pairs(lambda word: neighbors(word)[:-1])
    ),
    "Of each word, the first pair is missing: does a loop begin at 1?": (
        with_pairs(lambda word: neighbors(word)[1:])
    ),
    "Each word has one pair too many, its last symbol with its first: what does index -1 stand "
    "for?": with_pairs(lambda word: [*neighbors(word), (word[-1], word[0])]),
    "Your pairs are cut from the word two by two, so every second one is missing: may a symbol "
    "belong to two pairs?": with_pairs(lambda word: neighbors(word)[::2]),
    "All pairs of symbols of a word are counted: which two are neighbors?": (
        with_pairs(lambda word: itertools.combinations(word, 2))
    ),
    "The symbols are taken apart into characters again: “se” is one symbol. Is a word joined into "
    "one text somewhere?": with_pairs(lambda word: neighbors("".join(word))),
    "The pairs with “_” are missing: the white space at the end of a word is a symbol, too.": (
        with_pairs(lambda word: [p for p in neighbors(word) if "_" not in p])
    ),
}

register(exercise, MISTAKES)


@exercise.wrong("Pairs lie within words")
def across_words(words):
    symbols = [symbol for word, n in words.items() for _ in range(n) for symbol in word]
    return dict(Counter(neighbors(symbols)))


@exercise.wrong("Pairs lie within words")
def across_different_words(words):
    symbols = [symbol for word in words for symbol in word]
    return dict(Counter(neighbors(symbols)))


@exercise.wrong("replaced by that of the last word")
def replaced(words):
    return {pair: frequency for word, frequency in words.items() for pair in neighbors(word)}


@exercise.wrong("a return that stands inside it")
def first_word_alone(words):
    counts = {}
    for word, frequency in words.items():
        for pair in neighbors(word):
            counts[pair] = counts.get(pair, 0) + frequency
        return counts
    return counts


@exercise.wrong("the key of a pair is a tuple")
def as_one_text(words):
    return {left + right: count for (left, right), count in count_pairs(words).items()}


@exercise.wrong("single symbols are counted")
def of_symbols(words):
    counts = Counter()
    for word, frequency in words.items():
        for symbol in word:
            counts[symbol] += frequency
    return counts


@exercise.wrong("a pair that does not occur")
def with_zeros(words):
    symbols = sorted({symbol for word in words for symbol in word})
    return dict.fromkeys(itertools.product(symbols, symbols), 0) | count_pairs(words)


@exercise.wrong("expected a dict, got a list")
def most_common(words):
    return Counter(count_pairs(words)).most_common()


@exercise.wrong("in place")
def emptied(words):
    counts = Counter()
    while words:
        word, frequency = words.popitem()
        for pair in neighbors(word):
            counts[pair] += frequency
    return counts


@exercise.check
def check(answer):
    words = {
        ("a", "a", "a", "_"): 5,
        ("b", "a", "se", "_"): 3,
        ("e", "b", "a", "b", "a"): 2,
        ("se",): 7,
    }
    expected = count_pairs(words)
    what = "the counts"
    got = unchanged(answer, words)
    if isinstance(got, dict) and got:
        _keys(got, words, expected)
    got = pair_counts(got, what)
    recognize_exactly(
        got,
        expected,
        what,
        results(MISTAKES, words)
        | {
            "The last symbol of a word makes a pair with the first of the next. Pairs lie within "
            "words: where does a word end?": (across_words(words), across_different_words(words)),
            "The count of a pair is replaced by that of the last word that has it: what becomes "
            "of the words before?": replaced(words),
            "Only the pairs of the first word are there: does the loop end in its first turn, with "
            "a return that stands inside it?": first_word_alone(words),
            "There is a pair that does not occur in the text, with the count 0: where does it "
            "come from?": with_zeros(words),
        },
    )
    # The last ones have one word in common, and nothing may be kept from the call before.
    rng = np.random.default_rng(61)
    for size in 0, 1, 2, 6, 20:
        words = {
            tuple(rng.choice(["a", "b", "ab", "ba", "_"], size=rng.integers(1, 7)).tolist()): (
                int(rng.integers(1, 30))
            )
            for _ in range(size)
        }
        expected = count_pairs(words)
        what = f"the counts in a text of {len(words)} different words"
        exactly(pair_counts(unchanged(answer, words), what), expected, what)
    for n in 3, 4:
        words = {("a", "b", "_"): n}
        what = f"the counts in a text of one word that occurs {n} times"
        exactly(pair_counts(unchanged(answer, words), what), count_pairs(words), what)


def _keys(got, words, expected):
    """Look at the keys alone: are they tuples of two symbols?"""
    if dict(got) == of_symbols(words):
        raise Wrong(
            "The single symbols are counted: which two symbols make a pair?", expected, dict(got)
        )
    if all(isinstance(key, str) for key in got):
        raise Wrong(
            "Your keys are texts, and the key of a pair is a tuple, (left, right): as a text, "
            "(“a”, “bc”) and (“ab”, “c”) would be the same pair.",
            expected,
            dict(got),
        )
