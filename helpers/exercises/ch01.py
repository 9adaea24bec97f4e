"""The exercises of notebook 01, Self-attention. Tokens are columns throughout."""

import itertools
import tracemalloc

import numpy as np

from helpers.corpora.passages import PASSAGE, words
from helpers.corpora.word_vectors import embed, load_word_vectors
from helpers.exercises.engine import Exercise, Wrong, matches, same, unchanged
from helpers.exercises.wording import shape_text

OVERFLOW = (
    "np.exp(1000) overflows. What can be subtracted from all the scores of one query without "
    "changing their softmax?"
)
UNDERFLOW = (
    "Every exponential was 0, and 0/0 is not a number: subtract the largest score of each query."
)
# For two keys, 1000 and 1001, and the queries 1 and `second`: (second, their scores, why NaN comes)
LARGE = (
    (1.0, "scores of 1000 and 1001", OVERFLOW),
    (-1.0, "scores of 1000 and 1001, and of -1000 and -1001", UNDERFLOW),
)
FLAT = "beta_q is D_q × 1 and Omega_q @ X[:, n] is flat: together they make D_q × D_q. "
UNSCALED = (
    "The scores are divided by √D_q. In this section they are not: scaling comes in a later "
    "notebook. Does the equation here have a root?"
)


def recognize(got, expected, what, mistakes, atol=1e-8):
    """Raise Wrong unless `got` is `expected`: with the question of the mistake that leads to it.

    mistakes: dict from the question to ask to the result, or a tuple of the results, that the
              mistake leads to.
    """
    if not matches(got, expected, atol):
        for question, results in mistakes.items():
            results = results if isinstance(results, tuple) else (results,)
            if any(matches(got, mistaken, atol) for mistaken in results):
                raise Wrong(question, expected, got)
    same(got, expected, what, atol)


def survives(got, expected, what, why=OVERFLOW, atol=1e-8):
    """As `same`, for large scores, after small ones have come out right.

    why: the sentence if NaN occurs.
    """
    same(got, expected, what, atol, why, far="were large scores cut off, or NaN replaced?")


def without_squares(answer, *inputs):
    """unchanged(answer, *inputs), with a question where NumPy stops at a column made a square."""
    try:
        return unchanged(answer, *inputs)
    except ValueError as error:
        for words in "setting an array element with a sequence", "non-broadcastable output":
            if words in str(error):
                raise Wrong(
                    f"Several numbers came where one was to be stored. {FLAT}Are queries, keys and "
                    "values still one column each?"
                ) from None
        raise


def check_large(answer, right):
    """Check attention given as a function of (X, the six parameters), for the scores of LARGE."""
    first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
    none = np.zeros((1, 1))
    for query, scores, why in LARGE:
        X = np.array([[1000.0, 1001.0], [1.0, query], [4.0, 8.0]])
        inputs = X, second, none, first, none, third, none
        survives(unchanged(answer, *inputs), right(*inputs), f"the outputs for {scores}", why)


# ----------------------------------------------------------------------------------------- 1.1

route_exercise = Exercise(
    "1.1",
    "Route values with given weights",
    stars=1,
    stub='''\
def route(values, weights):
    """The weighted sum of the values: one output.

    values:  D × N, one value vector in each column.
    weights: shape (N,), not negative, summing to one.
    Returns the output, shape (D,).
    """
    return ...  # your code here
''',
    hints=(
        "If the weights are 0, 1, 0, which column must come out?",
        "Output one is 0.1 times the first value plus 0.3 times the second plus 0.6 times the "
        "third. The m-th value is values[:, m].",
        "A loop over m is a fine answer. For a single line: which product of a matrix and a "
        "vector is the sum of the matrix's columns, each times one entry of the vector?",
    ),
    notice="A matrix times a vector is a weighted sum of the matrix's columns: "
    "every V @ A in these notebooks is this line, once for every column of A.",
)


@route_exercise.solution
def route(values, weights):
    return values @ weights  # (D,)


@route_exercise.right
def route_by_loop(values, weights):
    output = np.zeros(values.shape[0])
    for m in range(values.shape[1]):
        output = output + weights[m] * values[:, m]
    return output


@route_exercise.right
def route_by_average(values, weights):
    return np.average(values, axis=1, weights=weights)


@route_exercise.wrong("what is left to divide by N")
def route_divided(values, weights):
    return values @ weights / len(weights)


@route_exercise.wrong("have the weights a say")
def route_mean(values, weights):
    return values.mean(axis=1)


@route_exercise.wrong("tokens are columns")
def route_rows(values, weights):
    return weights @ values


@route_exercise.wrong("once more through a softmax")
def route_softmax(values, weights):
    return values @ softmax_columns(weights)


@route_exercise.wrong("over which axis does the sum run")
def route_unsummed(values, weights):
    return values * weights


@route_exercise.wrong("does return stand inside the loop")
def route_returned_early(values, weights):
    return weights[0] * values[:, 0]


@route_exercise.wrong("does it replace")
def route_replaced(values, weights):
    return weights[-1] * values[:, -1]


