"""Exercise 5.6, Dropout."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, numbers, same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "5.6",
    "Dropout",
    stars=2,
    stub='''\
def drop(X, p, rng, training):
    """Dropout: in training, zeros at random places; at evaluation, nothing.

    X: D × N, one token in each column.
    p: the probability of each entry to become 0, independently of all others; 0 ≤ p < 1.
    rng: the np.random.Generator from which every random number comes.
    training: whether the network is being trained; if not, this is evaluation.
    Returns D × N: in training the entries that survive are divided by 1 − p, so that every entry
    keeps its mean over many draws; at evaluation the result is X. X itself stays as it is.
    """
    return ...  # your code here
''',
    hints=(
        "Evaluation takes one line. And in training: how many random decisions are there, one for "
        "each token, or one for each entry?",
        "rng.random(X.shape) gives a number between 0 and 1 for each entry. Which of these numbers "
        "lie below p, and how often?",
        "A truth value counts as 1 or 0 in a product. Multiply X by “survives” and divide by the "
        "probability to survive.",
    ),
    notice="Dividing in training leaves evaluation untouched: the finished network never needs "
    "to know p. PyTorch does the same, and model.eval() is what switches it off.",
)


@exercise.solution
def drop(X, p, rng, training):
    if not training:
        return X
    survives = rng.random(X.shape) >= p  # D × N, true with probability 1 − p
    return X * survives / (1 - p)


@exercise.right
def by_where(X, p, rng, training):
    dropped = training & (rng.random(X.shape) < p)
    return np.where(dropped, 0.0, X / (1 - p * training))


@exercise.right
def by_binomial(X, p, rng, training):
    if training:
        return X * rng.binomial(1, 1 - p, size=X.shape) / (1 - p)
    return X.copy()


@exercise.right
def by_loops(X, p, rng, training):
    results = X.copy()
    if training:
        for place in np.ndindex(X.shape):
            results[place] = 0 if rng.random() < p else X[place] / (1 - p)
    return results


@exercise.wrong("At evaluation entries are still dropped")
def always(X, p, rng, training):
    return drop(X, p, rng, True)


@exercise.wrong("At evaluation entries are still dropped")
def flag_inverted(X, p, rng, training):
    return drop(X, p, rng, not training)


@exercise.wrong("At evaluation everything is divided")
def rescaled_at_evaluation(X, p, rng, training):
    return drop(X, p, rng, training) if training else X / (1 - p)


@exercise.wrong("the older kind of dropout")
def not_inverted(X, p, rng, training):
    return X * (rng.random(X.shape) >= p) if training else X * (1 - p)


@exercise.wrong("does training have an effect")
def never(X, p, rng, training):
    return X


@exercise.wrong("are there any zeros")
def only_rescaled(X, p, rng, training):
    return X / (1 - p) if training else X


@exercise.wrong("the probability to be dropped, or to be kept")
def keeps(X, p, rng, training):
    return X * (rng.random(X.shape) < p) / p if training else X


@exercise.wrong("the probability to be dropped, or to be kept")
def keeps_and_divides(X, p, rng, training):
    return X * (rng.random(X.shape) < p) / (1 - p) if training else X


@exercise.wrong("of the entries become 0, and p is 20%")
def normal_numbers(X, p, rng, training):
    return X * (rng.normal(size=X.shape) >= p) / (1 - p) if training else X


@exercise.wrong("Whole tokens disappear")
def whole_tokens(X, p, rng, training):
    return X * (rng.random(X.shape[1]) >= p) / (1 - p) if training else X


@exercise.wrong("Whole dimensions disappear")
def whole_dimensions(X, p, rng, training):
    return X * (rng.random((len(X), 1)) >= p) / (1 - p) if training else X


@exercise.wrong("what has become of the mean")
def not_rescaled(X, p, rng, training):
    return X * (rng.random(X.shape) >= p) if training else X


@exercise.wrong("make up for the zeros")
def multiplied(X, p, rng, training):
    return X * (rng.random(X.shape) >= p) * (1 - p) if training else X


@exercise.wrong("with which probability does an entry survive")
def divided_by_p(X, p, rng, training):
    return X * (rng.random(X.shape) >= p) / p if training else X


@exercise.wrong("the same entries each time")
def own_seed(X, p, rng, training):
    return drop(X, p, np.random.default_rng(0), training)


@exercise.wrong("does every random number come from rng")
def own_generator(X, p, rng, training):
    return drop(X, p, np.random.default_rng(), training)


@exercise.wrong("does each entry decide for itself")
def exact_number(X, p, rng, training):
    if not training:
        return X
    survives = np.arange(X.size) >= round(p * X.size)
    return X * rng.permutation(survives).reshape(X.shape) / (1 - p)


@exercise.wrong("in place")
def in_place(X, p, rng, training):
    if training:
        X[rng.random(X.shape) < p] = 0
        X /= 1 - p
    return X


def result(answer, X, p, rng, training):
    """The answer's result as an array of the shape of X, or Wrong."""
    got = unchanged(lambda X: answer(X, p, rng, training), X)
    return numbers(got, X, f"the result {'in training' if training else 'at evaluation'}")


