"""What several exercises compute: right results to compare with, and random inputs.

Tokens are columns. `parameters` are Omega_q, beta_q, Omega_k, beta_k, Omega_v and beta_v, the
inputs of a self-attention after X.
"""

import numpy as np

__all__ = ["project", "random_parameters", "self_attention", "softmax_columns"]


def softmax_columns(scores):
    """The softmax along axis 0, of the same shape as scores, M × N or (M,)."""
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


def project(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Queries D_q × N, keys D_q × N and values D_v × N of the tokens X, D × N."""
    return beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X


def self_attention(X, *parameters):
    """The outputs of self-attention without scaling, D_v × N."""
    Q, K, V = project(X, *parameters)
    return V @ softmax_columns(K.T @ Q)


def random_parameters(rng, D, *sizes):
    """Omega (size × D) and beta (size × 1) for queries, keys and, with a second size, values."""
    D_q, *D_v = sizes
    return [rng.normal(size=(rows, cols)) for rows in (D_q, D_q, *D_v) for cols in (D, 1)]
