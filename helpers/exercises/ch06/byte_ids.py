"""Exercise 6.4, 256 symbols for everything."""

import unicodedata

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run
from helpers.exercises.shared.tokens import exactly, recognize_exactly, token_numbers

exercise = Exercise(
    "6.4",
    "256 symbols for everything",
    stars=1,
    stub='''\
def byte_ids(text):
    """The symbols of a text before any merge: its bytes in UTF-8, as numbers.

    text: any text; UTF-8 writes each character in one to four bytes.
    Returns the bytes in their order, a list of whole numbers from 0 to 255.
    """
    return ...  # your code here
''',
    hints=(
        "ord(c) numbers characters, and there are more than a million numbers. Which method of a "
        "text makes bytes of it?",
        'text.encode("utf-8") is an object of bytes. What does a loop over it give, single bytes '
        "or numbers?",
        "list makes a list of anything that a loop can run over.",
    ),
    notice="No text is unknown any more, in any script, and the vocabulary starts with 256 "
    "symbols. The price: a Greek letter takes two of them, most Chinese characters three.",
)


@exercise.solution
def byte_ids(text):
    return list(text.encode("utf-8"))


@exercise.right
def by_loops(text):
    ids = []
    for character in text:
        for byte in bytes(character, "utf8"):
            ids.append(byte)
    return ids


@exercise.right
def by_hand(text):
    ids = []
    for code in map(ord, text):
        if code < 0x80:
            ids.append(code)
            continue
        n = 1 + (code >= 0x800) + (code >= 0x10000)  # bytes after the first
        ids.append((0xC0, 0xE0, 0xF0)[n - 1] | code >> 6 * n)
        ids += [0x80 | (code >> 6 * k) & 0x3F for k in reversed(range(n))]
    return ids


@exercise.right
def by_numpy(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


# The question that a mistake gets, and the answers that make it
MISTAKES = {
    "These are the numbers of characters, and “é” has one: bytes end at 255, characters do not. "
    "How many bytes has “é” in UTF-8?": (lambda text: [ord(character) for character in text],),
    "Of characters beyond 255 a part is lost, which does not fit into a byte: in UTF-8 they take "
    "several.": (lambda text: [ord(character) % 256 for character in text],),
    "“é” is a single byte here: which encoding is that, and what does it do with “😀”?": (
        lambda text: list(text.encode("latin-1", errors="replace")),
        lambda text: list(text.encode("cp1252", errors="replace")),
        lambda text: list(text.encode("latin-1", errors="ignore")),
    ),
    "Characters beyond ASCII are lost: is there an `errors` that drops what it cannot encode?": (
        lambda text: list(text.encode("ascii", errors="ignore")),
    ),
    "Characters beyond ASCII have become question marks: which encoding knows all of them?": (
        lambda text: list(text.encode("ascii", errors="replace")),
    ),
    "Characters beyond ASCII are written out as backslashes and digits: bytes can do without, in "
    "UTF-8.": (
        lambda text: list(text.encode("ascii", errors="backslashreplace")),
        lambda text: list(text.encode("unicode_escape")),
    ),
    "These are the bytes of UTF-16, two or four for each character: which encoding does the stub "
    "ask for?": (
        lambda text: list(text.encode("utf-16")),
        lambda text: list(text.encode("utf-16-le")),
        lambda text: list(text.encode("utf-16-be")),
    ),
    "These are the bytes of UTF-32, four for each character: which one does the stub ask for?": (
        lambda text: list(text.encode("utf-32")),
        lambda text: list(text.encode("utf-32-le")),
    ),
    "The first three bytes, 239, 187, 191, are no part of the text: they are a mark that says "
    "“UTF-8”. Which encoding leaves it out?": (lambda text: list(text.encode("utf-8-sig")),),
    "Only the bytes of the first character are there: does the loop end in its first turn, with a "
    "return that stands inside it?": (lambda text: list(text[:1].encode()),),
    "Each character has only its first byte: what becomes of the others?": (
        lambda text: [character.encode()[0] for character in text],
    ),
    "Each byte comes once, in the order of the numbers: is this a vocabulary, or the text?": (
        lambda text: sorted(set(text.encode())),
    ),
    "The bytes come in reverse order: which one is first in the text?": (
        lambda text: list(text.encode()[::-1]),
    ),
    "The “é” that is one character has become an “e” and an accent: which characters does the text "
    "have?": (lambda text: list(unicodedata.normalize("NFD", text).encode()),),
    "An “e” and an accent, two characters, have become the one “é”: which does the text have?": (
        lambda text: list(unicodedata.normalize("NFC", text).encode()),
        lambda text: list(unicodedata.normalize("NFKC", text).encode()),
    ),
    "Capital letters have become small ones: which characters does the text have?": (
        lambda text: list(text.lower().encode()),
        lambda text: list(text.casefold().encode()),
    ),
    "White space is lost: is a blank, or a line break, a character like the others?": (
        lambda text: list("".join(text.split()).encode()),
        lambda text: list(" ".join(text.split()).encode()),
        lambda text: list(text.strip().encode()),
    ),
}

register(exercise, MISTAKES)


@exercise.wrong("an object of bytes")
def as_bytes(text):
    return text.encode("utf-8")


@exercise.wrong("[90] is none")
def in_lists(text):
    return [list(character.encode()) for character in text]


@exercise.wrong("'5a' is none")
def in_hexadecimal(text):
    return [f"{byte:02x}" for byte in text.encode()]


@exercise.wrong("does not know every character")
def in_latin_1(text):
    return list(text.encode("latin-1"))


@exercise.wrong("more than 255")
def bytes_of_numbers(text):
    return list(bytes([ord(character) for character in text]))


ERRORS = {
    "can't encode character": "It stops at a character that its encoding does not know: UTF-8 "
    "knows them all, and yours does not know every character.",
    "range(0, 256)": "The number of a character may be more than 255, and does not fit into a "
    "byte: which method of a text does that for you?",
}


@exercise.check
def check(answer):
    for text in "Zoé😀", "e\u0301 é", " É\n é", "":
        what = f"the bytes of {text!r}"
        got = run(answer, text, errors=ERRORS)
        expected = byte_ids(text)
        if isinstance(got, bytes | bytearray):
            raise Wrong(
                "The result is an object of bytes, which merges could not be carried out in: what "
                "makes a list of numbers of it?",
                expected,
                got,
            )
        recognize_exactly(
            token_numbers(got, what),
            expected,
            what,
            results(MISTAKES, text),
        )
    # From each length of UTF-8 the first character and the last, and any others
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF]
    rng = np.random.default_rng(66)
    codes = [c for c in rng.integers(0x110000, size=40).tolist() if not 0xD800 <= c < 0xE000]
    for text in ("".join(map(chr, edges)), "".join(map(chr, codes)), "walking", "πλοῖο", "船乗り"):
        what = f"the bytes of a text of {len(text)} characters"
        exactly(token_numbers(run(answer, text, errors=ERRORS), what), byte_ids(text), what)
