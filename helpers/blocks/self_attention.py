"""Exported from notebooks/01_self_attention.ipynb by `make export`: edit it there."""

import numpy as np


def softmax(scores):
    """Softmax of a vector of scores, shape (N,): N weights ≥ 0 that sum to one.

    The largest score is subtracted first, so that no exponential overflows. Chapter 12,
    "The attention weights".
    """
    exponentials = np.exp(scores - np.max(scores))
    return exponentials / exponentials.sum()


def self_attention_by_loops(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention as the chapter's sum over m, for every n; tokens are columns.

    X: D × N. Omega_q, Omega_k: D_q × D. Omega_v: D_v × D. Biases are columns: (D_q, 1), (D_v, 1).
    Returns (outputs, A): outputs D_v × N; A[m, n], the attention that output n pays to input m.
    """
    columns = [(len(Omega), 1) for Omega in (Omega_q, Omega_k, Omega_v)]
    if [beta_q.shape, beta_k.shape, beta_v.shape] != columns:
        raise ValueError("Each bias must be a column with as many rows as its Omega.")
    N = X.shape[1]
    keys = [beta_k[:, 0] + Omega_k @ X[:, m] for m in range(N)]
    values = [beta_v[:, 0] + Omega_v @ X[:, m] for m in range(N)]
    outputs, A = np.zeros((len(Omega_v), N)), np.zeros((N, N))
    for n in range(N):
        q = beta_q[:, 0] + Omega_q @ X[:, n]
        A[:, n] = softmax(np.array([keys[m] @ q for m in range(N)]))
        for m in range(N):
            outputs[:, n] += A[m, n] * values[m]
    return outputs, A


def one_row_each(names, *wanted):
    """A matrix with a row for each (name, strength): it reads that dimension of a word vector."""
    matrix = np.zeros((len(wanted), len(names)))
    for row, (name, strength) in enumerate(wanted):
        matrix[row, names.index(name)] = strength
    return matrix


def hand_made_head(names):
    """Parameters with which it → restaurant, terrible → not and ball → sinks, by design."""
    handed_over = [(name, 1) for name in ("place", "food", "negation", "motion")]
    return dict(
        Omega_q=one_row_each(names, ("pointing back", 5), ("quality", -5), ("thing", 4)),
        beta_q=np.zeros((3, 1)),
        Omega_k=one_row_each(names, ("place", 1), ("negation", 1), ("motion", 1)),
        beta_k=np.zeros((3, 1)),
        Omega_v=one_row_each(names, *handed_over),
        beta_v=np.zeros((4, 1)),
    )
