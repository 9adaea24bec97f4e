"""Exercise 8.10, A norm without a mean."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "8.10",
    "A norm without a mean",
    stars=1,
    stub='''\
def normalize_by_rms(X, gamma, epsilon):
    """RMSNorm of every token, by the mean of the squares of its own D entries.

    X: D × N, one token in each column.
    gamma: D × 1, the learned weight of each of the D dimensions; there is no bias.
    epsilon: a number above 0 that stands inside the root, with the mean of the squares.
    Returns the tokens, D × N, each divided by the root of (mean of squares + epsilon), times gamma.
    """
    return ...  # your code here
''',
    hints=(
        "A token is a column. Of which numbers is the mean taken, and along which axis?",
        "Square every entry of X, take the mean down each column, add epsilon, and take the root: "
        "N numbers, one for each token.",
        "N numbers lie along every row of a D × N matrix, so X can be divided by them as they are. "
        "gamma is a column and multiplies each row by one number.",
    ),
    notice="Where the entries of a token have the mean 0, RMSNorm is LayerNorm without a bias: the "
    "mean of the squares is then the variance. Networks learn as well with it, and it needs one "
    "pass over the entries fewer.",
)


@exercise.solution
def normalize_by_rms(X, gamma, epsilon):
    size = np.sqrt((X**2).mean(axis=0) + epsilon)  # a number for each token, (N,)
    return gamma * X / size  # D × N


@exercise.right
def by_loop(X, gamma, epsilon):
    results = np.zeros(X.shape)
    for n in range(X.shape[1]):
        token = X[:, n]
        results[:, n] = gamma[:, 0] * token * (token @ token / len(token) + epsilon) ** -0.5
    return results


@exercise.right
def by_matrices(X, gamma, epsilon):
    squares = np.einsum("dn,dn->n", X, X) / X.shape[0]
    return np.diag(gamma[:, 0]) @ X @ np.diag(1 / np.sqrt(epsilon + squares))


def norm(X, gamma, epsilon, axis=0):
    return gamma * X / np.sqrt(np.mean(X * X, axis=axis, keepdims=True) + epsilon)


# The question to ask, and the wrong answer
MISTAKES = {
    "Your tokens have lost their mean: that is LayerNorm. What does RMSNorm divide by, and does it "
    "subtract anything?": lambda X, gamma, epsilon: (
        gamma * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + epsilon)
    ),
    "Your tokens are divided by their spread around the mean: of what are the squares, of the "
    "entries or of their distances from the mean?": (
        lambda X, gamma, epsilon: gamma * X / np.sqrt(X.var(axis=0) + epsilon)
    ),
    "The mean is subtracted, and then divided by the root of the mean of squares: is a mean to be "
    "subtracted?": lambda X, gamma, epsilon: (
        gamma * (X - X.mean(axis=0)) / np.sqrt((X**2).mean(axis=0) + epsilon)
    ),
    "Each dimension is normalized over the tokens: which entries belong to one token?": (
        lambda X, gamma, epsilon: norm(X, gamma, epsilon, axis=1)
    ),
    "All tokens are divided by the same number: has each its own?": (
        lambda X, gamma, epsilon: norm(X, gamma, epsilon, axis=(0, 1))
    ),
    "The squares are summed, and their mean is asked for: by what is it divided?": (
        lambda X, gamma, epsilon: gamma * X / np.sqrt((X**2).sum(axis=0) + epsilon)
    ),
    "The squares are summed and divided by D − 1: how many are there?": (
        lambda X, gamma, epsilon: gamma * X / np.sqrt((X**2).sum(axis=0) / (len(X) - 1) + epsilon)
    ),
    "The root is missing: what are your tokens divided by?": (
        lambda X, gamma, epsilon: gamma * X / ((X**2).mean(axis=0) + epsilon)
    ),
    "Your tokens are multiplied by the root: are they not to be divided by it?": (
        lambda X, gamma, epsilon: gamma * X * np.sqrt((X**2).mean(axis=0) + epsilon)
    ),
    "Your epsilon is added to the root: where does it stand, inside or outside?": (
        lambda X, gamma, epsilon: gamma * X / (np.sqrt((X**2).mean(axis=0)) + epsilon)
    ),
    "Yours are the results without epsilon, or with a much smaller one: is the epsilon that was "
    "given added to every mean of squares?": (
        lambda X, gamma, epsilon: gamma * X / np.sqrt((X**2).mean(axis=0)),
        lambda X, gamma, epsilon: norm(X, gamma, 1e-5),
        lambda X, gamma, epsilon: norm(X, gamma, 1e-6),
        lambda X, gamma, epsilon: norm(X, gamma, 1e-8),
        lambda X, gamma, epsilon: gamma * X / np.sqrt(np.maximum((X**2).mean(axis=0), epsilon)),
    ),
    "Your epsilon is squared: does the stub say so?": (
        lambda X, gamma, epsilon: norm(X, gamma, epsilon**2)
    ),
    "Your tokens are not multiplied by gamma: what is learned here?": lambda X, gamma, epsilon: (
        norm(X, 1, epsilon)
    ),
    "Your tokens are multiplied by 1 + gamma: what is gamma, the whole factor or a part of it?": (
        lambda X, gamma, epsilon: norm(X, 1 + gamma, epsilon)
    ),
    "Your gamma is added: is it a bias or a weight?": (
        lambda X, gamma, epsilon: norm(X, 1, epsilon) + gamma
    ),
    "Your tokens are divided by gamma: is it not a factor?": (
        lambda X, gamma, epsilon: norm(X, 1 / gamma, epsilon)
    ),
    "Your gamma was multiplied before the squares were taken: what is normalized, X or gamma X?": (
        lambda X, gamma, epsilon: norm(gamma * X, 1, epsilon),
        lambda X, gamma, epsilon: norm(gamma * X, gamma, epsilon),
    ),
    "Your tokens are divided by the mean of the sizes of their entries: what is the mean of the "
    "squares?": lambda X, gamma, epsilon: gamma * X / (abs(X).mean(axis=0) + epsilon),
    "Your tokens are divided by the square of the mean: which comes first, square or mean?": (
        lambda X, gamma, epsilon: gamma * X / np.sqrt(X.mean(axis=0) ** 2 + epsilon)
    ),
    "These are the roots, one for each token: what is divided by them?": (
        lambda X, gamma, epsilon: np.sqrt((X**2).mean(axis=0) + epsilon)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("in place")
def in_place(X, gamma, epsilon):
    X /= np.sqrt((X**2).mean(axis=0) + epsilon)
    return gamma * X


@exercise.check
def check(answer):
    X = np.array([[1.0, 4.0, -2.0, 3.0], [5.0, -2.0, 0.0, 3.0], [7.0, 5.0, 2.0, 3.0]])
    inputs = X, np.array([[2.0], [-3.0], [0.5]]), 0.25
    what = "the tokens for D=3, N=4 and epsilon = 0.25"
    recognize(
        unchanged(answer, *inputs), normalize_by_rms(*inputs), what, results(MISTAKES, *inputs)
    )
    rng = np.random.default_rng(810)
    for D, N, epsilon in (3, 4, 0.25), (1, 5, 0.5), (6, 1, 0.1), (4, 4, 2.0), (7, 3, 1e-5):
        for _ in range(2):
            inputs = rng.normal(size=(D, N)), rng.normal(size=(D, 1)), epsilon
            what = f"the tokens for D={D}, N={N}, epsilon={epsilon}"
            same(unchanged(answer, *inputs), normalize_by_rms(*inputs), what)
    inputs = np.zeros((3, 2)), np.ones((3, 1)), 0.1
    same(unchanged(answer, *inputs), np.zeros((3, 2)), "the tokens when all entries are 0")


exercise.equivalent(
    "every column is written once, and all have as many rows or columns",
    "by_loop: * → results = np.ones(X.shape)",
    "by_loop: * → for n in range(results.shape[1]):",
    "by_loop: * → results[:, n] += *",
    "by_loop: * → *token @ token / len(*",
    "by_matrices: * → squares = *gamma.shape[0]",
)
exercise.equivalent(
    "gamma has one column",
    "by_loop: * → *gamma[:, -1]*",
    "by_matrices: * → *gamma[:, -1]*",
)
