"""Exercise 1.8, Attend to a stream."""

import contextlib
import itertools
import math
import tracemalloc

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import short
from helpers.exercises.shared.compare import matches, same
from helpers.exercises.shared.questions import OVERFLOW, recognize, survives
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "1.8",
    "Attend to a stream",
    stars=3,
    stub='''\
def attend_to_stream(query, pairs):
    """The attention output of one query over a stream of keys and values (without scaling).

    The stream may be too long to keep, and it can be read only once. Scores may be ±1000.

    query: shape (D_q,).
    pairs: an iterator over at least one (key, value), of shapes (D_q,) and (D_v,).
    Returns the values' sum, weighted by the softmax of all scores, shape (D_v,).
    """
    return ...  # your code here
''',
    hints=(
        "The output is a fraction: a weighted sum of values above, a sum of weights below. Can "
        "both be kept up to date, pair by pair?",
        "A safe softmax subtracts the largest score, which is known only at the end. What if you "
        "subtract the largest so far?",
        "When a larger score arrives, everything added up so far was computed with the old "
        "maximum. By which one factor is all of it too large?",
        "Both sums times np.exp(old maximum − new maximum), then the new pair is added. With a "
        "first maximum of −infinity that factor is 0 for the first pair, as it should be.",
    ),
    notice="Two running numbers and one running vector replace a row of N weights. Done block by "
    "block, this is how the fused kernels on a GPU avoid ever storing the N × N matrix.",
)


@exercise.solution
def attend_to_stream(query, pairs):
    largest, total, output = -np.inf, 0.0, 0.0
    for key, value in pairs:
        score = key @ query
        rescale = np.exp(largest - max(largest, score))  # old sums, measured by the new maximum
        largest = max(largest, score)
        weight = np.exp(score - largest)
        total = total * rescale + weight
        output = output * rescale + weight * value
    return output / total


@exercise.right
def by_average(query, pairs):
    key, output = next(pairs)
    log_total = key @ query
    for key, value in pairs:
        score = key @ query
        log_total = np.logaddexp(log_total, score)
        output = output + np.exp(score - log_total) * (value - output)
    return output


@exercise.right
def by_blocks(query, pairs):
    largest, total, output = -np.inf, 0.0, 0.0
    while block := list(itertools.islice(pairs, 16)):
        scores = np.array([key @ query for key, _ in block])
        new_largest = max(largest, scores.max())
        weights, rescale = np.exp(scores - new_largest), np.exp(largest - new_largest)
        total = total * rescale + weights.sum()
        output = output * rescale + weights @ np.array([value for _, value in block])
        largest = new_largest
    return output / total


@exercise.right
def in_plain_python(query, pairs):
    largest, total, output = -math.inf, 0.0, [0.0]
    for key, value in pairs:
        score = sum(k * q for k, q in zip(key, query, strict=True))
        if score > largest:
            rescale, largest = math.exp(largest - score), score
            total, output = total * rescale, [x * rescale for x in output]
        weight = math.exp(score - largest)
        total += weight
        output = [x + weight * v for x, v in itertools.zip_longest(output, value, fillvalue=0.0)]
    return [x / total for x in output]


exercise.equivalent(
    "what the sums are at the start is rescaled by 0 with the first pair",
    "attend_to_stream: * → largest, total, output = (-np.inf, *)",
    "by_blocks: * → largest, total, output = (-np.inf, *)",
    "in_plain_python: * → largest, total, output = (-math.inf, *)",
)
exercise.equivalent(
    "the same number, computed in another order",
    "*: score = * → score = query @ key",
    "*: log_total = * → log_total = query @ key",
    "attend_to_stream: * → rescale = np.exp(largest - max(score, largest))",
    "*: * → *largest = max(score*, largest)",
    "by_average: * → log_total = np.logaddexp(score, log_total)",
    "by_blocks: * → scores = np.array([query @ key for key, _ in block])",
    "by_blocks: * → output = output * rescale + weights @ [value for _, value in block]",
    "in_plain_python: * → score = sum((k * q for k, q in zip(*",
    "in_plain_python: * → if score >= largest:",
)
exercise.equivalent(
    "blocks of another size",
    "by_blocks: while * → while (block := list(itertools.islice(pairs, *))):",
)


