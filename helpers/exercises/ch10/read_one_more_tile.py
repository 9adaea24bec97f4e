"""Exercise 10.9, One more tile."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import matches, same
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "10.9",
    "One more tile",
    stars=2,
    stub='''\
def read_one_more_tile(largest, total, mixed, scores, values):
    """What is kept of the softmax of N queries, after one more tile of T keys has been read.

    largest: N numbers, each query's largest score so far, −∞ at the start.
    total: N numbers, each query's sum of exp(score − largest) over the keys so far, 0 at the start.
    mixed: D_v × N, the sum of exp(score − largest) times the value, over the keys so far.
    scores: T × N, those of the new keys; a key that a query may not see has the score −∞, and a
    query may not have seen any key yet. Others may be ±1000.
    values: D_v × T, those of the new keys.
    Returns the new largest, total and mixed, so that mixed / total is the output once all tiles are
    read. The arrays that were given stay as they are.
    """
    return ...  # your code here
''',
    hints=(
        "First the new largest score: the old one or one of the tile, whichever is larger. The old "
        "sums are relative to the old one.",
        "exp(s − old) becomes exp(s − new) by one factor, the same for all keys read before: "
        "exp(old − new). Which two of the three results does it belong to?",
        "A query that has seen nothing has −∞ as old and as new, and −∞ − (−∞) is not a number. "
        "Subtract 0 instead of the new largest there: exp(−∞ − 0) is 0, as it should be.",
    ),
    notice="Two numbers, and one for each entry of a value, are all that is kept of a query, "
    "however many keys there are. The order of the tiles does not matter, so several processors "
    "can read them at once, and the same rescaling puts together what they found.",
)


@exercise.solution
def read_one_more_tile(largest, total, mixed, scores, values):
    new = np.maximum(largest, scores.max(axis=0))
    subtracted = np.where(new == -np.inf, 0, new)  # where nothing has been seen yet
    rescale = np.exp(largest - subtracted)  # N, at most 1
    powers = np.exp(scores - subtracted)  # T × N
    return new, rescale * total + powers.sum(axis=0), rescale * mixed + values @ powers


@exercise.right
def query_by_query(largest, total, mixed, scores, values):
    largest, total, mixed = largest.copy(), total.copy(), mixed.copy()
    for n in range(len(largest)):
        for t in range(len(scores)):
            score = scores[t, n]
            if score == -np.inf:
                continue
            if score > largest[n]:
                factor = np.exp(largest[n] - score)
                total[n] *= factor
                mixed[:, n] *= factor
                largest[n] = score
            power = np.exp(score - largest[n])
            total[n] += power
            mixed[:, n] += power * values[:, t]
    return largest, total, mixed


@exercise.right
def the_past_as_one_more_key(largest, total, mixed, scores, values):
    every = np.vstack([largest, scores])
    new = every.max(axis=0)
    with np.errstate(invalid="ignore"):
        powers = np.where(np.isinf(every), 0, np.exp(every - new))
    past, powers = powers[0], powers[1:]
    return new, past * total + powers.sum(axis=0), past * mixed + values.dot(powers)


@exercise.right
def by_replacing_nan(largest, total, mixed, scores, values):
    new = np.maximum(largest, np.max(scores, axis=0))
    with np.errstate(invalid="ignore"):
        rescale = np.nan_to_num(np.exp(largest - new))
        powers = np.nan_to_num(np.exp(scores - new))
    return new, total * rescale + np.ones(len(scores)) @ powers, mixed * rescale + values @ powers


def read(largest, total, mixed, scores, values, **slip):
    """The right answer, or one with slips.

    new: function of largest and scores to the new largest. factor: of the old and the new largest.
    rescaled: which of "total" and "mixed" are. powers: of scores and the new largest. sum: of
    powers to what total grows by. mix: of values and powers to what mixed grows by.
    """
    with np.errstate(all="ignore"):
        new = slip.get("new", lambda old, s: np.maximum(old, s.max(axis=0)))(largest, scores)
        subtracted = np.where(new == -np.inf, 0, new)
        factor = slip.get("factor", lambda old, new: np.exp(old - new))(largest, subtracted)
        powers = slip.get("powers", lambda s, new: np.exp(s - new))(scores, subtracted)
        rescaled = slip.get("rescaled", ("total", "mixed"))
        old_total = factor * total if "total" in rescaled else total
        old_mixed = factor * mixed if "mixed" in rescaled else mixed
        grown = slip.get("sum", lambda powers: powers.sum(axis=0))(powers)
        mixed_in = slip.get("mix", lambda values, powers: values @ powers)(values, powers)
        return new, old_total + grown, old_mixed + mixed_in


def slipped(**slip):
    """A wrong answer: read with slips."""
    return lambda *inputs: read(*inputs, **slip)


def forgetting(largest, total, mixed, scores, values):
    return read(np.full(largest.shape, -np.inf), 0 * total, 0 * mixed, scores, values)


def already_divided(largest, total, mixed, scores, values):
    new, total, mixed = read(largest, total, mixed, scores, values)
    return new, total, mixed / total


# The question to ask, and the wrong answer
MISTAKES = {
    "Neither of your sums is rescaled where a larger score turned up: relative to which largest "
    "score were they made?": slipped(rescaled=()),
    "Your total is rescaled and mixed is not: relative to which largest score was it made?": (
        slipped(rescaled=("total",))
    ),
    "Your mixed is rescaled and total is not: relative to which largest score was it made?": (
        slipped(rescaled=("mixed",))
    ),
    "Your factor is upside down: do the old sums become larger or smaller when a larger score "
    "turns up?": slipped(factor=lambda old, new: np.exp(new - old)),
    "Your factor is the difference of the largest scores: what is taken of it?": slipped(
        factor=lambda old, new: old - new
    ),
    "Your old sums are multiplied by exp(old largest): relative to what are the new ones?": slipped(
        factor=lambda old, new: np.exp(old)
    ),
    "Your largest is that of the new tile alone: what if an older score was larger?": slipped(
        new=lambda old, s: s.max(axis=0)
    ),
    "Your largest stays the old one: what if the new tile has a larger score?": slipped(
        new=lambda old, s: old
    ),
    "Your largest is the smaller of the old and the new one: which of the two keeps every "
    "exponential at most 1?": slipped(new=lambda old, s: np.minimum(old, s.max(axis=0))),
    "All your queries share one largest score: has each its own?": slipped(
        new=lambda old, s: np.maximum(old, s.max()) * np.ones(len(old)),
    ),
    "Your largest scores are the sums of old and new: which of the two is the largest so far?": (
        slipped(new=lambda old, s: old + s.max(axis=0))
    ),
    "Your new terms are relative to the tile's own largest score, and what was summed before to "
    "another: can they be added?": lambda largest, total, mixed, scores, values: read(
        largest, total, mixed, scores, values, powers=lambda s, new: np.exp(s - s.max(axis=0))
    ),
    "Your new terms are relative to the old largest score: to which are all sums to be relative?": (
        lambda largest, total, mixed, scores, values: read(
            largest, total, mixed, scores, values, powers=lambda s, new: np.exp(s - largest)
        )
    ),
    "Your new terms are exp(score): what is subtracted before the exponential?": slipped(
        powers=lambda s, new: np.exp(s)
    ),
    "What was read before is gone: where do the old total and mixed enter?": forgetting,
    "The values are not in your mixed: by what is each exponential multiplied there?": slipped(
        mix=lambda values, powers: np.ones((len(values), 1)) * powers.sum(axis=0)
    ),
    "The new values are added to mixed as they are: what weighs them?": slipped(
        mix=lambda values, powers: values.sum(axis=1, keepdims=True) * np.ones(powers.shape[1])
    ),
    "Your total grows by the number of keys: what is to be summed in it?": slipped(
        sum=lambda powers: np.full(powers.shape[1], 1.0 * len(powers))
    ),
    "Your total grows by the same for all queries: along which axis is it summed?": slipped(
        sum=lambda powers: powers.sum()
    ),
    "Your total grows by the tile's largest exponential: is it not the sum of them?": slipped(
        sum=lambda powers: powers.max(axis=0)
    ),
    "Your mixed is divided by total already: what will the next tile find in it?": already_divided,
    "The weights of the new tile sum to one in your mixed: what are they in proportion to what was "
    "read before?": slipped(mix=lambda values, powers: values @ (powers / powers.sum(axis=0))),
}
register(exercise, MISTAKES)


@exercise.wrong("has not seen any key yet")
def without_thought_of_nothing(largest, total, mixed, scores, values):
    new = np.maximum(largest, scores.max(axis=0))
    with np.errstate(invalid="ignore"):
        rescale, powers = np.exp(largest - new), np.exp(scores - new)
    return new, rescale * total + powers.sum(axis=0), rescale * mixed + values @ powers


@exercise.wrong("whose scores are all below zero")
def largest_at_least_zero(largest, total, mixed, scores, values):
    return read(
        *(largest, total, mixed, scores, values),
        new=lambda old, s: np.maximum(np.maximum(old, s.max(axis=0)), 0),
    )


@exercise.wrong("has not seen any key yet")
def seen_as_zero(largest, total, mixed, scores, values):
    new, total, mixed = read(largest, total, mixed, scores, values)
    return np.where(new == -np.inf, 0, new), total, mixed


@exercise.wrong("for scores of ±1000")
def by_one_largest_of_all(largest, total, mixed, scores, values):
    with np.errstate(all="ignore"):
        new = np.maximum(largest, scores.max(axis=0))
        shift = np.where(new == -np.inf, 0, new)
        one = max(new.max(), -1e9)
        powers = np.exp(scores - one) * np.exp(one - shift)
        factor = np.exp(largest - one) * np.exp(one - shift)
        return new, factor * total + powers.sum(axis=0), factor * mixed + values @ powers


@exercise.wrong("Three results are expected")
def mixed_alone(*inputs):
    return read(*inputs)[2]


@exercise.wrong("came in another order")
def other_order(*inputs):
    new, total, mixed = read(*inputs)
    return mixed, total, new


@exercise.wrong("largest and total are exchanged")
def exchanged(*inputs):
    new, total, mixed = read(*inputs)
    return total, new, mixed


@exercise.wrong("its input total in place")
def in_place(largest, total, mixed, scores, values):
    new, more, mixed = read(largest, total, mixed, scores, values)
    total[:] = more
    return new, total, mixed


NAMES = "largest", "total", "mixed"
NOTHING_YET = (
    "A query that has not seen any key yet has −∞ as its largest score, 0 as its total and zeros "
    "in mixed, before this tile and after it. −∞ − (−∞) is not a number: what can be subtracted "
    "there instead?"
)


@exercise.check
def check(answer):
    largest, total = np.array([2.0, 5.0, 1.0, 3.0]), np.array([1.5, 2.25, 1.25, 3.5])
    mixed = np.array([[3.0, -4, 7, 2], [6, 1, -2, 5]])
    scores = np.array([[3.0, 4, 1.5, 2.5], [2.5, 1, 4, -1], [2, 3.5, 0.5, 2]])
    inputs = largest, total, mixed, scores, np.array([[9.0, -5, 1], [2, 7, -3]])
    got, expected = three(answer, inputs), read_one_more_tile(*inputs)
    for question, mistaken in results(MISTAKES, *inputs).items():
        if not equal(got, expected) and any(equal(got, wrong) for wrong in mistaken):
            raise Wrong(question, *first_difference(expected, got))
    compare(got, expected, "for 4 queries, D_v=2 and a tile of 3 keys")
    check_low(answer)
    rng = np.random.default_rng(109)
    for N, D_v, T in (3, 2, 4), (1, 1, 1), (5, 2, 1), (2, 3, 6), (4, 4, 4), (3, 5, 2):
        kept = np.full(N, -np.inf), np.zeros(N), np.zeros((D_v, N))
        for number in range(3):
            inputs = *kept, 2 * rng.normal(size=(T, N)), rng.normal(size=(D_v, T))
            what = f"for {N} queries, D_v={D_v} and tile {number} of {T} keys, counted from 0"
            kept = read_one_more_tile(*inputs)
            compare(three(answer, inputs), kept, what)
    check_hidden(answer)
    check_large(answer)


def check_low(answer):
    """Scores all below zero: their largest is below zero, too."""
    inputs = np.full(2, -np.inf), np.zeros(2), np.zeros((1, 2))
    inputs = *inputs, np.array([[-5.0, -3], [-4, -7]]), np.array([[2.0, 6]])
    got, expected = three(answer, inputs), read_one_more_tile(*inputs)
    if not equal(got, expected):
        raise Wrong(
            "For a query whose scores are all below zero the results are not right: is your "
            "largest score then one of its scores?",
            *first_difference(expected, got),
        )


def check_hidden(answer):
    """Queries that see nothing in a tile, at the start or later."""
    hidden, values = -np.inf, np.array([[4.0, -2], [1, 3]])
    kept = np.full(3, hidden), np.zeros(3), np.zeros((2, 3))
    for scores in (
        np.array([[1.0, hidden, hidden], [2.0, hidden, 3.0]]),
        np.array([[hidden, hidden, 1.0], [hidden, 0.5, hidden]]),
    ):
        inputs = *kept, scores, values
        with np.errstate(all="ignore"):
            got = three(answer, inputs)
        kept = read_one_more_tile(*inputs)
        if not equal(got, kept):
            raise Wrong(NOTHING_YET, *first_difference(kept, got))


def check_large(answer):
    """Scores of ±1000, of one query and of two together."""
    for before, scores in (
        ([1000.0, -1000.0], [[1001.0, -1001.0], [999.0, -999.0]]),
        ([-1000.0, 1000.0], [[1000.0, -1000.0], [1.0, 1001.0]]),
    ):
        inputs = np.array(before), np.array([1.5, 2.0]), np.array([[3.0, -5.0]])
        inputs = *inputs, np.array(scores), np.array([[7.0, 11.0]])
        got, expected = three(answer, inputs), read_one_more_tile(*inputs)
        for name, result, right in zip(NAMES, got, expected, strict=True):
            same(
                result,
                right,
                f"{name} for scores of ±1000",
                nan="Is every exponent, of the factor too, at most 0 and made in one subtraction?",
                far="is every exponent made in one subtraction, of the query's own largest score?",
            )


def three(answer, inputs):
    """The answer's three results, or Wrong."""
    got = run(answer, *inputs, errors={})
    if isinstance(got, dict) or not hasattr(got, "__len__") or len(got) != 3:
        raise Wrong(
            f"Three results are expected, largest, total and mixed, got {kind(got)}: does your "
            "function end with return largest, total, mixed?"
        )
    return got


