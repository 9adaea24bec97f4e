"""Self-attention, which is asked for by loops (1.5) and in matrix form (2.3).

Both exercises have the same check and, here, the mistakes that they share. A mistake is a wrong
answer, a function of X, Omega_q, beta_q, Omega_k, beta_k, Omega_v and beta_v.
"""

import numpy as np

from helpers.exercises.shared.compare import same, unchanged
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
    "spread",
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


def spread(X, Omega_q, beta_q, *others):
    """Tokens that are flat where queries are made, so that each output becomes D_v × D_q."""
    _, K, V = project(X, Omega_q, beta_q, *others)
    return np.stack([V @ softmax_columns(K.T @ (beta_q + Omega_q @ x)) for x in X.T], axis=1)


def check_self_attention(answer):
    """One fault at a time: without biases, beta_v, beta_q, other sizes, large scores."""
    rng = np.random.default_rng(15)
    X, other_X = rng.normal(size=(2, 3, 5)).round(1)
    parameters = [parameter.round(1) for parameter in random_parameters(rng, 3, 2, 4)]
    Omega_q, beta_q, Omega_k, _, Omega_v, _ = parameters
    beta_v = np.array([[1.5], [-2.7], [3.2], [4.1]])
    none_q, none_v = np.zeros((2, 1)), np.zeros((4, 1))
    inputs = X, Omega_q, none_q, Omega_k, none_q, Omega_v, none_v
    Q, K, V = project(*inputs)
    scores = K.T @ Q
    A, outputs = softmax_columns(scores), self_attention(*inputs)
    ways = np.exp(scores), np.exp(scores - scores.max(axis=0))  # of making exponentials
    recognize(
        without_squares(answer, *inputs),
        outputs,
        "the outputs for D=3, D_q=2, D_v=4, N=5, without biases",
        {
            "You weighted the keys: queries and keys decide the weights; what do the weights "
            "route?": K @ A,
            "You weighted the tokens themselves: what does Omega_v make of a token before it is "
            "routed?": X @ A,
            "These are the values as they are: which tokens' values does an output gather?": V,
            "These are the weights, keys × queries: what do they weight?": A,
            "Every output is the plain average of the values: does each key meet each query?": (
                V.mean(axis=1, keepdims=True) + np.zeros((4, 5))
            ),
            "The values are weighted with the exponentials of the scores, which do not add up to "
            "1: what is missing from the softmax?": tuple(V @ way for way in ways),
            "All the weights together sum to one; every output has weights of its own that do: "
            "which axis does the sum run along?": tuple(V @ way / way.sum() for way in ways),
            "The values are weighted with the scores themselves: what turns scores into weights?": (
                V @ scores
            ),
            "In your scores query and key are exchanged: output n asks with its query and meets "
            "the keys of all tokens; which index does the softmax run over?": (
                V @ softmax_columns(scores.T)
            ),
            "Every output is mixed by a row of A, yet the columns of A sum to one: which index "
            "of A counts the outputs?": V @ A.T,
            "The rows of your weights sum to one, the columns do not: over what does one query's "
            "softmax run, keys or queries?": V @ softmax_columns(scores.T).T,
            "Your scores compare keys with keys: which Omega makes a query?": (
                V @ softmax_columns(K.T @ K)
            ),
            "Your scores compare queries with queries: which Omega makes a key?": (
                V @ softmax_columns(Q.T @ Q)
            ),
            UNSCALED: scaled(*inputs),
            "Only the last value came out, times its weight: is each term added to the output so "
            "far, or does it replace the output?": V[:, [-1]] * A[-1],
            f"Two columns came for each output: {FLAT}Is each query one column, or one flat "
            "vector?": (spread(*inputs), spread(*inputs).reshape(4, 10)),
            f"The scores come from too many products: {FLAT}Are queries and keys one column "
            "or one flat vector each?": of_squares(*inputs),
        },
    )
    inputs = other_X, *inputs[1:-1], beta_v
    recognize(
        unchanged(answer, *inputs),
        self_attention(*inputs),
        "the outputs for other tokens, with beta_v",
        {
            "Omega_v is applied and nothing is added: where is beta_v?": (
                self_attention(*inputs[:-1], none_v)
            ),
            "beta_v was added more than once: once for each token that is routed?": (
                self_attention(*inputs) + 4 * beta_v
            ),
        },
    )
    no_Omega = np.zeros((2, 3))  # not 0 * Omega_q, which is shown with -0
    inputs = X, no_Omega, beta_q, *inputs[3:]
    recognize(
        unchanged(answer, *inputs),
        self_attention(*inputs),
        "the outputs with Omega_q = 0, so that every query is beta_q",
        {
            "With Omega_q = 0 every query is the bias alone, yet your outputs are plain averages: "
            "is beta_q part of the query?": self_attention(X, no_Omega, none_q, *inputs[3:])
        },
    )
    for D, D_q, D_v, N in 2 * (
        (2, 4, 2, 3),
        (3, 2, 4, 1),
        (4, 3, 2, 7),
        (1, 2, 3, 5),
        (5, 1, 1, 2),
    ):
        inputs = rng.normal(size=(D, N)), *random_parameters(rng, D, D_q, D_v)
        what = f"the outputs for D={D}, D_q={D_q}, D_v={D_v}, N={N}"
        same(unchanged(answer, *inputs), self_attention(*inputs), what)
    first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
    none = np.zeros((1, 1))
    for keys, queries, scores, why in LARGE:
        X = np.array([keys, queries, [4.0, 8.0, 1.0]])
        inputs = X, second, none, first, none, third, none
        got, expected = unchanged(answer, *inputs), self_attention(*inputs)
        survives(got, expected, f"the outputs for {scores}", why)