@route_exercise.check
def check_route(answer):
    # A square case first: there, mixing rows runs without an error and can be named.
    values, weights = np.array([[1.0, 2.0], [10.0, 20.0]]), np.array([0.0, 1.0])
    recognize(
        unchanged(answer, values, weights),
        np.array([2.0, 20.0]),
        "the output for weights 0 and 1",
        {
            "Each value is weighted, and the products stand side by side: over which axis does "
            "the sum run?": values * weights,
            "All the weight is on the second value, and the second row of the matrix came out; "
            "tokens are columns: which index of values counts the tokens?": weights @ values,
            "The weights sum to one already: what is left to divide by N?": values @ weights / 2,
            "This is the plain average of the values: have the weights a say?": values.mean(1),
            "The weights are ready to use: why send them once more through a softmax?": values
            @ softmax_columns(weights),
            "All the weight is on the second value, and nothing of it came out: does return stand "
            "inside the loop?": np.zeros(2),
        },
    )
    values = np.array([[1.0, 2.0, 3.0], [10.0, 0.0, 0.0]])
    recognize(
        unchanged(answer, values, np.array([0.1, 0.3, 0.6])),
        np.array([2.5, 1.0]),
        "the output for weights 0.1, 0.3 and 0.6",
        {
            "Only the last term came out: is each term added to the sum so far, or does it replace "
            "the sum?": np.array([1.8, 0.0])
        },
    )
    rng = np.random.default_rng(11)
    for D, N in (1, 1), (3, 1), (1, 4), (4, 4), (5, 3), (2, 37):
        values, weights = rng.normal(size=(D, N)), softmax_columns(rng.normal(size=N))
        same(unchanged(answer, values, weights), values @ weights, f"the output for D={D}, N={N}")


# ----------------------------------------------------------------------------------------- 1.2

softmax_exercise = Exercise(
    "1.2",
    "A softmax for every column",
    stars=1,
    stub='''\
def softmax_columns(scores):
    """The softmax of every column, safe for scores of any size.

    scores: M × N; it must not be changed.
    Returns a new M × N array: no entry is negative, every column sums to one.
    """
    return ...  # your code here
''',
    hints=(
        "Write the softmax of one column first: exponentials, divided by their sum. Which of the "
        "two axes of scores runs down a column?",
        "np.exp(1000) is infinity, np.exp(0) is one. What happens to a softmax if the same number "
        "is subtracted from all its scores?",
        "Subtract from every column its own maximum: scores.max(axis=0) has one number for each "
        "column, and NumPy subtracts it from every row. Then the sums, along the same axis.",
    ),
    notice="The maximum is taken for each column: one maximum for the whole matrix would leave "
    "a column of much smaller scores with nothing but zeros to divide by.",
)


@softmax_exercise.solution
def softmax_columns(scores):
    exponentials = np.exp(scores - scores.max(axis=0))  # largest exponent in each column: 0
    return exponentials / exponentials.sum(axis=0)


@softmax_exercise.right
def softmax_by_loops(scores):
    weights = np.zeros(scores.shape)
    for n in range(scores.shape[1]):
        largest = max(scores[:, n])
        exponentials = [np.exp(score - largest) for score in scores[:, n]]
        for m in range(scores.shape[0]):
            weights[m, n] = exponentials[m] / sum(exponentials)
    return weights


@softmax_exercise.right
def softmax_by_logarithm(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=0, keepdims=True))


@softmax_exercise.wrong("rows sum to one; here each column must")
def softmax_rows(scores):
    return softmax_columns(scores.T).T


@softmax_exercise.wrong("entries together sum to one")
def softmax_whole(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@softmax_exercise.wrong("np.exp(1000) overflows")
def softmax_unstable(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=0)


@softmax_exercise.wrong("whose maximum did you subtract")
def softmax_one_maximum(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=0)


@softmax_exercise.wrong("in place")
def softmax_in_place(scores):
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores


@softmax_exercise.wrong("what must the exponentials be divided by")
def softmax_divided(scores):
    return np.exp(scores) / scores.shape[0]


@softmax_exercise.check
def check_softmax(answer):
    exponentials = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 5.0]])
    by_count = "what must the exponentials be divided by to make their column sum to one?"
    recognize(
        unchanged(answer, np.log(exponentials)),
        np.array([[0.25, 0.125], [0.25, 0.25], [0.5, 0.625]]),
        "the softmax of the logarithms of [[1, 1], [1, 2], [2, 5]]",
        {
            "Your rows sum to one; here each column must: which axis runs down a column?": (
                exponentials / exponentials.sum(axis=1, keepdims=True)
            ),
            "All your entries together sum to one; every column is a softmax of its own: "
            "which axis does the sum run along?": exponentials / exponentials.sum(),
            f"You divided by 3, the number of rows: {by_count}": exponentials / 3,
            f"You divided by 2, the number of columns: {by_count}": exponentials / 2,
            f"These are the exponentials themselves: {by_count}": exponentials,
        },
    )
    for second, lost in (
        (1000.0, OVERFLOW),
        (
            -1000.0,
            "Every exponential of the second column was 0, and 0/0 is not a number: whose maximum "
            "did you subtract, the column's own or the whole matrix's?",
        ),
    ):
        scores = np.array([[1000.0, second], [1001.0, second + 1]])
        what = f"the softmax of [[1000, {second:.0f}], [1001, {second + 1:.0f}]]"
        survives(unchanged(answer, scores), softmax_columns(scores), what, lost)
    rng = np.random.default_rng(12)
    for M, N in (1, 1), (1, 4), (4, 1), (5, 5), (3, 7):
        for spread in 1, 1000:
            scores = spread * rng.normal(size=(M, N))
            same(unchanged(answer, scores), softmax_columns(scores), f"the softmax, {M} × {N}")


# ----------------------------------------------------------------------------------------- 1.3

parameter_free_exercise = Exercise(
    "1.3",
    "Self-attention without parameters",
    stars=1,
    stub='''\
def parameter_free_attention(X):
    """Self-attention in which the tokens themselves are queries, keys and values.

    The score of token i for token j is their dot product, divided by the square root of D; a
    softmax over the tokens attended to turns each token's scores into weights.

    X: D × N, one token in each column.
    Returns the N outputs as columns, D × N.
    """
    return ...  # your code here
''',
    hints=(
        "Which product of X with itself holds the dot product of every token with every other? "
        "How many rows and columns must it have?",
        "X.T @ X is N × N. The root is of D, the number of entries in a token: as vectors get "
        "longer, their dot products spread, and the root undoes that.",
        "A softmax down each column makes A, keys down and queries across. Column n of the output "
        "is the sum of all tokens, each weighted by an entry of A[:, n].",
    ),
    notice="The scores are symmetric, the weights are not: each column has a sum of its own.",
)


