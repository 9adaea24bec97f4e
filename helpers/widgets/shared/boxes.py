"""Tokens as colored boxes: what is written in them, and their colors."""

import re
from zlib import crc32

from helpers.widgets.shared.text import short, visible

__all__ = ["HUES", "hue", "hues", "token_text"]

HUES = 10  # as many as boxes.css has
SEED = 4317  # with it, “sea” and “see” and what they are merged from differ
LONGEST = 24  # letters of a token
BYTES = re.compile("[\x00-\x08\x0b-\x1f\x7f\udc80-\udcff]")


def token_text(token):
    """A token as it is shown: blanks and controls are made visible, and it is not too long.

    A token may be a text or bytes; bytes that make no letter are written as ⟨C3⟩.
    """
    if isinstance(token, bytes):
        letters = token.decode("utf-8", "surrogateescape")
        token = BYTES.sub(lambda found: f"⟨{ord(found[0]) & 0xFF:02X}⟩", letters)
    shown = visible(str(token)).replace(" ", "␣")
    shown = re.sub(r"\s", lambda found: f"⟨U+{ord(found[0]):04X}⟩", shown)
    return short(shown, LONGEST)


def hue(text):
    """The number of a text's color, the same wherever the text stands."""
    return crc32(text.encode("utf-8", "replace"), SEED) % HUES


def hues(names):
    """name -> the number of its color, as `hue` has it; up to ten names get different ones."""
    chosen = {}
    for name in sorted(set(names)):
        free = set(range(HUES)) - set(chosen.values()) or set(range(HUES))
        chosen[name] = min(free, key=lambda number: (number - hue(name)) % HUES)
    return chosen
