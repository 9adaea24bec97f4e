"""WordPiece as BERT's uncased models use it: from a text to the pieces of a fixed vocabulary."""

import re
import unicodedata

__all__ = ["SPECIAL_PIECES", "WordPiece"]

SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SPECIAL = re.compile("(" + "|".join(map(re.escape, SPECIAL_PIECES)) + ")")
LONGEST_WORD = 100  # longer words become [UNK], in BERT as here
IDEOGRAPHS = (  # first and last code point of the Chinese, Japanese and Korean blocks BERT knows
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Splits a text into words, and each word into the longest pieces the vocabulary has.

    A piece that continues a word starts with ##:

        >>> WordPiece(["[UNK]", "walk", "##ing", "!"]).tokenize("Walking!")
        ['walk', '##ing', '!']

    pieces: the vocabulary; a piece's place in it is its id.
    """

    def __init__(self, pieces):
        self.ids = {piece: number for number, piece in enumerate(pieces)}

    def tokenize(self, text):
        """The pieces of a text, in order; a word that cannot be built from pieces is [UNK].

        [CLS], [SEP], [MASK], [PAD] and [UNK], written like this in the text, stay whole.
        """
        tokens = []
        for part in SPECIAL.split(text):
            if part in SPECIAL_PIECES:
                tokens.append(part)
            else:
                for word in words(normalize(part)):
                    tokens.extend(self.split_word(word))
        return tokens

    def split_word(self, word):
        """The pieces of one word: always the longest that fits what is left of it."""
        if len(word) > LONGEST_WORD:
            return ["[UNK]"]
        pieces = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = prefix + word[start:end]
                if piece in self.ids:
                    break
            else:
                return ["[UNK]"]
            pieces.append(piece)
            start = end
        return pieces


def normalize(text):
    """Lower case, without accents and control characters, with spaces around ideographs."""
    kept = []
    for character in text:
        if character in "\t\n\r" or (character.isspace() and not is_control(character)):
            kept.append(" ")
        elif is_ideograph(character):
            kept.append(f" {character} ")
        elif character != "\ufffd" and not is_control(character):
            kept.append(character)
    # Decomposed, an accent is a character of its own (category Mn) and can be left out.
    decomposed = unicodedata.normalize("NFD", "".join(kept))
    # One by one: Python would otherwise treat a Greek sigma at the end of a word differently.
    return "".join(c.lower() for c in decomposed if unicodedata.category(c) != "Mn")


def words(text):
    """The words of a text; every punctuation mark is a word of its own."""
    return "".join(f" {c} " if is_punctuation(c) else c for c in text).split()


def is_control(character):
    # Not the unassigned ones (Cn): which these are depends on the version of Unicode.
    return unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")


def is_ideograph(character):
    return any(first <= ord(character) <= last for first, last in IDEOGRAPHS)


def is_punctuation(character):
    # BERT counts $, +, <, ^, ` and their like among the punctuation, though Unicode does not.
    in_ascii = "!" <= character <= "~" and not character.isalnum()
    return in_ascii or unicodedata.category(character).startswith("P")
