"""Self-attention, which is asked for by loops (1.5) and in matrix form (2.3).

Both exercises have the same check and, here, the mistakes that they share. A mistake is a wrong
answer, a function of X, Omega_q, beta_q, Omega_k, beta_k, Omega_v and beta_v.
"""

import numpy as np

from helpers.exercises.shared.compare import unchanged
from helpers.exercises.shared.questions import (
    FLAT,
    LARGE,
    UNSCALED,
    recognize,
    survives,
    without_squares,
)
from helpers.exercises.shared.reference import (
    project,
    random_parameters,
    self_attention,
    softmax_columns,
)

__all__ = [
    "check_self_attention",
    "exchanged",
    "of_squares",
    "scaled",
    "weighted_tokens",
    "without_biases",
]


def weighted_tokens(X, *parameters):
    """The weights route the tokens instead of the values."""
    Q, K, _ = project(X, *parameters)
    return X @ softmax_columns(K.T @ Q)


def without_biases(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """All biases left out."""
    return self_attention(X, Omega_q, 0 * beta_q, Omega_k, 0 * beta_k, Omega_v, 0 * beta_v)


def exchanged(*inputs):
    """Keys ask and queries answer."""
    Q, K, V = project(*inputs)
    return V @ softmax_columns(Q.T @ K)


def scaled(*inputs):
    """The scores divided by the root of D_q."""
    Q, K, V = project(*inputs)
    return V @ softmax_columns(K.T @ Q / np.sqrt(len(Q)))


def of_squares(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Tokens that are flat, so that each query and each key becomes D_q × D_q."""
    queries, keys = (
        [beta + Omega @ x for x in X.T] for Omega, beta in ((Omega_q, beta_q), (Omega_k, beta_k))
    )
    scores = np.array([[(key * query).sum() for query in queries] for key in keys])
    return (beta_v + Omega_v @ X) @ softmax_columns(scores)


def check_self_attention(answer):
    """One fault at a time: values, beta_v, who asks whom, beta_q, scale, sizes, large scores."""
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    zero, none = np.zeros((2, 2)), np.zeros((2, 1))
    ones = np.ones((1, 3))

    # All queries are 0, so every output is the plain average of the values (0, 1), (3, 0), (3, 2).
    Omega_v, average = np.array([[0.0, 3.0], [1.0, 0.0]]), np.array([[2.0], [1.0]])
    side_by_side = average * np.ones((1, 6))
    recognize(
        without_squares(answer, X, zero, none, 2 * np.eye(2), none, Omega_v, none),
        average * ones,
        "the outputs when all queries are 0 (an average of the values)",
        {
            "You weighted the keys: queries and keys decide the weights; what do the weights "
            "route?": 2 * X.mean(axis=1, keepdims=True) * ones,
            "You weighted the tokens themselves: what does Omega_v make of a token before it is "
            "routed?": X.mean(axis=1, keepdims=True) * ones,
            "All scores are 0, and the three weights of each output are one each; they add up to "
            "3: what is missing from the softmax?": 3 * average * ones,
            "All scores are 0, and so are your outputs: what turns scores into weights?": (
                0 * average * ones
            ),
            "Your queries are made with the parameters of the keys: which Omega makes a query?": (
                Omega_v @ X @ softmax_columns(4 * X.T @ X)
            ),
            f"Each output came twice: {FLAT}Is each query still one column, D_q × 1?": (
                side_by_side,
                side_by_side.reshape(2, 3, 2),
            ),
        },
    )
    recognize(
        unchanged(answer, X, zero, none, 2 * np.eye(2), none, Omega_v, np.array([[10.0], [20.0]])),
        np.array([[12.0], [21.0]]) * ones,
        "the outputs when all queries are 0 and beta_v is (10, 20)",
        {"Omega_v is applied and nothing is added: where is beta_v?": (average * ones)},
    )

    # One-dimensional queries 1, 0, 2 and keys 0, 1, 1; the values are the tokens.
    Omega_q, Omega_k, none_q = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))
    scores = X[[1]].T @ X[[0]]  # keys × queries
    recognize(
        unchanged(answer, X, Omega_q, none_q, Omega_k, none_q, np.eye(2), none),
        X @ softmax_columns(scores),
        "the outputs with queries 1, 0, 2, keys 0, 1, 1 and the tokens as values",
        {
            "In your scores query and key are exchanged: output n asks with its query and meets "
            "the keys of all tokens; which index does the softmax run over?": (
                X @ softmax_columns(scores.T)
            ),
            "Every output is mixed by a row of A, yet the columns of A sum to one: which index "
            "of A counts the outputs?": X @ softmax_columns(scores).T,
            "The rows of your weights sum to one, the columns do not: over what does one query's "
            "softmax run, keys or queries?": X @ softmax_columns(scores.T).T,
            "Your keys are made with the parameters of the queries: which Omega makes a key?": (
                X @ softmax_columns(X[[0]].T @ X[[0]])
            ),
        },
    )
    recognize(
        unchanged(answer, X, 0 * Omega_q, none_q + 3, Omega_k, none_q, np.eye(2), none),
        X @ softmax_columns(3 * X[[1]].T @ ones),
        "the outputs with Omega_q = 0, beta_q = 3 and keys 0, 1, 1",
        {
            "With Omega_q = 0 every query is 3, the bias alone, yet your outputs are plain "
            "averages: is beta_q part of the query?": X.mean(axis=1, keepdims=True) * ones
        },
    )

    rng = np.random.default_rng(15)
    for D, D_q, D_v, N in (2, 4, 2, 3), (3, 2, 4, 1), (4, 3, 2, 7), (1, 2, 3, 5), (5, 1, 1, 2):
        inputs = rng.normal(size=(D, N)), *random_parameters(rng, D, D_q, D_v)
        recognize(
            unchanged(answer, *inputs),
            self_attention(*inputs),
            f"the outputs for D={D}, D_q={D_q}, D_v={D_v}, N={N}",
            {
                UNSCALED: scaled(*inputs),
                f"The scores come from too many products: {FLAT}Are queries and keys still one "
                "column each?": of_squares(*inputs),
            },
        )
    check_large(answer)


def check_large(answer):
    """The same for scores of ±1000, which overflow where no maximum is subtracted."""
    first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
    none = np.zeros((1, 1))
    for keys, queries, scores, why in LARGE:
        X = np.array([keys, queries, [4.0, 8.0, 1.0]])
        inputs = X, second, none, first, none, third, none
        got, expected = unchanged(answer, *inputs), self_attention(*inputs)
        survives(got, expected, f"the outputs for {scores}", why)
