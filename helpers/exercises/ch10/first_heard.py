"""Exercise 10.4, When the news arrives."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.4",
    "When the news arrives",
    stars=2,
    stub='''\
def first_heard(patterns):
    """After how many layers each query first hears from each key, N × N whole numbers, keys down.

    patterns: a list of N × N truth values, True: may see, keys down; one for each layer, the first
    layer first. Thanks to the residual connections, a token keeps what it has heard.
    Its own news a token has after 0 layers. Where a key is not heard of after all layers: −1.
    """
    return ...  # your code here
''',
    hints=(
        "Keep two matrices: who has been heard of so far, and the answer. What are both before the "
        "first layer?",
        "After a layer, key k has reached query q if some token m had heard of k before, and q may "
        "see m in this layer: a matrix product of truth values. Which of the two stands left?",
        "heard = np.eye(N) > 0 at first. In each layer heard.astype(int) @ pattern > 0 is new; "
        "what was heard before stays. Where something is new, the answer is this layer's number.",
    ),
    notice="The largest number is the answer to “how many layers until all have met”, and the mean "
    "says how many are under way for how long.",
)


@exercise.solution
def first_heard(patterns):
    heard = np.eye(len(patterns[0])) > 0  # keys down, queries across
    answer = np.where(heard, 0, -1)
    for layer, pattern in enumerate(patterns, 1):
        new = heard | (heard.astype(int) @ pattern > 0)  # by way of someone who had heard
        answer[new & ~heard] = layer
        heard = new
    return answer


@exercise.right
def by_sets(patterns):
    N = len(patterns[0])
    heard = [{n} for n in range(N)]
    answer = -np.ones((N, N), int) + np.eye(N, dtype=int)
    for layer, pattern in enumerate(patterns, 1):
        seen = [set(np.flatnonzero(pattern[:, q])) | {q} for q in range(N)]
        heard = [set().union(*(heard[m] for m in seen[q])) for q in range(N)]
        for q in range(N):
            for k in heard[q]:
                if answer[k, q] < 0:
                    answer[k, q] = layer
    return answer


@exercise.right
def by_counting(patterns):
    heard = [np.eye(len(patterns[0]))]
    for pattern in patterns:
        heard.append(np.minimum(heard[-1] @ (pattern | np.eye(len(pattern), dtype=bool)), 1))
    return np.where(heard[-1] > 0, len(heard) - sum(heard), -1).astype(int)


def times(patterns, order=lambda heard, pattern: heard @ pattern, keep=True):
    """first_heard with another product, or without residual connections."""
    heard = np.eye(len(patterns[0])) > 0
    answer = np.where(heard, 0, -1)
    for layer, pattern in enumerate(patterns, 1):
        new = order(heard.astype(int), pattern.astype(int)) > 0
        new = heard | new if keep else new
        answer[new & (answer < 0)] = layer
        heard = new
    return answer


def ways(patterns):
    """On how many ways a key's news comes to a query, a product of all layers."""
    product = np.eye(len(patterns[0]), dtype=int)
    for pattern in patterns:
        product = product @ pattern
    return product


