"""Exported from notebooks/03_positional_encoding.ipynb by `make export`: edit it there."""

import numpy as np


def sinusoidal(D, N, delta=10000.0):
    """The sinusoidal positional encoding Π, D × N, for positions 0 to N − 1; D must be even.

    Rows 2i and 2i + 1 are the sine and the cosine of n / delta^(2i/D), all in [−1, 1]. Chapter 12,
    "Positional encoding"; the second course's formula, which counts from 1, is the same matrix.
    """
    angles = np.arange(N) / delta ** (np.arange(0, D, 2)[:, None] / D)  # D/2 × N
    Pi = np.empty((D, N))
    Pi[0::2], Pi[1::2] = np.sin(angles), np.cos(angles)
    return Pi


def relative_bias(pi, N):
    """The matrix of a bias for each offset: B[m, n] = pi of the offset m − n, N × N.

    pi: shape (2L − 1,), for the offsets −(L − 1) to L − 1, key position minus query position;
    larger offsets take the end entries. Chapter 12, "Positional encoding".
    """
    L = (len(pi) + 1) // 2
    offset = np.arange(N)[:, None] - np.arange(N)  # keys down, queries across
    return pi[np.clip(offset, 1 - L, L - 1) + L - 1]


def alibi(N, slope):
    """Attention with linear biases, N × N: B[m, n] = −slope · |m − n|, keys down."""
    position = np.arange(N)
    return -slope * np.abs(position[:, None] - position)


def rotary(Q, where, delta=10000.0):
    """Turn each pair of rows (2i, 2i + 1) of column n by the angle where[n] / delta^(2i/D_q).

    Q: queries or keys, D_q × N, D_q even. where: N positions. Returns D_q × N.
    """
    D_q = len(Q)
    angles = where / delta ** (np.arange(0, D_q, 2)[:, None] / D_q)  # D_q/2 × N
    turned = np.empty(Q.shape)
    turned[0::2] = Q[0::2] * np.cos(angles) - Q[1::2] * np.sin(angles)
    turned[1::2] = Q[0::2] * np.sin(angles) + Q[1::2] * np.cos(angles)
    return turned
