"""Exported from notebooks/02_matrix_form.ipynb by `make export`: edit it there."""

import numpy as np


def softmax_columns(scores):
    """Softmax of each column of a matrix of scores (keys × queries); each column sums to one.

    The largest score of a column is subtracted first, so that no exponential overflows.
    """
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


def self_attention(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Sa[X] = V · Softmax[KᵀQ], the chapter's matrix form, unscaled; tokens are columns.

    X: D × N. Omega_q, Omega_k: D_q × D. Omega_v: D_v × D. Biases are columns: (D_q, 1), (D_v, 1).
    Returns (outputs, A): outputs D_v × N; A keys × queries, each column sums to one.
    """
    Q = beta_q + Omega_q @ X  # D_q × N
    K = beta_k + Omega_k @ X  # D_q × N
    V = beta_v + Omega_v @ X  # D_v × N
    A = softmax_columns(K.T @ Q)  # N × N
    return V @ A, A


def masked_softmax_columns(scores, mask):
    """Softmax of each column over the keys that may be seen.

    scores: keys × queries. mask: the same shape, True where the query may not see the key.
    A column in which every key is hidden becomes zero: who sees nothing receives nothing.
    """
    scores = np.where(mask, -np.inf, scores)
    largest = scores.max(axis=0)
    largest = np.where(np.isinf(largest), 0.0, largest)  # a column of −∞ has no largest score
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=0)
    return exponentials / np.where(total == 0, 1.0, total)
