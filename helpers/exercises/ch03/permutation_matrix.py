"""Exercise 3.1, A matrix that reorders."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "3.1",
    "A matrix that reorders",
    stars=1,
    stub='''\
def permutation_matrix(order):
    """The permutation matrix P that puts the columns of a matrix into the given order.

    order: a list of the numbers 0, 1, …, N − 1, each once, in any order.
    Returns P, N × N, with X @ P == X[:, order] for every X of N columns.
    """
    return ...  # your code here
''',
    hints=(
        "Column n of X @ P is X times column n of P. Which column of X should it be?",
        "X times a column that is 1 in row m and 0 elsewhere is column m of X.",
        "So column n of P has its 1 in row order[n]. These are the columns of the identity, in "
        "another order.",
    ),
    notice="The transpose of P puts everything back: Pᵀ P = I. If an order only exchanges two "
    "words, such as woman and raccoon, P is its own transpose, and a mix-up goes unnoticed.",
)


@exercise.solution
def permutation_matrix(order):
    return np.eye(len(order))[:, order]  # N × N


@exercise.right
def by_loop(order):
    P = np.zeros((len(order), len(order)), dtype=int)
    for n, m in enumerate(order):
        P[m, n] = 1
    return P


@exercise.right
def by_comparison(order):
    return np.arange(len(order))[:, None] == np.array(order)


@exercise.right
def by_transpose(order):
    return [[float(m == wanted) for wanted in order] for m in range(len(order))]


@exercise.wrong("the inverse permutation")
def rows_reordered(order):
    return np.eye(len(order))[order]


@exercise.wrong("has the order a say")
def identity(order):
    return np.eye(len(order))


@exercise.wrong("from the end to the start")
def always_reversed(order):
    return np.eye(len(order))[:, ::-1]


@exercise.wrong("reads the order backward:")
def order_reversed(order):
    return np.eye(len(order))[:, order[::-1]]


@exercise.wrong("from 0 or from 1")
def from_one(order):
    return np.eye(len(order))[:, np.array(order) - 1]


@exercise.wrong("where it should be 1")
def numbers(order):
    return np.array(order) * permutation_matrix(order)


@exercise.wrong("minus sign")
def negative(order):
    return -permutation_matrix(order)


@exercise.wrong("on the diagonal")
def on_the_diagonal(order):
    return np.diag(order)


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(order):
    P = np.zeros((len(order), len(order)))
    for n, m in enumerate(order):
        P[m, n] = 1
        return P


@exercise.wrong("does your function end with return")
def assigned_alone(order):
    P = np.zeros((len(order), len(order)))
    P[order, np.arange(len(order))] = 1


@exercise.check
def check(answer):
    order = [2, 3, 1, 0]  # its inverse and its mirror image are other orders
    expected, eye = permutation_matrix(order), np.eye(4)
    recognize(
        unchanged(answer, order),
        expected,
        "P for the order 2, 3, 1, 0",
        {
            "This is the transpose, the inverse permutation: X @ P brings column 0 of X to place "
            "2, and should bring column 2 to place 0. Which index of P is order[n], the row's or "
            "the column's?": expected.T,
            "Your P leaves every column of X where it is: has the order a say in it?": eye,
            "Your P turns X around, from the end to the start, whatever the order is: where does "
            "order enter?": eye[:, ::-1],
            "Your P reads the order backward: which column of X should come first?": (
                expected[:, ::-1]
            ),
            "Your 1s stand one row too high: does the order count columns from 0 or from 1?": (
                from_one(order)
            ),
            "The entries of your P stand in the right places, and they are the numbers of the "
            "columns: what is an entry of P where it should be 1?": (
                numbers(order),
                np.arange(4) * expected,
                (np.array(order) + 1) * expected,
            ),
            "The entries stand in the right places and have a minus sign: by what must a column of "
            "X be multiplied to stay as it is?": negative(order),
            "The order itself stands on the diagonal of your P, so X @ P scales the columns of X: "
            "where in column n must a single 1 stand?": np.diag(order),
        },
    )
    rng = np.random.default_rng(31)
    for N in 1, 2, 3, 5, 8, 8:  # twice the same size, in two orders
        order = rng.permutation(N).tolist()
        same(unchanged(answer, order), permutation_matrix(order), f"P for the order {order}")


exercise.equivalent(
    "any kind of number holds 0 and 1",
    "by_loop: P = np.zeros(*, dtype=int) → *",
    "by_transpose: * → return [[m == wanted *",
)
exercise.equivalent("the entry was 0", "by_loop: P[m, n] = 1 → P[m, n] += 1")
exercise.equivalent("NumPy makes an array of the list", "by_comparison: * → * == order")
