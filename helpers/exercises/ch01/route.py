"""Exercise 1.1, Route values with given weights."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
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


@exercise.solution
def route(values, weights):
    return values @ weights  # (D,)


@exercise.right
def by_loop(values, weights):
    output = np.zeros(values.shape[0])
    for m in range(values.shape[1]):
        output = output + weights[m] * values[:, m]
    return output


@exercise.right
def by_sums(values, weights):
    return [sum(weights * row) for row in values]


@exercise.right
def by_average(values, weights):
    return np.average(values, axis=1, weights=weights)


@exercise.wrong("what is left to divide by N")
def divided(values, weights):
    return values @ weights / len(weights)


@exercise.wrong("have the weights a say")
def plain_mean(values, weights):
    return values.mean(axis=1)


@exercise.wrong("the values are columns")
def mixing_rows(values, weights):
    return weights @ values


@exercise.wrong("once more through a softmax")
def softmax_again(values, weights):
    return values @ softmax_columns(weights)


@exercise.wrong("over which axis does the sum run")
def unsummed(values, weights):
    return values * weights


@exercise.wrong("does return stand inside the loop")
def returned_early(values, weights):
    return weights[0] * values[:, 0]


@exercise.wrong("how many values are there")
def as_many_terms_as_entries(values, weights):
    return sum(weights[m] * values[:, m] for m in range(min(values.shape)))


@exercise.wrong("which value does weights[0] belong to")
def one_place_off(values, weights):
    return values @ np.roll(weights, 1)


@exercise.wrong("does it replace")
def replaced(values, weights):
    return weights[-1] * values[:, -1]


@exercise.wrong("and not the V and a_1 of the text")
def output_of_the_text(values, weights):
    V, a_1 = np.array([[4.0, 0.0, 2.0], [0.0, 2.0, 3.0]]), np.array([0.1, 0.3, 0.6])
    return V @ a_1


@exercise.check
def check(answer):
    # A square case first: there, mixing rows runs without an error and can be named.
    values, weights = np.array([[3.0, 5.0], [11.0, 17.0]]), np.array([0.0, 1.0])
    recognize(
        unchanged(answer, values, weights),
        np.array([5.0, 17.0]),
        "the output for weights 0 and 1",
        {
            "Each value is weighted, and the products stand side by side: over which axis does "
            "the sum run?": values * weights,
            "All the weight is on the second value, and the second row of the matrix came out; "
            "the values are columns: which index of the matrix counts them?": weights @ values,
            "The weights sum to one already: what is left to divide by N?": values @ weights / 2,
            "This is the plain average of the values: have the weights a say?": values.mean(1),
            "The weights are ready to use: why send them once more through a softmax?": values
            @ softmax_columns(weights),
            "All the weight is on the second value, and nothing of it came out: does return stand "
            "inside the loop, or does the loop end too early?": np.zeros(2),
            "All the weight is on the second value, and the first came out: which value does "
            "weights[0] belong to?": values[:, 0],
            "(1.6, 2.4) is output one of the text, whose values were others: does your function "
            "use its own values and weights, and not the V and a_1 of the text?": (
                np.array([1.6, 2.4])
            ),
        },
    )
    values = np.array([[2.0, 7.0, 5.0], [11.0, 3.0, 13.0]])
    recognize(
        unchanged(answer, values, np.array([0.1, 0.3, 0.6])),
        np.array([5.3, 9.8]),
        "the output for weights 0.1, 0.3 and 0.6",
        {
            "Only the last term came out: is each term added to the sum so far, or does it replace "
            "the sum?": np.array([3.0, 7.8]),
            "The third value is missing from the sum: how many values are there, and how often "
            "does your loop run?": np.array([2.3, 2.0]),
        },
    )
    rng = np.random.default_rng(11)
    for D, N in 2 * ((1, 1), (3, 1), (1, 4), (4, 4), (5, 3), (2, 37)):
        values, weights = rng.normal(size=(D, N)), softmax_columns(rng.normal(size=N))
        same(unchanged(answer, values, weights), values @ weights, f"the output for D={D}, N={N}")