def sums(query, pairs, largest=-np.inf, above=1, below=1):
    """The two sums of the solution, with a first maximum and powers of the rescaling factor."""
    total, output = 0.0, 0.0
    for key, value in pairs:
        new_largest = max(largest, key @ query)
        rescale, weight = np.exp(largest - new_largest), np.exp(key @ query - new_largest)
        total = total * rescale**below + weight
        output = output * rescale**above + weight * value
        largest = new_largest
    return output, total


@exercise.wrong("what must happen to the sums so far")
def without_rescaling(query, pairs):
    return np.divide(*sums(query, pairs, above=0, below=0))


@exercise.wrong("is the sum of the weights rescaled, too")
def rescaled_above(query, pairs):
    return np.divide(*sums(query, pairs, below=0))


@exercise.wrong("is the sum of the values rescaled, too")
def rescaled_below(query, pairs):
    return np.divide(*sums(query, pairs, above=0))


@exercise.wrong("which of them occurs for the first pair")
def inverted(query, pairs):
    return np.divide(*sums(query, pairs, above=-1, below=-1))


@exercise.wrong("your factor made them larger")
def inverted_from_zero(query, pairs):
    return np.divide(*sums(query, pairs, largest=0.0, above=-1, below=-1))


@exercise.wrong("what do they have to be divided by")
def undivided(query, pairs):
    return sums(query, pairs)[0]


@exercise.wrong("what must happen to the sums so far")
def blocks_without_rescaling(query, pairs):
    largest, total, output = -np.inf, 0.0, 0.0
    while block := list(itertools.islice(pairs, 1)):  # comes back to the stream at its end
        scores = np.array([key @ query for key, _ in block])
        largest = max(largest, scores.max())
        weights = np.exp(scores - largest)
        total = total + weights.sum()
        output = output + weights @ np.array([value for _, value in block])
    return output / total


@exercise.wrong("largest score of a stream of negative ones")
def from_zero(query, pairs):
    return np.divide(*sums(query, pairs, largest=0.0))


def with_fixed_shift(query, pairs, shift):
    """Attention that subtracts the same number from all scores."""
    total, output = 0.0, 0.0
    for key, value in pairs:
        weight = np.exp(key @ query - shift)
        total, output = total + weight, output + weight * value
    return output / total


@exercise.wrong("np.exp(1000) overflows")
def unstable(query, pairs):
    return with_fixed_shift(query, pairs, 0)


@exercise.wrong("largest score of a stream of negative ones")
def shifted(query, pairs):
    return with_fixed_shift(query, pairs, 500)


@exercise.wrong("can be read only once")
def read_twice(query, pairs):
    return with_fixed_shift(query, pairs, max(key @ query for key, _ in pairs))


@exercise.wrong("by how many pairs there were")
def divided_by_count(query, pairs):
    pairs = list(pairs)
    return sums(query, iter(pairs))[0] / len(pairs)


@exercise.wrong("too long to keep")
def kept(query, pairs):
    keys, values = zip(*pairs, strict=True)
    return softmax_columns(np.array(keys) @ query) @ values


def with_values_as(keep, query, pairs):
    """Attention that keeps all scores and, of each value, keep(value)."""
    scores, values = zip(*((key @ query, keep(value)) for key, value in pairs), strict=True)
    return softmax_columns(np.array(scores)) @ values


@exercise.wrong("too long to keep")
def copied(query, pairs):
    return with_values_as(np.copy, query, pairs)


@exercise.wrong("too long to keep")
def listed(query, pairs):
    return with_values_as(np.ndarray.tolist, query, pairs)


