"""Exercise 6.7, From numbers back to text."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run
from helpers.exercises.shared.tokens import exactly, recognize_exactly

exercise = Exercise(
    "6.7",
    "From numbers back to text",
    stars=2,
    stub='''\
def decode_ids(ids, merges):
    """The text that a list of token numbers stands for.

    ids: a list of whole numbers. 0 to 255 stand for the bytes, 256 + k for what merge k made.
    merges: a list of pairs of such numbers. Merge k, counted from 0, joins the bytes of its two
    tokens, whose numbers are smaller than 256 + k.
    All bytes together are read as UTF-8. A network may choose bytes that are none: these become
    "�" (U+FFFD), as bytes.decode("utf-8", errors="replace") does it.
    Returns a text.
    """
    return ...  # your code here
''',
    hints=(
        "Which bytes does token 256 stand for? And token 257, if merge 1 has token 256 in it? In "
        "which order can you find out about all of them?",
        "A list of 256 single bytes, bytes([0]), bytes([1]), …, grows by one entry for each merge: "
        "what its left token stands for, then what its right one stands for.",
        'Join the bytes of all tokens, b"".join(…), before any of them is read as text: half a '
        "character is no text.",
        'The last line is decode with errors="replace", once, for all bytes.',
    ),
    notice="A token need not be a text. That is why a chat program waits for the next token "
    "where half a character has come.",
)


@exercise.solution
def decode_ids(ids, merges):
    token_bytes = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        token_bytes.append(token_bytes[left] + token_bytes[right])
    data = b"".join(token_bytes[id] for id in ids)
    return data.decode("utf-8", errors="replace")


@exercise.right
def by_taking_apart(ids, merges):
    for k in reversed(range(len(merges))):
        ids = [part for id in ids for part in (merges[k] if id == 256 + k else (id,))]
    return bytes(ids).decode(errors="replace")


@exercise.right
def by_recursion(ids, merges):
    def bytes_of(id):
        if id < 256:
            return bytes([id])
        left, right = merges[id - 256]
        return bytes_of(left) + bytes_of(right)

    return str(b"".join(map(bytes_of, ids)), "utf-8", "replace")


@exercise.right
def by_stack(ids, merges):
    waiting, data = ids[::-1], bytearray()
    while waiting:
        id = waiting.pop()
        if id < 256:
            data.append(id)
        else:
            left, right = merges[id - 256]
            waiting += [right, left]
    return data.decode("utf8", "replace")


def bytes_of(ids, merges):
    """The bytes of each token, a list."""
    known = [bytes([byte]) for byte in range(256)]
    for parts in merges:
        known.append(b"".join(known[part] for part in parts))
    return [known[id] for id in ids]


def without_merges(ids, merges):
    return bytes(id for id in ids if id < 256).decode(errors="replace")


def in_one_step(ids, merges):
    data = b""
    for id in ids:
        pair = merges[id - 256] if id >= 256 else [id]
        data += bytes(part for part in pair if part < 256)
    return data.decode(errors="replace")


# The question that a mistake gets, and the answers that make it
MISTAKES = {
    "Each token has been read as text on its own: what becomes of “é” if its two bytes lie in two "
    "tokens?": (
        lambda ids, merges: "".join(b.decode(errors="replace") for b in bytes_of(ids, merges)),
    ),
    "Each byte has been read as a character, so that “é” becomes “Ã©”: which method of bytes "
    "reads UTF-8?": (
        lambda ids, merges: "".join(chr(b) for b in b"".join(bytes_of(ids, merges))),
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode("latin-1"),
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode("cp1252", errors="replace"),
    ),
    "The numbers have been read as characters: what does token 256 stand for?": (
        lambda ids, merges: "".join(map(chr, ids)),
    ),
    "The merged tokens are lost: what do numbers of 256 and more stand for?": (without_merges,),
    "A token that is made of merged tokens has been taken apart once, and what is still merged in "
    "it is lost: how often does it have to be taken apart?": (in_one_step,),
    "In merged tokens the right one comes before the left one: in which order are the bytes "
    "joined?": (lambda ids, merges: decode_ids(ids, [(right, left) for left, right in merges]),),
    "Each merged number stands for the merge before it: which number has merge 0?": (
        lambda ids, merges: b"".join(bytes_of(ids, [(), *merges])).decode(errors="replace"),
    ),
    "The text comes in reverse order: which token is the first?": (
        lambda ids, merges: decode_ids(ids[::-1], merges),
    ),
    "The last token is lost: does the loop end too soon?": (
        lambda ids, merges: decode_ids(ids[:-1], merges),
    ),
    "Only the first token is there: is there a return inside the loop?": (
        lambda ids, merges: decode_ids(ids[:1], merges),
    ),
    "There are blanks between the tokens: what is joined with what between?": (
        lambda ids, merges: b" ".join(bytes_of(ids, merges)).decode(errors="replace"),
    ),
    "Bytes that are no UTF-8 are lost, where “�” should say that something stood there: which "
    "`errors` does the stub ask for?": (
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode(errors="ignore"),
    ),
    "Bytes that are no UTF-8 are written out with a backslash: which `errors` does the stub ask "
    "for?": (
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode(errors="backslashreplace"),
    ),
    "Bytes that are no UTF-8 have become half of something that no encoding can write again: which "
    "`errors` does the stub ask for?": (
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode(errors="surrogateescape"),
    ),
    "Bytes that are no UTF-8 have become common question marks: which one does the stub ask for?": (
        lambda ids, merges: decode_ids(ids, merges).replace("�", "?"),
    ),
    "Only ASCII has been read: which encoding knows the other characters?": (
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode("ascii", errors="replace"),
        lambda ids, merges: b"".join(bytes_of(ids, merges)).decode("ascii", errors="ignore"),
    ),
    "White space at the ends is lost: are blanks and line breaks part of the text?": (
        lambda ids, merges: decode_ids(ids, merges).strip(),
    ),
}

register(exercise, MISTAKES)


@exercise.wrong("an object of bytes")
def as_bytes(ids, merges):
    return b"".join(bytes_of(ids, merges))


@exercise.wrong("expected a text, got a list")
def as_a_list(ids, merges):
    return [b.decode(errors="replace") for b in bytes_of(ids, merges)]


@exercise.wrong("stops at bytes that are no UTF-8")
def strict(ids, merges):
    return b"".join(bytes_of(ids, merges)).decode("utf-8")


@exercise.wrong("stops at bytes that are no UTF-8")
def strict_token_by_token(ids, merges):
    return "".join(b.decode("utf-8") for b in bytes_of(ids, merges))


@exercise.wrong("does not fit into a byte")
def bytes_of_numbers(ids, merges):
    return bytes(ids).decode("utf-8", errors="replace")


ERRORS = {
    "can't decode": "It stops at bytes that are no UTF-8: are single tokens read, which may hold "
    "half a character, or does errors= lack?",
    "range(0, 256)": "A number of 256 or more does not fit into a byte: which bytes does the token "
    "stand for?",
}
# Merges that make “sea”, “é”, and a token that begins in the middle of “é”
MERGES = [(115, 101), (256, 97), (195, 169), (169, 32), (259, 257)]


@exercise.check
def check(answer):
    for ids, merges in (
        ([32, 258, 32, 257, 33], MERGES),
        ([65, 195, 260, 195, 169, 10], MERGES),
        ([195, 169, 195, 32, 169, 240, 159, 152, 255], []),
    ):
        what = f"the text of {ids}"
        got, expected = text_of(answer, ids, merges, what), decode_ids(ids, merges)
        recognize_exactly(
            got,
            expected,
            what,
            results(MISTAKES, ids, merges),
        )
    # Numbers and merges change one at a time: nothing may be kept from the call before.
    rng = np.random.default_rng(67)
    letters = [*"sea é".encode(), *"😀".encode(), 255]
    for size in 0, 1, 6, 30:
        known, merges = list(letters), []
        while len(merges) < size:
            merges.append(tuple(rng.choice(known, size=2).tolist()))
            known.append(255 + len(merges))
        for length in 0, 1, 3, 20, 20:
            ids = rng.choice(known, size=length).tolist()
            for pairs in merges, [(right, left) for left, right in merges]:
                what = f"the text of {length} tokens with {size} merges"
                exactly(text_of(answer, ids, pairs, what), decode_ids(ids, pairs), what)


def text_of(answer, ids, merges, what):
    """The result as a text, or Wrong."""
    got = run(answer, ids, merges, errors=ERRORS)
    if isinstance(got, bytes | bytearray):
        raise Wrong(
            "The result is an object of bytes: which of its methods makes a text of it?",
            decode_ids(ids, merges),
            got,
        )
    if not isinstance(got, str):
        ends = ": does your function end with return?" if got is None else "."
        raise Wrong(f"{what.capitalize()}: expected a text, got {kind(got)}{ends}")
    return str(got)


exercise.equivalent(
    "no token has the number after the last", "by_taking_apart: * → *range(len(merges) + 1)):"
)
