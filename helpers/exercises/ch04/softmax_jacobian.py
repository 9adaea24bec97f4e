"""Exercise 4.1, How weights depend on scores."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import (
    NOT_THE_LARGEST,
    OVERFLOW,
    UNDERFLOW,
    recognize,
    survives,
)
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "4.1",
    "How weights depend on scores",
    stars=2,
    stub='''\
def softmax_jacobian(scores):
    """The Jacobian of the softmax of one query's scores.

    scores: (N,), with z_j the score of key j; the weights are a = Softmax[z].
    Returns J, N × N: J[i, j] is the derivative of weight a_i with respect to score z_j. Scores
    may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Raise score j a little. Its own weight grows; what must happen to the others, since all "
        "weights sum to one?",
        "a_i is exp(z_i) divided by the sum of all exponentials. By the quotient rule, the "
        "derivative with respect to z_i is a_i (1 − a_i). What is left of it for another score "
        "z_j, on which only the sum depends?",
        "Both cases in one: a_i (δ_ij − a_j), where δ_ij is one on the diagonal and zero "
        "elsewhere. As matrices: a has a place on a diagonal, and the products a_i a_j form an "
        "outer product. Compute a itself with the safe softmax.",
    ),
    notice="Every row and every column sums to zero. And with one weight near one and the rest "
    "near zero, every entry is near zero: nothing gets through such a softmax on the way back.",
)


@exercise.solution
def softmax_jacobian(scores):
    exponentials = np.exp(scores - scores.max())
    a = exponentials / exponentials.sum()  # (N,)
    return np.diag(a) - np.outer(a, a)  # N × N


@exercise.right
def by_loops(scores):
    a = softmax_columns(scores)
    N = len(a)
    J = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            J[i, j] = a[i] * (1 - a[i]) if i == j else -a[i] * a[j]
    return J


@exercise.right
def by_broadcasting(scores):
    a = softmax_columns(scores)[:, None]  # N × 1
    return a * (np.eye(len(a)) - a.T)


@exercise.right
def by_differences(scores):
    steps = 1e-5 * np.eye(len(scores))
    columns = [softmax_columns(scores + s) - softmax_columns(scores - s) for s in steps]
    return np.stack(columns, axis=1) / 2e-5


@exercise.wrong("off the diagonal")
def diagonal(scores):
    a = softmax_columns(scores)
    return np.diag(a * (1 - a))


@exercise.wrong("only the diagonal of the Jacobian")
def flat_diagonal(scores):
    a = softmax_columns(scores)
    return a * (1 - a)


@exercise.wrong("as if the sum of the exponentials did not change")
def weights_alone(scores):
    return np.diag(softmax_columns(scores))


@exercise.wrong("are added to the diagonal")
def plus(scores):
    a = softmax_columns(scores)
    return np.diag(a) + np.outer(a, a)


@exercise.wrong("lower or raise the weight of another key")
def plus_elsewhere(scores):
    a = softmax_columns(scores)
    return np.diag(a * (1 - 2 * a)) + np.outer(a, a)


@exercise.wrong("what does δ_ij add")
def outer_alone(scores):
    a = softmax_columns(scores)
    return np.outer(a, a)


@exercise.wrong("a single number")
def inner(scores):
    a = softmax_columns(scores)
    return np.diag(a) - a @ a


@exercise.wrong("do yours sum to one")
def unnormalized(scores):
    exponentials = np.exp(scores)
    return np.diag(exponentials) - np.outer(exponentials, exponentials)


@exercise.wrong("the scores stand where the weights should")
def of_scores(scores):
    return np.diag(scores) - np.outer(scores, scores)


@exercise.wrong("wrong sign throughout")
def negative(scores):
    return -softmax_jacobian(scores)


@exercise.wrong("derivatives of the exponentials")
def of_exponentials(scores):
    return np.diag(np.exp(scores))


@exercise.wrong("by which weight is each row multiplied")
def without_factor(scores):
    return np.eye(len(scores)) - softmax_columns(scores)


@exercise.wrong("Where is their derivative")
def softmax_alone(scores):
    return softmax_columns(scores)


@exercise.wrong("np.exp(1000) overflows")
def unstable(scores):
    a = np.exp(scores) / np.exp(scores).sum()
    return np.diag(a) - np.outer(a, a)


@exercise.wrong("very exponential was 0")
def half_stable(scores):
    exponentials = np.exp(scores - max(scores.max(), 0.0))
    a = exponentials / exponentials.sum()
    return np.diag(a) - np.outer(a, a)


