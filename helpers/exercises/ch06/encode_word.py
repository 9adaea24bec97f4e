"""Exercise 6.6, Encode a word."""

import itertools
from collections import Counter

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run
from helpers.exercises.shared.tokens import exactly, merged, not_one_text, recognize_exactly, tokens

exercise = Exercise(
    "6.6",
    "Encode a word",
    stars=2,
    stub='''\
def encode_word(word, merges):
    """The tokens of a word under merges that were learned before.

    word: a text with its white space written as "_", such as "sea_".
    merges: a list of pairs (left, right) in the order in which they were learned; no two of them
    make the same token.
    From the characters on, each merge is carried out in this order, wherever it occurs in the
    word, from left to right. A character that no merge knows stays as it is.
    Returns the tokens in their order, a list of texts.
    """
    return ...  # your code here
''',
    hints=(
        "What the trainer did with every word of its text has to be done with this one. What did "
        "it do first, and what did it do after each choice?",
        "The characters come first: list(word). Is it the word, or the list of merges, that the "
        "outer loop runs over?",
        "For one merge after the other: replace the symbols by themselves with this pair merged, "
        "as in exercise 6.2. A merge that does not occur changes nothing.",
    ),
    notice="It takes a step for each merge, though a word has only a handful of pairs. With 48,900 "
    "merges one looks the other way around: which pair of the word was learned first?",
)


@exercise.solution
def encode_word(word, merges):
    symbols = list(word)
    for left, right in merges:
        i = 0
        while i < len(symbols) - 1:
            if symbols[i] == left and symbols[i + 1] == right:
                symbols[i : i + 2] = [left + right]
            i += 1
    return symbols


@exercise.right
def by_rank(word, merges):
    rank = {pair: k for k, pair in enumerate(merges)}
    symbols = list(word)
    while len(symbols) > 1:
        pair = min(itertools.pairwise(symbols), key=lambda pair: rank.get(pair, len(rank)))
        if pair not in rank:
            break
        symbols = merged(symbols, pair)
    return symbols


@exercise.right
def place_by_place(word, merges):
    symbols = [*word]
    while True:
        ranks = [
            (merges.index(pair), i)
            for i, pair in enumerate(itertools.pairwise(symbols))
            if pair in merges
        ]
        if not ranks:
            return symbols
        _, i = min(ranks)
        symbols = [*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]]


@exercise.right
def by_recursion(word, merges):
    def part(symbols, k):
        return part(merged(symbols, merges[k]), k + 1) if k < len(merges) else tuple(symbols)

    return part(word, 0)


def in_text_order(word, merges):
    symbols, i = list(word), 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) in merges:
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
            i = 0
        else:
            i += 1
    return symbols


def in_one_pass(word, merges):
    symbols = []
    for character in word:
        symbols.append(character)
        while len(symbols) > 1 and (symbols[-2], symbols[-1]) in merges:
            symbols[-2:] = [symbols[-2] + symbols[-1]]
    return symbols


def longest_first(word, merges):
    known, symbols = {left + right for left, right in merges}, []
    while word:
        n = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        symbols.append(word[:n])
        word = word[n:]
    return symbols


def backward(word, merges):
    return encode_word(word, merges[::-1])


def backward_by_rank(word, merges):
    return by_rank(word, merges[::-1])


def most_frequent_first(word, merges):
    symbols = list(word)
    while found := [pair for pair in itertools.pairwise(symbols) if pair in merges]:
        counts = Counter(found)
        symbols = merged(symbols, max(counts, key=counts.get))
    return symbols


def once(word, merges):
    symbols = list(word)
    for pair in merges:
        for i in range(len(symbols) - 1):
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
                break
    return symbols


def one_merge(word, merges):
    for pair in merges:
        if pair in itertools.pairwise(word):
            return merged(word, pair)
    return list(word)


def until_one_is_missing(word, merges):
    symbols = list(word)
    for pair in merges:
        if pair not in itertools.pairwise(symbols):
            break
        symbols = merged(symbols, pair)
    return symbols


def overlapping(word, merges):
    symbols = list(word)
    for pair in merges:
        result = []
        for i, symbol in enumerate(symbols):
            if tuple(symbols[i : i + 2]) == pair:
                result.append("".join(pair))
            elif not i or tuple(symbols[i - 1 : i + 1]) != pair:
                result.append(symbol)
        symbols = result
    return symbols


def from_the_right(word, merges):
    symbols = list(word)
    for left, right in merges:
        reverse = merged([s[::-1] for s in symbols[::-1]], (right[::-1], left[::-1]))
        symbols = [s[::-1] for s in reverse[::-1]]
    return symbols


