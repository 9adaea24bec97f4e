"""Exercise 2.1, One linear map for all tokens."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "2.1",
    "One linear map for all tokens",
    stars=1,
    stub='''\
def linear_columns(X, Omega, beta):
    """The same linear map applied to every token: beta 1ᵀ + Omega X.

    X: D × N, one token in each column; Omega: D_out × D; beta: D_out × 1.
    Returns the N results as columns, D_out × N.
    """
    return ...  # your code here
''',
    hints=(
        "What is column n of the product Omega @ X, in terms of column n of X?",
        "beta 1ᵀ is a matrix with beta in each of its N columns. Does NumPy need it written out?",
        "NumPy stretches a D_out × 1 column across the columns of a D_out × N matrix when the two "
        "are added.",
    ),
    notice="Broadcasting stands for the 1ᵀ of the equation: the column beta is added to every "
    "column. A flat beta of shape (D_out,) would be added to every row instead.",
)


@exercise.solution
def linear_columns(X, Omega, beta):
    return beta + Omega @ X  # D_out × N


@exercise.right
def by_loop(X, Omega, beta):
    results = np.zeros((Omega.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        results[:, n] = beta[:, 0] + Omega @ X[:, n]
    return results


@exercise.right
def as_written(X, Omega, beta):
    return beta @ np.ones((1, X.shape[1])) + Omega @ X


@exercise.right
def with_homogeneous_tokens(X, Omega, beta):
    return np.hstack([Omega, beta]) @ np.vstack([X, np.ones(X.shape[1])])


@exercise.wrong("what about the other tokens")
def bias_once(X, Omega, beta):
    results = Omega @ X
    results[:, [0]] += beta
    return results


@exercise.wrong("where is beta")
def without_bias(X, Omega, beta):
    return Omega @ X


@exercise.wrong("beta lies along the rows")
def bias_in_rows(X, Omega, beta):
    return beta.T + Omega @ X


@exercise.wrong("Omega stands transposed")
def transposed(X, Omega, beta):
    return beta + Omega.T @ X


@exercise.wrong("the factors are exchanged")
def wrong_order(X, Omega, beta):
    return beta + X @ Omega


@exercise.wrong("added to the tokens")
def bias_before(X, Omega, beta):
    return Omega @ (X + beta)


@exercise.wrong("is the product made before the sum")
def sum_first(X, Omega, beta):
    return (beta + Omega) @ X


@exercise.wrong("entry by entry")
def entrywise(X, Omega, beta):
    return beta + Omega * X


@exercise.wrong("the result is transposed")
def in_rows(X, Omega, beta):
    return (beta + Omega @ X).T


@exercise.wrong("a return that stands inside it")
def returned_early(X, Omega, beta):
    results = np.zeros((Omega.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        results[:, n] = beta[:, 0] + Omega @ X[:, n]
        return results


exercise.equivalent(
    "every entry is set",
    "by_loop: * → results = np.ones((Omega.shape[0], X.shape[1]))",
    "by_loop: * → results[:, n] += beta[:, 0] + Omega @ X[:, n]",
)
exercise.equivalent(
    "of the same size",
    "by_loop: * → results = np.zeros((beta.shape[0], X.shape[1]))",
    "by_loop: * → for n in range(results.shape[1]):",
)
exercise.equivalent(
    "a single column is the last one, too", "by_loop: * → results[:, n] = beta[:, -1] + *"
)
exercise.equivalent(
    "NumPy stretches a single column to as many as there are",
    "as_written: * → return beta * np.ones((1, X.shape[1])) + Omega @ X",
    "as_written: * → return beta + Omega @ X",
    "as_written: * → return beta @ np.ones((1, beta.shape[1])) + Omega @ X",
)


@exercise.check
def check(answer):
    # Square cases first: there, a wrong order runs without an error and can be named.
    X, Omega = np.array([[2.0, 5.0], [3.0, 7.0]]), np.array([[1.0, -4.0], [6.0, 3.0]])
    beta, product = np.array([[11.0], [20.0]]), Omega @ X
    recognize(
        unchanged(answer, X, Omega, 0 * beta),
        product,
        "the result for X = [[2, 5], [3, 7]], Omega = [[1, -4], [6, 3]], beta = 0",
        {
            "Omega stands transposed: which row of Omega belongs to the first entry of the "
            "result?": Omega.T @ X,
            "In X @ Omega the factors are exchanged: Omega has to act on the columns of X; on "
            "which side of X does it stand?": X @ Omega,
            "Omega * X multiplies entry by entry: which operator is the product of two matrices?": (
                Omega * X
            ),
            "The numbers are right and the result is transposed: does each token stay a column?": (
                product.T
            ),
        },
    )
    X = np.array([[-1.0, 4.0], [9.0, 8.0]])
    product = Omega @ X
    recognize(
        unchanged(answer, X, Omega, beta),
        beta + product,
        "the result for X = [[-1, 4], [9, 8]], the same Omega, and beta = (11, 20)",
        {
            "The result is the same as for beta = 0: where is beta?": product,
            "Only the first token got beta: what about the other tokens?": product + beta * [1, 0],
            "Your beta lies along the rows: token 0 got 11 twice and token 1 got 20. Should "
            "beta be a row here, or a column?": product + beta.T,
            "Your beta was added to Omega, and their sum multiplied with X: is the product made "
            "before the sum?": (beta + Omega) @ X,
            "Your beta was added to the tokens, and then Omega acted on the sum: does Omega act "
            "on beta in beta 1ᵀ + Omega X?": Omega @ (X + beta),
        },
    )
    rng = np.random.default_rng(21)
    for D, D_out, N in 2 * ((1, 1, 1), (3, 2, 1), (2, 4, 5), (3, 3, 3), (4, 1, 37)):
        inputs = [rng.normal(size=size) for size in ((D, N), (D_out, D), (D_out, 1))]
        what = f"the result for D={D}, D_out={D_out}, N={N}"
        same(unchanged(answer, *inputs), linear_columns(*inputs), what)