@exercise.check
def check(answer):
    p, rng = 0.2, np.random.default_rng(53)
    X = np.arange(1.0, 2001.0).reshape(40, 50)  # no entry is 0; survivors become multiples of 1.25
    got = result(answer, X, p, rng, training=False)
    if (got == 0).any():
        raise Wrong(
            "At evaluation entries are still dropped: the finished network should use everything "
            "it has. What is the input training for?",
            X,
            got,
        )
    recognize(
        got,
        X,
        "the result at evaluation",
        {
            "At evaluation everything is divided by 1 − p: what would that make up for, when "
            "nothing is dropped?": X / (1 - p),
            "At evaluation everything is multiplied by 1 − p. That is the older kind of dropout: "
            "if survivors are divided in training, what is left to do at evaluation?": X * (1 - p),
        },
    )
    draws = [result(answer, X, p, rng, training=True) for _ in range(6)]
    check_places([draw == 0 for draw in draws], X, p, draws[0])
    got, survived = draws[0], draws[0] != 0
    recognize(
        got,
        X * survived / (1 - p),
        "the result in training",
        {
            "In training a fifth of the entries is 0 and the others are as before: over many "
            "draws, what has become of the mean of an entry?": X * survived,
            "The survivors are multiplied by 1 − p and become smaller: should they make up for the "
            "zeros, or shrink with them?": X * survived * (1 - p),
            "The survivors are divided by p: with which probability does an entry survive?": (
                X * survived / p
            ),
        },
    )
    first, second = (
        result(answer, X, p, np.random.default_rng(1), training=True) for _ in range(2)
    )
    if not matches(second, first):
        raise Wrong(
            "Two generators with the same seed lead to two different results: does every random "
            "number come from rng?",
            first,
            second,
        )
    for p, size in (0.0, (3, 4)), (0.5, (1, 1)), (0.9, (2, 1)), (0.5, (16, 9)), (0.1, (5, 37)):
        X = rng.uniform(1, 2, size) * rng.choice([-1, 1], size)
        got = result(answer, X, p, rng, training=True)
        expected = X * ((got != 0) | (p == 0)) / (1 - p)
        what = f"for p={p}, D={size[0]}, N={size[1]}"
        same(got, expected, f"the result in training {what}")
        same(result(answer, X, p, rng, training=False), X, f"the result at evaluation {what}")


def check_places(dropped, X, p, got):
    """Which entries are 0, in several draws with probability p: how many, and whether by chance.

    The bounds are six standard deviations wide: no right answer comes near them.
    """
    first = dropped[0]
    expected = X * (np.random.default_rng(0).random(X.shape) >= p) / (1 - p)
    if matches(got, X):
        raise Wrong(
            "In training the result is X as well: does training have an effect?", expected, got
        )
    if not first.any():
        raise Wrong(
            "In training the entries change and none is dropped: are there any zeros?",
            expected,
            got,
        )
    for axis, what, each in (0, "tokens", "column"), (1, "dimensions", "row"):
        if (first.all(axis) == first.any(axis)).all() and not first.all():
            raise Wrong(
                f"Whole {what} disappear, and others stay whole: is there one decision for each "
                f"{each}, or one for each entry?",
                expected,
                got,
            )
    allowed = 6 * np.sqrt(p * (1 - p) / X.size)
    share = first.mean()
    if abs(share - (1 - p)) < allowed:
        raise Wrong(
            f"With p = {p}, {share:.0%} of the entries become 0: is p the probability to be "
            "dropped, or to be kept?",
            expected,
            got,
        )
    if abs(share - p) > allowed:
        raise Wrong(
            f"{share:.0%} of the entries become 0, and p is {p:.0%}: how often does a random "
            "number of yours lie below p?",
            expected,
            got,
        )
    if all((places == first).all() for places in dropped):
        raise Wrong(
            "Six draws, one after the other, dropped the same entries each time: "
            "where do your random numbers come from?"
        )
    if all(places.sum() == first.sum() for places in dropped):
        raise Wrong(
            f"Each of six draws dropped exactly {first.sum()} of {X.size} entries, "
            "where chance would drop now more and now fewer: does each entry decide for itself?"
        )


exercise.equivalent(
    "a random number equals p once in 2^53 times",
    "drop: * → survives = rng.random(X.shape) > p",
    "by_where: * → *rng.random(X.shape) <= p)",
    "by_loops: * → *rng.random() <= p else*",
)
exercise.equivalent(
    "the results begin as a copy of X",
    "by_loops: * → for place in np.ndindex(results.shape):",
    "by_loops: * → *else results[place] / (1 - p)",
)
