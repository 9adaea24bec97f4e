"""Exercise 9.7, Right from the first word to the last."""

import copy

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.examples import first_fault
from helpers.exercises.shared.mistakes import register
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "9.7",
    "Right from the first word to the last",
    stars=1,
    stub='''\
def exact_share(written, wanted):
    """The share of translations that are exactly right, from 0 to 1.

    written: whole numbers, texts × N: what a decoder has written after <start>: words, <end>, and
    after it anything, because the other texts of the batch went on; or words alone, if it never
    came to an end.
    wanted: texts × M, M need not be N: the true words, <end>, and padding.
    The numbers 0, 1 and 2 are padding, <start> and <end>.
    A translation is right if it has the true words in their order, and then <end>. There is at
    least one text.
    """
    return ...  # your code here
''',
    hints=(
        "What does a text say, whose row is 8, 5, 2, 7, 7? And is 8, 5 a finished one?",
        "Cut both rows after their first <end>, and compare what is left as a whole. What if a row "
        "that was written has none?",
        "row.tolist() is a list, whose index(2) is the place of the first <end>; `2 in row` says "
        "whether there is one. The mean of truth values is the share of those that are True.",
    ),
    notice="It is a hard measure: one wrong ending, and a sentence counts for nothing. But it "
    "cannot be raised by words that are nearly always right.",
)


@exercise.solution
def exact_share(written, wanted):
    right = 0
    for row, true in zip(written.tolist(), wanted.tolist(), strict=True):
        if 2 in row:
            right += row[: row.index(2)] == true[: true.index(2)]
    return right / len(wanted)


@exercise.right
def by_padding(written, wanted):
    def up_to_end(ids, width):
        ids = np.pad(ids, ((0, 0), (0, width - ids.shape[1])))
        after = np.cumsum(ids == 2, axis=1) - (ids == 2) > 0
        return np.where(after, 0, ids)

    width = max(written.shape[1], wanted.shape[1])
    return (up_to_end(written, width) == up_to_end(wanted, width)).all(axis=1).mean()


@exercise.right
def by_texts(written, wanted):
    pairs = zip(written, wanted, strict=True)
    return sum([*up_to(row)] == [*up_to(true)] for row, true in pairs) / len(written)


def up_to(row):
    """The tokens up to the first <end>, with it."""
    for token in row:
        yield token
        if token == 2:
            return


@exercise.right
def word_by_word(written, wanted):
    def right(row, true):
        for n, token in enumerate(true):
            if n == len(row) or row[n] != token:
                return False
            if token == 2:
                return True

    return np.mean([right(*pair) for pair in zip(written, wanted, strict=True)])


def cut(row):
    """The words before the first <end>, or all."""
    row = [*map(int, row)]
    return row[: row.index(2)] if 2 in row else row


def share(same):
    """A wrong answer: the mean of same(row, true), of all rows."""

    def answer(written, wanted):
        pairs = zip(written.tolist(), wanted.tolist(), strict=True)
        return float(np.mean([same(*pair) for pair in pairs]))

    return answer


def finished(row, true):
    return 2 in row and cut(row) == cut(true)


def of_right(function):
    """A wrong answer: a function of the truth values of all texts."""

    def answer(written, wanted):
        pairs = zip(written.tolist(), wanted.tolist(), strict=True)
        return function(np.array([finished(*pair) for pair in pairs]))

    return answer


def token_share(written, wanted, counted):
    """The share of right tokens, at the places of wanted that are counted."""
    N = min(written.shape[1], wanted.shape[1])
    return float((written[:, :N] == wanted[:, :N])[counted(wanted[:, :N])].mean())


def padded_rows(row, true):
    length = max(len(row), len(true))
    return row + [0] * (length - len(row)) == true + [0] * (length - len(true))


def without_padding(row):
    return [token for token in row if token]


