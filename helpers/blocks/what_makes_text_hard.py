"""Exported from notebooks/00_what_makes_text_hard.ipynb by `make export`: edit it there."""

import numpy as np


def convolve(X, Omega, beta):
    """A convolution over words with zero padding, from D × N to D_out × N.

    X: D × N, words as columns. Omega: k × D_out × D, one matrix for each place of the window, k
    odd. beta: D_out × 1.
    """
    k, N = len(Omega), X.shape[1]
    padded = np.pad(X, ((0, 0), (k // 2, k // 2)))
    return beta + sum(Omega[j] @ padded[:, j : j + N] for j in range(k))
