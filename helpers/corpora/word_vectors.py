"""Word vectors made by hand: every dimension has a name, so every dot product can be read."""

import csv
from difflib import get_close_matches
from pathlib import Path

import numpy as np

__all__ = ["embed", "load_word_vectors"]

FILE = Path(__file__).parents[2] / "data" / "word_vectors.csv"


def load_word_vectors():
    """The table data/word_vectors.csv as (vectors, names).

    vectors: dict from a word in lower case to its vector, shape (D,), entries between −1 and 1.
    names:   the D names of the dimensions ("place", "food", "pointing back", …), in order.
    """
    with FILE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {row[0]: np.array(row[1:], dtype=float) for row in rows}, header[1:]


def embed(words, vectors):
    """The vectors of `words` as the columns of X, shape D × N.

    Raises ValueError, with one sentence for the learner, for no words or a word without a vector.
    """
    if not words:
        raise ValueError("Type at least one word.")
    for word in words:
        if word not in vectors:
            near = get_close_matches(word, vectors, n=1)
            hint = (
                f"did you mean “{near[0]}”?"
                if near
                else f"try “{'”, “'.join(list(vectors)[3:6])}”."
            )
            raise ValueError(f"The hand-made table has no vector for “{word[:30]}”; {hint}")
    return np.stack([vectors[word] for word in words], axis=1)
