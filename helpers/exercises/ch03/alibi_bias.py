"""Exercise 3.5, Attention with linear biases."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "3.5",
    "Attention with linear biases",
    stars=1,
    stub='''\
def alibi_bias(N, slope):
    """The biases of ALiBi: the farther away a key is, the lower is its score.

    N: number of tokens; slope: positive, how much the score falls with each step.
    Returns B, N × N, to be added to the scores: B[m, n] is −slope times the distance |m − n| of
    key m and query n.
    """
    return ...  # your code here
''',
    hints=(
        "How far apart are token 0 and token 2? And a token and itself?",
        "A column of positions minus a row of positions is a matrix of all differences.",
        "A distance has no sign. The bias has one: it should lower the score of a key that is far "
        "away.",
    ),
    notice="One number, which need not even be learned, serves every length. After the softmax a "
    "step farther away multiplies the weight by exp(−slope).",
)


@exercise.solution
def alibi_bias(N, slope):
    positions = np.arange(N)
    return -slope * np.abs(positions[:, None] - positions)  # N × N


@exercise.right
def by_loops(N, slope):
    return [[-slope * abs(m - n) for n in range(N)] for m in range(N)]


@exercise.right
def by_maximum(N, slope):
    m, n = np.indices((N, N), dtype=np.float32)
    return slope * (np.minimum(m, n) - np.maximum(m, n))


def differences(N):
    return np.subtract.outer(np.arange(N), np.arange(N))


@exercise.wrong("sign is missing")
def rising(N, slope):
    return slope * abs(differences(N))


@exercise.wrong("is a distance ever negative")
def key_minus_query(N, slope):
    return -slope * differences(N)


@exercise.wrong("is a distance ever negative")
def query_minus_key(N, slope):
    return slope * differences(N)


@exercise.wrong("is squared")
def squared(N, slope):
    return -slope * differences(N) ** 2


@exercise.wrong("divided by the slope")
def divided(N, slope):
    return -abs(differences(N)) / slope


@exercise.wrong("has the slope a say")
def without_slope(N, slope):
    return -abs(differences(N))


@exercise.wrong("how far is it to itself")
def itself_apart(N, slope):
    return -slope * (abs(differences(N)) + 1)


@exercise.wrong("Half of your biases are 0")
def one_side(N, slope):
    return -slope * np.maximum(-differences(N), 0)


@exercise.wrong("here every key gets a finite bias")
def later_keys_hidden(N, slope):
    return np.where(differences(N) > 0, -np.inf, alibi_bias(N, slope))


@exercise.wrong("here every key gets a finite bias")
def earlier_keys_hidden(N, slope):
    return np.where(differences(N) < 0, -np.inf, alibi_bias(N, slope))


@exercise.wrong("all distances alike")
def neighbors(N, slope):
    return -slope * (differences(N) != 0)


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(N, slope):
    B = np.zeros((N, N))
    for m in range(N):
        B[m] = alibi_bias(N, slope)[m]
        return B


@exercise.wrong("these are factors")
def factors(N, slope):
    return np.exp(-slope * abs(differences(N)))


@exercise.check
def check(answer):
    N, slope = 4, 0.3
    distance = abs(differences(N))
    recognize(
        unchanged(answer, N, slope),
        -0.3 * np.array([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]),
        "B for N=4 and slope=0.3",
        {
            "Your biases rise with the distance, so that far keys win: which sign is missing?": (
                rising(N, slope)
            ),
            "On one side of the diagonal your biases are positive, and keys gain by being far "
            "away: is a distance ever negative?": (
                key_minus_query(N, slope),
                query_minus_key(N, slope),
            ),
            "Your distance is squared: linear biases fall by the same amount with each step.": (
                squared(N, slope),
                -slope * slope * distance**2,
            ),
            "Your distance is divided by the slope: should a larger slope make the biases fall "
            "faster, or more slowly?": divided(N, slope),
            "Your biases fall by 1 with each step: has the slope a say in it?": (
                without_slope(N, slope)
            ),
            "The diagonal of your B is not 0: a token meets itself there; how far is it to "
            "itself?": itself_apart(N, slope),
            "Half of your biases are 0: keys before the query and keys after it lie equally far "
            "away; where did one side go?": (one_side(N, slope), one_side(N, slope).T),
            "You hide some keys with −∞, and here every key gets a finite bias: is a key before "
            "the query as near as one that comes as far after it?": (
                later_keys_hidden(N, slope),
                earlier_keys_hidden(N, slope),
            ),
            "Your biases treat all distances alike, whether the key is next to the query or far "
            "away: how far apart are tokens 0 and 3?": neighbors(N, slope),
            "You took the exponential, and these are factors for the weights: B is added to the "
            "scores, and which function will take the exponential of the sum?": (
                factors(N, slope),
                factors(N, slope) / factors(N, slope).sum(axis=0),
            ),
        },
    )
    # In the last ones, only the slope or only N differs from the call before.
    for N, slope in (1, 1.0), (2, 0.25), (12, 1 / 256), (40, 0.7), (40, 2), (9, 2), (9, 3):
        what = f"B for N={N} and slope={slope:.3g}"
        same(unchanged(answer, N, slope), alibi_bias(N, slope), what)


exercise.equivalent(
    "a distance is the same from both ends",
    "* → * np.abs(positions - positions[:, None])",
    "* → * abs(n - m) *",
    "by_maximum: * → n, m = *",
    "by_maximum: * → *np.minimum(n, m)*",
    "by_maximum: * → *np.maximum(n, m)*",
)
exercise.equivalent("positions are whole numbers", "by_maximum: * → m, n = np.indices((N, N))")
