"""Exercise 5.1, LayerNorm."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "5.1",
    "LayerNorm",
    stars=2,
    stub='''\
def normalize_tokens(X, gamma, beta, epsilon):
    """LayerNorm of every token, by the mean and the variance of its own D entries.

    X: D × N, one token in each column.
    gamma, beta: D × 1, the learned weight and bias of each of the D dimensions.
    epsilon: a number above 0 that stands inside the root, with the variance.
    The variance is the mean of the squared distances from the mean.
    Returns the normalized tokens, D × N.
    """
    return ...  # your code here
''',
    hints=(
        "A token is a column. How many means are there in all, and along which axis is each taken?",
        "Subtract the token's mean, then divide by the root of (variance + epsilon). np.var "
        "divides by D, the biased variance that is asked for, unless ddof says otherwise.",
        "A row of N means has the shape (N,), and NumPy lays it along every row of a D × N matrix. "
        "gamma and beta are columns: they are laid along every column, gamma as a factor, beta as "
        "the last summand.",
    ),
    notice="Nothing but the token itself enters its mean and variance: LayerNorm does the same for "
    "one token as for a thousand, and the same in training as afterwards.",
)


@exercise.solution
def normalize_tokens(X, gamma, beta, epsilon):
    mean, variance = X.mean(axis=0), X.var(axis=0)  # a number for each token, (N,)
    return beta + gamma * (X - mean) / np.sqrt(variance + epsilon)  # D × N


@exercise.right
def by_loop(X, gamma, beta, epsilon):
    results = np.zeros(X.shape)
    for n in range(X.shape[1]):
        centered = X[:, n] - sum(X[:, n]) / len(X)
        spread = (sum(centered**2) / len(X) + epsilon) ** 0.5
        results[:, n] = gamma[:, 0] * centered / spread + beta[:, 0]
    return results


@exercise.right
def by_matrices(X, gamma, beta, epsilon):
    D, N = X.shape
    centered = (np.eye(D) - np.full((D, D), 1 / D)) @ X
    spread = np.sqrt(np.diag(centered.T @ centered) / D + epsilon)
    return np.diag(gamma[:, 0]) @ centered @ np.diag(1 / spread) + beta @ np.ones((1, N))


@exercise.right
def by_second_moment(X, gamma, beta, epsilon):
    variance = (X**2).mean(axis=0) - X.mean(axis=0) ** 2
    return gamma * ((X - X.mean(axis=0)) * (variance + epsilon) ** -0.5) + beta


@exercise.wrong("the mean and the variance of the whole row")
def over_tokens(X, gamma, beta, epsilon):
    mean, variance = (f(axis=1, keepdims=True) for f in (X.mean, X.var))
    return beta + gamma * (X - mean) / np.sqrt(variance + epsilon)


@exercise.wrong("One mean and one variance serve all tokens")
def over_everything(X, gamma, beta, epsilon):
    return beta + gamma * (X - X.mean()) / np.sqrt(X.var() + epsilon)


@exercise.wrong("Is epsilon added inside the root")
def epsilon_outside(X, gamma, beta, epsilon):
    return beta + gamma * (X - X.mean(axis=0)) / (X.std(axis=0) + epsilon)


@exercise.wrong("where is epsilon")
def without_epsilon(X, gamma, beta, epsilon):
    return normalize_tokens(X, gamma, beta, 1e-12)


@exercise.wrong("where is epsilon")
def fixed_epsilon(X, gamma, beta, epsilon):
    return normalize_tokens(X, gamma, beta, 1e-5)


@exercise.wrong("is the mean subtracted before the squares are taken")
def by_root_mean_square(X, gamma, beta, epsilon):
    return beta + gamma * X / np.sqrt((X**2).mean(axis=0) + epsilon)


@exercise.wrong("is a token a row or a column")
def transposed(X, gamma, beta, epsilon):
    return normalize_tokens(X, gamma, beta, epsilon).T


@exercise.wrong("are gamma and beta exchanged")
def exchanged(X, gamma, beta, epsilon):
    return normalize_tokens(X, beta, gamma, epsilon)


@exercise.wrong("where are gamma and beta")
def without_both(X, gamma, beta, epsilon):
    return normalize_tokens(X, 1, 0, epsilon)


@exercise.wrong("what does gamma multiply")
def without_weight(X, gamma, beta, epsilon):
    return normalize_tokens(X, 1, beta, epsilon)


@exercise.wrong("what is added last")
def without_bias(X, gamma, beta, epsilon):
    return normalize_tokens(X, gamma, 0, epsilon)


@exercise.wrong("is beta multiplied as well")
def bias_multiplied(X, gamma, beta, epsilon):
    return gamma * (beta + normalize_tokens(X, 1, 0, epsilon))


@exercise.wrong("come before the normalization")
def weighted_first(X, gamma, beta, epsilon):
    return normalize_tokens(beta + gamma * X, 1, 0, epsilon)


@exercise.wrong("gamma and beta lie along the rows")
def in_rows(X, gamma, beta, epsilon):
    return beta[:, 0] + gamma[:, 0] * normalize_tokens(X, 1, 0, epsilon)


@exercise.wrong("divided by D − 1")
def unbiased(X, gamma, beta, epsilon):
    variance = X.var(axis=0, ddof=1)
    return beta + gamma * (X - X.mean(axis=0)) / np.sqrt(variance + epsilon)


@exercise.wrong("divided by its variance")
def without_root(X, gamma, beta, epsilon):
    return beta + gamma * (X - X.mean(axis=0)) / (X.var(axis=0) + epsilon)


@exercise.wrong("the mean of a normalized token")
def uncentered(X, gamma, beta, epsilon):
    return beta + gamma * X / np.sqrt(X.var(axis=0) + epsilon)


@exercise.wrong("still differ in size")
def only_centered(X, gamma, beta, epsilon):
    return beta + gamma * (X - X.mean(axis=0))


@exercise.wrong("divided by its length")
def by_length(X, gamma, beta, epsilon):
    centered = X - X.mean(axis=0)
    return beta + gamma * centered / np.sqrt((centered**2).sum(axis=0) + epsilon)


@exercise.check
def check(answer):
    # As many tokens as dimensions: there, a wrong axis runs without an error and can be named.
    # Here every token, normalized, consists of −1 and 1.
    X = np.array([[1.0, 0, 2, 5], [1, 6, 4, 1], [3, 0, 4, 1], [3, 6, 2, 5]])
    plain = np.array([[-1.0, -1, -1, 1], [-1, 1, 1, -1], [1, -1, 1, -1], [1, 1, -1, 1]])
    one, zero = np.ones((4, 1)), np.zeros((4, 1))
    # The variances are 1, 9, 1 and 4: next to them, this epsilon does not show, and neither does
    # the usual 1e-5, which is asked about below.
    tiny = 1e-12
    recognize(
        unchanged(answer, X, one, zero, tiny),
        plain,
        "the tokens (1, 1, 3, 3), (0, 6, 0, 6) …, normalized with gamma = 1 and beta = 0",
        {
            "Each row was normalized by the mean and the variance of the whole row, across the "
            "tokens: which axis runs over the D entries of one token?": (
                over_tokens(X, one, zero, tiny),
                (X - X.mean(axis=1)) / np.sqrt(X.var(axis=1) + tiny),
            ),
            "One mean and one variance serve all tokens: should one token change when another "
            "one does?": over_everything(X, one, zero, tiny),
            "The squared distances were added up and divided by D − 1: which divisor does a plain "
            "mean of D numbers have?": unbiased(X, one, zero, tiny),
            "Each token is divided by its variance: what is missing before the division, so that "
            "ten times the token gives the same result?": without_root(X, one, zero, tiny),
            "A token was divided and not shifted: what must be the mean of a normalized token?": (
                uncentered(X, one, zero, tiny)
            ),
            "The tokens have the mean 0 and still differ in size, with entries of ±1 and of "
            "±3: by what is a token divided?": only_centered(X, one, zero, tiny),
            "Each token is divided by its length, the root of a sum of D squares: is the variance "
            "a sum, or a mean?": by_length(X, one, zero, tiny),
            "Each token is divided by the root of the mean of its squares, as in RMSNorm: in "
            "LayerNorm, is the mean subtracted before the squares are taken?": (
                by_root_mean_square(X, one, zero, tiny),
                (X - X.mean(axis=0)) / np.sqrt((X**2).mean(axis=0)),
            ),
            "All your entries are 1: are gamma and beta exchanged, or something divided by "
            "itself?": exchanged(X, one, zero, tiny),
            "The result is transposed: is a token a row or a column of X?": (
                transposed(X, one, zero, tiny)
            ),
        },
    )
    gamma, beta = np.array([[2.0], [3], [4], [5]]), np.array([[10.0], [20], [30], [40]])
    recognize(
        unchanged(answer, X, gamma, beta, tiny),
        beta + gamma * plain,
        "the same tokens with gamma = (2, 3, 4, 5) and beta = (10, 20, 30, 40)",
        {
            "The result is the same as for gamma = 1 and beta = 0: where are gamma and beta?": (
                plain
            ),
            "Your beta is there, and the normalized entries still are −1 and 1: what does "
            "gamma multiply?": beta + plain,
            "Your gamma is there, and the result is as for beta = 0: what is added last?": (
                gamma * plain
            ),
            "In gamma · (beta + …) too much is multiplied: in gamma · … + beta, is beta multiplied "
            "as well?": gamma * (beta + plain),
            "In your result gamma and beta come before the normalization, which undoes them again: "
            "when should they act?": weighted_first(X, gamma, beta, tiny),
            "Your gamma and beta lie along the rows: token 0 got 2 and 10, token 1 got 3 and 20. "
            "Does a weight belong to a token, or to a dimension?": (
                beta.T + gamma.T * plain,
                beta.T + gamma * plain,
                beta + gamma.T * plain,
            ),
        },
    )
    recognize(
        unchanged(answer, X, one, zero, 3.0),
        plain * [1 / 2, np.sqrt(9 / 12), 1 / 2, np.sqrt(4 / 7)],
        "the same tokens with epsilon = 3, so large that its place shows",
        {
            "With epsilon = 3, the token (1, 1, 3, 3) of variance 1 should become ±1/√(1 + 3), "
            "and yours is ±1/(√1 + 3). Is epsilon added inside the root, or outside?": (
                epsilon_outside(X, one, zero, 3.0)
            ),
            "With epsilon = 3 the result is the same as without: where is epsilon?": plain,
        },
    )
    rng = np.random.default_rng(51)
    for D, N, epsilon in (4, 3, 0.1), (3, 1, 1e-5), (1, 4, 0.1), (8, 8, 1e-5), (6, 37, 0.1):
        X, gamma, beta = (rng.normal(size=size) for size in ((D, N), (D, 1), (D, 1)))
        what = f"the normalized tokens for D={D}, N={N}, epsilon={epsilon}"
        expected = normalize_tokens(X, gamma, beta, epsilon)
        same(unchanged(answer, X, gamma, beta, epsilon), expected, what)


exercise.equivalent(
    "every entry is written once",
    "by_loop: * → results = np.ones(*",
    "by_loop: * → results[:, n] += *",
)
exercise.equivalent(
    "the same size, read off another matrix",
    "by_loop: * → *range(results.shape[1]):",
    "by_loop: * → centered = *len(*)",
    "by_loop: * → spread = *len(*) + epsilon*",
)
exercise.equivalent(
    "gamma and beta are single columns, and beta is laid along all columns by itself",
    "by_loop: * → *[:, -1]*",
    "by_matrices: * → *gamma[:, -1]*",
    "by_matrices: * → D, N = *.shape",
    "by_matrices: * → *+ beta * np.ones((1, N))",
    "by_matrices: * → *@ np.diag(1 / spread) + beta",
)
exercise.equivalent(
    "a centered token has the mean 0, so that its products with X are those with itself",
    "by_matrices: * → spread = np.sqrt(np.diag(*",
)
