"""Exported from notebooks/07_bert.ipynb by `make export`: edit it there."""

import numpy as np

SPECIAL = ("<pad>", "<cls>", "<sep>", "<mask>")  # the first numbers of the vocabulary


def marked(first, second=()):
    """The tokens of one text or of two, lists of str: <cls> first <sep> second <sep>."""
    return ["<cls>", *first, "<sep>", *second, *["<sep>"] * bool(second)]


def vocabulary(words):
    """From each token to its number: first the special tokens, then the words in order."""
    return {token: n for n, token in enumerate([*SPECIAL, *sorted(set(words))])}


def padded(rows, number):
    """Lists of tokens as numbers, (texts, longest); <pad> fills up the shorter ones."""
    ids = np.full((len(rows), max(map(len, rows))), number["<pad>"])
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = [number[token] for token in row]
    return ids


NOTHING = -100  # the label of a place where nothing is asked; PyTorch's losses leave it out


def hide(ids, V, rng, share=0.15):
    """Make gaps in texts as BERT does; chapter 12, "Pre-training".

    ids: (texts, N), numbers below V. Each word is chosen with the probability `share`; a chosen one
    becomes <mask> in 80 of 100 cases, a random word in 10, and stays in 10.
    Returns (inputs, labels), both like ids: labels hold the chosen words, and NOTHING elsewhere.
    """
    chosen = (ids >= len(SPECIAL)) & (rng.random(ids.shape) < share)
    fate = rng.random(ids.shape)
    inputs = np.where(chosen & (fate < 0.8), SPECIAL.index("<mask>"), ids)
    other = rng.integers(len(SPECIAL), V, ids.shape)
    inputs = np.where(chosen & (fate >= 0.9), other, inputs)
    return inputs, np.where(chosen, ids, NOTHING)