# The question to ask, and the wrong answer
MISTAKES = {
    "Yours is the share of right words: when is a translation right as a whole?": (
        lambda written, wanted: token_share(written, wanted, lambda ids: ids > 2),
        lambda written, wanted: token_share(written, wanted, lambda ids: ids != 0),
        lambda written, wanted: token_share(written, wanted, lambda ids: ids >= 0),
    ),
    "Yours is the mean of each text's share of right words: when is a translation right as a "
    "whole?": share(
        lambda row, true: np.mean([a == b for a, b in zip(cut(row), cut(true), strict=False)] or 1)
    ),
    "In yours what stands after <end> counts, too: where does a text end?": (
        share(padded_rows),
        share(lambda row, true: without_padding(row) == without_padding(true)),
        share(
            lambda row, true: row[: min(len(row), len(true))] == true[: min(len(row), len(true))]
        ),
    ),
    "In yours a text without <end> may be right: is it finished?": (
        share(lambda row, true: cut(row) == cut(true)),
    ),
    "In yours a translation may have more words than the true one, or go on where that ends: when "
    "is it right as a whole?": (
        share(lambda row, true: cut(row)[: len(cut(true))] == cut(true)),
        share(lambda row, true: 2 in row and cut(row)[: len(cut(true))] == cut(true)),
    ),
    "In yours a translation may have fewer words than the true one: when is it right as a whole?": (
        share(lambda row, true: cut(row) == cut(true)[: len(cut(row))]),
        share(lambda row, true: 2 in row and cut(row) == cut(true)[: len(cut(row))]),
    ),
    "In yours only the words that both have are compared: may a translation be shorter or longer "
    "than the true one?": (
        share(lambda row, true: all(a == b for a, b in zip(cut(row), cut(true), strict=False))),
        share(
            lambda row, true: (
                2 in row and all(a == b for a, b in zip(cut(row), cut(true), strict=False))
            )
        ),
    ),
    "In yours the order of the words does not matter: are these the true ones in their order?": (
        share(lambda row, true: 2 in row and sorted(cut(row)) == sorted(cut(true))),
        share(lambda row, true: 2 in row and set(cut(row)) == set(cut(true))),
        share(lambda row, true: sorted(cut(row)) == sorted(cut(true))),
        share(lambda row, true: set(cut(row)) == set(cut(true))),
    ),
    "In yours only the numbers of words are compared: are they the true ones?": (
        share(lambda row, true: len(cut(row)) == len(cut(true))),
        share(lambda row, true: 2 in row and len(cut(row)) == len(cut(true))),
    ),
    "In yours only the first words are compared: when is a translation right as a whole?": share(
        lambda row, true: row[0] == true[0]
    ),
    "In yours texts are cut at their last <end>: which is the one that ends a text?": share(
        lambda row, true: 2 in row and row[: len(row) - 1 - row[::-1].index(2)] == cut(true)
    ),
    "Yours is the number of right translations: what is their share?": of_right(
        lambda right: int(right.sum())
    ),
    "Yours is a share in percent: what is it from 0 to 1?": of_right(
        lambda right: 100 * right.mean()
    ),
    "Yours is the share of wrong translations: which is asked for?": of_right(
        lambda right: 1 - right.mean()
    ),
    "Yours only says whether all translations are right: how many are?": of_right(
        lambda right: float(right.all())
    ),
    "Yours only says whether some translation is right: how many are?": of_right(
        lambda right: float(right.any())
    ),
    "Your share is that of the finished texts alone: does one without <end> not count as wrong?": (
        lambda written, wanted: of_finished(written, wanted)
    ),
    "In yours a translation is right if it is that of any text of the batch: which belongs to "
    "which?": lambda written, wanted: float(
        np.mean([any(finished(row, t) for t in wanted.tolist()) for row in written.tolist()])
    ),
}


def of_finished(written, wanted):
    pairs = zip(written.tolist(), wanted.tolist(), strict=True)
    ended = [finished(row, true) for row, true in pairs if 2 in row]
    return float(np.mean(ended)) if ended else 0.0


register(exercise, MISTAKES)


@exercise.wrong("expected a single number, got a vector of length")
def of_each(written, wanted):
    return of_right(lambda right: right)(written, wanted)


@exercise.wrong("where it never came to an end")
def without_end_refused(written, wanted):
    return np.mean(
        [r[: r.index(2)] == cut(t) for r, t in zip(written.tolist(), wanted, strict=True)]
    )


@exercise.wrong("M need not be N")
def same_width(written, wanted):
    if written.shape[1] != wanted.shape[1]:
        raise ValueError("operands could not be broadcast together with shapes (6,6) (6,5) ")
    return of_right(np.mean)(written, wanted)


@exercise.wrong("in place")
def in_place(written, wanted):
    written[np.cumsum(written == 2, axis=1) > 1] = 0
    return of_right(np.mean)(written, wanted)


ERRORS = {
    "is not in list": "It stops where it never came to an end, in a text without <end>: is such a "
    "translation right?",
    "broadcast": "It stops with an error: M need not be N. How can rows of different lengths be "
    "compared?",
}