@parameter_free_exercise.solution
def parameter_free_attention(X):
    scores = X.T @ X / np.sqrt(X.shape[0])  # N × N, keys × queries
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)  # columns sum to one
    return X @ A  # D × N


@parameter_free_exercise.right
def parameter_free_by_loops(X):
    D, N = X.shape
    outputs = np.zeros((D, N))
    for i in range(N):
        scores = np.array([X[:, i] @ X[:, j] / D**0.5 for j in range(N)])
        weights = np.exp(scores - max(scores))
        for j in range(N):
            outputs[:, i] += weights[j] / sum(weights) * X[:, j]
    return outputs


@parameter_free_exercise.wrong("by D itself")
def parameter_free_by_d(X):
    return X @ softmax_columns(X.T @ X / X.shape[0])


@parameter_free_exercise.wrong("not scaled")
def parameter_free_unscaled(X):
    return X @ softmax_columns(X.T @ X)


@parameter_free_exercise.wrong("how many tokens there are")
def parameter_free_by_n(X):
    return X @ softmax_columns(X.T @ X / np.sqrt(X.shape[1]))


@parameter_free_exercise.wrong("multiplied by the root")
def parameter_free_multiplied(X):
    return X @ softmax_columns(X.T @ X * np.sqrt(X.shape[0]))


@parameter_free_exercise.wrong("weights that mix one output do not sum to one")
def parameter_free_rows(X):
    return X @ softmax_columns(X.T @ X / np.sqrt(X.shape[0])).T


@parameter_free_exercise.wrong("two tokens, or two features")
def parameter_free_features(X):
    return softmax_columns(X @ X.T / np.sqrt(X.shape[0])).T @ X


@parameter_free_exercise.wrong("what turns scores into weights")
def parameter_free_without_softmax(X):
    return X @ (X.T @ X) / np.sqrt(X.shape[0])


@parameter_free_exercise.wrong("all the weights together sum to one")
def parameter_free_whole(X):
    exponentials = np.exp(X.T @ X / np.sqrt(X.shape[0]))
    return X @ exponentials / exponentials.sum()


@parameter_free_exercise.wrong("Your outputs are rows")
def parameter_free_transposed(X):
    return parameter_free_attention(X).T


@parameter_free_exercise.wrong("what do they weight")
def parameter_free_weights(X):
    return softmax_columns(X.T @ X / np.sqrt(X.shape[0]))


