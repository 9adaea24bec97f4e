"""Exercise 6.5, Mend the counts, do not take them again."""

import copy
import itertools
from collections import Counter

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind, short
from helpers.exercises.shared.mistakes import register
from helpers.exercises.shared.tokens import exactly, merged, pair_counts, tokens, with_overlaps

exercise = Exercise(
    "6.5",
    "Mend the counts, do not take them again",
    stars=3,
    stub='''\
def merge_and_update(words, frequencies, counts, where, pair):
    """One step of a fast trainer: merge a pair, and mend all tables where the merge changes them.

    words: a list of the text's different words, each a list of symbols.
    frequencies: a list, how often the text has each of these words.
    counts: a dict from each pair (left, right) that occurs to its count in the whole text, every
    two neighbors counted, also in "aaa".
    where: a dict from each pair that occurs to the set of the indices of the words that have it.
    pair: the pair to merge, from left to right, as in exercise 6.2; it occurs.
    Changes words, counts and where in place, to what they must be after the merge; a pair that no
    longer occurs is then a key of neither dict. Looks at no word that lacks the pair.
    """
    return ...  # your code here
''',
    hints=(
        "where[pair] names the words to be changed. For one of them, write down its pairs before "
        "the merge and after it. What has to be done with the first list, and what with the "
        "second?",
        "Take away all pairs of the old word, each as often as the text has the word; then add all "
        "pairs of the new one. What both have in common cancels, and “aaa” needs no case of its "
        "own.",
        "where[pair] loses its members while you go through it: go through a copy, "
        "list(where[pair]). And take an index away before you add it, so that a pair which only "
        "one place has lost keeps it.",
        "At the end, delete the pairs whose count has come down to 0 from both dicts. Only pairs "
        "of old words can be among them.",
    ),
    notice="Its cost is that of the words that change, whatever the size of the text. With the "
    "most frequent pair kept ready as well, this is how the fast trainers work.",
)


@exercise.solution
def merge_and_update(words, frequencies, counts, where, pair):
    for i in list(where[pair]):  # a copy, since the set itself shrinks
        old, new, k = words[i], [], 0
        while k < len(old):
            step = 2 if tuple(old[k : k + 2]) == pair else 1
            new.append("".join(old[k : k + step]))
            k += step
        gone = [(old[k], old[k + 1]) for k in range(len(old) - 1)]
        come = [(new[k], new[k + 1]) for k in range(len(new) - 1)]
        for two in gone:
            counts[two] -= frequencies[i]
            where[two].discard(i)
        for two in come:
            counts[two] = counts.get(two, 0) + frequencies[i]
            where.setdefault(two, set()).add(i)
        for two in set(gone):
            if counts[two] == 0:
                del counts[two], where[two]
        words[i] = new


@exercise.right
def by_differences(words, frequencies, counts, where, pair):
    changes = Counter()
    for i in sorted(where[pair]):
        new = merged(words[i], pair)
        before, after = Counter(itertools.pairwise(words[i])), Counter(itertools.pairwise(new))
        for two in before | after:
            changes[two] += frequencies[i] * (after[two] - before[two])
            if two in after:
                where.setdefault(two, set()).add(i)
            else:
                where[two].remove(i)
        words[i][:] = new
    for two, change in changes.items():
        counts[two] = counts.get(two, 0) + change
        if not counts[two]:
            counts.pop(two)
            where.pop(two)


@exercise.right
def by_neighbors(words, frequencies, counts, where, pair):
    def change(two, by):
        counts[two] = counts.get(two, 0) + by
        if counts[two] == 0:
            del counts[two]

    touched = where.pop(pair)
    for i in touched:
        word, n, k = words[i], frequencies[i], 0
        for two in itertools.pairwise(word):
            where.get(two, set()).discard(i)
        while k + 1 < len(word):
            if (word[k], word[k + 1]) == pair:
                new = "".join(pair)
                change(pair, -n)
                if k > 0:
                    change((word[k - 1], pair[0]), -n)
                    change((word[k - 1], new), n)
                if k + 2 < len(word):
                    change((pair[1], word[k + 2]), -n)
                    change((new, word[k + 2]), n)
                word[k : k + 2] = [new]
            k += 1
        for two in itertools.pairwise(word):
            where.setdefault(two, set()).add(i)
    for two in [two for two in where if two not in counts]:
        del where[two]