# The question to ask, and the wrong answer
MISTAKES = {
    "Your layers work in the wrong order: in heard @ pattern, which of the two is the earlier?": (
        lambda patterns: times(patterns, lambda heard, pattern: pattern @ heard),
        lambda patterns: first_heard(patterns[::-1]),
    ),
    "Your keys stand across and your queries down: which of the two indices is the key's?": (
        lambda patterns: first_heard(patterns).T,
        lambda patterns: first_heard([pattern.T for pattern in patterns]),
    ),
    "Your layers all have the first pattern: which one does each have?": (
        lambda patterns: first_heard([patterns[0]] * len(patterns))
    ),
    "Your layers all have the last pattern: which one does each have?": (
        lambda patterns: first_heard([patterns[-1]] * len(patterns))
    ),
    "Your tokens forget what they had heard: what do the residual connections add to a layer?": (
        lambda patterns: times(patterns, keep=False)
    ),
    "Your layers are counted from 0: after how many layers has the first one passed?": (
        lambda patterns: np.where(
            first_heard(patterns) > 0, first_heard(patterns) - 1, first_heard(patterns)
        )
    ),
    "A token's own news comes after 1 layer in yours: does it need one?": (
        lambda patterns: first_heard(patterns) + np.eye(len(patterns[0]), dtype=int)
    ),
    "Keys that are never heard of have 0 in yours: which number does the stub want?": (
        lambda patterns: np.maximum(first_heard(patterns), 0)
    ),
    "Your numbers are those of the last layer that brings a key: which one brings it first?": (
        lambda patterns: np.where(
            np.eye(len(patterns[0])), 0, np.where(first_heard(patterns) > 0, len(patterns), -1)
        )
    ),
    "Your numbers count the ways that news can take, not layers: after how many layers is a key "
    "heard of first?": (
        lambda patterns: ways(patterns),
        lambda patterns: ways([pattern | np.eye(len(pattern), dtype=bool) for pattern in patterns]),
    ),
    "Your layers are counted from the last one: which layer is the first?": (
        lambda patterns: np.where(
            first_heard(patterns) > 0,
            len(patterns) + 1 - first_heard(patterns),
            first_heard(patterns),
        )
    ),
    "You count the layers after which a key is known, not those before: after how many is it heard "
    "of first?": (
        lambda patterns: np.where(
            first_heard(patterns) > 0,
            len(patterns) + 1 - np.maximum(first_heard(patterns), 0),
            np.where(np.eye(len(patterns[0])), len(patterns), -1),
        )
    ),
    "In yours each layer is joined to the others with “and”: must a key be seen in all of them?": (
        lambda patterns: np.where(
            np.eye(len(patterns[0])), 0, np.where(np.all(patterns, axis=0), 1, -1)
        )
    ),
    "Your keys are seen only in the last layer: what had its keys heard before?": (
        lambda patterns: np.where(
            np.eye(len(patterns[0])), 0, np.where(patterns[-1], len(patterns), -1)
        )
    ),
    "These are the truth values after all layers: after how many was each key heard of first?": (
        lambda patterns: first_heard(patterns) >= 0
    ),
    "Your queries hear only from keys that they see themselves: who passes news on?": (
        lambda patterns: np.where(
            np.eye(len(patterns[0])),
            0,
            np.where(np.any(patterns, axis=0), 1 + np.argmax(np.array(patterns), axis=0), -1),
        )
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("in place")
def in_place(patterns):
    for pattern in patterns:
        pattern |= np.eye(len(pattern), dtype=bool)
    return first_heard(patterns)


ENDED = (
    "Yours ends at the first layer that brings nothing new: may a later one, with another pattern, "
    "not bring more?"
)


@exercise.wrong(ENDED)
def ends_early(patterns):
    for layer in range(1, len(patterns) + 1):
        if (first_heard(patterns[:layer]) < layer).all():
            return first_heard(patterns[:layer])
    return first_heard(patterns)


@exercise.check
def check(answer):
    patterns = []
    for pairs in ((0, 1), (3, 2), (5, 4)), ((1, 3), (2, 0), (4, 5)), ((3, 4), (0, 5), (1, 0)):
        pattern = np.zeros((6, 6), bool)
        pattern[tuple(np.transpose(pairs))] = True
        patterns.append(pattern)
    recognize(
        unchanged(answer, patterns),
        first_heard(patterns),
        "the layers for three sparse patterns of N=6",
        results(MISTAKES, patterns),
    )
    quiet = [patterns[0], patterns[0], *patterns[1:]]  # its second layer brings nothing
    what = "the layers for four patterns of N=6, the first of them twice"
    mistakes = {ENDED: ends_early(quiet)}
    recognize(unchanged(answer, quiet), first_heard(quiet), what, mistakes)
    rng = np.random.default_rng(104)
    sizes = (5, 4, 0.2), (1, 2, 0.5), (7, 1, 0.3), (9, 6, 0.12), (8, 3, 0.3), (8, 3, 0.3)
    for N, layers, share in sizes:
        patterns = list(rng.random((layers, N, N)) < share)
        what = f"the layers for {layers} random patterns of N={N}"
        same(unchanged(answer, patterns), first_heard(patterns), what)
    chain = [abs(np.subtract.outer(np.arange(40), np.arange(40))) <= 1] * 30
    what = "the layers for a window of reach 1, N=40, 30 layers"
    same(unchanged(answer, chain), first_heard(chain), what)


exercise.equivalent(
    "all patterns are N × N, and the identity is its own transpose",
    "*: * → *len(patterns[-1])*",
    "first_heard: * → answer = np.where(turned(heard), 0, -1)",
    "by_counting: * → *len(turned(pattern))*",
)
exercise.equivalent(
    "the set of one token more is never looked at",
    "by_sets: * → heard = [{n} for n in range(N + 1)]",
)
exercise.equivalent(
    "a whole number as a float is as good, and 1 is the smaller in either order",
    "by_sets: * → *np.eye(N)",
    "by_counting: * → heard.append(np.minimum(1, *",
    "by_counting: * → return *len(heard) - sum(heard), -1)",
)
