"""Exercise 1.3, Self-attention without parameters."""

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
    "1.3",
    "Self-attention without parameters",
    stars=1,
    stub='''\
def parameter_free_attention(X):
    """Self-attention without parameters: every output is a weighted sum of the tokens.

    The score of token m for token n is their dot product, divided by the square root of D; a
    softmax over the tokens attended to turns each token's scores into weights.

    X: D × N, one token in each column.
    Returns the N outputs as columns, D × N.
    """
    return ...  # your code here
''',
    hints=(
        "Which product of X with itself holds the dot product of every token with every other? "
        "How many rows and columns must it have?",
        "X.T @ X is N × N. The root below the fraction bar is of D, the number of entries in a "
        "token.",
        "A softmax down each column makes A, with a column for each output. Column n of the output "
        "is the sum of all tokens, each weighted by an entry of A[:, n].",
    ),
    notice="The scores are symmetric, the weights are not: each column has a sum of its own.",
)


@exercise.solution
def parameter_free_attention(X):
    scores = X.T @ X / np.sqrt(X.shape[0])  # N × N: of token m, for output n
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)  # columns sum to one
    return X @ A  # D × N


@exercise.right
def by_loops(X):
    D, N = X.shape
    outputs = np.zeros((D, N))
    for i in range(N):
        scores = np.array([X[:, i] @ X[:, j] / D**0.5 for j in range(N)])
        weights = np.exp(scores - max(scores))
        for j in range(N):
            outputs[:, i] += weights[j] / sum(weights) * X[:, j]
    return outputs


@exercise.right
def by_rows(X):
    outputs = []
    for token in X.T:
        scores = token @ X / np.sqrt(len(token))
        outputs.append(softmax_columns(scores) @ X.T)
    return np.array(outputs).T


@exercise.wrong("by D itself")
def by_d(X):
    return X @ softmax_columns(X.T @ X / X.shape[0])


@exercise.wrong("not scaled")
def unscaled(X):
    return X @ softmax_columns(X.T @ X)


@exercise.wrong("how many tokens there are")
def by_n(X):
    return X @ softmax_columns(X.T @ X / np.sqrt(X.shape[1]))


@exercise.wrong("tokens of two entries")
def by_a_constant(X):
    return X @ softmax_columns(X.T @ X / np.sqrt(2))


@exercise.wrong("before the softmax, or after it")
def scaled_at_the_end(X):
    return X @ softmax_columns(X.T @ X) / np.sqrt(X.shape[0])


@exercise.wrong("multiplied by the root")
def multiplied(X):
    return X @ softmax_columns(X.T @ X * np.sqrt(X.shape[0]))


@exercise.wrong("weights that mix one output do not sum to one")
def over_rows(X):
    return X @ softmax_columns(X.T @ X / np.sqrt(X.shape[0])).T


@exercise.wrong("two tokens, or two features")
def of_features(X):
    return softmax_columns(X @ X.T / np.sqrt(X.shape[0])).T @ X


@exercise.wrong("two tokens, or two features")
def of_features_in_columns(X):
    return softmax_columns(X @ X.T / np.sqrt(X.shape[0])) @ X


@exercise.wrong("two tokens, or two features")
def of_features_unscaled(X):
    return softmax_columns(X @ X.T) @ X


