"""Exercise 8.6, The nucleus."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.choices import OTHERS, other_of_equal
from helpers.exercises.shared.compare import numbers, same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "8.6",
    "The nucleus",
    stars=2,
    stub='''\
def keep_nucleus(probabilities, p):
    """Top-p: the most probable tokens stay possible, as many as it takes to reach p.

    probabilities: shape (V,), numbers above 0 that sum to one.
    p: above 0, at most 1. From the most probable token downward, tokens stay until their
    probabilities sum to p or more: no more of them than needed, and at least one. With p = 1 all
    stay. Of tokens that are equally probable, the one with the smaller number comes first.
    Returns a new distribution, (V,): the probabilities of those that stay, in their places,
    divided by their sum; 0 in all other places.
    """
    return ...  # your code here
''',
    hints=(
        "Take [0.1, 0.5, 0.15, 0.25] and p = 0.6. Which tokens stay? Which would stay if a token "
        "had to have the probability 0.6 itself?",
        "Sort the tokens as in the exercise before, and look at np.cumsum of their probabilities, "
        "in that order. Which of these sums is the first that is p or more?",
        "A token stays if those before it do not reach p yet: the running sum without the token "
        "itself is smaller than p. For the first token that sum is 0, so it always stays.",
    ),
    notice="The token with which p is reached stays as well. So the nucleus has p or more, one "
    "token where the model is sure, and hundreds where it is not.",
)


@exercise.solution
def keep_nucleus(probabilities, p):
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    stay = order[np.cumsum(ranked) - ranked < p]
    kept = np.zeros(len(probabilities))
    kept[stay] = probabilities[stay]
    return kept / kept.sum()


@exercise.right
def by_loop(probabilities, p):
    kept, total = np.zeros(len(probabilities)), 0.0
    for token in np.argsort(-probabilities, kind="stable"):
        kept[token] = probabilities[token]
        total += probabilities[token]
        if total >= p:
            break
    return kept / total


@exercise.right
def by_search(probabilities, p):
    order = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])
    count = 1 + np.searchsorted(np.cumsum(probabilities[order]), p)
    stay = np.isin(np.arange(len(probabilities)), order[:count])
    return stay * probabilities / (stay @ probabilities)


@exercise.right
def by_hand(probabilities, p):
    left, stay = list(range(len(probabilities))), []
    while left and sum(probabilities[token] for token in stay) < p:
        best = max(left, key=lambda token: probabilities[token])
        left.remove(best)
        stay.append(best)
    total = sum(probabilities[token] for token in stay)
    return [q / total if token in stay else 0.0 for token, q in enumerate(probabilities)]


def nucleus(probabilities, p, order=None, stays=None):
    """The probabilities of those that stay, 0 elsewhere.

    order: the tokens, in which the running sum grows. stays: function of that sum, with the token
    and without it.
    """
    order = np.argsort(-probabilities, kind="stable") if order is None else order
    sums = np.cumsum(probabilities[order])
    before = sums - probabilities[order]
    stay = order[before < p if stays is None else stays(sums, before)]
    kept = np.zeros(len(probabilities))
    kept[stay] = probabilities[stay]
    return kept


def divided(kept):
    return kept / (kept.sum() or 1)


def cut(probabilities, stay):
    """The distribution of the tokens for which `stay` is true."""
    return divided(np.where(stay, probabilities, 0))


# The question to ask, and the wrong answer
MISTAKES = {
    "The probabilities of those that stay are as before, and no longer sum to one: what are they "
    "to be divided by?": nucleus,
    "Those that stay are divided by p: do they sum to p, or to more?": (
        lambda q, p: nucleus(q, p) / p
    ),
    "The token with which p is reached is missing: do the others reach p without it?": (
        lambda q, p: divided(nucleus(q, p, stays=lambda sums, before: sums < p)),
        lambda q, p: divided(nucleus(q, p, stays=lambda sums, before: (sums < p) | (before == 0))),
    ),
    "One token too many stays: is p reached before it?": (
        lambda q, p: divided(
            nucleus(q, p, stays=lambda sums, before: np.append(0, before[:-1]) < p)
        )
    ),
    "Nothing stays in yours: must a token have the probability p itself, or all that stay "
    "together?": (
        lambda q, p: cut(q, q >= p),
        lambda q, p: np.where(q >= p, q, 0) / np.where(q >= p, q, 0).sum(),
    ),
    "What stays in yours does not reach p: is 1 − p reached, or is each token compared with the "
    "most probable one?": (
        lambda q, p: divided(nucleus(q, 1 - p)),
        lambda q, p: cut(q, q >= p * q.max()),
    ),
    "The sum grows from the least probable token on: which one comes first?": (
        lambda q, p: divided(nucleus(q, p, np.argsort(q, kind="stable")))
    ),
    "The sum grows in the order of the vocabulary: which token comes first?": (
        lambda q, p: divided(nucleus(q, p, np.arange(len(q))))
    ),
    "The nucleus goes, and the rest stays: which of the two is asked for?": (
        lambda q, p: divided(q - nucleus(q, p))
    ),
    "All that stay are equally probable in yours: should a token that was twice as probable not be "
    "so still?": lambda q, p: divided(1.0 * (nucleus(q, p) > 0)),
    "Yours is a softmax of probabilities: by what should those that stay be divided?": (
        lambda q, p: softmax_columns(nucleus(q, p)),
        lambda q, p: softmax_columns(np.where(nucleus(q, p) > 0, q, -np.inf)),
    ),
    "What was cut is spread evenly over those that stay: should it not go to each in proportion?": (
        lambda q, p: np.where(
            nucleus(q, p) > 0,
            q + (1 - nucleus(q, p).sum()) / np.count_nonzero(nucleus(q, p)),
            0,
        )
    ),
    "What was cut goes to the most probable token alone: should it not go to each in proportion?": (
        lambda q, p: nucleus(q, p) + (1 - nucleus(q, p).sum()) * (np.arange(len(q)) == np.argmax(q))
    ),
    "The last token that stays has only what was lacking to p: is a probability cut in two?": (
        lambda q, p: divided(
            np.clip(p - (np.cumsum(-np.sort(-q)) + np.sort(-q)), 0, -np.sort(-q))[
                np.argsort(np.argsort(-q, kind="stable"))
            ]
        )
    ),
    "The right numbers, but sorted: which token has which?": (
        lambda q, p: -np.sort(-keep_nucleus(q, p)),
        lambda q, p: np.sort(keep_nucleus(q, p)),
        lambda q, p: keep_nucleus(-np.sort(-q), p)[np.argsort(-q)],
    ),
    "Nothing is cut: where does p come in?": lambda q, p: q,
    "The best token has everything: is p reached with it?": (
        lambda q, p: cut(q, np.arange(len(q)) == np.argmax(q))
    ),
    "Yours has numbers only for those that stay: are there places for all tokens?": (
        lambda q, p: -np.sort(-keep_nucleus(q, p))[: np.count_nonzero(nucleus(q, p))],
        lambda q, p: keep_nucleus(q, p)[nucleus(q, p) > 0],
    ),
    "These are truth values, or ones: which probabilities have those that stay?": (
        lambda q, p: nucleus(q, p) > 0
    ),
}
# The same where a sum is exactly p
EXACTLY = {
    "The first two sum to p exactly, and a third token stays: is p or more reached without it?": (
        lambda q, p: divided(nucleus(q, p, stays=lambda sums, before: before <= p))
    ),
}
# The same where the most probable token alone has more than p
ONE = {
    "The most probable token alone has more than p, and nothing stays: what would be drawn then? "
    "At least one token does.": (
        lambda q, p: (
            np.where(nucleus(q, p) == q, keep_nucleus(q, p), 0)
            if nucleus(q, p).max() < p
            else 0 * q
        ),
        lambda q, p: keep_nucleus(q, p) if q.max() < p else np.full(len(q), np.nan),
    ),
    "The most probable token alone has more than p, and two stay in yours: are two needed?": (
        lambda q, p: keep_nucleus(q, max(p, q.max() + 1e-6))
    ),
    "The most probable token alone has more than p, and yours cuts nothing: what reaches p?": (
        lambda q, p: keep_nucleus(q, p) if q.max() < p else q
    ),
}
# The same for tokens that are equally probable
TIES = {
    "All tokens stay that are as probable as the last one needed: how many are needed?": (
        lambda q, p: cut(q, q >= min(q[nucleus(q, p) > 0]))
    ),
    "Of equally probable tokens that with the larger number stays: in which order does your sort "
    "list equal ones, and from which end are they taken?": (
        lambda q, p: divided(nucleus(q, p, np.argsort(q, kind="stable")[::-1]))
    ),
}
register(exercise, MISTAKES | EXACTLY | ONE | TIES)


@exercise.wrong("With p = 1 all tokens stay")
def without_the_last(probabilities, p):
    return keep_nucleus(probabilities, p if p < 1 else 1 - probabilities.min())


@exercise.wrong("in place")
def in_place(probabilities, p):
    probabilities[keep_nucleus(probabilities, p) == 0] = 0
    return divided(probabilities)


@exercise.check
def check(answer):
    # All sums are exact in binary numbers, and no other slip leads to the same tokens.
    q, p = np.array([14.0, 23, 17, 33, 26, 15]) / 128, 0.71875
    got, expected = unchanged(answer, q, p), keep_nucleus(q, p)
    what = "the distribution for (14, 23, 17, 33, 26, 15)/128 and p = 92/128"
    recognize(got, expected, what, results(MISTAKES, q, p))
    for q, p, mistakes in (
        (np.array([4.0, 20, 12, 28]) / 64, 0.75, EXACTLY),
        (np.array([4.0, 16, 8, 36]) / 64, 0.5, ONE),
        (np.array([8.0, 15, 18, 15, 8]) / 64, 0.5, TIES),
        (np.array([2.0, 1, 1] * 16) / 64, 0.625, TIES),
    ):
        what = f"the distribution for ({', '.join(f'{64 * x:.0f}' for x in q[:6])}"
        what += f"{', …' * (len(q) > 6)})/64 and p = {p}"
        got, expected = unchanged(answer, q, p), keep_nucleus(q, p)
        known = results(mistakes, q, p)
        if other_of_equal(got, expected, q):
            known |= {OTHERS: got}
        recognize(got, expected, what, known)
    rng = np.random.default_rng(86)
    for V, p in (1, 0.3), (2, 0.9), (9, 0.6), (30, 0.95), (30, 0.9), (6, 0.05), (12, 0.99):
        for q in rng.integers(1, 9, V) / 1.0, rng.integers(1, 99, V) ** 2.0:
            q = away_from(p, q / q.sum())
            got, expected = unchanged(answer, q, p), keep_nucleus(q, p)
            same(got, expected, f"the distribution for V={V}, p={p}")
    tenths = np.full(10, 0.1)  # their running sum ends just below 1
    for q in tenths, *(divided(rng.integers(1, 99, V) / 1.0) for V in (2, 3, 40)):
        V = len(q)
        what = f"the distribution for V={V} and p = 1"
        got = numbers(unchanged(answer, q, 1.0), q, what)
        if (got == 0).any():
            raise Wrong(
                "With p = 1 all tokens stay, and some are missing from yours: may a sum of all "
                "probabilities be a little less than 1, or 1 before the last one is added?",
                q,
                got,
            )
        same(got, q, what)


def away_from(p, q):
    """A distribution none of whose running sums is so near p that rounding would decide."""
    while min(abs(np.cumsum(-np.sort(-q)) - p)) < 1e-4:
        q = divided(q**1.01)
    return q


exercise.equivalent(
    "only the length is asked for, and all have one number for each token",
    "* → *len(whole(probabilities))*",
    "keep_nucleus: * → kept = np.zeros(len(*",
    "by_search: * → *np.arange(len(order))*",
)
exercise.equivalent(
    "every place is written once",
    "keep_nucleus: * → kept[stay] += *",
    "by_loop: * → kept[token] += *",
    "by_loop: * → total += kept[token]",
)
exercise.equivalent(
    "a dot product is the same from both sides", "by_search: * → *(probabilities @ stay)"
)
