"""Text that learners type, made ready to be shown: split, visible, and not too long."""

import re
import unicodedata

__all__ = ["name", "sentence", "short", "split_words", "visible"]


# Letters that take no room, and do not shape the letters beside them either.
WIDTHLESS = re.compile(
    "[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
    "\U000e0000-\U000e007f]"
)
LONGEST = 400  # letters of a sentence


def split_words(compute):
    """The function that splits a typed text, then calls compute(words=…, …)."""

    def with_words(words, **parameters):
        words = words.split()
        if not words:
            raise ValueError("Type at least one word.")
        return compute(words=words, **parameters)

    return with_words


def visible(token):
    """A token with a mark for what would not be seen: controls, letters without width, nothing."""
    token = token.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot travel
    token = token.replace("\n", "↵").replace("\t", "⇥")
    # Controls, and the marks that turn the reading direction of all that follows.
    token = re.sub("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\ufffd", token)
    if not token:
        return "∅"
    if not WIDTHLESS.sub("", token):
        return "".join(f"U+{ord(c):04X}" for c in token)
    token = WIDTHLESS.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", token)
    if all(unicodedata.category(c)[0] in "CZM" for c in token):
        return "".join("␣" if c == " " else f"U+{ord(c):04X}" for c in token)
    return token


def sentence(text):
    """Any text as it can be shown and sent, like `visible`; but nothing stays nothing.

    What is longer than any sentence, 400 letters, is cut.
    """
    text = str(text)
    return short(visible(text), LONGEST) if text else ""


def name(text):
    """Any text as the name of a thing: a sentence that is no longer than a label can be."""
    return short(sentence(text))


def short(token, length=40):
    """The token, or its beginning and an ellipsis where it has more than `length` letters."""
    return token if len(token) <= length else token[: length - 1] + "…"
