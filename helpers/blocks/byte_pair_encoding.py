"""Exported from notebooks/06_byte_pair_encoding.ipynb by `make export`: edit it there."""

import heapq
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np


class Vocabulary:
    """Words and their numbers, after special tokens, of which a word is never but "<unknown>".

    words: different str. special: names of the special tokens; one of them is "<unknown>", which
    stands for every word that is not among `words`. Chapter 12, "Tokenization".
    """

    def __init__(self, words, special=("<pad>", "<unknown>")):
        self.tokens = [*special, *words]
        self.special = {name: number for number, name in enumerate(special)}
        self.numbers = {word: number for number, word in enumerate(words, len(special))}

    def __len__(self):
        return len(self.tokens)

    def encode(self, words):
        """The numbers of a list of words, in order."""
        unknown = self.special["<unknown>"]
        return [self.numbers.get(word, unknown) for word in words]

    def decode(self, numbers):
        """The words of a list of numbers; a special token gives its name."""
        return [self.tokens[number] for number in numbers]


def merged(word, pair, new):
    """A word, a tuple, with the symbol `new` for every occurrence of a pair, from left to right."""
    symbols, at = [], 0
    while at < len(word):
        found = word[at : at + 2] == pair
        symbols.append(new if found else word[at])
        at += 1 + found
    return tuple(symbols)


CHARACTERS = map(chr, range(sys.maxunicode + 1))
NUMERALS = "".join(c for c in CHARACTERS if unicodedata.category(c)[0] == "N")  # 7, ², Ⅷ, …
LETTERS = rf"(?:[A-Za-z]+|[^\W_{NUMERALS}])+"
BLANK = r"[^\S\x1c-\x1f]"  # Python's white space has four separators more than Unicode's
WORD = re.compile(
    rf" ?{LETTERS}|'(?:s|t|re|ve|m|ll|d)|[{NUMERALS}]| ?(?:[^\w\s]|[_\x1c-\x1f])+"
    rf"|{BLANK}+(?![^\s{NUMERALS}]|[\x1c-\x1f])|{BLANK}+"
)


def split_words(text):
    """A text cut into words as published GPTs do it; joined, they are the text again.

    A word is letters with at most one blank before them, or punctuation likewise, or one numeral,
    or white space. GPT-2's rule, with every numeral alone.
    """
    return WORD.findall(text)


def merge_in_word(table, index, pair, new):
    """Merge a pair in one word of a PairTable, from left to right; the set of new pairs."""
    word, times, born, at = table.words[index], table.times[index], set(), 0
    while at < len(word) - 1:
        if (word[at], word[at + 1]) == pair:
            word[at : at + 2] = [new]
            if at > 0:  # what stood on the left has a new neighbor
                table.counts[word[at - 1], pair[0]] -= times
                born.add((word[at - 1], new))
                table.add((word[at - 1], new), index)
            if at + 1 < len(word):  # and what stood on the right
                table.counts[pair[1], word[at + 1]] -= times
                born.add((new, word[at + 1]))
                table.add((new, word[at + 1]), index)
        at += 1
    return born


class PairTable:
    """The words of a text, how often each pair occurs in it, and which words may hold the pair.

    words: word, a bytes → how often the text has it. The words become lists of numbers.
    """

    def __init__(self, words):
        self.words, self.times = [list(word) for word in words], list(words.values())
        self.counts, self.where = defaultdict(int), defaultdict(set)
        for index, word in enumerate(self.words):
            for pair in pairwise(word):
                self.add(pair, index)

    def add(self, pair, index):
        """Count a pair of the word with this index."""
        self.counts[pair] += self.times[index]
        self.where[pair].add(index)

    def merge(self, pair, new):
        """Put the symbol `new` for a pair everywhere and mend the counts; the set of new pairs."""
        born = set()
        for index in self.where.pop(pair):
            born |= merge_in_word(self, index, pair, new)
        self.counts[pair] = 0
        return born