@exercise.wrong("too long to keep")
def keys_kept(query, pairs):
    keys, total = [], 0.0
    for key, value in pairs:
        keys.append(key)
        scores = np.array(keys[-2:]) @ query
        if len(keys) == 1:
            largest, output = scores[0], 0.0
        rescale = np.exp(min(0.0, largest - scores[-1]))
        largest = max(largest, scores[-1])
        weight = np.exp(scores[-1] - largest)
        total, output = total * rescale + weight, output * rescale + weight * value
    return output / total


@exercise.wrong("does return stand inside the loop")
def returned_early(query, pairs):
    total, output = 0.0, 0.0
    for key, value in pairs:
        weight = np.exp(key @ query)
        total, output = total + weight, output + weight * value
        return output / total


@exercise.wrong("does it replace them")
def replaced(query, pairs):
    for key, value in pairs:
        weight = np.exp(key @ query)
        total, output = weight, weight * value
    return output / total


@exercise.wrong("does it replace them")
def output_replaced(query, pairs):
    largest, total = -np.inf, 0.0
    for key, value in pairs:
        new_largest = max(largest, key @ query)
        rescale, weight = np.exp(largest - new_largest), np.exp(key @ query - new_largest)
        total, output = total * rescale + weight, weight * value
        largest = new_largest
    return output / total


@exercise.wrong("in place")
def in_place(query, pairs):
    key, output = next(pairs)
    largest, total = key @ query, 1.0
    for key, value in pairs:
        new_largest = max(largest, key @ query)
        rescale, weight = np.exp(largest - new_largest), np.exp(key @ query - new_largest)
        total = total * rescale + weight
        output *= rescale
        output += weight * value
        largest = new_largest
    return output / total


class Stream:
    """Pairs of copies that cannot be changed, and that can be read `readings` times."""

    def __init__(self, keys, values, readings=1):
        self.keys, self.values, self.readings = keys, values, readings
        self.place = 0
        self.read_again = False

    def __iter__(self):
        if self.place == len(self.keys):
            self.read_again = True
            self.readings -= 1
            self.place = 0 if self.readings > 0 else self.place
        return self

    def __next__(self):
        if self.place == len(self.keys):
            raise StopIteration
        key, value = self.keys[self.place].copy(), self.values[self.place].copy()
        key.flags.writeable = value.flags.writeable = False
        self.place += 1
        return key, value

    def __repr__(self):
        count = len(self.keys)
        return (
            f"a stream of {count} pair{'s' if count > 1 else ''}, the keys\n{short(self.keys)}\n"
            f"and the values\n{short(self.values)}"
        )


def read(answer, query, keys, values):
    """What the answer makes of a stream; Wrong if it is right only of one that can be reread."""
    stream = Stream(keys, values)
    try:
        got = answer(query.copy(), stream)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        if stream.read_again:
            refuse_rereading(answer, query, keys, values)
        if "read-only" in str(error):
            raise Wrong(
                "It changes a key or a value of the stream in place, which others may still need: "
                "does your running sum begin as an array of its own?"
            ) from None
        raise
    if stream.read_again and not matches(got, softmax_columns(keys @ query) @ values):
        refuse_rereading(answer, query, keys, values)
    return got


def refuse_rereading(answer, query, keys, values):
    """Raise Wrong if the answer, which failed, is right of a stream that can be read often."""
    with contextlib.suppress(ArithmeticError, LookupError, TypeError, ValueError):
        got = answer(query.copy(), Stream(keys, values, readings=4))
        if matches(got, softmax_columns(keys @ query) @ values):
            raise Wrong(
                "The stream can be read only once, and it was empty when you came back to it: can "
                "everything happen in a single pass?"
            )


def most_held(answer, query, keys, values):
    """The bytes that the answer holds at most while it reads a stream."""
    stream = Stream(keys, values)
    tracemalloc.start()
    try:
        answer(query, stream)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@exercise.check