def compare(got, expected, what):
    """Raise Wrong for the first of the three results that is not as expected."""
    largest, total, mixed = expected
    right = [matches(result, name) for result, name in zip(got, expected, strict=True)]
    if matches(got[0], mixed) and not right[0]:
        raise Wrong("The results came in another order: largest first, then total, then mixed.")
    if matches(got[0], total) and matches(got[1], largest) and not right[0]:
        raise Wrong("In what you return, largest and total are exchanged.", largest, got[0])
    for name, result, wanted in zip(NAMES, got, expected, strict=True):
        same(result, wanted, f"{name} {what}")


def equal(got, expected):
    """Whether all three results match."""
    return all(matches(result, right) for result, right in zip(got, expected, strict=True))


def first_difference(expected, got):
    """The first of the three results that differs: what was expected, and what came."""
    pairs = zip(expected, got, strict=True)
    return next(((a, b) for a, b in pairs if not matches(b, a)), (expected, got))


exercise.equivalent(
    "of two numbers the larger is the larger in either order, and equal scores need no rescaling",
    "read_one_more_tile: * → new = np.maximum(scores.max(axis=0), largest)",
    "by_replacing_nan: * → new = np.maximum(np.max(scores, axis=0), largest)",
    "query_by_query: * → if score >= largest[n]:",
)
exercise.equivalent(
    "where nothing has been seen every exponential is 0, whatever finite number is subtracted",
    "read_one_more_tile: * → subtracted = np.where(new == -np.inf, -1, new)",
    "read_one_more_tile: * → subtracted = np.where(new == -np.inf, 1, new)",
    "the_past_as_one_more_key: * → powers = np.where(np.isinf(new), 0, np.exp(every - new))",
)
exercise.equivalent("these lengths are equal", "query_by_query: * → for n in range(len(total)):")
exercise.equivalent(
    "a warning changes no result",
    "the_past_as_one_more_key: * → with np.errstate():",
    "by_replacing_nan: * → with np.errstate():",
)
exercise.equivalent(
    "only a length is asked for",
    "query_by_query: * → *len(whole(*",
    "by_replacing_nan: * → *len(whole(scores))*",
    "by_replacing_nan: * → *np.ones(len(powers))*",
)
