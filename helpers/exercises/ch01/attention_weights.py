"""Exercise 1.4, The weights of one output."""

import math

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import shape_text
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import (
    FLAT,
    LARGE,
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
        "The query is beta_q + Omega_q @ x, where x is token n. Add two columns, with "
        "x = X[:, [n]], or two flat vectors, beta_q[:, 0] and Omega_q @ X[:, n]; one of each would "
        "make a matrix.",
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


@exercise.right
def in_plain_python(X, n, Omega_q, beta_q, Omega_k, beta_k):
    query = beta_q[:, 0] + Omega_q @ X[:, n]
    scores = [float(query @ (Omega_k @ token)) for token in X.T]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [exponential / sum(exponentials) for exponential in exponentials]


exercise.equivalent(
    "the same number added to every score of a query changes nothing",
    "attention_weights: K = beta_k + Omega_k @ X → *",
    "by_loop: key = beta_k[:, 0] + Omega_k @ X[:, m] → * + Omega_k @ X[:, m]",
    "by_loop: key = beta_k[:, 0] + Omega_k @ X[:, m] → key = Omega_k @ X[:, m]",
    "from_whole_matrix: * → Q, K = (Omega_q @ X + beta_q, Omega_k @ X*)",
)

exercise.equivalent(
    "a single column is the last one, too",
    "attention_weights: * → scores = (K.T @ q)[:, -1]",
    "*: * → query = beta_q[:, -1] + Omega_q @ X[:, n]",
)
exercise.equivalent(
    "the same numbers, of another type or from a product with its sides exchanged",
    "by_loop: * → exponentials = np.exp(scores - max(scores))",
    "in_plain_python: * → scores = [query @ (Omega_k @ token) for token in X.T]",
    "in_plain_python: * → scores = [float(Omega_k @ token @ query) for token in X.T]",
)


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


@exercise.wrong("together they make D_q × D_q. Is the query one column, or one flat vector")
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


@exercise.wrong("counts the outputs")
def row_of_whole_matrix(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return softmax_columns((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))[n]


@exercise.wrong("the weights of output n = 0")
def of_first(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, 0, Omega_q, beta_q, Omega_k, beta_k)


@exercise.wrong("from which token does key m come")
def one_key(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q = beta_q[:, 0] + Omega_q @ X[:, n]
    scores = [q @ (beta_k[:, 0] + Omega_k @ X[:, n]) for m in range(X.shape[1])]
    return softmax_columns(np.array(scores))


@exercise.wrong("what must they be divided by")
def unnormalized(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return np.exp(without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k))


@exercise.wrong("what does a softmax do to each score before it divides")
def without_exponentials(X, n, Omega_q, beta_q, Omega_k, beta_k):
    scores = without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k)
    return scores / scores.sum()


@exercise.wrong("the largest of them, or something else")
def less_the_mean(X, n, Omega_q, beta_q, Omega_k, beta_k):
    scores = without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k)
    exponentials = np.exp(scores - scores.mean())
    return exponentials / exponentials.sum()


@exercise.wrong("np.exp(1000) overflows")
def unstable(X, n, Omega_q, beta_q, Omega_k, beta_k):
    exponentials = np.exp(without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k))
    return exponentials / exponentials.sum()


@exercise.check
def check(answer):
    rng = np.random.default_rng(14)
    X, none = rng.normal(size=(3, 4)).round(1), np.zeros((2, 1))
    Omega_q, Omega_k = rng.normal(size=(2, 2, 3)).round(1)
    inputs = X, 2, Omega_q, none, Omega_k, none
    of_0, of_1, of_2 = [(Omega_k @ X).T @ (Omega_q @ X[:, n]) for n in range(3)]
    got = without_squares(answer, *inputs)
    if getattr(got, "shape", ()) in ((4, 2), (4, 2, 2)):
        raise Wrong(
            f"Four weights are expected, and {shape_text(got.shape)} came: {FLAT}Is the "
            "query one column, or one flat vector?",
            softmax_columns(of_2),
            got,
        )
    recognize(
        got,
        softmax_columns(of_2),
        "the weights of output 2 for D=3, D_q=2, N=4, without biases",
        {
            f"Every score is twice too large: {FLAT}Are query and keys one column or one flat "
            "vector each?": of_squares(*inputs),
            "The dot products are right, but these are the scores: what makes them sum to one?": (
                of_2
            ),
            "These are the exponentials of the scores: what must they be divided by to sum to "
            "one?": (np.exp(of_2), np.exp(of_2 - of_2.max())),
            "These are the scores divided by their sum: what does a softmax do to each score "
            "before it divides?": of_2 / of_2.sum(),
            UNSCALED: softmax_columns(of_2 / np.sqrt(2)),
            "Your weights come from the key of token n = 2 and all the queries: whose query meets "
            "whose keys?": softmax_columns((Omega_q @ X).T @ (Omega_k @ X[:, 2])),
            "These are the weights of the output before: does n count from 0, or from 1?": (
                softmax_columns(of_1)
            ),
            "These are the weights of output n = 0: which output does n ask for?": (
                softmax_columns(of_0)
            ),
            "These are the weights that the key of token n = 2 gets from each output: which index "
            "of the matrix of weights counts the outputs?": (
                softmax_columns((Omega_k @ X).T @ (Omega_q @ X))[2]
            ),
            "All your weights are equal, as if the query were zero or all keys the same: from "
            "which token does key m come?": np.full(4, 1 / 4),
        },
    )
    # One-dimensional queries 1, -1, 2, 4 and keys 0, 3, 1, -2.
    X = np.array([[1.0, -1.0, 2.0, 4.0], [0.0, 3.0, 1.0, -2.0]])
    Omega_q, Omega_k, none = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))
    recognize(
        unchanged(answer, X, 2, Omega_q, none, Omega_k, none),
        softmax_columns(2 * X[1]),
        "the weights of output 2, with queries 1, -1, 2, 4 and keys 0, 3, 1, -2",
        {
            "Output n = 2 asks with its query, 2, and the keys are 0, 3, 1, -2; your weights come "
            "from the key of token n = 2 and all the queries: whose query meets whose keys?": (
                softmax_columns(X[0])
            ),
        },
    )
    recognize(
        unchanged(answer, X, 0, 0 * Omega_q, none + 3, Omega_k, none),
        softmax_columns(3 * X[1]),
        "the weights with Omega_q = 0, beta_q = 3 and keys 0, 3, 1, -2",
        {
            "With Omega_q = 0 every query is 3, the bias alone, yet your weights do not prefer "
            "any key: is beta_q part of the query?": np.full(4, 1 / 4)
        },
    )
    for D, D_q, N in 2 * ((1, 1, 1), (3, 2, 1), (2, 3, 4), (4, 4, 4), (5, 2, 3)):
        X, parameters = rng.normal(size=(D, N)), random_parameters(rng, D, D_q)
        for n in range(N):
            expected = attention_weights(X, n, *parameters)
            got = unchanged(answer, X, n, *parameters)
            same(got, expected, f"the weights of output {n} for D={D}, D_q={D_q}, N={N}")
    for keys, queries, scores, why in LARGE:
        inputs = np.array([queries, keys]), 1, Omega_q, none, Omega_k, none
        what = f"the weights of output 1, with {scores}"
        survives(unchanged(answer, *inputs), attention_weights(*inputs), what, why)
