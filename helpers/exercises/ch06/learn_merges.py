"""Exercise 6.3, Learn the merges."""

import itertools
import random
from collections import Counter

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run
from helpers.exercises.shared.tokens import merged, pairs, recognize_exactly, with_overlaps

exercise = Exercise(
    "6.3",
    "Learn the merges",
    stars=2,
    stub='''\
def learn_merges(text, count):
    """The first merges that byte pair encoding learns from a text.

    text: its words are text.split(). At first, each word is its characters and, after them, "_"
    for the white space, the last word's too; pairs lie within words.
    count: how many merges to learn; fewer, if every word has become one symbol before.
    Each step counts all pairs of neighbors in the text ("aaa" has two), takes the most frequent
    and merges it in every word, from left to right. Of equally frequent pairs it takes the
    smallest, as Python orders tuples: ("a", "c") before ("b", "a").
    Returns the merges in their order, a list of pairs (left, right).
    """
    return ...  # your code here
''',
    hints=(
        "Three parts: text into words of symbols; counting; merging. You have written the last two "
        "already. What happens again and again, and what only once?",
        "Keep a list of words, each a list of symbols. A step counts their pairs anew, since the "
        "last merge has changed them. What does it have to do if there is no pair at all?",
        "Most frequent first, then the smallest: both are one comparison of tuples. Which sign "
        "turns “the largest count” into “the smallest number”?",
        "min(counts, key=lambda pair: (-counts[pair], pair)) is the pair to merge; append it, and "
        "replace every word by itself with that pair merged.",
    ),
    notice="Nothing in it knows English. The merges are all that has to be kept: with them any "
    "other text can be cut in the same way.",
)


@exercise.solution
def learn_merges(text, count):
    words = [[*word, "_"] for word in text.split()]
    merges = []
    for _ in range(count):
        counts = {}
        for word in words:
            for i in range(len(word) - 1):
                pair = word[i], word[i + 1]
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word in words:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [word[i] + word[i + 1]]
                i += 1
    return merges


@exercise.right
def by_different_words(text, count):
    words = {(*word, "_"): n for word, n in Counter(text.split()).items()}
    merges = []
    while len(merges) < count:
        counts = Counter()
        for word, n in words.items():
            for pair in itertools.pairwise(word):
                counts[pair] += n
        if not counts:
            break
        most = max(counts.values())
        pair = sorted(pair for pair, n in counts.items() if n == most)[0]
        merges.append(pair)
        words = {tuple(merged(word, pair)): n for word, n in words.items()}
    return merges


@exercise.right
def as_the_chapter_has_it(text, count):
    symbols = [symbol for word in text.split() for symbol in [*word, "_"]]
    merges = []
    for _ in range(count):
        counts = Counter(p for p in itertools.pairwise(symbols) if not p[0].endswith("_"))
        if counts:
            _, pair = min((-n, pair) for pair, n in counts.items())
            symbols = merged(symbols, pair)
            merges.append(pair)
    return merges


@exercise.right
def by_recursion(text, count):
    def learn(words, left):
        counts = Counter(itertools.chain.from_iterable(map(itertools.pairwise, words)))
        if not counts or not left:
            return []
        pair = max(sorted(counts), key=counts.get)
        return [pair, *learn([merged(word, pair) for word in words], left - 1)]

    return learn([[*word, "_"] for word in text.split()], count)


def marked(text):
    """The words of a text as lists of characters with the mark at their end."""
    return [[*word, "_"] for word in text.split()]


def neighbors(word):
    """All pairs of neighbors of a word, a list."""
    return list(itertools.pairwise(word))


def smallest(counts):
    """The pair to merge by the rule of the stub."""
    return min(counts, key=lambda pair: (-counts[pair], pair))


def trainer(split=marked, pairs_of=neighbors, choose=smallest, merge=merged, least=1, extra=0):
    """A trainer with these parts. least: the smallest count that is merged. extra: more steps."""

    def answer(text, count):
        words, merges = split(text), []
        for _ in range(count + extra):
            counts = Counter(pair for word in words for pair in pairs_of(word))
            if not counts or max(counts.values()) < least:
                break
            merges.append(choose(counts))
            words = [merge(word, merges[-1]) for word in words]
        return merges

    return answer


def from_the_right(word, pair):
    """A word merged from its end on."""
    result = merged([s[::-1] for s in word[::-1]], (pair[1][::-1], pair[0][::-1]))
    return [s[::-1] for s in result[::-1]]


def once(word, pair):
    """A word in which a pair is merged at its first place alone."""
    for i in range(len(word)):
        if tuple(word[i : i + 2]) == pair:
            return [*word[:i], "".join(pair), *word[i + 2 :]]
    return word


def without_overlaps(word):
    """The pairs of a word that could be merged: no symbol belongs to two equal ones."""
    chosen, ends = [], {}
    for i, pair in enumerate(neighbors(word)):
        if ends.get(pair) != i:
            chosen.append(pair)
            ends[pair] = i + 1
    return chosen


def without_last_mark(text):
    """The words with a mark between them, and none after the last."""
    return [[*word, "_"] for word in text.split()[:-1]] + [list(w) for w in text.split()[-1:]]