def by_replacing_text(word, merges):
    text = " ".join(word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return text.split(" ") if text else []


def whole_word_first(word, merges):
    known = {left + right for left, right in merges}
    return [word] if word in known else encode_word(word, merges)


def without_unknown(word, merges):
    known = {character for pair in merges for side in pair for character in side}
    return [symbol for symbol in encode_word(word, merges) if set(symbol) <= known]


def with_a_mark_for_unknown(word, merges):
    known = {character for pair in merges for side in pair for character in side}
    return [s if set(s) <= known else "[UNK]" for s in encode_word(word, merges)]


def only_merged(word, merges):
    return [symbol for symbol in encode_word(word, merges) if len(symbol) > 1]


def with_another_mark(word, merges):
    return encode_word(word + "_", merges)


def without_mark(word, merges):
    return encode_word(word.rstrip("_"), merges)


def from_small_letters(word, merges):
    return encode_word(word.lower(), merges)


def last_lost(word, merges):
    return encode_word(word[:-1], merges)


# The question that a mistake gets, and the answers that make it
MISTAKES = {
    "Your merges come in the order in which they meet the eye, from the left of the word on. Which "
    "of the merges that are possible was learned first?": (in_text_order, in_one_pass),
    "The word is a token that some merge makes, and yet these merges do not lead to it: once “a” "
    "and “b” are merged, can “b” and “c” be?": (whole_word_first,),
    "Your tokens are the longest that fit, from the left of the word on: that is WordPiece's way. "
    "In which order are merges carried out?": (longest_first,),
    "The merge that was learned last comes first: which end of the list do you begin at?": (
        backward,
        backward_by_rank,
    ),
    "The merge that occurs most often in this word comes first: counts chose the merges when they "
    "were learned. What decides now?": (most_frequent_first,),
    "Each merge is carried out at its first place alone: does it go on to the end of the word?": (
        once,
    ),
    "A single merge has been carried out: does the loop go on with what it has made?": (one_merge,),
    "Your function stops at the first merge that does not occur in the word: do others, learned "
    "later, occur?": (until_one_is_missing,),
    "A pair was found inside other symbols: once the symbols are joined into one text, where does "
    "one begin?": (by_replacing_text,),
    "The merged symbols overlap: “aaa” becomes “aa”, “a”. Which symbol has been used up?": (
        overlapping,
    ),
    "Symbols are merged from the end of the word on: of “aaa”, which two become one symbol?": (
        from_the_right,
    ),
    "A character that no merge knows is lost: what would the decoder make of the word?": (
        without_unknown,
    ),
    "A character that no merge knows is replaced by another token: the stub lets it stay as it "
    "is.": (with_a_mark_for_unknown,),
    "Symbols that are in no merge are lost: what becomes of a character that stays alone?": (
        only_merged,
    ),
    "There is a “_” that the word does not have: it comes with its mark, and needs no other.": (
        with_another_mark,
    ),
    "The “_” at the end of the word is lost: is it a character like the others?": (without_mark,),
    "The last character is lost: does the loop copy a symbol that begins no pair?": (last_lost,),
    "The word is written in small letters now: which characters does it have?": (
        from_small_letters,
    ),
    "The result is the word's characters, with no merge carried out: does the loop over merges "
    "run, and is a pair compared with a pair?": (lambda word, merges: list(word),),
}

register(exercise, MISTAKES)


@exercise.wrong("where does one token end")
def as_one_text(word, merges):
    return " ".join(encode_word(word, merges))


@exercise.wrong("is an int")
def as_numbers(word, merges):
    return [len(merges) + len(symbol) for symbol in encode_word(word, merges)]


@exercise.wrong("is a merge that does not occur in the word an error")
def by_index(word, merges):
    symbols = list(word)
    for pair in merges:
        i = list(itertools.pairwise(symbols)).index(pair)
        symbols[i : i + 2] = ["".join(pair)]
    return symbols


@exercise.wrong("in place")
def used_up(word, merges):
    symbols = list(word)
    while merges:
        symbols = merged(symbols, merges.pop(0))
    return symbols


NOT_THERE = {
    "is not in list": "It looks for something in a list that does not have it: is a merge that "
    "does not occur in the word an error, or nothing to do?",
}
EXAMPLES = (
    ("asean", [("s", "e"), ("a", "n"), ("se", "an")]),
    ("acabca", [("b", "c"), ("c", "a"), ("bc", "c"), ("a", "c"), ("a", "ca")]),
    ("cbabacb", [("b", "a"), ("c", "ba"), ("c", "b"), ("ba", "c")]),
    ("aaab", [("a", "a"), ("a", "b"), ("aa", "ab")]),
    ("abc", [("a", "b"), ("b", "c"), ("a", "bc")]),
    ("The_", [("e", "_"), ("t", "h"), ("h", "e_")]),
    ("sea", [("s", "e"), ("a", "_")]),
    ("cat", [("d", "o"), ("o", "g"), ("g", "_"), ("do", "g_"), ("a", "t")]),
    ("naïve_", [("v", "e"), ("ve", "_"), ("n", "a")]),
)


@exercise.check
def check(answer):
    for word, merges in EXAMPLES:
        what = f"the tokens of “{word}”"
        got = run(answer, word, merges, errors=NOT_THERE)
        expected = encode_word(word, merges)
        not_one_text(got, expected, "token")
        recognize_exactly(
            tokens(got, what),
            expected,
            what,
            results(MISTAKES, word, merges),
        )
    # Words and merges change one at a time: nothing may be kept from the call before.
    rng = np.random.default_rng(65)
    for size in 0, 1, 4, 40:
        merges = random_merges(rng, size)
        for length in 0, 1, 2, *range(3, 9), 25, 25:
            word = "".join(rng.choice([*"abc"], size=length))
            for known in merges, merges[: size // 2]:
                what = f"the tokens of a word of {length} characters with {len(known)} merges"
                got = tokens(run(answer, word, known, errors=NOT_THERE), what)
                exactly(got, encode_word(word, known), what)


def random_merges(rng, size):
    """So many merges, each of tokens that are there before it and of a token that is not."""
    known, merges = ["a", "b", "c"], []
    while len(merges) < size:
        pair = tuple(rng.choice(known, size=2).tolist())
        if "".join(pair) not in known:
            merges.append(pair)
            known.append("".join(pair))
    return merges


exercise.equivalent(
    "each merge has one rank",
    "by_rank: * → *rank.get(pair, len(merges)))",
    "by_rank: * → if pair not in merges:",
)
