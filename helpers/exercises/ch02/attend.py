"""Exercise 2.3, Self-attention without a loop."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.reference import project, softmax_columns
from helpers.exercises.shared.self_attention import (
    check_self_attention,
    exchanged,
    weighted_tokens,
    without_biases,
)

exercise = Exercise(
    "2.3",
    "Self-attention without a loop",
    stars=2,
    stub='''\
def attend(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention (without scaling) in matrix form: V · Softmax[KᵀQ].

    X: D × N, one token in each column.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    Returns the N outputs as columns, D_v × N. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Write the shapes of Q, K, V, KᵀQ and the output on paper. In which order do D_v × N and "
        "N × N fit together?",
        "Three linear maps, one product for the scores, a softmax of each column, one more "
        "product. Which of the steps mixes tokens?",
        "Column n of V @ A is the sum of all values, weighted by column n of A. So V stands on "
        "the left, and A is not transposed.",
    ),
    notice="The linear maps act on each token alone; tokens meet only in KᵀQ and in V @ A.",
)


@exercise.solution
def attend(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q = beta_q + Omega_q @ X  # D_q × N
    K = beta_k + Omega_k @ X  # D_q × N
    V = beta_v + Omega_v @ X  # D_v × N
    scores = K.T @ Q  # N × N, keys × queries
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)  # columns sum to one
    return V @ A  # D_v × N


@exercise.right
def by_loop(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    outputs = []
    for n in range(X.shape[1]):
        q = Omega_q @ X[:, n] + beta_q[:, 0]
        weights = softmax_columns((Omega_k @ X + beta_k).T @ q)
        outputs.append(Omega_v @ (X @ weights) + beta_v[:, 0])
    return np.stack(outputs, axis=1)


@exercise.right
def in_rows(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    rows = X.T
    scores = (rows @ Omega_q.T + beta_q.T) @ (rows @ Omega_k.T + beta_k.T).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return (weights @ (rows @ Omega_v.T + beta_v.T)).T


exercise.equivalent(
    "the same number added to every score of a query changes nothing",
    "attend: K = beta_k + Omega_k @ X → K = *",
    "by_loop: weights = * → weights = softmax_columns((Omega_k @ X*).T @ q)",
    "in_rows: scores = * → scores = (rows @ Omega_q.T + beta_q.T) @ (rows @ Omega_k.T*).T",
)
exercise.equivalent(
    "a single column is the last one, too",
    "by_loop: q = * → q = Omega_q @ X[:, n] + beta_q[:, -1]",
    "by_loop: * → outputs.append(Omega_v @ (X @ weights) + beta_v[:, -1])",
)


exercise.wrong("weighted the tokens themselves")(weighted_tokens)
exercise.wrong("where is beta_v")(without_biases)
exercise.wrong("query and key are exchanged")(exchanged)


@exercise.wrong("mixed by a row of A")
def transposed(*inputs):
    Q, K, V = project(*inputs)
    return V @ softmax_columns(K.T @ Q).T


@exercise.wrong("rows of your weights sum to one, the columns do not")
def over_rows(*inputs):
    Q, K, V = project(*inputs)
    return V @ softmax_columns(Q.T @ K).T


@exercise.wrong("which Omega makes a key")
def of_queries(*inputs):
    Q, _, V = project(*inputs)
    return V @ softmax_columns(Q.T @ Q)


@exercise.wrong("which Omega makes a query")
def of_keys(*inputs):
    _, K, V = project(*inputs)
    return V @ softmax_columns(K.T @ K)


@exercise.wrong("the largest of them, or something else")
def less_the_mean(*inputs):
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q - (K.T @ Q).mean(axis=0))
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.wrong("very exponential was 0")
def one_maximum(*inputs):
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max())
    return V @ (exponentials / exponentials.sum(axis=0))


exercise.check(check_self_attention)
