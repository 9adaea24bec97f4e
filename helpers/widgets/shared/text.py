"""Text that learners type, made ready to be shown: split, visible, and not too long."""

import re
import unicodedata

__all__ = ["sentence", "short", "split_words", "visible"]


def split_words(compute):
    """The function that splits a typed text, then calls compute(words=…, …)."""

    def with_words(words, **parameters):
        words = words.split()
        if not words:
            raise ValueError("Type at least one word.")
        return compute(words=words, **parameters)

    return with_words


def visible(token):
    """A token with a mark for what would not be seen: controls, blanks, nothing at all."""
    token = token.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot travel
    token = token.replace("\n", "↵").replace("\t", "⇥")
    # Controls, and the marks that turn the reading direction of all that follows.
    token = re.sub("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\ufffd", token)
    if not token:
        return "∅"
    if all(unicodedata.category(c)[0] in "CZM" for c in token):
        return "".join("␣" if c == " " else f"U+{ord(c):04X}" for c in token)
    return token


def sentence(text):
    """Any text as it can be shown and sent, like `visible`; but nothing stays nothing."""
    text = str(text)
    return visible(text) if text else ""


def short(token, length=40):
    """The token, or its beginning and an ellipsis where it has more than `length` letters."""
    return token if len(token) <= length else token[: length - 1] + "…"
