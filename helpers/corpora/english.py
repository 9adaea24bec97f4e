"""Real English that needs no download: the language reference inside every Python."""

import re

__all__ = ["python_reference"]

# A dialog with the interpreter, or a note on versions; headings, grammar rules, code and tables
# need no pattern, as they are not made of sentences.
NOT_PROSE = re.compile(r">>>|\A *\w+ (?:in|since) version \d")
BULLET = re.compile(r"\A( *)(?:\*|\w{1,3}\.|\[\d+\]) ")  # also numbers: 1., IV. or [2]
TERM = re.compile(r"\A( *)\S.*\n(?=\1 +)")  # of a definition list: a line above indented ones
EMPHASIS = re.compile(r"(?<![\w*])(\*\*?)(\w[^*\"]*)\1(?![\w*])")
EMPHASIZED_STEM = re.compile(r"(?<![\w*])\*(\w+)\*(?=\w)")  # *object*s
FOOTNOTE = re.compile(r" \[\d+\]")
SENTENCE_END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!][)”’])) +(?=[(“‘]?[A-Z])")
QUOTE = re.compile(r'(?<!")"(?!")')  # around code; next to another one, part of the code
SENTENCE = re.compile(r"[(“‘]?[A-Z][^\"]*[.?!][)”’]?")
WORD = re.compile(r"[(“‘]*[A-Za-z]+(?:[’'-][A-Za-z]+)*[.,;:?!)”’]*")


def python_reference():
    """The prose of the Python language reference, one paragraph a line: a str.

    It comes with Python itself, for help() to show, and differs a little between versions, so
    nothing may depend on its exact length. Headings, grammar rules, code, tables and repeated
    paragraphs are left out, quotes and asterisks that mark code and emphasis removed.
    © Python Software Foundation, under the PSF license.
    """
    from pydoc_data.topics import topics  # half a million characters, read only on demand

    blocks = [block for topic in topics.values() for block in re.split(r"\n\s*\n", topic)]
    return "\n".join(filter(None, dict.fromkeys(map(prose, blocks))))


def prose(block):
    """The English sentences of one block of the reference, as one line; empty if it has none."""
    if NOT_PROSE.search(block):
        return ""
    block = BULLET.sub(lambda bullet: " " * len(bullet[0]), block.strip("\n"))
    block = re.sub(r"(?<=\w-)\n *", "", TERM.sub("", block))  # left-⏎hand is one word
    text = EMPHASIS.sub(r"\2", " ".join(block.split()))
    text = EMPHASIZED_STEM.sub(r"\1", text)
    text = QUOTE.sub("", FOOTNOTE.sub("", text))
    return " ".join(filter(is_english, SENTENCE_END.split(text)))


def is_english(sentence):
    """Whether it looks like one: a capital, an end mark, and at least four of five are words."""
    pieces = sentence.split()
    words = sum(bool(WORD.fullmatch(piece)) for piece in pieces)
    return bool(SENTENCE.fullmatch(sentence)) and words >= 0.8 * len(pieces)
