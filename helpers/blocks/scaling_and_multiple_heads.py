"""Exported from notebooks/04_scaling_and_multiple_heads.ipynb by `make export`: edit it there."""

import numpy as np

from helpers.blocks.matrix_form import masked_softmax_columns


def scaled_attention(Q, K, V, mask=None):
    """Scaled dot-product attention, V · Softmax[KᵀQ / √D_q]; tokens are columns.

    Q: D_q × N; K: D_q × M; V: D_v × M. mask: M × N truth values, True where the query may not see
    the key; a query that sees nothing receives zero. Returns (outputs D_v × N, A M × N, keys down).
    Chapter 12, "Scaled dot-product self-attention".
    """
    scores = K.T @ Q / np.sqrt(len(Q))
    A = masked_softmax_columns(scores, np.zeros(scores.shape, bool) if mask is None else mask)
    return V @ A, A


def multi_head_self_attention(X, parameters, H, mask=None, bias=0.0):
    """MhSa[X] for all heads at once, scaled by √D_q; tokens are columns.

    X: D × N. parameters: Omega_q, Omega_k (H·D_q × D), Omega_v (H·D_v × D), Omega_c (D × H·D_v) and
    beta_q, beta_k, beta_v, beta_c as columns; head h owns the h-th block of rows (of columns in
    Omega_c). mask: N × N truth values, True where the query may not see the key (keys down). bias:
    added to the scores, N × N or heads × N × N, keys down. Chapter 12, "Multiple heads".
    Returns (outputs D × N, A: heads × keys × queries).
    """
    N = X.shape[1]
    Q, K, V = (
        (parameters[f"beta_{r}"] + parameters[f"Omega_{r}"] @ X).reshape(H, -1, N)
        for r in ("q", "k", "v")
    )
    scores = K.transpose(0, 2, 1) @ Q / np.sqrt(Q.shape[1]) + bias  # heads × keys × queries
    mask = np.zeros((N, N), bool) if mask is None else mask
    # The softmax by columns wants the keys first.
    A = masked_softmax_columns(scores.transpose(1, 0, 2), mask[:, None]).transpose(1, 0, 2)
    stack = (V @ A).reshape(-1, N)  # H·D_v × N
    return parameters["beta_c"] + parameters["Omega_c"] @ stack, A