def tables(words, frequencies):
    """counts and where of these words, counted from scratch."""
    counts, where = {}, {}
    for i, (word, frequency) in enumerate(zip(words, frequencies, strict=True)):
        for two in itertools.pairwise(word):
            counts[two] = counts.get(two, 0) + frequency
            where.setdefault(two, set()).add(i)
    return counts, where


def variant(
    merge=merged,
    pairs_of=lambda word: [*itertools.pairwise(word)],
    gone=True,
    come=True,
    weight=lambda frequency: frequency,
    leave=True,
    enter=True,
    late=False,
    tidy=("counts", "where"),
    keep=True,
):
    """The solution with other parts.

    gone, come: whether counts are taken away, and added. leave, enter: the same of where; late:
    whether indices are taken away last. tidy: which dicts lose their empty pairs. keep: whether
    the new word is put into words.
    """

    def answer(words, frequencies, counts, where, pair):
        for i in list(where[pair]):
            new, n = merge(words[i], pair), weight(frequencies[i])
            old_pairs, new_pairs = pairs_of(words[i]), pairs_of(new)

            def take_away(old_pairs=old_pairs, i=i):
                for two in old_pairs if leave else ():
                    where[two].discard(i)

            if not late:
                take_away()
            for two in old_pairs if gone else ():
                counts[two] -= n
            for two in new_pairs if come else ():
                counts[two] = counts.get(two, 0) + n
            for two in new_pairs if enter else ():
                where.setdefault(two, set()).add(i)
            if late:
                take_away()
            if keep:
                words[i] = new
        for two in [two for two in counts if not counts[two]] if "counts" in tidy else ():
            del counts[two]
        for two in [two for two in where if not where[two]] if "where" in tidy else ():
            del where[two]

    return answer


def only_the_pair(words, frequencies, counts, where, pair):
    for i in where.pop(pair):
        words[i] = merged(words[i], pair)
    del counts[pair]


def neighbors_of_the_old_word(words, frequencies, counts, where, pair):
    """Each place changes the counts at its sides as they were before the word's other merges."""
    fresh = variant(gone=False, come=False, tidy=())
    for i in where[pair]:
        word, new, n = words[i], "".join(pair), frequencies[i]
        for k in range(len(word) - 1):
            if tuple(word[k : k + 2]) == pair:
                for two, by in (
                    (pair, -n),
                    *([((word[k - 1], pair[0]), -n), ((word[k - 1], new), n)] if k else []),
                    *(
                        [((pair[1], word[k + 2]), -n), ((new, word[k + 2]), n)]
                        if k + 2 < len(word)
                        else []
                    ),
                ):
                    counts[two] = counts.get(two, 0) + by
    fresh(words, frequencies, counts, where, pair)
    for two in [two for two in counts if not counts[two]]:
        del counts[two]
    for two in [two for two in where if not where[two]]:
        del where[two]


