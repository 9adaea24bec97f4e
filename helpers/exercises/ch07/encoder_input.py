"""Exercise 7.1, What the encoder reads."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "7.1",
    "What the encoder reads",
    stars=1,
    stub='''\
def encoder_input(pairs):
    """Pairs of texts as the encoder reads them, padded at the end to the length of the longest.

    pairs: a list of at least one (a, b), two lists of words, of which only b may be empty.
    A row is "<cls>", the words of a, "<sep>"; and where b has words, these and one more "<sep>".
    Shorter rows end in as many "<pad>" as the longest row has tokens more.
    Returns (rows, hidden): rows, a list of lists of words; hidden, truth values, batch × N, a list,
    an array or a tensor, True where a place is padding.
    """
    return ...  # your code here
''',
    hints=(
        "Write the first row by hand, without padding. What changes in it where b is empty?",
        "Padding needs a number that no row knows of itself: make all rows first, and then ask for "
        "the length of the longest.",
        'A list times a number repeats it: ["<pad>"] * 3. How many are missing in a row? Once the '
        'rows are padded, hidden asks of each word whether it is "<pad>".',
    ),
    notice="The encoder sees one row of tokens; that two texts stand in it is a thing it has to "
    "learn from <sep>. BERT also adds a vector that says whether a token is of the first text or "
    "of the second.",
)


@exercise.solution
def encoder_input(pairs):
    rows = [["<cls>", *a, "<sep>"] + ([*b, "<sep>"] if b else []) for a, b in pairs]
    longest = max(map(len, rows))
    rows = [row + ["<pad>"] * (longest - len(row)) for row in rows]
    return rows, [[word == "<pad>" for word in row] for row in rows]


@exercise.right
def by_lengths(pairs):
    lengths = np.array([len(a) + len(b) + 2 + (len(b) > 0) for a, b in pairs])
    rows = []
    for a, b in pairs:
        row = ["<cls>", *a, "<sep>", *b]
        if b:
            row.append("<sep>")
        row.extend(["<pad>"] * (max(lengths) - len(row)))
        rows.append(row)
    return rows, np.arange(max(lengths)) >= lengths[:, None]


@exercise.right
def by_texts(pairs):
    texts = [[text for text in pair if text] for pair in pairs]
    rows = [["<cls>", *(word for text in two for word in [*text, "<sep>"])] for two in texts]
    N = max(len(row) for row in rows)
    hidden = np.array([[False] * len(row) + [True] * (N - len(row)) for row in rows])
    return np.array([row + (N - len(row)) * ["<pad>"] for row in rows]), hidden


def padded(rows, more=0, at_start=False, N=0):
    """The rows with padding, at the start if asked, and their mask."""
    N = (N or max(map(len, rows))) + more
    pads = [["<pad>"] * (N - len(row)) for row in rows]
    rows = [pad + row if at_start else row + pad for row, pad in zip(rows, pads, strict=True)]
    return rows, [[word == "<pad>" for word in row] for row in rows]


def joined(pairs, first="<cls>", between=("<sep>",), last="<sep>", empty="<sep>"):
    """The rows before padding; empty is what a row ends in where b is empty."""
    return [
        [first, *a, *([*between, *b, last] if b else [empty])][not first :]
        for a, b in [(a, [*b]) for a, b in pairs]
    ]


def without_nothing(rows):
    """The rows without empty words."""
    return [[word for word in row if word] for row in rows]


# The question to ask, and the wrong (rows, hidden) of the pairs
ROWS = {
    "Where is <cls>? One token in front of each row stands for the whole of it.": lambda pairs: (
        padded(joined(pairs, first=""))
    ),
    "The second text begins with <cls> as well: how many tokens stand for the whole row?": (
        lambda pairs: padded(joined(pairs, between=("<sep>", "<cls>")))
    ),
    "Nothing stands between the two texts: how would the encoder know where the second begins?": (
        lambda pairs: padded(joined(pairs, between=()))
    ),
    "No <sep> follows the second text: does each text end in one?": lambda pairs: padded(
        without_nothing(joined(pairs, last=""))
    ),
    "A text without a second one has no <sep>: does each text end in one, the only one too?": (
        lambda pairs: padded(without_nothing(joined(pairs, empty="")))
    ),
    "No text ends in <sep>, it only stands between two: what follows the last text of a row?": (
        lambda pairs: padded(without_nothing(joined(pairs, last="", empty="")))
    ),
    "There are two <sep> where b is empty: what does a text that is not there end in?": (
        lambda pairs: padded([["<cls>", *a, "<sep>", *b, "<sep>"] for a, b in pairs])
    ),
    "The second text stands in front of the first: in which order does a pair come?": (
        lambda pairs: padded(joined([(b, a) if b else (a, b) for a, b in pairs]))
    ),
    "The second text is missing: what becomes of b?": lambda pairs: padded(
        joined([(a, []) for a, _ in pairs])
    ),
    "The rows have different lengths: what fills the shorter ones, up to the longest?": (
        lambda pairs: (joined(pairs), [[False] * len(row) for row in joined(pairs)])
    ),
    "Padding stands in front of the row: what should be its first token?": lambda pairs: padded(
        joined(pairs), at_start=True
    ),
    "Even the longest row is padded: up to which length?": (
        lambda pairs: padded(joined(pairs), more=1)
    ),
}


def with_mask(mask):
    """The right rows, and their mask changed by `mask`."""

    def answer(pairs):
        rows, hidden = encoder_input(pairs)
        return rows, mask(np.array(rows), np.array(hidden))

    return answer


MASKS = {
    "Your mask is True where a token is, so attention would look at padding and at nothing else: "
    "what does True mark here?": lambda rows, hidden: ~hidden,
    "Your mask marks no place at all, so attention would look at the padding: which places are "
    "padding?": lambda rows, hidden: np.zeros_like(hidden),
    "Your mask hides <cls> and <sep>, too: should attention see them, or are they padding?": (
        lambda rows, hidden: np.char.startswith(rows, "<")
    ),
    "Your mask leaves the first place of padding open: where does padding begin?": (
        lambda rows, hidden: hidden & np.roll(hidden, 1, axis=1)
    ),
    "Your mask hides the last token of a short row: where does padding begin?": (
        lambda rows, hidden: hidden | np.roll(hidden, -1, axis=1) & ~hidden[:, :1]
    ),
    "Your mask is transposed, batch × N is asked for: which index counts the rows?": (
        lambda rows, hidden: hidden.T
    ),
    "Your mask belongs to a score, to which it would be added: here True marks padding, and False "
    "everything else.": lambda rows, hidden: np.where(hidden, -np.inf, 0.0),
}
for question, wrong in ROWS.items():
    exercise.wrong(question)(wrong)
for question, mask in MASKS.items():
    exercise.wrong(question)(with_mask(mask))


@exercise.wrong("truth values")
def mask_of_numbers(pairs):
    rows, hidden = encoder_input(pairs)
    return rows, np.array(hidden).astype(int)


@exercise.wrong("one text instead of a list of words")
def as_text(pairs):
    rows, hidden = encoder_input(pairs)
    return [" ".join(row) for row in rows], hidden


@exercise.wrong("word by word")
def as_letters(pairs):
    rows = [[*"<cls>", *" ".join(a), *"<sep>", *" ".join(b)] for a, b in pairs]
    return padded(rows)


@exercise.wrong("where is hidden")
def without_mask(pairs):
    return encoder_input(pairs)[0]


@exercise.wrong("changes its input pairs in place")
def in_place(pairs):
    for a, _ in pairs:
        a.insert(0, "<cls>")
        a.append("<sep>")
    return padded([a + ([*b, "<sep>"] if b else []) for a, b in pairs])


@exercise.wrong("up to the longest of this batch, or to a fixed length")
def fixed_length(pairs):
    return padded(joined(pairs), N=12)


def parts(got, rows):
    """The two parts of a result, rows as lists of str, or Wrong."""
    if got is None or not isinstance(got, (tuple, list)) or len(got) != 2:
        raise Wrong(
            f"Two things are expected, one after the other, rows and hidden; got {kind(got)}."
        )
    ours, hidden = got
    if isinstance(hidden, (tuple, list)) and "<cls>" in hidden:
        raise Wrong(
            "Two things are expected, one after the other: these are rows, where is hidden?"
        )
    try:
        ours = [row if isinstance(row, str) else [*row] for row in ours]
    except TypeError:
        raise Wrong(f"The rows: expected a list of lists of words, got {kind(ours)}.") from None
    if any(isinstance(row, str) for row in ours):
        raise Wrong(
            "A row is one text instead of a list of words: what does the encoder take, a text or "
            "tokens?",
            rows,
            ours,
        )
    if not all(isinstance(word, str) for row in ours for word in row):
        raise Wrong("A row holds something else than words: what was put into it?")
    return [[*map(str, row)] for row in ours], hidden


def check_pairs(answer, pairs, what):
    """Rows, then mask, for these pairs."""
    rows, hidden = encoder_input(pairs)
    ours, mask = parts(unchanged(answer, pairs), rows)
    if ours != rows:
        for question, wrong in ROWS.items():
            if ours == wrong(pairs)[0]:
                raise Wrong(question, rows, ours)
        if len(ours) != len(rows):
            raise Wrong(
                f"Pairs: {len(rows)}. Rows: {len(ours)}. Is there a row for each pair?",
                rows,
                ours,
            )
        n = next(n for n, row in enumerate(rows) if ours[n] != row)
        where = f"{what}, row {n} (counted from 0)"
        if len(ours[n]) != len(rows[n]):
            more = f"{where}: it has {len(ours[n])} tokens instead of {len(rows[n])}"
            if ours[n][: len(rows[n])] == rows[n]:
                raise Wrong(
                    f"{more}: is it padded up to the longest of this batch, or to a fixed length?",
                    rows[n],
                    ours[n],
                )
            raise Wrong(
                f"{more}: does it hold <cls>, and each text word by word with its <sep>?",
                rows[n],
                ours[n],
            )
        place = next(k for k, word in enumerate(rows[n]) if ours[n][k] != word)
        raise Wrong(f"{where}: the first token that differs is number {place}.", rows[n], ours[n])
    recognize(
        mask,
        np.array(hidden),
        f"{what}: the mask",
        {asks: made(np.array(rows), np.array(hidden)) for asks, made in MASKS.items()},
    )
    if "bool" not in str(getattr(mask, "dtype", np.asarray(mask).dtype)):
        raise Wrong(
            "The mask holds ones and zeros: truth values are asked for, which PyTorch's attention "
            "takes as they are.",
            hidden,
            mask,
        )


@exercise.check
def check(answer):
    question, answered, alone = (
        text.split() for text in ("who paid today ?", "anna paid", "the soup")
    )
    check_pairs(answer, [(question, answered), (alone, [])], "A pair and a text alone")
    check_pairs(answer, [(alone, [])], "A text alone")
    check_pairs(answer, [(alone, []), (answered, alone), (question, alone)], "Three rows")
    rng = np.random.default_rng(71)
    for lengths in ((1, 0),), ((2, 0), (1, 1)), ((9, 7), (3, 0), (1, 2), (6, 0)), ((4, 0), (1, 0)):
        pairs = [[rng.choice(["a", "tram", "it's"], n).tolist() for n in pair] for pair in lengths]
        check_pairs(answer, [(a, b) for a, b in pairs], f"Pairs of {lengths} words")


exercise.equivalent(
    "rows may be lists or an array, and so may hidden",
    "by_texts: * → hidden = [[False] * len(row) + [True] * (N - len(row)) for row in rows]",
    "by_texts: * → return ([row + (N - len(row)) * ['<pad>'] for row in rows], hidden)",
)
