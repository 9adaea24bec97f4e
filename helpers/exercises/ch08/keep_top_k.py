"""Exercise 8.5, Only the k best."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.choices import OTHERS, other_of_equal
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize, run
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "8.5",
    "Only the k best",
    stars=2,
    stub='''\
def keep_top_k(probabilities, k):
    """Top-k: only the k most probable tokens stay possible.

    probabilities: shape (V,), numbers above 0 that sum to one.
    k: how many tokens stay, at least 1; V or more leaves everything as it is. Of tokens that are
    equally probable, the one with the smaller number comes first.
    Returns a new distribution, (V,): the probabilities of those that stay, in their places,
    divided by their sum; 0 in all other places.
    """
    return ...  # your code here
''',
    hints=(
        "Which tokens stay for [0.1, 0.4, 0.2, 0.3] and k = 2, and what do their probabilities sum "
        "to? By what must they be divided?",
        "np.argsort(-probabilities) lists the numbers of the tokens, the most probable first. With "
        'kind="stable", equal ones stay in their order. A slice takes the first k, or all there '
        "are.",
        "Begin with zeros for all tokens, copy the probabilities of those that stay into their "
        "places, and divide by the sum.",
    ),
    notice="A threshold, such as the k-th largest probability, would keep more than k tokens where "
    "several are equal; and k has no eye for the shape: it cuts a flat distribution as it cuts a "
    "steep one.",
)


@exercise.solution
def keep_top_k(probabilities, k):
    stay = np.argsort(-probabilities, kind="stable")[:k]
    kept = np.zeros(len(probabilities))
    kept[stay] = probabilities[stay]
    return kept / kept.sum()


@exercise.right
def by_ranks(probabilities, k):
    numbers = np.arange(len(probabilities))
    larger = probabilities[:, None] > probabilities
    earlier = (probabilities[:, None] == probabilities) & (numbers[:, None] < numbers)
    kept = np.where((larger | earlier).sum(axis=0) < k, probabilities, 0)
    return kept / kept.sum()


@exercise.right
def by_sorting(probabilities, k):
    ranked = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])
    stay = set(ranked[:k])
    total = sum(probabilities[token] for token in stay)
    return [p / total if token in stay else 0.0 for token, p in enumerate(probabilities)]


@exercise.right
def one_by_one(probabilities, k):
    left, kept = probabilities.copy(), np.zeros(len(probabilities))
    for _ in range(min(k, len(left))):
        best = np.argmax(left)
        kept[best], left[best] = left[best], 0
    return kept / sum(kept)


def stay_of(probabilities, k, order=None):
    """The probabilities of those that stay, 0 elsewhere; order: the tokens, the best first."""
    order = np.argsort(-probabilities, kind="stable") if order is None else order
    kept = np.zeros(len(probabilities))
    kept[order[:k]] = probabilities[order[:k]]
    return kept


def divided(kept):
    return kept / kept.sum()


def by_order(order):
    """The right answer but for the order of the tokens, order(probabilities)."""
    return lambda probabilities, k: divided(stay_of(probabilities, k, order(probabilities)))


def threshold(probabilities, k):
    """The probability of the last token that stays."""
    return np.sort(probabilities)[::-1][:k][-1]


# The question to ask, and the wrong answer
MISTAKES = {
    "The probabilities of those that stay are as before, and no longer sum to one: what are they "
    "to be divided by?": stay_of,
    "Yours is a softmax of probabilities, in which those that go have exp(0) = 1: by what should "
    "those that stay be divided?": lambda p, k: softmax_columns(stay_of(p, k)),
    "Yours is a softmax of the probabilities that stay: by what should they be divided?": (
        lambda p, k: softmax_columns(np.where(stay_of(p, k) > 0, p, -np.inf))
    ),
    "All that stay are equally probable in yours: should a token that was twice as probable not be "
    "so still?": lambda p, k: divided(1.0 * (stay_of(p, k) > 0)),
    "What was cut is spread evenly over those that stay: should it not go to each in proportion?": (
        lambda p, k: np.where(stay_of(p, k) > 0, p + (1 - stay_of(p, k).sum()) / min(k, len(p)), 0)
    ),
    "What was cut goes to the most probable token alone: should it not go to each in proportion?": (
        lambda p, k: stay_of(p, k) + (1 - stay_of(p, k).sum()) * (np.arange(len(p)) == np.argmax(p))
    ),
    "The least probable tokens stay: in which order does argsort list them?": by_order(
        lambda p: np.argsort(p, kind="stable")
    ),
    "The first k tokens of the vocabulary stay: has anything been sorted?": by_order(
        lambda p: np.arange(len(p))
    ),
    "The most probable tokens go, and the rest stay: which of them are asked for?": (
        lambda p, k: divided(p - stay_of(p, k))
    ),
    "One token too many stays: how many are first[:k]?": (lambda p, k: divided(stay_of(p, k + 1)),),
    "One token too few stays: how many are larger than the k-th?": (
        lambda p, k: divided(stay_of(p, k - 1)),
    ),
    "The right numbers, but sorted: which token has which?": (
        lambda p, k: -np.sort(-keep_top_k(p, k)),
        lambda p, k: np.sort(keep_top_k(p, k)),
    ),
    "The k-th most probable token stays alone: which ones come before it?": (
        lambda p, k: 1.0 * (np.arange(len(p)) == np.argsort(-p, kind="stable")[min(k, len(p)) - 1])
    ),
    "Nothing is cut: where does k come in?": lambda p, k: p,
    "The best token has everything: how many stay?": (
        lambda p, k: 1.0 * (np.arange(len(p)) == np.argmax(p))
    ),
    "Those that stay are divided by k: what do they sum to?": lambda p, k: stay_of(p, k) / k,
    "Those that stay are divided by the largest of them: by what, so that they sum to one?": (
        lambda p, k: stay_of(p, k) / p.max()
    ),
    "Yours has numbers only for those that stay: are there places for all tokens?": (
        lambda p, k: divided(-np.sort(-p)[:k]),
        lambda p, k: divided(p[stay_of(p, k) > 0]),
    ),
    "These are truth values, or ones: which probabilities have those that stay?": (
        lambda p, k: stay_of(p, k) > 0
    ),
}
# The same for tokens that are equally probable
TIES = {
    "More than k tokens stay, since several are as probable as the k-th: how many are asked for?": (
        lambda p, k: divided(np.where(p >= threshold(p, k), p, 0))
    ),
    "Of equally probable tokens that with the larger number stays: in which order does your sort "
    "list equal ones, and from which end are they taken?": by_order(
        lambda p: np.argsort(p, kind="stable")[::-1]
    ),
    "Fewer than k tokens stay, since several are as probable as the next one: how many are asked "
    "for?": lambda p, k: (
        p
        if k >= len(p)
        else divided(np.where(p > np.sort(p)[::-1][k], p, 0))
        if p.max() > np.sort(p)[::-1][k]
        else keep_top_k(p, k)
    ),
    "More than k tokens stay: are equally probable ones counted once, or is k kept from another "
    "call?": (lambda p, k: divided(np.where(p >= np.unique(p)[::-1][:k][-1], p, 0))),
}
register(exercise, MISTAKES | TIES)


@exercise.wrong("Which kind of sorting does")
def equal_ones_in_another_order(p, k):
    """As an unstable sort does it, on any machine."""
    first = np.arange(len(p)) if k < 3 else np.roll(np.arange(len(p)), -len(p) // 2)
    return divided(stay_of(p, k, first[np.argsort(-p[first], kind="stable")]))


@exercise.wrong("can there be fewer")
def index_error(probabilities, k):
    kept = stay_of(probabilities, k)
    np.sort(probabilities)[-k]
    return divided(kept)


@exercise.wrong("can there be fewer")
def argument_of_partition(probabilities, k):
    np.argpartition(-probabilities, k - 1)
    return keep_top_k(probabilities, k)


@exercise.wrong("that leaves everything as it is")
def nothing_left(probabilities, k):
    return keep_top_k(probabilities, k) if k < len(probabilities) else 0 * probabilities


@exercise.wrong("in place")
def in_place(probabilities, k):
    probabilities[keep_top_k(probabilities, k) == 0] = 0
    return divided(probabilities)


TOO_FEW = (
    "Your function counts on k tokens, and the vocabulary has not so many: can there be fewer?"
)
TOO_LARGE = {"out of bounds": TOO_FEW, "kth(=": TOO_FEW}


@exercise.check
def check(answer):
    p, k = np.array([6.0, 10, 3, 8, 5]) / 32, 3
    got, expected = unchanged(answer, p, k), keep_top_k(p, k)
    what = "the distribution for (6, 10, 3, 8, 5)/32 and k = 3"
    recognize(got, expected, what, results(MISTAKES, p, k))
    for ties, k in ([8.0, 5, 8, 3, 6, 2], 2), ([3.0, 5, 8, 5, 5, 6], 3), ([2.0, 1, 1] * 16, 20):
        p = np.array(ties) / sum(ties)
        what = f"the distribution for ({', '.join(f'{x:g}' for x in ties[:6])}"
        what += f"{', …' * (len(ties) > 6)})/{sum(ties):g} and k = {k}"
        got, expected = unchanged(answer, p, k), keep_top_k(p, k)
        mistakes = results(TIES, p, k)
        if other_of_equal(got, expected, p):
            mistakes |= {OTHERS: got}
        recognize(got, expected, what, mistakes)
    p = np.array([3.0, 1, 4, 8]) / 16
    for k in 4, 5, 17:
        got, what = run(answer, p, k, errors=TOO_LARGE), f"the distribution for V = 4 and k = {k}"
        missing = "Yours has only zeros, for a k of V or more: that leaves everything as it is."
        recognize(got, p, what, {missing: 0 * p})
    rng = np.random.default_rng(85)
    for V, k in (1, 1), (2, 1), (9, 4), (9, 8), (6, 2), (30, 5), (30, 6):
        for p in rng.dirichlet(np.ones(V)), divided(rng.integers(1, 4, V).astype(float)):
            got, expected = unchanged(answer, p, k), keep_top_k(p, k)
            same(got, expected, f"the distribution for V={V}, k={k}")


exercise.equivalent("only the length is asked for", "* → *len(whole(probabilities))*")
exercise.equivalent(
    "every place is written once", "keep_top_k: * → kept[stay] += probabilities[stay]"
)
exercise.equivalent(
    "a token is in the list as it is in the set", "by_sorting: * → stay = ranked[:k]"
)
exercise.equivalent(
    "all have one number for each token, and the best of what is left is as it was",
    "one_by_one: * → for _ in range(min(*",
    "one_by_one: * → kept[best], left[best] = (probabilities[best], 0)",
    "one_by_one: * → kept[best], left[best] = (left[best], -1)",
)