# The question that a mistake gets, and the answer that makes it
MISTAKES = {
    "Only the pair itself is gone from the tables. Its neighbors have a new neighbor now: which "
    "pairs go, and which come?": only_the_pair,
    "In counts, pairs of the old words are still there: which of them has the merge broken up?": (
        variant(gone=False)
    ),
    "In counts, the new pairs are missing: who are the neighbors of the new symbol?": (
        variant(come=False)
    ),
    "Each word changes counts by 1: how often does the text have it?": (
        variant(weight=lambda frequency: 1)
    ),
    "A pair that a word has twice changes counts once: is there a set, or a question such as `in`, "
    "where every place should count?": (
        variant(pairs_of=lambda word: dict.fromkeys(itertools.pairwise(word)))
    ),
    "Counts come out wrong where two merges touch: in “anan”, what stands at the left of the "
    "second place once the first is merged?": neighbors_of_the_old_word,
    "In where, words still have pairs that the merge has broken up: which indices have to go?": (
        variant(leave=False)
    ),
    "In where, no word has the new pairs: which indices have to come?": variant(enter=False),
    "In where, a word has lost a pair that it still has at another place: what happens if indices "
    "are taken away first, and added afterwards?": variant(late=True),
    "A pair that no longer occurs still has the count 0: it should be no key of counts.": (
        variant(tidy=("where",))
    ),
    "A pair that no longer occurs still has an empty set: it should be no key of where.": (
        variant(tidy=("counts",))
    ),
    "Pairs that no longer occur are still keys of both dicts, with 0 and an empty set: when are "
    "they deleted?": variant(tidy=()),
    "The tables are mended, and words still has its old words: where do the new ones go?": (
        variant(keep=False)
    ),
    "The merged symbols overlap: “aaa” becomes “aa”, “a”. Which symbol has been used up?": (
        variant(merge=with_overlaps)
    ),
}

register(exercise, MISTAKES)


@exercise.wrong("is what you compute put into")
def in_copies(words, frequencies, counts, where, pair):
    copies = copy.deepcopy((words, frequencies, counts, where))
    merge_and_update(*copies, pair)
    return copies


@exercise.wrong("is what you compute put into")
def by_new_names(words, frequencies, counts, where, pair):
    words = [merged(words[i], pair) if i in where[pair] else [] for i in range(len(frequencies))]
    counts, where = tables(words, frequencies)
    return words, counts, where


@exercise.wrong("which lacks the pair")
def counted_anew(words, frequencies, counts, where, pair):
    words[:] = [merged(word, pair) for word in words]
    for table, new in zip((counts, where), tables(words, frequencies), strict=True):
        table.clear()
        table.update(new)


@exercise.wrong("which lacks the pair")
def searched_for(words, frequencies, counts, where, pair):
    where[pair] = {i for i in range(len(words)) if pair in itertools.pairwise(words[i])}
    merge_and_update(words, frequencies, counts, where, pair)


@exercise.wrong("while a loop runs over it")
def over_the_set_itself(words, frequencies, counts, where, pair):
    for i in where[pair]:
        for two in itertools.pairwise(words[i]):
            where[two].discard(i)
            counts[two] -= frequencies[i]


@exercise.wrong("while a loop runs over it")
def over_the_dict_itself(words, frequencies, counts, where, pair):
    variant(tidy=("where",))(words, frequencies, counts, where, pair)
    for two, count in counts.items():
        if not count:
            del counts[two]


@exercise.wrong("Frequencies have changed")
def with_frequencies_used_up(words, frequencies, counts, where, pair):
    touched = list(where[pair])
    merge_and_update(words, frequencies, counts, where, pair)
    for i in touched:
        frequencies[i] = 0


@exercise.wrong("expected a set of indices")
def with_lists(words, frequencies, counts, where, pair):
    merge_and_update(words, frequencies, counts, where, pair)
    where.update({two: sorted(indices) for two, indices in where.items()})


class Watched(list):
    """A list that knows which of its items have been read."""

    def __init__(self, items):
        super().__init__(items)
        self.read = set()

    def __getitem__(self, index):
        self.read.update(np.atleast_1d(np.arange(len(self))[index]).tolist())
        return super().__getitem__(index)

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __deepcopy__(self, memo):
        self.read.clear()  # the engine reads all of it when it notes the inputs, then copies it
        return [copy.deepcopy(item, memo) for item in list.__iter__(self)]


