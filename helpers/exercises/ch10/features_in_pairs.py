"""Exercise 10.8, Features in pairs."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.8",
    "Features in pairs",
    stars=2,
    stub='''\
def features_in_pairs(X, directions):
    """Positive features of tokens, each direction used twice: forward and backward.

    X: D × N, one token in each column. directions: m × D, one direction w in each row.
    Token x has the features exp(wᵀx − |x|²/2) for the m directions w and, below them, the same for
    the m directions −w; all divided so that the dot product of two tokens' features is the *mean*
    over these 2m directions. |x|² is the dot product of x with itself.
    Returns 2m × N.
    """
    return ...  # your code here
''',
    hints=(
        "Write it without the second half first: m × N exponentials. Which of the two terms in the "
        "exponent depends on the direction, and which on the token alone?",
        "directions @ X has a row for each direction and a column for each token. The other term "
        "is one number for each token: (X**2).sum(axis=0) / 2.",
        "The dot product of two tokens' features sums 2m products, so for a mean each feature is "
        "divided by √(2m). np.vstack puts the backward half below.",
    ),
    notice="Where one direction gives far too much, its opposite gives too little: with the same "
    "number of random draws the pairs are more accurate than single features, and still positive.",
)


@exercise.solution
def features_in_pairs(X, directions):
    both = np.vstack([directions, -directions])  # 2m × D
    return np.exp(both @ X - (X**2).sum(axis=0) / 2) / np.sqrt(len(both))


@exercise.right
def by_loops(X, directions):
    m, N = len(directions), X.shape[1]
    features = np.zeros((2 * m, N))
    for n in range(N):
        x = X[:, n]
        for i, w in enumerate(directions):
            features[i, n] = np.exp(w @ x - x @ x / 2) / (2 * m) ** 0.5
            features[m + i, n] = np.exp(-w @ x - x @ x / 2) / (2 * m) ** 0.5
    return features


@exercise.right
def by_factors(X, directions):
    waves = np.exp(directions @ X)
    small = np.exp(-np.einsum("dn,dn->n", X, X) / 2) / np.sqrt(2 * len(directions))
    return np.concatenate([waves * small, small / waves])


def pairs(X, directions, exponent=None, scale=None, second=-1):
    """The features with another term for the token's length, another divisor or another half."""
    both = np.vstack([directions, second * directions])
    exponent = (X**2).sum(axis=0) / 2 if exponent is None else exponent
    return np.exp(both @ X - exponent) / (np.sqrt(len(both)) if scale is None else scale)


# The question to ask, and the wrong answer
MISTAKES = {
    "Your features are waves, and some are negative: which function is always positive?": (
        lambda X, W: (
            np.exp((X**2).sum(axis=0) / 2)
            * np.vstack([np.cos(W @ X), np.sin(W @ X)])
            / np.sqrt(2 * len(W))
        ),
        lambda X, W: (
            np.exp((X**2).sum(axis=0) / 2)
            * np.vstack([np.cos(W @ X), np.sin(W @ X)])
            / np.sqrt(len(W))
        ),
    ),
    "The second half is minus the first, not the features of −w: where does the sign belong?": (
        lambda X, W: pairs(X, W, second=1) * np.repeat([1, -1], len(W))[:, None]
    ),
    "Both halves are the same: which directions has the second?": (
        lambda X, W: pairs(X, W, second=1)
    ),
    "The token's length does not enter: what is subtracted from wᵀx?": (
        lambda X, W: pairs(X, W, exponent=0)
    ),
    "|x|² / 2 is added: is it not subtracted?": (
        lambda X, W: pairs(X, W, exponent=-(X**2).sum(axis=0) / 2)
    ),
    "The whole of |x|² is subtracted: how much of it should be?": (
        lambda X, W: pairs(X, W, exponent=(X**2).sum(axis=0))
    ),
    "The length itself is subtracted, not its square: what is |x|²?": (
        lambda X, W: pairs(X, W, exponent=np.linalg.norm(X, axis=0) / 2)
    ),
    "One number is subtracted from all tokens: has each its own length?": (
        lambda X, W: pairs(X, W, exponent=(X**2).sum() / 2)
    ),
    "Your exponent takes the directions' lengths: whose |x|² is subtracted, a token's or a "
    "direction's?": lambda X, W: pairs(X, W, exponent=np.tile((W**2).sum(axis=1), 2)[:, None] / 2),
    "Dot products of your features are sums, not means: by what is each feature divided?": (
        lambda X, W: pairs(X, W, scale=1)
    ),
    "Each feature is divided by 2m, so that dot products are divided by its square: what is left "
    "of a mean?": lambda X, W: pairs(X, W, scale=2 * len(W)),
    "Yours are divided by √m: how many features does a dot product sum?": (
        lambda X, W: pairs(X, W, scale=np.sqrt(len(W)))
    ),
    "These are the features of w alone: where are those of −w?": (
        lambda X, W: pairs(X, W)[: len(W)],
        lambda X, W: pairs(X, W)[: len(W)] * np.sqrt(2),
    ),
    "Forward and backward stand in turns: in which order does the stub want them?": (
        lambda X, W: pairs(X, W).reshape(2, len(W), -1).swapaxes(0, 1).reshape(2 * len(W), -1)
    ),
    "The backward half comes first: in which order does the stub want them?": (
        lambda X, W: np.roll(pairs(X, W), len(W), axis=0)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("in place")
def in_place(X, directions):
    directions *= -1
    return features_in_pairs(X, -directions)


@exercise.check
def check(answer):
    X = np.array([[0.5, -1.0, 0.0, 0.2], [0.3, 0.4, -0.6, 0.0]])
    W = np.array([[1.0, -0.5], [0.3, 0.8], [-1.2, 0.1]])
    what = "the features for D=2, N=4, m=3"
    recognize(unchanged(answer, X, W), features_in_pairs(X, W), what, results(MISTAKES, X, W))
    rng = np.random.default_rng(108)
    for D, N, m in (1, 1, 1), (4, 3, 5), (3, 6, 2), (5, 1, 4), (2, 7, 7), (3, 6, 2):
        X, W = rng.normal(size=(D, N)), rng.normal(size=(m, D))
        what = f"the features for D={D}, N={N}, m={m}"
        same(unchanged(answer, X, W), features_in_pairs(X, W), what)


exercise.equivalent(
    "the number of directions can be read off any of these",
    "by_loops: * → m, N = (len(whole(directions)), *",
    "by_factors: * → *len(waves))",
    "by_factors: * → *len(whole(directions)))",
)
exercise.equivalent(
    "every feature is written once, to a place that was 0, and w · x is x · w",
    "by_loops: * → features[*] += *",
    "by_loops: * → *np.exp(x @ w - *",
    "by_loops: * → *np.exp(x @ -w - *",
)
exercise.equivalent(
    "every feature is written once",
    "by_loops: * → features = np.ones(*",
)
