"""Exercise 1.4, The weights of one output."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import shape_text
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import (
    FLAT,
    OVERFLOW,
    UNDERFLOW,
    UNSCALED,
    recognize,
    survives,
    without_squares,
)
from helpers.exercises.shared.reference import random_parameters, softmax_columns

exercise = Exercise(
    "1.4",
    "The weights of one output",
    stars=2,
    stub='''\
def attention_weights(X, n, Omega_q, beta_q, Omega_k, beta_k):
    """The attention that output n pays to every input (without scaling).

    X: D × N, one token in each column; n: which output, counted from 0.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1.
    Returns the N weights, shape (N,), not negative and summing to one.
    """
    return ...  # your code here
''',
    hints=(
        "Whose query and whose keys meet? Say it in words first: output n asks, and every input "
        "answers.",
        "The query is one column: q = beta_q + Omega_q @ x, where x is token n. Take care that x "
        "stays a column: X[:, [n]] is D × 1, X[:, n] is flat.",
        "The keys are beta_k + Omega_k @ X, one in each column. N dot products with q give N "
        "scores; their softmax gives the weights.",
    ),
    notice="beta_k adds the same number to every score of a query, so the softmax does not see "
    "it: the weights are right even without it. beta_q is another matter.",
)


@exercise.solution
def attention_weights(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q = beta_q + Omega_q @ X[:, [n]]  # D_q × 1
    K = beta_k + Omega_k @ X  # D_q × N
    scores = (K.T @ q)[:, 0]  # (N,)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@exercise.right
def by_loop(X, n, Omega_q, beta_q, Omega_k, beta_k):
    query = beta_q[:, 0] + Omega_q @ X[:, n]
    scores = []
    for m in range(X.shape[1]):
        key = beta_k[:, 0] + Omega_k @ X[:, m]
        scores.append(sum(key * query))
    exponentials = np.exp(np.array(scores) - max(scores))
    return exponentials / sum(exponentials)


@exercise.right
def without_key_bias(X, n, Omega_q, beta_q, Omega_k, beta_k):
    scores = np.einsum("dm,d->m", Omega_k @ X, (Omega_q @ X + beta_q)[:, n])
    return softmax_columns(scores)


@exercise.right
def from_whole_matrix(X, n, Omega_q, beta_q, Omega_k, beta_k):
    Q, K = Omega_q @ X + beta_q, Omega_k @ X + beta_k
    return softmax_columns(K.T @ Q)[:, n]


@exercise.wrong("whose query meets whose keys")
def exchanged(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n, Omega_k, beta_k, Omega_q, beta_q)


@exercise.wrong("is beta_q part of the query")
def without_biases(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n, Omega_q, 0 * beta_q, Omega_k, 0 * beta_k)


@exercise.wrong("these are the scores")
def without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return ((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X[:, [n]]))[:, 0]


@exercise.wrong("scaling comes in a later notebook")
def scaled(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, K = beta_q + Omega_q @ X[:, [n]], beta_k + Omega_k @ X
    return softmax_columns((K.T @ q)[:, 0] / np.sqrt(len(beta_q)))


@exercise.wrong("together they make D_q × D_q. Is the query still one column")
def spread(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, K = beta_q + Omega_q @ X[:, n], beta_k + Omega_k @ X
    return softmax_columns(K.T @ q)


@exercise.wrong("together they make D_q × D_q. Are queries, keys and values")
def stored(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, scores = beta_q + Omega_q @ X[:, n], np.zeros(X.shape[1])
    for m in range(X.shape[1]):
        scores[m] = (beta_k[:, 0] + Omega_k @ X[:, m]) @ q
    return softmax_columns(scores)


@exercise.wrong("together they make D_q × D_q. Are query and keys")
def of_squares(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q = beta_q + Omega_q @ X[:, n]
    keys = [beta_k + Omega_k @ x for x in X.T]
    return softmax_columns(np.array([(q * key).sum() for key in keys]))


@exercise.wrong("does n count from 0")
def counted_from_one(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n - 1, Omega_q, beta_q, Omega_k, beta_k)


@exercise.wrong("np.exp(1000) overflows")
def unstable(X, n, Omega_q, beta_q, Omega_k, beta_k):
    exponentials = np.exp(without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k))
    return exponentials / exponentials.sum()


@exercise.check
def check(answer):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    identity, zero = np.eye(2), np.zeros((2, 1))
    scores = np.array([2.0, 1.0, 5.0])  # of token 2 with all tokens
    inputs = X, 2, identity, zero, identity, zero
    got = without_squares(answer, *inputs)
    if getattr(got, "shape", ()) in ((3, 2), (3, 2, 2)):
        raise Wrong(
            f"Three weights are expected, and {shape_text(got.shape)} came: {FLAT}Is the "
            "query still one column, D_q × 1?",
            softmax_columns(scores),
            got,
        )
    recognize(
        got,
        softmax_columns(scores),
        "the weights of output 2 when queries and keys are the tokens themselves",
        {
            f"Every score is twice too large: {FLAT}Are query and keys still one column each?": (
                of_squares(*inputs)
            ),
            "The dot products are right, but these are the scores: what makes them sum to one?": (
                scores
            ),
            UNSCALED: softmax_columns(scores / np.sqrt(2)),
            "These are the weights of the output before: does n count from 0, or from 1?": (
                softmax_columns(np.array([0.0, 1.0, 1.0]))
            ),
        },
    )
    # One-dimensional queries 1, 0, 2 and keys 0, 1, 1.
    Omega_q, Omega_k, zero = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))
    recognize(
        unchanged(answer, X, 2, Omega_q, zero, Omega_k, zero),
        softmax_columns(np.array([0.0, 2.0, 2.0])),
        "the weights of output 2, with queries 1, 0, 2 and keys 0, 1, 1",
        {
            "Output 2 asks with its query, 2, and the keys are 0, 1, 1; your weights come from "
            "the key of token 2 and all the queries: whose query meets whose keys?": (
                softmax_columns(np.array([1.0, 0.0, 2.0]))
            ),
        },
    )
    recognize(
        unchanged(answer, X, 0, 0 * Omega_q, zero + 3, Omega_k, zero),
        softmax_columns(np.array([0.0, 3.0, 3.0])),
        "the weights with Omega_q = 0, beta_q = 3 and keys 0, 1, 1",
        {
            "With Omega_q = 0 every query is 3, the bias alone, yet your weights do not prefer "
            "any key: is beta_q part of the query?": np.full(3, 1 / 3)
        },
    )
    rng = np.random.default_rng(14)
    for D, D_q, N in (1, 1, 1), (3, 2, 1), (2, 3, 4), (4, 4, 4), (5, 2, 3):
        X, parameters = rng.normal(size=(D, N)), random_parameters(rng, D, D_q)
        for n in range(N):
            expected = attention_weights(X, n, *parameters)
            got = unchanged(answer, X, n, *parameters)
            same(got, expected, f"the weights of output {n} for D={D}, D_q={D_q}, N={N}")
    for query, scores, why in (1, "1000 and 1001", OVERFLOW), (-1, "-1000 and -1001", UNDERFLOW):
        X = np.array([[1000.0, 1001.0], [query, query]])
        inputs = X, 0, Omega_k, zero, Omega_q, zero
        what = f"the weights for scores of {scores}"
        survives(unchanged(answer, *inputs), attention_weights(*inputs), what, why)
