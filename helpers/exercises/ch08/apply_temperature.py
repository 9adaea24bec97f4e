"""Exercise 8.4, Temperature."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import (
    NOT_THE_LARGEST,
    OVERFLOW,
    UNDERFLOW,
    recognize,
    survives,
)
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "8.4",
    "Temperature",
    stars=2,
    stub='''\
def apply_temperature(logits, temperature):
    """The distribution from which the next token is drawn, at a temperature T ≥ 0.

    logits: shape (V,), the score of each token of the vocabulary.
    For T > 0 it is the softmax of logits / T. For T = 0 it is what this comes to as T goes to 0: a
    token with the largest logit has everything, and several such tokens have equal shares.
    Returns the probabilities, (V,), which sum to one. Logits may be ±1000, and T as small as 0.001.
    """
    return ...  # your code here
''',
    hints=(
        "At T = 1 the distribution is the plain softmax. To favor the best tokens more, must the "
        "differences between logits become larger or smaller?",
        "Subtract the largest logit first, and divide then: all scores are 0 or below, and nothing "
        "overflows however small T is.",
        "T = 0 has its own branch: logits == logits.max() says which tokens share everything. How "
        "many are they?",
    ),
    notice="Dividing the logits by T raises every probability to the power 1/T and divides by the "
    "sum: at T = 0.5 they are squared. The order of the tokens is the same at every temperature.",
)


@exercise.solution
def apply_temperature(logits, temperature):
    below = logits - logits.max()
    if temperature == 0:
        largest = below == 0
        return largest / largest.sum()
    exponentials = np.exp(below / temperature)
    return exponentials / exponentials.sum()


@exercise.right
def by_limit(logits, temperature):
    exponentials = np.exp((logits - np.max(logits)) / max(temperature, 1e-9))
    return exponentials / np.sum(exponentials)


@exercise.right
def by_loop(logits, temperature):
    best = max(logits)
    if temperature > 0:
        shares = [np.exp((logit - best) / temperature) for logit in logits]
    else:
        shares = [1.0 if logit == best else 0.0 for logit in logits]
    return np.array([share / sum(shares) for share in shares])


@exercise.right
def by_infinity(logits, temperature):
    scores = np.where(logits < logits.max(), -np.inf, 0.0)
    if temperature:
        scores = logits / temperature
        scores = scores - scores.max()
    return np.exp(scores - np.log(np.exp(scores).sum()))


def colder(logits, temperature):
    """The right distribution, with a division by 0 where the temperature is 0."""
    with np.errstate(all="ignore"):
        return softmax_columns((logits - logits.max()) / np.float64(temperature))


def one_hot(logits):
    return np.eye(len(logits))[np.argmax(logits)]


def sums_to_one(values):
    return values / values.sum()


# The question to ask of a result for T > 0, and the wrong answer
MISTAKES = {
    "Your distribution is flatter at T = 0.5 than at T = 1: are the logits divided by T, or "
    "multiplied?": (
        lambda logits, T: softmax_columns(logits * T),
        lambda logits, T: sums_to_one(softmax_columns(logits) ** T),
    ),
    "Your distribution is the same at T = 0.5 as at T = 1: where does T come in, before the "
    "softmax or after it?": (
        lambda logits, T: softmax_columns(logits),
        lambda logits, T: sums_to_one(softmax_columns(logits) / max(T, 1)),
        lambda logits, T: softmax_columns(logits - T),
    ),
    "The probabilities are divided by T, and do not sum to one: what is to be divided by T?": (
        lambda logits, T: softmax_columns(logits) / (T or 1)
    ),
    "The probabilities are multiplied by T, and do not sum to one: what is to be divided by T?": (
        lambda logits, T: softmax_columns(logits) * T
    ),
    "The softmax of probabilities / T is taken, and logits / T is asked for: how often should "
    "there be a softmax?": lambda logits, T: softmax_columns(softmax_columns(logits) / (T or 1)),
    "A softmax of the softmax: the distribution is taken twice. How often is exp needed?": (
        lambda logits, T: softmax_columns(apply_temperature(logits, T))
    ),
    "The probabilities are raised to the power 1/T and do not sum to one: what is missing?": (
        lambda logits, T: softmax_columns(logits) ** (1 / (T or 1))
    ),
    "The logits are divided by the root of T: does the stub ask for a root?": (
        lambda logits, T: apply_temperature(logits, np.sqrt(T))
    ),
    "The logits are divided by the square of T: does the stub ask for a square?": (
        lambda logits, T: apply_temperature(logits, T**2)
    ),
    "The exponentials are divided by T: should the logits not be, before exp?": lambda logits, T: (
        np.exp(logits) / (T or 1)
    ),
    "These are exponentials: by what are they divided, so that they sum to one?": (
        lambda logits, T: np.exp(logits / (T or 1)),
        lambda logits, T: np.exp((logits - logits.max()) / (T or 1)),
    ),
    "These are the logits divided by T: what makes probabilities of them?": (
        lambda logits, T: logits / (T or 1),
        lambda logits, T: (logits - logits.max()) / (T or 1),
    ),
    "The logits themselves are divided by their sum: what is a softmax?": (
        lambda logits, T: sums_to_one(logits / (T or 1))
    ),
    "The best token has everything, although T is not 0: when is that so?": (
        lambda logits, T: one_hot(logits)
    ),
    "Your most probable token has the smallest logit: which sign have the exponents?": (
        lambda logits, T: apply_temperature(-logits, T)
    ),
    "The tokens are sorted by their probability: whose is which, then?": (
        lambda logits, T: np.sort(apply_temperature(logits, T)),
        lambda logits, T: -np.sort(-apply_temperature(logits, T)),
    ),
    "A number has been added to T, which changes every result: what does T = 0 need instead?": (
        lambda logits, T: apply_temperature(logits, T + 1),
        lambda logits, T: apply_temperature(logits, T + 0.1),
        lambda logits, T: apply_temperature(logits, T + 0.01),
        lambda logits, T: apply_temperature(logits, T + 0.001),
    ),
}
AT_ZERO_NAN = "At T = 0 NaN occurs: what is 0 divided by 0? Does T = 0 have a branch of its own?"
# The same for T = 0
AT_ZERO = {
    AT_ZERO_NAN: colder,
    "At T = 0 several tokens have the largest logit, and yours gives everything to one of them: "
    "what do they share as T goes to 0?": (
        lambda logits, T: apply_temperature(logits, T) if T else one_hot(logits),
        lambda logits, T: apply_temperature(logits, T) if T else one_hot(logits[::-1])[::-1],
    ),
    "At T = 0 all tokens that have the largest logit get 1: do the probabilities sum to one?": (
        lambda logits, T: apply_temperature(logits, T) if T else (logits == logits.max()) * 1.0
    ),
    "At T = 0 your distribution is that of T = 1: what does it come to as T goes to 0?": (
        lambda logits, T: apply_temperature(logits, T or 1)
    ),
    "At T = 0 all tokens are alike in yours, which is so as T grows: what does it come to as T "
    "goes to 0?": lambda logits, T: (
        apply_temperature(logits, T) if T else np.full(len(logits), 1 / len(logits))
    ),
    "At T = 0 your result is 0 everywhere: do the probabilities sum to one?": (
        lambda logits, T: apply_temperature(logits, T) if T else 0 * logits
    ),
    "At T = 0 your distribution is that of a temperature above 0 that is not small: as T goes to "
    "0, how much is left for the second best?": lambda logits, T: apply_temperature(
        logits, max(T, 0.1)
    ),
}
register(exercise, MISTAKES | AT_ZERO)


@exercise.wrong(AT_ZERO_NAN)
def divided_by_zero(logits, temperature):
    return softmax_columns(logits / temperature)


@exercise.wrong("np.exp(1000) overflows")
def unstable(logits, temperature):
    if temperature == 0:
        return apply_temperature(logits, 0)
    with np.errstate(all="ignore"):
        return sums_to_one(np.exp(logits / temperature))


@exercise.wrong("very small powers become 0")
def by_power(logits, temperature):
    if temperature == 0:
        return apply_temperature(logits, 0)
    with np.errstate(all="ignore"):
        return sums_to_one(softmax_columns(logits) ** (1 / temperature))


@exercise.wrong("the largest of them, or something else")
def mean_subtracted(logits, temperature):
    if temperature == 0:
        return apply_temperature(logits, 0)
    with np.errstate(all="ignore"):
        return sums_to_one(np.exp((logits - logits.mean()) / temperature))


@exercise.wrong("were large scores cut off")
def cut_off(logits, temperature):
    return apply_temperature(np.clip(logits, -500, 500), temperature)


@exercise.wrong("is not 0")
def rounded_to_zero(logits, temperature):
    return apply_temperature(logits, temperature if temperature > 0.01 else 0)


@exercise.wrong("in place")
def in_place(logits, temperature):
    logits -= logits.max()
    return apply_temperature(logits, temperature)


POWERS = (
    "Every power was 0, and 0/0 is not a number: very small powers become 0. How far below the "
    "largest logit is each of them, before anything is divided by T?"
)


@exercise.check
def check(answer):
    logits = np.log([3.0, 8.0, 1.0, 5.0, 2.0])
    recognize(
        unchanged(answer, logits, 0.5),
        apply_temperature(logits, 0.5),
        "the distribution for the logits log(3, 8, 1, 5, 2) and T = 0.5",
        results(MISTAKES, logits, 0.5),
    )
    ties = np.array([3.5, 4.0, -2.0, 4.0])
    recognize(
        unchanged(answer, ties, 0.0),
        apply_temperature(ties, 0),
        "the distribution for the logits 3.5, 4, −2, 4 and T = 0",
        results(AT_ZERO, ties, 0.0),
    )
    rng = np.random.default_rng(84)
    for V, T in (1, 2.0), (7, 1.0), (4, 0.1), (9, 30.0), (5, 0.3), (6, 0.0), (3, 1.5), (3, 2.5):
        logits = rng.normal(size=V)
        what = f"the distribution for V={V}, T={T}"
        same(unchanged(answer, logits, T), apply_temperature(logits, T), what)
    for logits, T, why in (
        (np.array([1000.0, 1001.0, 999.0]), 1.0, OVERFLOW),
        (np.array([-1000.0, -1001.0, -999.0]), 1.0, UNDERFLOW),
        (np.array([1000.0, -1000.0, 1.0]), 0.5, NOT_THE_LARGEST),
        (np.array([0.5, 0.5 + 2**-11, 0.4]), 0.001, POWERS),
        (np.array([1000.0, 1000.001, -1000.0]), 0.0, NOT_THE_LARGEST),
    ):
        got, expected = unchanged(answer, logits, T), apply_temperature(logits, T)
        if T == 0.001 and matches(got, apply_temperature(logits, 0)):
            raise Wrong(
                "T is 0.001, which is not 0: how near are the two largest logits?", expected, got
            )
        what = f"the distribution for the logits {', '.join(f'{x:g}' for x in logits)} and T={T}"
        survives(got, expected, what, why)


exercise.equivalent(
    "any very small number will do",
    "by_limit: * → *max(temperature, 2e-09))",
    "by_limit: * → *1e-09*",
)
exercise.equivalent(
    "the shares are divided by their sum, and what all scores have in common does not count",
    "by_loop: * → shares = [-1.0 if *",
    "by_loop: * → shares = [2.0 if *",
    "by_infinity: * → *-np.inf, -1.0)",
    "by_infinity: * → *-np.inf, 1.0)",
)
exercise.equivalent("a list is as good", "by_loop: * → return [share / sum(*")