def learn_tokens(words, size):
    """Byte pair encoding: tokens for the words of a text, learned by mending counts.

    words: word, a bytes → how often the text has it. size: of the vocabulary, at most; the first
    256 tokens are the bytes. Of equally frequent pairs the one of smaller numbers is merged.
    Returns (tokens, merges): number → bytes, and pairs of bytes in the order they were learned.
    Chapter 12, "Tokenization".
    """
    tokens, merges, table = [bytes([byte]) for byte in range(256)], [], PairTable(words)
    numbers = {token: number for number, token in enumerate(tokens)}
    notes = [(-count, pair) for pair, count in table.counts.items()]
    heapq.heapify(notes)
    while notes and len(tokens) < size:
        count, pair = heapq.heappop(notes)
        now = table.counts[pair]
        if now != -count:  # an outdated note
            heapq.heappush(notes, (-now, pair))
            continue
        if not now:  # of the most frequent pair: nothing is left to merge
            break
        merges.append(tuple(tokens[number] for number in pair))
        new = numbers.setdefault(b"".join(merges[-1]), len(tokens))
        if new == len(tokens):
            tokens.append(b"".join(merges[-1]))
        for other in table.merge(pair, new):
            heapq.heappush(notes, (-table.counts[other], other))
    return tokens, merges


def merged_by_rank(word, ranks):
    """The tokens of one word, a bytes, when of its pairs the first learned is merged first.

    ranks: pair of bytes → its place among the merges. Returns a tuple of bytes.
    """
    symbols = tuple(bytes([byte]) for byte in word)
    while len(symbols) > 1:
        pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, len(ranks)))
        if pair not in ranks:
            break
        symbols = merged(symbols, pair, b"".join(pair))
    return symbols


class BytePairEncoding:
    """Text to numbers and back, by merges in the order in which they were learned.

    tokens: number → token, a bytes; or a str, for a special token, which no text leads to.
    merges: pairs of bytes, the first learned first. Chapter 12, "Tokenization".
    """

    def __init__(self, tokens, merges):
        self.tokens = tokens
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.met = {}  # word → its numbers

    def encode(self, text):
        """The numbers of a text's tokens. A byte that the vocabulary lacks is left out."""
        numbers = []
        for word in split_words(text):
            if word not in self.met:
                kept = bytes(b for b in word.encode("utf-8") if bytes([b]) in self.numbers)
                parts = merged_by_rank(kept, self.ranks)
                self.met[word] = [self.numbers[part] for part in parts]
            numbers += self.met[word]
        return numbers

    def decode(self, numbers):
        """The text of some numbers; bytes that are no UTF-8 become �, specials their names."""
        tokens = (self.tokens[number] for number in numbers)
        parts = (t.encode("utf-8") if isinstance(t, str) else t for t in tokens)
        return b"".join(parts).decode("utf-8", errors="replace")


def learn_encoding(text, size, special=()):
    """A BytePairEncoding learned from a text: at most `size` tokens, and then the special ones."""
    words = {word.encode("utf-8"): times for word, times in Counter(split_words(text)).items()}
    tokens, merges = learn_tokens(words, size)
    return BytePairEncoding([*tokens, *special], merges)


PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
SIGNS = [*map(chr, PRINTABLE), *map(chr, range(256, 256 + len(OTHERS)))]
BYTES = dict(zip(SIGNS, map(int.to_bytes, [*PRINTABLE, *OTHERS]), strict=True))  # sign → byte


def from_signs(token):
    """The bytes of a token in which each is written as one printable sign."""
    return b"".join(BYTES[sign] for sign in token)


def published_encoding(tokens, merges):
    """A BytePairEncoding of a published vocabulary, with printable signs for bytes.

    tokens: list of str. merges: pairs of str, the first learned first. A token that is neither a
    sign nor made by a merge is special.
    """
    ordinary = {*SIGNS, *map("".join, merges)}
    return BytePairEncoding(
        [from_signs(token) if token in ordinary else token for token in tokens],
        [tuple(map(from_signs, pair)) for pair in merges],
    )


def one_hot(numbers, V):
    """The matrix T, V × N: column n is zero but for a one in row numbers[n].

    numbers: N whole numbers from 0 to V − 1. Chapter 12, "Embeddings".
    """
    T = np.zeros((V, len(numbers)))
    T[numbers, np.arange(len(numbers))] = 1
    return T