def check(answer):
    query, values = np.array([2.0]), np.array([[4.0, 1.0], [2.0, 7.0], [5.0, 3.0]])
    # Exponentials 7, 3, 2: falling first, so that only the rising ones need care.
    falling, rising = np.log([[7.0], [3.0], [2.0]]) / 2, np.log([[2.0], [3.0], [7.0]]) / 2
    undivided = (
        "The values are added up, each times its weight: what do they have to be divided by to "
        "make a weighted average?"
    )
    value = np.array([[6.0, 8.0]])
    recognize(
        read(answer, query, falling[:1], value),
        value[0],
        "the output for a single pair (its value)",
        {
            "A single pair gives NaN. 0/0 is not a number, nor ∞ − ∞, nor 0 · ∞, where exp(−∞) "
            "is 0 and its inverse is ∞: which of them occurs for the first pair?": (
                np.full(2, np.nan)
            ),
            undivided: 7 * value[0],
        },
    )
    above, below = sums(query, zip(falling, values, strict=True))
    recognize(
        read(answer, query, falling, values),
        above / below,
        "the output for scores log 7, log 3 and log 2",
        {
            "You divided by how many pairs there were: what do the weights of a softmax sum to?": (
                above / 3,
                7 * above / 3,
            ),
            undivided: (above, 7 * above),
            "This is the first value alone: does return stand inside the loop, or did the other "
            "pairs get no weight?": values[0],
            "Only the last pair came out: is each pair added to both sums, or does it replace "
            "them?": (values[2], 2 / 7 * values[2] / below),
        },
    )
    late = (
        "The same scores in falling order give the right output, in rising order they do not: "
        "when a larger score arrives, "
    )

    def mistaken(**powers):
        return np.divide(*sums(query, zip(rising, values, strict=True), **powers))

    recognize(
        read(answer, query, rising, values),
        mistaken(),
        "the output for scores log 2, log 3 and log 7",
        {
            f"{late}what must happen to the sums so far?": mistaken(above=0, below=0),
            f"{late}is the sum of the weights rescaled, too?": mistaken(below=0),
            f"{late}is the sum of the values rescaled, too?": mistaken(above=0),
            f"{late}the sums so far must shrink, and your factor made them larger: old − new, or "
            "new − old?": mistaken(largest=0.0, above=-1, below=-1),
        },
    )
    one, values = np.array([1.0]), values[:2]
    negative = (
        "Every exponential was 0, and 0/0 is not a number: what is the largest score of a stream "
        "of negative ones?"
    )
    so_far = "Is what you subtract the largest score so far, after each of the pairs?"
    for first, second, why in (
        (1000.0, 999.0, OVERFLOW),
        (-1000.0, -1001.0, negative),
        (-1000.0, 1000.0, so_far),
        (1000.0, -1000.0, so_far),
        (0.5, -1000.0, so_far),
        (3.0, 1000.0, so_far),
    ):
        keys = np.array([[first], [second]])
        got, expected = read(answer, one, keys, values), softmax_columns(keys[:, 0]) @ values
        survives(got, expected, f"the output for scores {first:.0f} and {second:.0f}", why)
    rng = np.random.default_rng(18)
    held = []
    for D_q, D_v, N in (1, 1, 1), (3, 2, 5), (2, 3, 40), (3, 2, 5), (4, 3, 1000), (4, 3, 3000):
        query, keys = rng.normal(size=D_q), 5 * rng.normal(size=(N, D_q))
        values = rng.normal(size=(N, D_v))
        what = f"the output for D_q={D_q}, D_v={D_v} and {N} pairs"
        for asked in query, -query:
            expected = softmax_columns(keys @ asked) @ values
            same(read(answer, asked, keys, values), expected, what)
        held.append(most_held(answer, query, keys, values))
    more = (held[-1] - held[-2]) / 2000
    if more > 4:  # half a number
        raise Wrong(
            f"The output is right, but each further pair of the stream costs {more:.0f} bytes more "
            "of memory, and the stream may be too long to keep: what must be remembered from one "
            "pair to the next?"
        )