def of_the_first_counts(text, count):
    """The most frequent pairs before any merge."""
    counts = Counter(pair for word in marked(text) for pair in neighbors(word))
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:count]


# The question that a mistake gets, and the answers that make it
MISTAKES = {
    "Your pairs reach from one word into the next, across the “_”: how are the words kept apart?": (
        trainer(lambda text: [[symbol for word in marked(text) for symbol in word]]),
    ),
    "A merge with “_” is missing: the white space after a word is a symbol, too. Where does it get "
    "it?": (trainer(lambda text: [list(word) for word in text.split()]),),
    "Your “_” stands before the words: at which end is the white space of a word?": (
        trainer(lambda text: [["_", *word] for word in text.split()]),
        trainer(lambda text: [["_"], *(["_", *word] for word in text.split())]),
    ),
    "The last word has no “_” in your function: does every word get one?": (
        trainer(without_last_mark),
    ),
    "Each different word is counted once: does a word that occurs three times count three times?": (
        trainer(lambda text: [[*word, "_"] for word in dict.fromkeys(text.split())]),
    ),
    "These are the pairs that were most frequent before the first merge: when are they counted "
    "again, with the new symbols?": (of_the_first_counts,),
    "Of equally frequent pairs your function takes the one whose letters come first, left + right "
    "as one text: is that how Python orders two tuples?": (
        trainer(choose=lambda counts: min(counts, key=lambda p: (-counts[p], "".join(p)))),
    ),
    "Your function merges the rarest pair: which one does the stub ask for?": (
        trainer(choose=lambda counts: min(counts, key=lambda pair: (counts[pair], pair))),
    ),
    "Your function takes the smallest pair, however rare it is: what comes first, the count or "
    "the order?": (trainer(choose=min),),
    "The merged symbols overlap: “aaa” becomes “aa”, “a”. Which symbol has been used up?": (
        trainer(merge=with_overlaps),
    ),
    "Words are merged from their end on: of “aaa”, which two become one symbol?": (
        trainer(merge=from_the_right),
    ),
    "In “aaa” your function counts the pair of two a's once. That is how often it could be merged, "
    "and all neighbors count: how many pairs of them are there?": (
        trainer(pairs_of=without_overlaps),
    ),
    "A pair that a word has twice is counted once in it: is there a set, or a question such as "
    "`in`, where every place should count?": (
        trainer(pairs_of=lambda word: dict.fromkeys(neighbors(word))),
    ),
    "In each word a pair is merged at its first place alone: does the merge go on to the end of "
    "the word?": (trainer(merge=once),),
    "Your function stops when no pair occurs twice. Does the stub say so, or does it go on while "
    "there are pairs?": (trainer(least=2),),
    "There is one merge too few: how many turns does the loop make?": (trainer(extra=-1),),
    "There is one merge too many: how many turns does the loop make?": (trainer(extra=1),),
    "Capital letters have become small ones: which characters does the text have?": (
        trainer(lambda text: marked(text.lower())),
    ),
    "Marks such as commas are lost: words are text.split(), and a comma is a character of its "
    "word.": (
        trainer(lambda text: marked("".join(c for c in text if c.isalpha() or c.isspace()))),
    ),
    "The words are cut at single blanks, so that line breaks, or words of no letters, get in: what "
    "does text.split() do without a blank between the parentheses?": (
        trainer(lambda text: [[*word, "_"] for word in text.split(" ")]),
    ),
    "Only the first word is merged or counted: does a loop over the words end too soon?": (
        trainer(lambda text: marked(text)[:1]),
    ),
    "The list ends after its first merge: is there a return inside the loop?": (
        lambda text, count: learn_merges(text, min(count, 1)),
    ),
    "The list begins with its last merge: in which order were they learned?": (
        lambda text, count: learn_merges(text, count)[::-1],
    ),
    "Both symbols of every pair are exchanged: which one stands on the left?": (
        lambda text, count: [(right, left) for left, right in learn_merges(text, count)],
    ),
}

TIED = "ef ab gh cd"  # all pairs are equally frequent
# The same for that text
TIES = {
    "Of equally frequent pairs your function takes the one that occurs first in the text. Which "
    "one does the stub ask for?": (trainer(choose=lambda counts: max(counts, key=counts.get)),),
    "Of equally frequent pairs your function takes the largest: max over tuples (count, pair) "
    "compares both in the same direction. What has to be turned around?": (
        trainer(choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair))),
    ),
    "Of equally frequent pairs your function takes the one that occurs last in the text. Which "
    "one does the stub ask for?": (
        trainer(choose=lambda counts: max([*counts][::-1], key=counts.get)),
    ),
}

register(exercise, MISTAKES | TIES)


@exercise.wrong("left to chance")
def by_chance(text, count):
    def choose(counts):
        return random.choice([p for p in counts if counts[p] == max(counts.values())])

    return trainer(choose=choose)(text, count)


@exercise.wrong("What does it do when every word is one symbol")
def without_an_end(text, count):
    words, merges = marked(text), []
    for _ in range(count):
        counts = Counter(pair for word in words for pair in neighbors(word))
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        words = [merged(word, merges[-1]) for word in words]
    return merges