@exercise.check
def check(answer):
    for words, frequencies, pair in (
        (["babank", "anana", "tha_"], [2, 5, 3], ("a", "n")),
        (["aaab", "baaaa", "aba", "b_"], [3, 2, 7, 4], ("a", "a")),
    ):
        words = [[*word] for word in words]
        what = f"after merging ({', '.join(pair)})"
        step(answer, words, frequencies, *tables(words, frequencies), pair, what)
    # Step after step on the same tables, as a trainer does it
    rng = np.random.default_rng(64)
    for size in 1, 4, 12:
        texts = {"".join(rng.choice([*"abc"], size=rng.integers(2, 9))) for _ in range(size)}
        words = [[*text] for text in sorted(texts)]
        frequencies = rng.integers(1, 30, size=len(words)).tolist()
        counts, where = tables(words, frequencies)
        for k in range(6):
            if not counts:
                break
            pair = min(counts, key=lambda pair: (-counts[pair], pair))
            what = f"after merge {k + 1} of {len(words)} words, ({', '.join(pair)})"
            words, counts, where = step(answer, words, frequencies, counts, where, pair, what)


def step(answer, words, frequencies, counts, where, pair, what):
    """Let the answer carry out one merge, and return words, counts and where, or raise Wrong."""
    before = words, counts, where
    new_words = [merged(word, pair) for word in words]
    expected = new_words, *tables(new_words, frequencies)
    given = Watched(copy.deepcopy(words)), [*frequencies], *copy.deepcopy((counts, where))
    try:
        answer(*given, pair)
    except RuntimeError as error:
        if "during iteration" in str(error):
            raise Wrong(
                "A set or a dict changes its size while a loop runs over it. What if the loop ran "
                "over a copy?"
            ) from None
        raise
    read, got = set(given[0].read), after(given, what)
    if got == before:
        raise Wrong(
            f"{what.capitalize()}, words, counts and where are as they were before: is what you "
            "compute put into these three, or into others of the same name?"
        )
    for question, mistaken in MISTAKES.items():
        tried = copy.deepcopy((words, frequencies, counts, where))
        mistaken(*tried, pair)
        if got != expected and got == (tried[0], *tried[2:]):
            table = next(k for k in (1, 2, 0) if got[k] != expected[k])
            raise_difference(got[table], expected[table], question)
    exactly(got[0], expected[0], f"words {what}")
    exactly(got[1], expected[1], f"counts {what}")
    exactly(got[2], expected[2], f"where {what}", entry="the words that have")
    if given[1] != frequencies:
        raise Wrong(
            f"Frequencies have changed {what}: does a merge change how often the text has a word?",
            frequencies,
            given[1],
        )
    needless = sorted(read - where[pair])
    if needless:
        raise Wrong(
            f"Your function looks at the word {' '.join(words[needless[0]])}, which lacks the pair "
            f"({', '.join(pair)}): which words can a merge change, and where do you find them?"
        )
    return expected


def after(given, what):
    """What the answer has made of words, counts and where, or Wrong."""
    words, _, counts, where = given
    words = [tokens(word, f"a word {what}") for word in list.__iter__(words)]
    for pair, indices in where.items():
        if not isinstance(indices, set | frozenset):
            raise Wrong(
                f"Where {what}: expected a set of indices for each pair, got {kind(indices)} for "
                f"{short(pair)}."
            )
    return words, pair_counts(counts, f"counts {what}"), where


def raise_difference(got, expected, question):
    """Raise Wrong with this question and what differs in a table."""
    try:
        exactly(got, expected, "the table")
    except Wrong as fault:
        fault.sentence = question
        raise


exercise.equivalent(
    "only pairs of old words can have the count 0",
    "merge_and_update: * → for two in set(counts):",
    "merge_and_update: * → for two in set(where):",
)
exercise.equivalent(
    "a pair has the count 0 where no word has it",
    "by_differences: * → if not where[two]:",
)
exercise.equivalent("of two symbols, 1 is also −1", "by_neighbors: * → change((pair[-1], *")