# What was written, and the true words
TEXTS = (
    *(("8 5 9 2 7 7 2", "8 5 9"), ("6 4 3 7 2 0 0", "6 4 3 7"), ("5 7 2 2 6 8 2", "5 7")),  # right
    *(("9 6 2 4 4 4 4", "9 6"), ("7 3 5 3 2 0 0", "7 3 5 3")),
    *(("9 5 8 6 4 7 3", "9 5 8 6 4 7 3"), ("4 8 6 5 3 9 9", "4 8 6")),  # without an end
    *(("8 2 5 2 0 0 0", "8 5 4"), ("5 4 2 0 0 0 0", "5 4 4")),  # too short
    *(("7 9 4 4 2 3 2", "7 9 4"), ("6 8 2 2 0 0 0", "6")),  # too long
    *(("5 9 7 2 3 3 3", "5 7 9"), ("4 6 6 2 0 0 0", "6 4 4"), ("9 8 2 0 0 0 0", "8 9")),  # order
    *(("3 5 2 6 6 6 6", "3 8"), ("6 3 9 5 8 2 0", "6 3 9 5 4"), ("8 2 9 3 3 3 3", "3")),
    *(("2 5 8 3 3 3 3", "6 7 5"), ("9 6 2 0 0 0 0", "4 3"), ("3 8 5 2 0 0 0", "8 5 9")),
)


def ids(rows):
    """Rows of numbers between spaces as an array, padded with 0."""
    rows = [[*map(int, row.split())] for row in rows]
    width = max(map(len, rows))
    return np.array([row + [0] * (width - len(row)) for row in rows])


def batch(numbers):
    written, wanted = zip(*(TEXTS[n] for n in numbers), strict=True)
    return ids(written), ids(f"{words} 2" for words in wanted)


@exercise.check
def check(answer):
    rng = np.random.default_rng(99)
    texts = [0, 3, 5, 7, 9, 11, 13, 14, 17], *(rng.permutation(len(TEXTS))[:7] for _ in range(9))
    examples = [*map(batch, texts), *random_batches(rng)]
    found = [run(answer, *inputs, errors=ERRORS) for inputs in examples]
    fault = first_fault(found, exact_share, MISTAKES, examples)
    if fault is None:
        return
    n, question = fault
    expected = exact_share(*examples[n])
    answer(*copy.deepcopy(examples[n]))  # so that its inputs are shown
    if question:
        raise Wrong(question, expected, found[n])
    (texts, N), M = examples[n][0].shape, examples[n][1].shape[1]
    same(found[n], expected, f"the share of {texts} texts, N={N}, M={M}")


def random_batches(rng):
    """Two words, so that many texts are nearly right; some sizes come twice."""
    for texts, longest, N in (
        *((1, 3, 4), (9, 5, 7), (14, 2, 3), (40, 4, 6), (40, 4, 6), (17, 6, 6), (2, 12, 13)),
        *((3, 9, 4), (3, 2, 11)),
    ):
        wanted = [rng.integers(3, 5, rng.integers(1, longest + 1)).tolist() for _ in range(texts)]
        written = rng.integers(3, 5, size=(texts, N))
        for row, text in zip(written, wanted, strict=True):
            end = rng.integers(0, longest + 2) if rng.random() < 0.4 else len(text)
            row[: len(text)] = text[: len(row)]
            row[end : end + 1] = 2
        yield written, ids(f"{' '.join(map(str, text))} 2" for text in wanted)


exercise.equivalent(
    "there are as many texts as rows, and it does not matter which of two equal ones comes first",
    "exact_share: * → for row, true in zip(written.tolist(), wanted.tolist()):",
    "exact_share: * → for row, true in zip(written.tolist(), wanted.tolist(), strict=False):",
    "exact_share: * → return right / len(written)",
    "by_texts: * → pairs = zip(wanted, written, strict=True)",
    "by_texts: * → pairs = zip(written, wanted*)",
    "by_texts: * → *len(wanted)",
    "word_by_word: * → *zip(written, wanted)])",
    "word_by_word: * → *zip(written, wanted, strict=False)])",
)
exercise.equivalent(
    "any width that is large enough will do, and any one thing behind the end",
    "by_padding: * → ids = np.pad(ids, ((0, 0), (1, width - ids.shape[1])))",
    "by_padding: * → return np.where(after, -1, ids)",
    "by_padding: * → return np.where(after, 1, ids)",
    "by_padding: * → width = max(wanted.shape[1], written.shape[1])",
)
