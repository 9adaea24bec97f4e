"""Exercise 1.5, Self-attention by loops."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.reference import project, self_attention, softmax_columns
from helpers.exercises.shared.self_attention import (
    check_self_attention,
    exchanged,
    of_squares,
    scaled,
    spread,
    weighted_tokens,
    without_biases,
)

exercise = Exercise(
    "1.5",
    "Self-attention by loops",
    stars=2,
    stub='''\
def self_attention_loops(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention (without scaling), output by output.

    X: D × N, one token in each column.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    Returns the N outputs as columns, D_v × N.
    """
    return ...  # your code here
''',
    hints=(
        "Which of the three (query, key, value) belongs to the token that asks, and which two to "
        "the tokens that answer?",
        "For every output n: its query q_n; for every input m: the score of k_m with q_n. A "
        "softmax over m gives the weights. What do they weight?",
        "Start with np.zeros((D_v, N)). Two loops inside one over n suffice: the first collects "
        "the scores, the second adds weights[m] times v_m to column n.",
    ),
    notice="N queries meet N keys, so the scores cost N² dot products; the values cost only N "
    "products with Omega_v if they are computed once, outside the loop over n.",
)


@exercise.solution
def self_attention_loops(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    N = X.shape[1]
    tokens = [X[:, [n]] for n in range(N)]  # columns, D × 1
    keys = [beta_k + Omega_k @ x for x in tokens]  # D_q × 1 each
    values = [beta_v + Omega_v @ x for x in tokens]  # D_v × 1 each
    outputs = np.zeros((Omega_v.shape[0], N))
    for n in range(N):
        query = beta_q + Omega_q @ tokens[n]
        scores = np.array([(key * query).sum() for key in keys])
        exponentials = np.exp(scores - scores.max())
        weights = exponentials / exponentials.sum()
        for m in range(N):
            outputs[:, [n]] += weights[m] * values[m]
    return outputs


exercise.right(self_attention)  # with matrices


@exercise.right
def by_einsum(*inputs):
    Q, K, V = project(*inputs)
    return np.einsum("vm,mn->vn", V, softmax_columns(np.einsum("dm,dn->mn", K, Q)))


@exercise.right
def by_lists(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    outputs = []
    for token in X.T:
        query = beta_q[:, 0] + Omega_q @ token
        weights = softmax_columns(np.array([query @ (Omega_k @ other) for other in X.T]))
        values = [beta_v[:, 0] + Omega_v @ other for other in X.T]
        outputs.append(np.transpose(values) @ weights)
    return np.column_stack(outputs)


exercise.wrong("weighted the tokens themselves")(weighted_tokens)
exercise.wrong("where is beta_v")(without_biases)
exercise.wrong("query and key are exchanged")(exchanged)
exercise.wrong("scaling comes in a later notebook")(scaled)
exercise.wrong("together they make D_q × D_q. Are queries and keys")(of_squares)
exercise.wrong("together they make D_q × D_q. Is each query")(spread)


@exercise.wrong("weighted the keys")
def weighted_keys(*inputs):
    Q, K, _ = project(*inputs)
    return K @ softmax_columns(K.T @ Q)


def with_loops(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, add=True, all_outputs=True):
    """The solution, which may overwrite its sums or return inside the loop."""
    Q, K, V = project(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v)
    A, outputs = softmax_columns(K.T @ Q), np.zeros((len(V), X.shape[1]))
    for n in range(X.shape[1]):
        for m in range(X.shape[1]):
            outputs[:, n] = add * outputs[:, n] + A[m, n] * V[:, m]
        if not all_outputs:
            return outputs
    return outputs


@exercise.wrong("does it replace the output")
def replaced(*inputs):
    return with_loops(*inputs, add=False)


@exercise.wrong("a return that stands inside it")
def returned_early(*inputs):
    return with_loops(*inputs, all_outputs=False)


@exercise.wrong("does each key meet each query")
def one_key(*inputs):
    _, K, V = project(*inputs)
    return V @ softmax_columns(0 * K.T @ K)


@exercise.wrong("which tokens' values")
def own_value(*inputs):
    return project(*inputs)[2]


@exercise.wrong("All the weights together")
def over_everything(*inputs):
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q)
    return V @ (exponentials / exponentials.sum())


@exercise.wrong("the largest of them, or something else")
def less_the_mean(*inputs):
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q - (K.T @ Q).mean(axis=0))
    return V @ (exponentials / exponentials.sum(axis=0))


@exercise.wrong("is beta_q part of the query")
def without_query_bias(X, Omega_q, beta_q, *others):
    return self_attention(X, Omega_q, 0 * beta_q, *others)


@exercise.wrong("what is missing from the softmax")
def without_normalizing(*inputs):
    Q, K, V = project(*inputs)
    return V @ np.exp(K.T @ Q)


@exercise.wrong("what turns scores into weights")
def without_softmax(*inputs):
    Q, K, V = project(*inputs)
    return V @ (K.T @ Q)


@exercise.wrong("together they make D_q × D_q. Are queries, keys and values")
def stored(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    outputs = np.zeros((Omega_v.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        outputs[:, n] += beta_v + Omega_v @ X[:, n]
    return outputs


@exercise.wrong("expected the result alone, got a tuple of 2")
def with_weights(*inputs):
    Q, K, V = project(*inputs)
    A = softmax_columns(K.T @ Q)
    return V @ A, A


@exercise.wrong("np.exp(1000) overflows")
def unstable(*inputs):
    Q, K, V = project(*inputs)
    exponentials = np.exp(K.T @ Q)
    return V @ (exponentials / exponentials.sum(axis=0))


exercise.equivalent(
    "the same number added to every score of a query changes nothing",
    "self_attention_loops: * → keys = [* + Omega_k @ x for x in tokens]",
    "self_attention_loops: * → keys = [Omega_k @ x for x in tokens]",
)
exercise.equivalent(
    "a single column is the last one, too",
    "by_lists: query = * → query = beta_q[:, -1] + Omega_q @ token",
    "by_lists: values = * → values = [beta_v[:, -1] + Omega_v @ other for other in X.T]",
)
exercise.equivalent(
    "of the same size",
    "self_attention_loops: * → outputs = np.zeros((beta_v.shape[0], N))",
)
exercise.equivalent(
    "the same dot products, with the factors exchanged",
    "by_lists: * → weights = softmax_columns(np.array([Omega_k @ other @ query for other in X.T]))",
)

exercise.check(check_self_attention)
