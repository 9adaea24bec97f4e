"""Inputs and reference of cross-attention, which is asked for at once, word by word and backward.

Exercises 9.1, 9.2 and 9.9. Tokens are columns; `parameters` is a dict of "Omega_q", D_q × D,
"Omega_k", D_q × D_e, "Omega_v", D_v × D_e, and their biases, "beta_q", "beta_k" and "beta_v".
"""

import numpy as np

from helpers.exercises.shared.reference import softmax_columns

__all__ = ["attend_to_source", "linear", "random_cross_parameters", "random_padding"]


def linear(role, X, parameters):
    """Queries, keys or values (role q, k or v) of the tokens X."""
    return parameters[f"beta_{role}"] + parameters[f"Omega_{role}"] @ X


def attend_to_source(X, E, padding, parameters):
    """The outputs, D_v × N_d, for target X, D × N_d, and source E, D_e × N_e; scaled by √D_q."""
    Q, K, V = (linear(role, of, parameters) for role, of in (("q", X), ("k", E), ("v", E)))
    scores = np.where(padding[:, None], -np.inf, K.T @ Q / np.sqrt(len(Q)))
    return V @ softmax_columns(scores)


def random_cross_parameters(rng, D, D_e, D_q, D_v):
    """Random parameters of these sizes."""
    parameters = {}
    for role, rows, columns in ("q", D_q, D), ("k", D_q, D_e), ("v", D_v, D_e):
        parameters[f"Omega_{role}"] = rng.normal(size=(rows, columns))
        parameters[f"beta_{role}"] = rng.normal(size=(rows, 1))
    return parameters


def random_padding(rng, N):
    """N truth values, of which at least one, at a random place, is False."""
    padding = rng.random(N) < 0.4
    padding[rng.integers(N)] = False
    return padding