@exercise.wrong("how many pairs are left")
def last_merge_again(text, count):
    merges = learn_merges(text, count)
    return merges + merges[-1:] * (count - len(merges))


@exercise.wrong("'se' is none")
def as_texts(text, count):
    return ["".join(pair) for pair in learn_merges(text, count)]


@exercise.wrong("expected a list of pairs (left, right), got a dict")
def with_counts(text, count):
    return dict.fromkeys(learn_merges(text, count), 1)


@exercise.wrong("which is the smallest")
def the_longest_first(text, count):
    def choose(counts):
        return min(counts, key=lambda p: (-counts[p], -len("".join(p)), p))

    return trainer(choose=choose)(text, count)


@exercise.wrong("Which words and places are counted")
def by_length_and_count(text, count):
    def choose(counts):
        return min(counts, key=lambda p: (-counts[p] * len("".join(p)), p))

    return trainer(choose=choose)(text, count)


NO_PAIRS = dict.fromkeys(
    ("empty", "arg is an empty", "list index out of range"),
    "It looks for the most frequent pair where there is none. What does it do when every word is "
    "one symbol, and `count` asks for more merges?",
)
RHYME = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see see "
    "see was the bottom of the deep blue sea sea sea"
)


EXAMPLES = (
    ("see sea see the see sea bees", 3),
    (TIED, 8),
    ("ab ab aba ac", 9),
    ("banana bandana banana", 5),
    ("aaa bo bo", 9),
    ("aaab aaab ab", 3),
    ("I see\nthe  Sea, I see.", 30),
    (RHYME, 22),
)


@exercise.check
def check(answer):
    for text, count in EXAMPLES:
        what = f"the merges of “{text[:30]}{'…' * (len(text) > 30)}”"
        got, expected = learned(answer, text, count, what), learn_merges(text, count)
        if got != expected:
            by_luck(answer, text, count, got, expected, what)
        recognize_exactly(
            got,
            expected,
            what,
            results(MISTAKES | (TIES if text == TIED else {}), text, count)
            | ({} if got == expected else {first_difference(got, expected, text): got}),
        )
    # The last ones change one input at a time: nothing may be kept from the call before.
    rng = np.random.default_rng(63)
    texts = [
        " ".join("".join(rng.choice([*"abc"], size=rng.integers(1, 7))) for _ in range(size))
        for size in (1, 3, 8, 20)
    ]
    for text, count in (("", 3), ("a", 0), *((text, n) for text in texts for n in (2, 1, 5, 40))):
        what = f"the merges of a text of {len(text.split())} words, up to {count}"
        got, expected = learned(answer, text, count, what), learn_merges(text, count)
        if got != expected:
            recognize_exactly(got, expected, what, {first_difference(got, expected, text): got})


def learned(answer, text, count, what):
    """The result as a list of pairs, or Wrong."""
    runs_out = len(learn_merges(text, count)) < count
    return pairs(run(answer, text, count, errors=NO_PAIRS if runs_out else {}), what)


def by_luck(answer, text, count, got, expected, what):
    """Raise Wrong if the answer gives another result each time."""
    if any(learned(answer, text, count, what) != got for _ in range(4)):
        raise Wrong(
            "The same text gives different merges each time: a tie is left to chance, or something "
            "is kept from the call before. By which rule is a tie decided?",
            expected,
            got,
        )


def first_difference(got, expected, text):
    """What to say of the first merge that differs, once those before have been carried out."""
    k = next((k for k, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), None)
    if k is None:
        words = f"The list has {len(got)} merges instead of {len(expected)}:"
        if len(got) < len(expected):
            return (
                f"{words} there are still pairs, and more merges are asked for. Where does the "
                "loop end?"
            )
        return f"{words} how many are asked for, and how many pairs are left?"
    words = marked(text)
    for pair in expected[:k]:
        words = [merged(word, pair) for word in words]
    counts = Counter(pair for word in words for pair in neighbors(word))
    wrong, right = (f"({left}, {right})" for left, right in (got[k], expected[k]))
    most = counts[expected[k]]
    merge, then = f"Merge {k}, counted from 0, is {wrong}", " after the merges before" * (k > 0)
    if got[k] not in counts:
        return f"{merge}, and this pair does not occur in a word{then}."
    if counts[got[k]] < most:
        return (
            f"{merge}, whose count is {counts[got[k]]}{then}; that of {right} is {most}. Which "
            "words and places are counted?"
        )
    return f"{merge}; {right} has the same count, {most}: which is the smallest of these pairs?"


exercise.equivalent(
    "all counts are larger by as much, or twice as large, and their order is the same",
    "learn_merges: * → counts[pair] = counts.get(pair, 1) + 1",
    "learn_merges: * → counts[pair] = counts.get(pair, -1) + 1",
    "learn_merges: * → counts[pair] = counts.get(pair, 0) + 2",
)
exercise.equivalent(
    "the last symbol of a word ends in “_” and is the left one of no pair",
    "learn_merges: i = 0 → i = -1",
)