@exercise.wrong("the largest of them, or something else")
def mean_subtracted(scores):
    exponentials = np.exp(scores - scores.mean())
    a = exponentials / exponentials.sum()
    return np.diag(a) - np.outer(a, a)


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(scores):
    J = np.zeros((len(scores), len(scores)))
    for i in range(len(scores)):
        J[i] = softmax_jacobian(scores)[i]
        return J


@exercise.wrong("were large scores cut off")
def cut_off(scores):
    a = softmax_columns(np.clip(scores, -700, 700))
    return np.diag(a) - np.outer(a, a)


@exercise.check
def check(answer):
    scores = np.log([2.0, 3.0, 5.0])
    recognize(
        unchanged(answer, scores),
        np.array([[16.0, -6.0, -10.0], [-6.0, 21.0, -15.0], [-10.0, -15.0, 25.0]]) / 100,
        "the Jacobian for the weights 0.2, 0.3, 0.5",
        {
            "The diagonal is right, and off the diagonal all is zero: does one weight not depend "
            "on the other scores?": diagonal(scores),
            "These N numbers, a(1 − a), are only the diagonal of the Jacobian: how many pairs of "
            "a weight and a score are there?": flat_diagonal(scores),
            "This is a on a diagonal, as if the sum of the exponentials did not change with a "
            "score: which term does the quotient rule subtract?": weights_alone(scores),
            "The products a_i a_j are added to the diagonal: can all weights grow with one score, "
            "if they sum to one?": plus(scores),
            "Off the diagonal the sign is wrong: does a higher score lower or raise the weight of "
            "another key?": plus_elsewhere(scores),
            "These are the products a_i a_j alone: with which sign do they stand in the "
            "derivative, and what does δ_ij add?": (outer_alone(scores), -outer_alone(scores)),
            "The numbers are right, with the wrong sign throughout: does a weight grow or shrink "
            "with its own score?": negative(scores),
            "You subtract a @ a, a single number, from every entry: which product of a with itself "
            "has an entry for each pair i, j?": inner(scores),
            "Your weights are the exponentials as they are: do yours sum to one?": (
                unnormalized(scores)
            ),
            "The form is right, but the scores stand where the weights should: what turns z into "
            "a?": of_scores(scores),
            "These are the derivatives of the exponentials: by what are they divided in a "
            "softmax, and does that depend on the scores too?": of_exponentials(scores),
            "These are the differences δ_ij − a_j: by which weight is each row multiplied?": (
                without_factor(scores)
            ),
            "These are the weights a. Where is their derivative with respect to each score?": (
                softmax_alone(scores)
            ),
        },
    )
    rng = np.random.default_rng(42)
    for N in 1, 2, 5, 8:
        scores = rng.normal(size=N)
        what = f"the Jacobian for N={N}"
        same(unchanged(answer, scores), softmax_jacobian(scores), what)
    for scores, why in (
        (np.array([1000.0, 1001.0]), OVERFLOW),
        (np.array([-1000.0, -1001.0]), UNDERFLOW),
        (np.array([1000.0, -1000.0]), NOT_THE_LARGEST),
    ):
        what = f"the Jacobian for scores of {', '.join(f'{score:.0f}' for score in scores)}"
        survives(unchanged(answer, scores), softmax_jacobian(scores), what, why)


exercise.equivalent(
    "any number near the largest will do",
    "softmax_jacobian: * → exponentials = np.exp(scores - whole(scores).max())",
)
exercise.equivalent(
    "there are as many weights as scores",
    "by_loops: * → N = len(scores)",
    "by_broadcasting: * → *np.eye(len(scores))*",
    "by_differences: * → *np.eye(len(whole(scores)))",
)
exercise.equivalent(
    "the Jacobian is symmetric",
    "* → return turned(J)",
    "by_loops: * → turned(J)[i, j] = *",
    "by_loops: * → J[j, i] = *",
    "by_differences: * → *in turned(steps)]",
    "by_differences: * → return np.stack(columns) / *",
    "by_differences: * → return np.stack(columns, axis=0) / *",
)
exercise.equivalent(
    "where i is j, a_i is a_j",
    "by_loops: * → J[i, j] = a[j] * (1 - a[i]) if *",
    "by_loops: * → J[i, j] = a[i] * (1 - a[j]) if *",
)
exercise.equivalent(
    "every entry is written once", "by_loops: * → J = np.ones((N, N))", "by_loops: * → J[i, j] += *"
)
