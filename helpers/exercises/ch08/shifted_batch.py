"""Exercise 8.2, The same text, one place further on."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import matches, numbers, same, unchanged
from helpers.exercises.shared.mistakes import register, results

exercise = Exercise(
    "8.2",
    "The same text, one place further on",
    stars=1,
    stub='''\
def shifted_batch(texts):
    """What a decoder reads, and what it has to predict, for a batch of texts.

    texts: a list of lists of token numbers, all 3 or larger; a text may be empty. The numbers 0, 1
    and 2 are padding, <start> and <end>.
    Inputs: <start>, then the text. Targets: at each place, the token that follows what has been
    read there; after the whole text, <end>. So <start> is never a target, and <end> never read.
    After that, both are padded with 0 up to the longest text of the batch.
    Returns inputs and targets, whole numbers, each batch × (1 + tokens of the longest text).
    """
    return ...  # your code here
''',
    hints=(
        "Write down the inputs and, below them, the targets of one text of three tokens. How many "
        "places has each row?",
        "The inputs are one token and the text, the targets are the text and one token. Which "
        "tokens are these two?",
        "How many tokens does a text lack to be as long as the longest? So many zeros follow, in "
        "both rows alike.",
    ),
    notice="The notebook shifts the padded batch as a whole, ids[:, :-1] and ids[:, 1:]. Then the "
    "inputs of shorter texts have an <end> as well, which does no harm: what follows it is "
    "padding, and does not count.",
)


@exercise.solution
def shifted_batch(texts):
    longest = max(len(text) for text in texts)
    inputs, targets = [], []
    for text in texts:
        padding = [0] * (longest - len(text))
        inputs.append([1, *text, *padding])
        targets.append([*text, 2, *padding])
    return inputs, targets


@exercise.right
def by_assignment(texts):
    inputs = np.zeros((len(texts), 1 + max(map(len, texts))), dtype=int)
    targets = inputs.copy()
    inputs[:, 0] = 1
    for row, text in enumerate(texts):
        inputs[row, 1 : 1 + len(text)] = text
        targets[row, : len(text)] = text
        targets[row, len(text)] = 2
    return inputs, targets


@exercise.right
def by_one_array(texts):
    ids = np.zeros((len(texts), 2 + max(map(len, texts))), dtype=int)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text) + 2] = [1, *text, 2]
    return np.where(ids == 2, 0, ids)[:, :-1], ids[:, 1:]


def rows(texts, inputs, targets, fill=(0, 0), end=True, longest=max):
    """Rows made of inputs(text) and targets(text), padded at the end or at the start."""
    made = []
    for row_of, filling in (inputs, fill[0]), (targets, fill[1]):
        unpadded = [row_of(text) for text in texts]
        length = longest(map(len, unpadded))
        zeros = [[filling] * (length - len(row)) for row in unpadded]
        pairs = zip(unpadded, zeros, strict=True)
        made.append(np.array([(r + z if end else z + r)[:length] for r, z in pairs]))
    return tuple(made)


def read(text):
    return [1, *text]


def asked(text):
    return [*text, 2]


def shifted_whole(texts):
    """The padded batch shifted as a whole, so that <end> is read."""
    ids, _ = rows(texts, lambda text: [1, *text, 2], asked)
    return ids[:, :-1], ids[:, 1:]


def rolled(texts):
    inputs, _ = rows(texts, read, asked)
    return inputs, np.roll(inputs, -1, axis=1)


# The question to ask, and the wrong answer
MISTAKES = {
    "Your targets are the inputs themselves, so nothing has to be predicted: which token follows "
    "what has been read at a place?": lambda texts: rows(texts, read, read),
    "Your inputs and targets are exchanged: which of the two begins with <start>?": (
        lambda texts: rows(texts, asked, read),
        lambda texts: rows(texts, lambda text: [1, *text], asked)[::-1],
    ),
    "Your targets are the tokens before those that are read: has the text been shifted the wrong "
    "way?": (
        lambda texts: rows(texts, read, lambda text: [0, 1, *text][: 1 + len(text)]),
        lambda texts: rows(texts, read, lambda text: [2, 1, *text][: 1 + len(text)]),
    ),
    "Your targets are two places further on: which token comes right after <start>?": (
        lambda texts: rows(texts, read, lambda text: [*text[1:], 2, 0]),
        lambda texts: rows(texts, read, lambda text: [*text[1:], 2, 2][: 1 + len(text)]),
    ),
    "No target is <end>: how does a decoder learn where to stop?": (
        lambda texts: rows(texts, read, lambda text: [*text, 0]),
        lambda texts: rows(texts, lambda text: [1, *text][: 1 + len(text)], lambda t: [*t, 0]),
    ),
    "Only the longest text has an <end> among its targets: does every text end?": (
        lambda texts: (
            rows(texts, read, asked)[0],
            np.where(
                np.arange(1 + max(map(len, texts))) == max(map(len, texts)),
                rows(texts, read, asked)[1],
                np.where(rows(texts, read, asked)[1] == 2, 0, rows(texts, read, asked)[1]),
            ),
        )
    ),
    "Each row of targets ends in <end>, after its padding: which token follows the last one of a "
    "text?": lambda texts: (
        rows(texts, read, asked)[0],
        rows(texts, read, lambda text: [*text, *[0] * (max(map(len, texts)) - len(text)), 2])[1],
    ),
    "Your inputs do not begin with <start>: from what is the first token of a text predicted?": (
        lambda texts: rows(texts, lambda text: [*text, 0], asked),
        lambda texts: rows(texts, lambda text: [0, *text], asked),
    ),
    "Your inputs have an <end>: what would be predicted after it? It is a target alone.": (
        shifted_whole,
        lambda texts: rows(texts, lambda text: [1, *text, 2], asked),
    ),
    "Your targets have <start> at the end: which token does np.roll, or an index of −1, bring "
    "around?": rolled,
    "Your padding stands at the start: at which end are the texts padded?": (
        lambda texts: rows(texts, read, asked, end=False)
    ),
    "Your targets are padded with −100, as PyTorch often has it. Which number is padding here?": (
        lambda texts: rows(texts, read, asked, fill=(0, -100))
    ),
    "Your padding is <end>: then what follows the end is predicted again and again. Which number "
    "is padding?": (
        lambda texts: rows(texts, read, asked, fill=(2, 2)),
        lambda texts: rows(texts, read, asked, fill=(0, 2)),
    ),
    "All rows are as short as the shortest text: what becomes of the other tokens?": (
        lambda texts: rows(texts, read, asked, longest=min)
    ),
    "<start> and <end> are exchanged: which of them is 1?": (
        lambda texts: rows(texts, lambda text: [2, *text], lambda text: [*text, 1])
    ),
    "The tokens of each text come in reverse order: what is read first?": (
        lambda texts: rows(texts, lambda t: [1, *t[::-1]], lambda t: [*t[::-1], 2])
    ),
    "Both are padded to one place more than the longest text needs: how many tokens are read, with "
    "<start>?": lambda texts: tuple(
        np.pad(ids, ((0, 0), (0, 1))) for ids in rows(texts, read, asked)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("Two results are expected, inputs and targets")
def inputs_alone(texts):
    return rows(texts, read, asked)[0]


@exercise.wrong("have all rows the same length")
def unpadded(texts):
    return [read(text) for text in texts], [asked(text) for text in texts]


@exercise.wrong("which index counts the texts")
def transposed(texts):
    return tuple(ids.T for ids in rows(texts, read, asked))


@exercise.wrong("whole numbers are expected")
def as_floats(texts):
    return tuple(ids / 1 for ids in rows(texts, read, asked))


@exercise.wrong("in place")
def in_place(texts):
    for text in texts:
        text.append(2)
    return rows([text[:-1] for text in texts], read, asked)


@exercise.check
def check(answer):
    check_batch(answer, [[5, 8, 4], [7], [9, 6]])
    rng = np.random.default_rng(82)
    for lengths in [2], [0], [0, 4], [3, 3, 3], [1, 6, 2, 0, 5], [6, 1, 2, 0, 5], [6, 1, 2, 0, 5]:
        check_batch(answer, [rng.integers(3, 99, size).tolist() for size in lengths])


def check_batch(answer, texts):
    got, expected = unchanged(answer, texts), shifted_batch(texts)
    if isinstance(got, dict) or not hasattr(got, "__len__") or len(got) != 2:
        raise Wrong(
            f"Two results are expected, inputs and targets, got {kind(got)}: does your function "
            "end with return inputs, targets?",
            expected,
            got,
        )
    got = tuple(as_arrays(ids, name, expected) for ids, name in zip(got, NAMES, strict=True))
    expected = tuple(map(np.array, expected))
    if not equal(got, expected):
        for question, mistaken in results(MISTAKES, texts).items():
            if any(equal(got, ids) for ids in mistaken):
                raise Wrong(question, expected, got)
        if equal(got, transposed(texts)):
            raise Wrong(
                "Both are transposed, batch × places is asked for: which index counts the texts?",
                expected,
                got,
            )
    for name, ids, right in zip(NAMES, got, expected, strict=True):
        same(ids, right, f"the {name} of {texts}")
        if numbers(ids, right).dtype.kind not in "iu":
            raise Wrong(
                f"The {name} have the right values as floats, and whole numbers are expected: with "
                "them a token is looked up.",
                right,
                ids,
            )


NAMES = "inputs", "targets"


def as_arrays(ids, name, expected):
    """The inputs or the targets as an array, where that can be; or Wrong."""
    if isinstance(ids, (list, tuple)):
        lengths = {len(row) if hasattr(row, "__len__") else -1 for row in ids}
        if len(lengths) > 1:
            raise Wrong(
                f"The rows of your {name} differ in length: have all rows the same length, once "
                "they are padded?",
                expected[NAMES.index(name)],
                ids,
            )
        return np.array(ids) if all(isinstance(row, (list, tuple)) for row in ids) else ids
    return ids


def equal(got, expected):
    """Whether inputs and targets are those."""
    return all(matches(ids, right) for ids, right in zip(got, expected, strict=True))


exercise.equivalent(
    "what begins as an empty list, or as 0, may have either name, and be added to",
    "shifted_batch: * → targets, inputs = ([], [])",
    "by_assignment: * → inputs[:, 0] += 1",
    "by_assignment: * → targets[row, len(text)] += 2",
    "by_one_array: * → row[:len(text) + 2] += [1, *text, 2]",
)
exercise.equivalent(
    "there are as many rows as texts",
    "by_one_array: * → for row, text in zip(ids, texts):",
    "by_one_array: * → for row, text in zip(ids, texts, strict=False):",
)