@exercise.wrong("what does a softmax do to each score before it divides")
def without_exponentials(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    return X @ (scores / scores.sum(axis=0))


@exercise.wrong("what turns scores into weights")
def without_softmax(X):
    return X @ (X.T @ X) / np.sqrt(X.shape[0])


@exercise.wrong("all the weights together sum to one")
def over_everything(X):
    exponentials = np.exp(X.T @ X / np.sqrt(X.shape[0]))
    return X @ exponentials / exponentials.sum()


@exercise.wrong("all the weights together sum to one")
def over_everything_at_the_end(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    exponentials = np.exp(scores - scores.max(axis=0))
    return X @ (exponentials / exponentials.sum())


@exercise.wrong("what must they be divided by")
def unnormalized(X):
    return X @ np.exp(X.T @ X / np.sqrt(X.shape[0]))


@exercise.wrong("a return that stands inside it")
def returned_early(X):
    outputs = np.zeros(X.shape)
    for n in range(X.shape[1]):
        outputs[:, n] = parameter_free_attention(X)[:, n]
        return outputs


@exercise.wrong("Your outputs are rows")
def in_rows(X):
    return parameter_free_attention(X).T


@exercise.wrong("what do they weight")
def weights_alone(X):
    return softmax_columns(X.T @ X / np.sqrt(X.shape[0]))


@exercise.wrong("may a token attend to itself")
def without_itself(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    np.fill_diagonal(scores, -np.inf)
    return X @ softmax_columns(scores)


@exercise.wrong("np.exp(1000) overflows")
def unstable(X):
    exponentials = np.exp(X.T @ X / np.sqrt(X.shape[0]))
    return X @ (exponentials / exponentials.sum(axis=0))


@exercise.wrong("very exponential was 0")
def one_maximum(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    exponentials = np.exp(scores - scores.max())
    return X @ (exponentials / exponentials.sum(axis=0))


@exercise.wrong("the largest of them, or something else")
def less_the_mean(X):
    scores = X.T @ X / np.sqrt(X.shape[0])
    exponentials = np.exp(scores - scores.mean(axis=0))
    return X @ (exponentials / exponentials.sum(axis=0))


exercise.equivalent(
    "the scores are symmetric",
    "parameter_free_attention: * → scores = turned(X.T @ X) / np.sqrt(X.shape[0])",
    "parameter_free_attention: * → exponentials = np.exp(*turned(scores)*)",
    "parameter_free_attention: * → exponentials = np.exp(scores - scores.max(axis=*))",
    "by_loops: * → scores = np.array([X[:, j] @ X[:, i] / D ** 0.5 for j in range(N)])",
)
exercise.equivalent(
    "the same numbers in a list, or of the same length",
    "by_loops: * → scores = [X[:, i] @ X[:, j] / D ** 0.5 for j in range(N)]",
    "by_rows: * → scores = token @ X / np.sqrt(len(X))",
)


@exercise.check
def check(answer):
    X = np.array([[1.0, 0, 2], [0, 1, -1], [-1, 1, 0], [0, -1, 1], [0.5, 1, 0]])
    scores = X.T @ X  # [[2.25, -0.5, 2], [-0.5, 4, -2], [2, -2, 6]], to be divided by the root of 5
    exponentials = np.exp(scores / np.sqrt(5))
    ways = exponentials, exponentials / exponentials.max(axis=0)  # with the maximum and without
    A, outputs = exponentials / exponentials.sum(axis=0), parameter_free_attention(X)
    recognize(
        unchanged(answer, X),
        outputs,
        "the outputs for three tokens with five entries",
        {
            "You divided the scores by D itself: what stands below the fraction bar?": (
                X @ softmax_columns(scores / 5)
            ),
            "The scores are not scaled: what stands below the fraction bar?": (
                X @ softmax_columns(scores)
            ),
            "The scores are divided by the root of how many tokens there are: does a dot product "
            "have N terms, or D?": X @ softmax_columns(scores / np.sqrt(3)),
            "The scores are divided by √2, the root for tokens of two entries: how many has a "
            "token here?": X @ softmax_columns(scores / np.sqrt(2)),
            "The root divides the weights or the outputs, and not the scores: does it come before "
            "the softmax, or after it?": X @ softmax_columns(scores) / np.sqrt(5),
            "The scores are multiplied by the root: does it stand above the fraction bar, or "
            "below?": X @ softmax_columns(scores * np.sqrt(5)),
            "The weights that mix one output do not sum to one: along which axis of the matrix "
            "do the scores of one output lie?": X @ A.T,
            "The tokens are weighted with the scores themselves: what turns scores into weights?": (
                X @ scores / np.sqrt(5),
                X @ scores,
            ),
            "The scores are divided by their sum, as they are: what does a softmax do to each "
            "score before it divides?": X @ (scores / scores.sum(axis=0)),
            "For each output the weights must sum to one; here all the weights together sum to "
            "one: which axis does the sum run along?": tuple(X @ way / way.sum() for way in ways),
            "The tokens are weighted with the exponentials of the scores: what must they be "
            "divided by to be weights?": tuple(X @ way for way in ways),
            "Your outputs are rows: in which direction do the tokens of X stand?": outputs.T,
            "These are the weights, N × N: what do they weight?": A,
            "Every output lacks its own token, yet the sum runs over all of them: may a token "
            "attend to itself?": without_itself(X),
            "Your weights are 5 × 5, one for each pair of entries: do your dot products compare "
            "two tokens, or two features?": tuple(
                weights @ X
                for scaled in (X @ X.T / np.sqrt(5), X @ X.T)
                for weights in (softmax_columns(scaled), softmax_columns(scaled).T)
            ),
        },
    )
    rng = np.random.default_rng(13)
    for D, N in 2 * ((1, 1), (1, 5), (4, 4), (7, 3), (2, 9)):
        X = rng.normal(size=(D, N))
        expected = parameter_free_attention(X)
        same(unchanged(answer, X), expected, f"the outputs for D={D}, N={N}")
    for tokens, why in (
        ([50.0, 49.0, 51.0], OVERFLOW),
        ([50.0, -50.0, 50.0], NOT_THE_LARGEST),
        ([50.0, 1.0, 2.0], UNDERFLOW),
    ):
        X = np.array([tokens])
        what = "the outputs for the tokens {:.0f}, {:.0f} and {:.0f}".format(*tokens)
        survives(unchanged(answer, X), parameter_free_attention(X), what, why)