@parameter_free_exercise.wrong("may a token attend to itself")
def parameter_free_others(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    np.fill_diagonal(scores, -np.inf)
    return X @ softmax_columns(scores)


@parameter_free_exercise.wrong("np.exp(1000) overflows")
def parameter_free_unstable(X):
    exponentials = np.exp(X.T @ X / np.sqrt(X.shape[0]))
    return X @ (exponentials / exponentials.sum(axis=0))


@parameter_free_exercise.wrong("very exponential was 0")
def parameter_free_one_maximum(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    exponentials = np.exp(scores - scores.max())
    return X @ (exponentials / exponentials.sum(axis=0))


@parameter_free_exercise.check
def check_parameter_free(answer):
    X = np.array([[2.0, 0.0, 2.0], [0.0, 2.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    scores = X.T @ X  # [[4, 0, 4], [0, 4, 4], [4, 4, 8]], to be halved
    A, exponentials = softmax_columns(scores / 2), np.exp(scores / 2)
    recognize(
        unchanged(answer, X),
        X @ A,
        "the outputs for tokens with four entries",
        {
            "You divided the scores by D itself: how fast do dot products of D terms spread?": (
                X @ softmax_columns(scores / 4)
            ),
            "The scores are not scaled: what happens to dot products as D grows?": (
                X @ softmax_columns(scores)
            ),
            "The scores are divided by the root of how many tokens there are: does a dot product "
            "have N terms, or D?": X @ softmax_columns(scores / np.sqrt(3)),
            "The scores are multiplied by the root: are they meant to grow with D?": (
                X @ softmax_columns(scores * 2)
            ),
            "The weights that mix one output do not sum to one: along which axis of the scores "
            "does one query meet all keys?": X @ A.T,
            "The tokens are weighted with the scores themselves: what turns scores into weights?": (
                X @ scores / 2,
                X @ scores,
            ),
            "For each output the weights must sum to one; here all the weights together sum to "
            "one: which axis does the sum run along?": X @ exponentials / exponentials.sum(),
            "Your outputs are rows: in which direction do the tokens of X stand?": (X @ A).T,
            "These are the weights, keys × queries: what do they weight?": A,
            "Every output lacks its own token, yet the sum runs over all of them: may a token "
            "attend to itself?": parameter_free_others(X),
            "Your weights are 4 × 4, one for each pair of entries: do your dot products compare "
            "two tokens, or two features?": parameter_free_features(X),
        },
    )
    rng = np.random.default_rng(13)
    for D, N in (1, 1), (1, 5), (4, 4), (7, 3), (2, 9):
        X = rng.normal(size=(D, N))
        expected = parameter_free_attention(X)
        same(unchanged(answer, X), expected, f"the outputs for D={D}, N={N}")
    for second, why in (50.0, OVERFLOW), (1.0, UNDERFLOW):
        X = np.array([[50.0, second]])
        what = f"the outputs for the tokens 50 and {second:.0f}"
        survives(unchanged(answer, X), parameter_free_attention(X), what, why)


# ----------------------------------------------------------------------------------------- 1.4

weights_exercise = Exercise(
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


@weights_exercise.solution
def attention_weights(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q = beta_q + Omega_q @ X[:, [n]]  # D_q × 1
    K = beta_k + Omega_k @ X  # D_q × N
    scores = (K.T @ q)[:, 0]  # (N,)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@weights_exercise.right
def weights_by_loop(X, n, Omega_q, beta_q, Omega_k, beta_k):
    query = beta_q[:, 0] + Omega_q @ X[:, n]
    scores = []
    for m in range(X.shape[1]):
        key = beta_k[:, 0] + Omega_k @ X[:, m]
        scores.append(sum(key * query))
    exponentials = np.exp(np.array(scores) - max(scores))
    return exponentials / sum(exponentials)


@weights_exercise.right
def weights_without_key_bias(X, n, Omega_q, beta_q, Omega_k, beta_k):
    scores = np.einsum("dm,d->m", Omega_k @ X, (Omega_q @ X + beta_q)[:, n])
    return softmax_columns(scores)


@weights_exercise.right
def weights_from_whole_matrix(X, n, Omega_q, beta_q, Omega_k, beta_k):
    Q, K = Omega_q @ X + beta_q, Omega_k @ X + beta_k
    return softmax_columns(K.T @ Q)[:, n]


@weights_exercise.wrong("whose query meets whose keys")
def weights_exchanged(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n, Omega_k, beta_k, Omega_q, beta_q)


@weights_exercise.wrong("is beta_q part of the query")
def weights_without_biases(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n, Omega_q, 0 * beta_q, Omega_k, 0 * beta_k)


@weights_exercise.wrong("these are the scores")
def weights_without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return ((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X[:, [n]]))[:, 0]


@weights_exercise.wrong("scaling comes in a later notebook")
def weights_scaled(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, K = beta_q + Omega_q @ X[:, [n]], beta_k + Omega_k @ X
    return softmax_columns((K.T @ q)[:, 0] / np.sqrt(len(beta_q)))


@weights_exercise.wrong("together they make D_q × D_q. Is the query still one column")
def weights_spread(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, K = beta_q + Omega_q @ X[:, n], beta_k + Omega_k @ X
    return softmax_columns(K.T @ q)


@weights_exercise.wrong("together they make D_q × D_q. Are queries, keys and values")
def weights_stored(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q, scores = beta_q + Omega_q @ X[:, n], np.zeros(X.shape[1])
    for m in range(X.shape[1]):
        scores[m] = (beta_k[:, 0] + Omega_k @ X[:, m]) @ q
    return softmax_columns(scores)


@weights_exercise.wrong("together they make D_q × D_q. Are query and keys")
def weights_of_squares(X, n, Omega_q, beta_q, Omega_k, beta_k):
    q = beta_q + Omega_q @ X[:, n]
    keys = [beta_k + Omega_k @ x for x in X.T]
    return softmax_columns(np.array([(q * key).sum() for key in keys]))


@weights_exercise.wrong("does n count from 0")
def weights_counted_from_one(X, n, Omega_q, beta_q, Omega_k, beta_k):
    return attention_weights(X, n - 1, Omega_q, beta_q, Omega_k, beta_k)


@weights_exercise.wrong("np.exp(1000) overflows")
def weights_unstable(X, n, Omega_q, beta_q, Omega_k, beta_k):
    exponentials = np.exp(weights_without_softmax(X, n, Omega_q, beta_q, Omega_k, beta_k))
    return exponentials / exponentials.sum()


@weights_exercise.check
def check_weights(answer):
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
                weights_of_squares(*inputs)
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


def random_parameters(rng, D, *sizes):
    """Omega (size × D) and beta (size × 1) for queries, keys and, with a second size, values."""
    D_q, *D_v = sizes
    return [rng.normal(size=(rows, cols)) for rows in (D_q, D_q, *D_v) for cols in (D, 1)]


# ----------------------------------------------------------------------------------------- 1.5

loops_exercise = Exercise(
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


@loops_exercise.solution
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


@loops_exercise.right
def loops_as_matrices(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    return V @ softmax_columns(K.T @ Q)


@loops_exercise.right
def loops_by_einsum(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    scores = np.einsum("dm,dn->mn", Omega_k @ X + beta_k, Omega_q @ X + beta_q)
    return np.einsum("vm,mn->vn", Omega_v @ X + beta_v, softmax_columns(scores))


@loops_exercise.wrong("weighted the keys")
def loops_keys(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return loops_as_matrices(X, Omega_q, beta_q, Omega_k, beta_k, Omega_k, beta_k)


@loops_exercise.wrong("weighted the tokens themselves")
def loops_tokens(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return X @ softmax_columns((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))


@loops_exercise.wrong("where is beta_v")
def loops_without_biases(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return loops_as_matrices(X, Omega_q, 0 * beta_q, Omega_k, 0 * beta_k, Omega_v, 0 * beta_v)


@loops_exercise.wrong("is beta_q part of the query")
def loops_without_query_bias(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return loops_as_matrices(X, Omega_q, 0 * beta_q, Omega_k, beta_k, Omega_v, beta_v)


@loops_exercise.wrong("query and key are exchanged")
def loops_exchanged(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return loops_as_matrices(X, Omega_k, beta_k, Omega_q, beta_q, Omega_v, beta_v)


@loops_exercise.wrong("they add up to 3")
def loops_without_normalizing(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    return V @ np.exp(K.T @ Q)


@loops_exercise.wrong("scaling comes in a later notebook")
def loops_scaled(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    return V @ softmax_columns(K.T @ Q / np.sqrt(Omega_q.shape[0]))


@loops_exercise.wrong("what turns scores into weights")
def loops_without_softmax(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return (beta_v + Omega_v @ X) @ ((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))


@loops_exercise.wrong("together they make D_q × D_q. Is each query")
def loops_spread(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    K, V = beta_k + Omega_k @ X, beta_v + Omega_v @ X
    return np.stack([V @ softmax_columns(K.T @ (beta_q + Omega_q @ x)) for x in X.T], axis=1)


@loops_exercise.wrong("together they make D_q × D_q. Are queries, keys and values")
def loops_stored(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    outputs = np.zeros((Omega_v.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        outputs[:, n] += beta_v + Omega_v @ X[:, n]
    return outputs


@loops_exercise.wrong("together they make D_q × D_q. Are queries and keys")
def loops_of_squares(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    queries, keys = (
        [beta + Omega @ x for x in X.T] for Omega, beta in ((Omega_q, beta_q), (Omega_k, beta_k))
    )
    scores = np.array([[(key * query).sum() for query in queries] for key in keys])
    return (beta_v + Omega_v @ X) @ softmax_columns(scores)


@loops_exercise.wrong("expected the result alone, got a tuple of 2")
def loops_with_weights(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    A = softmax_columns((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))
    return (beta_v + Omega_v @ X) @ A, A


@loops_exercise.wrong("np.exp(1000) overflows")
def loops_unstable(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    exponentials = np.exp((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))
    return (beta_v + Omega_v @ X) @ (exponentials / exponentials.sum(axis=0))


@loops_exercise.check
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
            loops_as_matrices(*inputs),
            f"the outputs for D={D}, D_q={D_q}, D_v={D_v}, N={N}",
            {
                UNSCALED: loops_scaled(*inputs),
                f"The scores come from too many products: {FLAT}Are queries and keys still one "
                "column each?": loops_of_squares(*inputs),
            },
        )
    check_large(answer, loops_as_matrices)


# ----------------------------------------------------------------------------------------- 1.6

look_up_exercise = Exercise(
    "1.6",
    "A hard dictionary",
    stars=2,
    stub='''\
def hard_look_up(query, keys, values):
    """The value stored under the one key that has the largest dot product with the query.

    query:  shape (D_q,).
    keys:   D_q × N, one key in each column.
    values: D_v × N; column m is stored under key m.
    Returns one value, shape (D_v,).
    """
    return ...  # your code here
''',
    hints=(
        "A dictionary has three parts: what is asked, what is compared, what is returned. Which "
        "of them are keys?",
        "One dot product for each column of keys: N numbers. Which position holds the largest?",
        "np.argmax gives the position; the answer is what is stored there, a column of values.",
    ),
    notice="No slope leads through argmax: moving the query a little changes nothing. "
    "The softmax mixes instead, and so can be trained.",
)


@look_up_exercise.solution
def hard_look_up(query, keys, values):
    scores = keys.T @ query  # (N,)
    return values[:, np.argmax(scores)]  # (D_v,)


@look_up_exercise.right
def look_up_by_loop(query, keys, values):
    best = 0
    for m in range(1, keys.shape[1]):
        if sum(keys[:, m] * query) > sum(keys[:, best] * query):
            best = m
    return values[:, best]


@look_up_exercise.right
def look_up_by_one_hot(query, keys, values):
    scores = query @ keys
    return values @ np.eye(len(scores))[scores.argmax()]


@look_up_exercise.wrong("nearest to the query")
def look_up_nearest(query, keys, values):
    return values[:, np.argmin(((keys - query[:, None]) ** 2).sum(axis=0))]


@look_up_exercise.wrong("what is stored under it")
def look_up_key(query, keys, values):
    return keys[:, np.argmax(keys.T @ query)]


@look_up_exercise.wrong("smallest dot product")
def look_up_smallest(query, keys, values):
    return values[:, np.argmin(keys.T @ query)]


@look_up_exercise.wrong("where the value is")
def look_up_index(query, keys, values):
    return np.argmax(keys.T @ query)


@look_up_exercise.wrong("a mixture of all the values")
def look_up_soft(query, keys, values):
    return values @ softmax_columns(keys.T @ query)


@look_up_exercise.wrong("does the length of a key count")
def look_up_cosine(query, keys, values):
    return values[:, np.argmax(query @ keys / np.linalg.norm(keys, axis=0))]


@look_up_exercise.wrong("from which number does your search")
def look_up_from_zero(query, keys, values):
    best, place = 0, 0
    for m in range(keys.shape[1]):
        if keys[:, m] @ query > best:
            best, place = keys[:, m] @ query, m
    return values[:, place]


@look_up_exercise.check
def check_look_up(answer):
    query = np.array([1.0, 0.0])
    keys = np.array([[1.0, 2.0, 3.0, -2.0], [0.5, 0.0, 3.0, 0.0]])  # dot products 1, 2, 3, -2
    values = np.array([[10.0, 20.0, 30.0, 40.0], [11.0, 21.0, 31.0, 41.0]])
    recognize(
        unchanged(answer, query, keys, values),
        np.array([30.0, 31.0]),
        "the value for dot products 1, 2, 3 and -2",
        {
            "This is the value of the key nearest to the query: is the nearest key the one with "
            "the largest dot product?": values[:, 0],
            "This is the value of the key whose direction is nearest to the query's: does the "
            "length of a key count in a dot product?": values[:, 1],
            "This is the key that was found: what is stored under it?": keys[:, 2],
            "This is the value of the key with the smallest dot product: which end of the scores "
            "do you want?": values[:, 3],
            "This is where the value is, and not the value: what stands there in values?": 2,
            "This is a mixture of all the values, the soft dictionary: a hard one returns a "
            "single value as it is stored.": look_up_soft(query, keys, values),
        },
    )
    negative = query, np.array([[-3.0, -2.0, -4.0], [0.0, 1.0, 0.0]]), values[:, :3]
    got = unchanged(answer, *negative)
    if not matches(got, values[:, 1]):
        raise Wrong(
            "The largest of the dot products -3, -2 and -4 was not found: from which number does "
            "your search for the largest begin?",
            values[:, 1],
            got,
        )
    rng = np.random.default_rng(16)
    for D_q, D_v, N in (1, 1, 1), (3, 2, 1), (2, 4, 5), (3, 3, 3), (4, 1, 9):
        inputs = [rng.normal(size=size) for size in ((D_q,), (D_q, N), (D_v, N))]
        what = f"the value for D_q={D_q}, D_v={D_v}, N={N}"
        same(unchanged(answer, *inputs), hard_look_up(*inputs), what)


# ----------------------------------------------------------------------------------------- 1.7

POINTING_BACK = "it", "they", "their"

design_exercise = Exercise(
    "1.7",
    "Design a head by hand",
    stars=2,
    stub='''\
def design_head(names):
    """Omega_q and Omega_k with which it, they and their find the restaurant.

    The words of the passage have the hand-made vectors of this notebook; the biases are zero and
    the scores are not scaled. Each of the three words must give restaurant at least 0.9 of its
    attention; no other word may give it more than 0.5.

    names: the D names of the vectors' dimensions ("place", "food", "pointing back" …). Look the
           dimensions up by name: the check also tries them in another order.
    Returns (Omega_q, Omega_k), each D_q × D; D_q, at least 1, is yours to choose.
    """
    return ...  # your code here
''',
    hints=(
        "Print the vectors of it, they, their and restaurant. Which dimension do the three share "
        "that no other word of the passage has? Which one sets restaurant apart?",
        "A query says what a word is looking for, a key says what a word has to offer. One number "
        "each (D_q = 1) is enough: when should the query be large, when the key?",
        "Omega_q can turn “points back” into “looks for a place”: a single entry, in the column "
        'names.index("pointing back"). Omega_k reads off “is a place” in the same way.',
        "Too weak? Restaurant competes with 36 other words: exp(score) has to be nine times the "
        "sum of all their exponentials, and ambiance is a bit of a place, too.",
    ),
    notice="Words that do not point back have the query 0: they attend to all words alike. "
    "The size of the entry is the head's sharpness.",
)


@design_exercise.solution
def design_head(names):
    D = len(names)
    Omega_q, Omega_k = np.zeros((1, D)), np.zeros((1, D))
    Omega_q[0, names.index("pointing back")] = 8.0  # a word that points back asks …
    Omega_k[0, names.index("place")] = 1.0  # … and a place answers
    return Omega_q, Omega_k


@design_exercise.right
def design_in_all_dimensions(names):
    Omega_q = np.zeros((len(names), len(names)))
    Omega_q[names.index("place"), names.index("pointing back")] = 10.0
    return Omega_q, np.eye(len(names))


@design_exercise.right
def design_with_lists(names):
    query = [[12.0 * (name == "pointing back") for name in names]]
    key = [[{"place": 1.0, "glue": -0.1}.get(name, 0.0) for name in names]]
    return query, key


@design_exercise.wrong("does its query meet any key")
def design_zeros(names):
    return np.zeros((1, len(names))), np.zeros((1, len(names)))


@design_exercise.wrong("asks for words like itself")
def design_identity(names):
    return np.eye(len(names)), np.eye(len(names))


@design_exercise.wrong("who asks, and who answers")
def design_exchanged(names):
    return design_head(names)[::-1]


@design_exercise.wrong("but too weakly")
def design_weak(names):
    Omega_q, Omega_k = design_head(names)
    return Omega_q / 8, Omega_k


@design_exercise.wrong("which dimension do only the words that point back have")
def design_for_all_words(names):
    Omega_q, Omega_k = design_head(names)
    return np.full(Omega_q.shape, 8.0), Omega_k


@design_exercise.wrong("in another order")
def design_by_position(names):
    return 8 * np.eye(len(names))[[4]], np.eye(len(names))[[0]]


@design_exercise.check
def check_design(answer):
    vectors, names = load_word_vectors()
    check_head(answer, vectors, names)
    order = np.random.default_rng(17).permutation(len(names))
    shuffled = {word: vector[order] for word, vector in vectors.items()}
    try:
        check_head(answer, shuffled, [names[i] for i in order])
    except Wrong as fault:
        raise Wrong(
            "The head works, but not with the dimensions in another order: did you find their "
            "positions by name, with names.index?"
        ) from fault


def check_head(answer, vectors, names):
    passage = words(PASSAGE)
    X = embed(passage, vectors)
    Omega_q, Omega_k = head_matrices(unchanged(answer, list(names)), len(names))
    A = softmax_columns((Omega_k @ X).T @ (Omega_q @ X))
    restaurant = passage.index("restaurant")
    pointing = [n for n, word in enumerate(passage) if word in POINTING_BACK]
    if A[pointing, restaurant].sum() > 0.5 > A[restaurant, pointing].max():
        raise Wrong(
            "With your matrices restaurant looks for it, they and their: who asks, and who "
            "answers? Whoever asks needs the query.",
        )
    for n in pointing:
        if np.allclose(A[:, n], 1 / len(passage)):
            raise Wrong(
                f"“{passage[n]}” spreads its attention evenly: does its query meet any key?"
            )
        best = A[restaurant, n] == A[:, n].max()  # argmax would name the first of equals
        strongest = restaurant if best else A[:, n].argmax()
        finds = f"“{passage[n]}” pays most attention to “{passage[strongest]}”"
        if passage[strongest] in POINTING_BACK:
            raise Wrong(
                f"{finds}, {A[strongest, n]:.2f}: it asks for words like itself. Which entry of "
                "Omega_q turns “I point back” into “I look for a place”?"
            )
        if not best:
            raise Wrong(
                f"{finds}, {A[strongest, n]:.2f}, and {A[restaurant, n]:.2f} to restaurant: which "
                "dimension sets restaurant apart from the other words?"
            )
        if A[restaurant, n] < 0.9:
            raise Wrong(
                f"{finds}, as it should, but too weakly, {A[restaurant, n]:.2f}: by how much must "
                "one score exceed 36 others for nine tenths of the attention?"
            )
    for n, word in enumerate(passage):
        if n not in pointing and A[restaurant, n] > 0.5:
            raise Wrong(
                f"“{word}” points back to nothing and still pays {A[restaurant, n]:.2f} of its "
                "attention to restaurant: which dimension do only the words that point back have?"
            )


def head_matrices(result, D):
    """Omega_q and Omega_k as arrays of equal shape, D columns each, or Wrong."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Wrong("Two matrices are expected: does your function return Omega_q, Omega_k?")
    try:
        Omega_q, Omega_k = (np.asarray(matrix, dtype=float) for matrix in result)
    except (TypeError, ValueError):
        raise Wrong("Omega_q and Omega_k must be matrices of numbers.") from None
    for name, matrix in ("Omega_q", Omega_q), ("Omega_k", Omega_k):
        if matrix.ndim != 2 or matrix.shape[1] != D or matrix.shape[0] < 1:
            raise Wrong(f"{name} must have one column for each of the {D} named dimensions.")
        if not np.isfinite(matrix).all():
            raise Wrong(f"{name} must hold finite numbers.")
    if Omega_q.shape != Omega_k.shape:
        raise Wrong(
            "Queries and keys meet in a dot product: can Omega_q and Omega_k have different "
            "numbers of rows?"
        )
    return Omega_q, Omega_k


# ----------------------------------------------------------------------------------------- 1.8

stream_exercise = Exercise(
    "1.8",
    "Attend to a stream",
    stars=3,
    stub='''\
def attend_to_stream(query, pairs):
    """The attention output of one query over a stream of keys and values (without scaling).

    The stream may be too long to keep, and it can be read only once. Scores may be ±1000.

    query: shape (D_q,).
    pairs: an iterator over at least one (key, value), of shapes (D_q,) and (D_v,).
    Returns the values' sum, weighted by the softmax of all scores, shape (D_v,).
    """
    return ...  # your code here
''',
    hints=(
        "The output is a fraction: a weighted sum of values above, a sum of weights below. Can "
        "both be kept up to date, pair by pair?",
        "A safe softmax subtracts the largest score, which is known only at the end. What if you "
        "subtract the largest so far?",
        "When a larger score arrives, everything added up so far was computed with the old "
        "maximum. By which one factor is all of it too large?",
        "Both sums times np.exp(old maximum − new maximum), then the new pair is added. With a "
        "first maximum of −infinity that factor is 0 for the first pair, as it should be.",
    ),
    notice="Two running numbers and one running vector replace a row of N weights. Done block by "
    "block, this is how the fused kernels on a GPU avoid ever storing the N × N matrix.",
)


@stream_exercise.solution
def attend_to_stream(query, pairs):
    largest, total, output = -np.inf, 0.0, 0.0
    for key, value in pairs:
        score = key @ query
        rescale = np.exp(largest - max(largest, score))  # old sums, measured by the new maximum
        largest = max(largest, score)
        weight = np.exp(score - largest)
        total = total * rescale + weight
        output = output * rescale + weight * value
    return output / total


@stream_exercise.right
def stream_by_average(query, pairs):
    key, output = next(pairs)
    log_total = key @ query
    for key, value in pairs:
        score = key @ query
        log_total = np.logaddexp(log_total, score)
        output = output + np.exp(score - log_total) * (value - output)
    return output


@stream_exercise.right
def stream_by_blocks(query, pairs):
    largest, total, output = -np.inf, 0.0, 0.0
    while block := list(itertools.islice(pairs, 16)):
        scores = np.array([key @ query for key, _ in block])
        new_largest = max(largest, scores.max())
        weights, rescale = np.exp(scores - new_largest), np.exp(largest - new_largest)
        total = total * rescale + weights.sum()
        output = output * rescale + weights @ np.array([value for _, value in block])
        largest = new_largest
    return output / total


def stream_sums(query, pairs, largest=-np.inf, above=1, below=1):
    """The two sums of the solution, with a first maximum and powers of the rescaling factor."""
    total, output = 0.0, 0.0
    for key, value in pairs:
        new_largest = max(largest, key @ query)
        rescale, weight = np.exp(largest - new_largest), np.exp(key @ query - new_largest)
        total = total * rescale**below + weight
        output = output * rescale**above + weight * value
        largest = new_largest
    return output, total


@stream_exercise.wrong("what must happen to the sums so far")
def stream_without_rescaling(query, pairs):
    return np.divide(*stream_sums(query, pairs, above=0, below=0))


@stream_exercise.wrong("is the sum of the weights rescaled, too")
def stream_rescaled_above(query, pairs):
    return np.divide(*stream_sums(query, pairs, below=0))


@stream_exercise.wrong("is the sum of the values rescaled, too")
def stream_rescaled_below(query, pairs):
    return np.divide(*stream_sums(query, pairs, above=0))


@stream_exercise.wrong("its inverse is ∞")
def stream_inverted(query, pairs):
    return np.divide(*stream_sums(query, pairs, above=-1, below=-1))


@stream_exercise.wrong("your factor made them larger")
def stream_inverted_from_zero(query, pairs):
    return np.divide(*stream_sums(query, pairs, largest=0.0, above=-1, below=-1))


@stream_exercise.wrong("what do they have to be divided by")
def stream_undivided(query, pairs):
    return stream_sums(query, pairs)[0]


@stream_exercise.wrong("largest score of a stream of negative ones")
def stream_from_zero(query, pairs):
    return np.divide(*stream_sums(query, pairs, largest=0.0))


@stream_exercise.wrong("np.exp(1000) overflows")
def stream_unstable(query, pairs):
    total, output = 0.0, 0.0
    for key, value in pairs:
        weight = np.exp(key @ query)
        total, output = total + weight, output + weight * value
    return output / total


@stream_exercise.wrong("largest score of a stream of negative ones")
def stream_shifted(query, pairs):
    total, output = 0.0, 0.0
    for key, value in pairs:
        weight = np.exp(key @ query - 500)
        total, output = total + weight, output + weight * value
    return output / total


@stream_exercise.wrong("can be read only once")
def stream_read_twice(query, pairs):
    largest = max(key @ query for key, _ in pairs)
    total, output = 0.0, 0.0
    for key, value in pairs:
        weight = np.exp(key @ query - largest)
        total, output = total + weight, output + weight * value
    return output / total


@stream_exercise.wrong("by how many pairs there were")
def stream_divided_by_count(query, pairs):
    pairs = list(pairs)
    return stream_sums(query, iter(pairs))[0] / len(pairs)


@stream_exercise.wrong("too long to keep")
def stream_kept(query, pairs):
    keys, values = zip(*pairs, strict=True)
    return softmax_columns(np.array(keys) @ query) @ values


@stream_exercise.wrong("too long to keep")
def stream_copied(query, pairs):
    scores, values = zip(*((key @ query, value.copy()) for key, value in pairs), strict=True)
    return softmax_columns(np.array(scores)) @ values


@stream_exercise.wrong("too long to keep")
def stream_listed(query, pairs):
    scores, values = zip(*((key @ query, value.tolist()) for key, value in pairs), strict=True)
    return softmax_columns(np.array(scores)) @ values


@stream_exercise.wrong("in place")
def stream_in_place(query, pairs):
    key, output = next(pairs)
    largest, total = key @ query, 1.0
    for key, value in pairs:
        new_largest = max(largest, key @ query)
        rescale, weight = np.exp(largest - new_largest), np.exp(key @ query - new_largest)
        total = total * rescale + weight
        output *= rescale
        output += weight * value
        largest = new_largest
    return output / total


class Stream:
    """Pairs of copies that can be read once and not be changed; notices a second reading."""

    def __init__(self, keys, values):
        self.pairs = zip(keys, values, strict=True)
        self.ended = self.read_again = False

    def __iter__(self):
        self.read_again |= self.ended
        return self

    def __next__(self):
        try:
            key, value = map(np.copy, next(self.pairs))
        except StopIteration:
            self.ended = True
            raise
        key.flags.writeable = value.flags.writeable = False
        return key, value


def read(answer, query, keys, values):
    """What the answer makes of a stream."""
    stream = Stream(keys, values)
    twice = Wrong(
        "The stream can be read only once, and it was empty when you came back to it: can "
        "everything happen in a single pass?"
    )
    try:
        got = answer(query.copy(), stream)
    except (ArithmeticError, LookupError, ValueError) as error:
        if stream.read_again:
            raise twice from None
        if "read-only" in str(error):
            raise Wrong(
                "It changes a key or a value of the stream in place, which others may still need: "
                "does your running sum begin as an array of its own?"
            ) from None
        raise
    if stream.read_again and not matches(got, softmax_columns(keys @ query) @ values):
        raise twice
    return got


def most_held(answer, query, keys, values):
    """The bytes that the answer holds at most while it reads a stream."""
    tracemalloc.start()
    try:
        read(answer, query, keys, values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@stream_exercise.check
def check_stream(answer):
    one, values = np.array([1.0]), np.array([[4.0, 0.0], [0.0, 4.0]])
    # Scores as they are: the query is 1. Falling first, so that only the rising ones need care.
    falling, rising = np.log([[3.0], [1.0]]), np.log([[1.0], [3.0]])
    undivided = (
        "The values are added up, each times its weight: what do they have to be divided by to "
        "make a weighted average?"
    )
    recognize(
        read(answer, one, falling[:1], values[:1]),
        values[0],
        "the output for a single pair (its value)",
        {
            "A single pair gives NaN. If you subtract a fixed number, the exponential may be 0; if "
            "the first maximum is −∞, the factor exp(old − new) is 0 and its inverse is ∞: which "
            "of the two is it?": np.full(2, np.nan),
            undivided: 3 * values[0],
        },
    )
    recognize(
        read(answer, one, falling, values),
        np.array([3.0, 1.0]),
        "the output for scores log 3 and 0",
        {
            "You divided by how many pairs there were: what do the weights of a softmax sum to?": (
                np.array([2.0, 2 / 3])
            ),
            undivided: np.array([4.0, 4 / 3]),
        },
    )
    late = (
        "The same scores in falling order give the right output, in rising order they do not: "
        "when a larger score arrives, "
    )
    recognize(
        read(answer, one, rising, values),
        np.array([1.0, 3.0]),
        "the output for scores 0 and log 3",
        {
            f"{late}what must happen to the sums so far?": np.array([2.0, 2.0]),
            f"{late}is the sum of the weights rescaled, too?": np.array([2 / 3, 2.0]),
            f"{late}is the sum of the values rescaled, too?": np.array([3.0, 3.0]),
            f"{late}the sums so far must shrink, and your factor made them larger: old − new, or "
            "new − old?": np.array([3.0, 1.0]),
        },
    )
    negative = (
        "Every exponential was 0, and 0/0 is not a number: what is the largest score of a stream "
        "of negative ones?"
    )
    for first, second, why in (
        (1000.0, 999.0, OVERFLOW),
        (-1000.0, -1001.0, negative),
        (-1000.0, 1000.0, OVERFLOW),
    ):
        keys = np.array([[first], [second]])
        got, expected = read(answer, one, keys, values), softmax_columns(keys[:, 0]) @ values
        survives(got, expected, f"the output for scores {first:.0f} and {second:.0f}", why)
    rng = np.random.default_rng(18)
    for D_q, D_v, N in (1, 1, 1), (3, 2, 5), (2, 3, 40), (4, 250, 1000):
        query, keys = rng.normal(size=D_q), 5 * rng.normal(size=(N, D_q))
        values = rng.normal(size=(N, D_v))
        what = f"the output for D_q={D_q}, D_v={D_v} and {N} pairs"
        expected = softmax_columns(keys @ query) @ values
        same(read(answer, query, keys, values), expected, what)
    if most_held(answer, query, keys, values) > values.nbytes / 4:
        raise Wrong(
            f"The output is right, but of {N} pairs you held a good part at once, as they were or "
            "as copies, and the stream may be too long to keep: what must be remembered from one "
            "pair to the next?"
        )
