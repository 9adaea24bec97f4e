"""Exercise 10.5, How few directions will do."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.5",
    "How few directions will do",
    stars=2,
    stub='''\
def least_rank(A, error):
    """The least rank P of a matrix that differs from A by at most a share `error` of A's size.

    A: M × N, not all zero. The size of a matrix is the root of the sum of its squared entries.
    error: from 0 to 1, borders included: 0.3 means that the size of the difference may be up to
    0.3 times the size of A.
    Returns a whole number from 0 to the smaller of M and N. Singular values below a hundred-
    thousandth of the largest are rounding, and count as zero.
    """
    return ...  # your code here
''',
    hints=(
        "np.linalg.svd(A, compute_uv=False) has the singular values, largest first. The sum of "
        "their squares is the square of A's size. What remains if the first P are copied?",
        "The difference of the best copy of rank P has the size √(σ_{P+1}² + σ_{P+2}² + …): the "
        "squares of those that are left out.",
        "Sum the squares from the end, compare with error² times the sum of all, and count for how "
        "many P the rest is still too large.",
    ),
    notice="An attention matrix in which every query looks at the same keys has rank 1, however "
    "many tokens it joins.",
)


@exercise.solution
def least_rank(A, error):
    sizes = np.linalg.svd(A, compute_uv=False)
    sizes[sizes < 1e-5 * sizes[0]] = 0
    rest = np.append(np.cumsum((sizes**2)[::-1])[::-1], 0)  # what is left out after 0, 1, 2, …
    return int((rest > error**2 * rest[0] * (1 + 1e-9)).sum())


@exercise.right
def by_copies(A, error):
    left, sizes, right = np.linalg.svd(A)
    for P in range(len(sizes) + 1):
        copy = (left[:, :P] * sizes[:P]) @ right[:P]
        if np.linalg.norm(A - copy) <= error * np.linalg.norm(A) + 1e-5 * sizes[0]:
            return P


def rank_by(A, allowed, power=2):
    """The least P for which the rest of the singular values' powers is at most so large a share."""
    sizes = np.linalg.svd(A, compute_uv=False)
    sizes[sizes < 1e-5 * sizes[0]] = 0
    rest = np.append(np.cumsum((sizes**power)[::-1])[::-1], 0)
    return int((rest > allowed * rest[0] * (1 + 1e-9)).sum())


# The question to ask, and the wrong answer
MISTAKES = {
    "Your sum of squares is compared with error itself: what is it a share of, the size or its "
    "square?": lambda A, error: rank_by(A, error),
    "You sum singular values, not their squares: what is the size of the difference?": (
        lambda A, error: rank_by(A, error, power=1)
    ),
    "The part that you copy reaches the share `error`: may that be lost, or is it kept?": (
        lambda A, error: rank_by(A, 1 - error**2),
        lambda A, error: rank_by(A, 1 - error),
    ),
    "Only the largest that is left out is compared with A: how large are all of them together?": (
        lambda A, error: int((np.linalg.svd(A, compute_uv=False) > error * np.linalg.norm(A)).sum())
    ),
    "Singular values are compared with the largest: with what is the difference compared?": (
        lambda A, error: int(
            (np.linalg.svd(A, compute_uv=False) > error * np.linalg.norm(A, 2)).sum()
        )
    ),
    "Your rank is one too small: is the error with it small enough?": (
        lambda A, error: max(least_rank(A, error) - 1, 0)
    ),
    "Your rank is one too large: is the error with one direction fewer small enough?": (
        lambda A, error: least_rank(A, error) + 1
    ),
    "This is the rank of A itself: how much may be lost?": lambda A, error: rank_by(A, 0),
}
register(exercise, MISTAKES)
ABSOLUTE = "The error is compared as it is: is it a share of A's size?"


@exercise.wrong(ABSOLUTE)
def absolute(A, error):
    return rank_by(A / np.linalg.norm(A), (error / np.linalg.norm(A)) ** 2)


@exercise.wrong("rounding")
def with_rounding(A, error):
    rest = np.append(np.cumsum((np.linalg.svd(A, compute_uv=False) ** 2)[::-1])[::-1], 0)
    return int((rest > error**2 * rest[0] * (1 + 1e-9)).sum())


def turned(sizes, M, N, rng):
    """An M × N matrix with these singular values."""
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (M, N))
    return (left[:, : len(sizes)] * sizes) @ right[: len(sizes)]


@exercise.check
def check(answer):
    rng = np.random.default_rng(105)
    # So that each of the mistakes finds another rank.
    sizes = [28.0, 26, 25, 24, 21, 21, 20, 20, 19, 17, 16, 12, 12, 4]
    A = turned(sizes, 16, 14, rng) / 120
    recognize(
        unchanged(answer, A, 0.3),
        least_rank(A, 0.3),
        "the rank for 14 singular values from 28/120 to 4/120, error 0.3",
        results(MISTAKES, A, 0.3) | {ABSOLUTE: absolute(A, 0.3)},
    )
    for M, N in (12, 12), (4, 8), (8, 4), (1, 1):
        A = 7 * rng.normal(size=(M, N))
        for error in (0.05, 0.25, 0.5, 0.9):
            what = f"the rank for a random {M} × {N} matrix, error {error}"
            same(unchanged(answer, A, error), least_rank(A, error), what)
    A = turned([9.0, 6, 5, 4, 3, 2, 1], 9, 7, rng)
    for error in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        what = f"the rank for singular values 9, 6, 5, 4, 3, 2 and 1, error {error}"
        same(unchanged(answer, A, error), least_rank(A, error), what)
    A = turned([9.0, 8, 7, 1, 1, 1, 1], 9, 7, rng)  # of the same shape
    what = "the rank for singular values 9, 8, 7, 1, 1, 1 and 1, error 0.3"
    same(unchanged(answer, A, 0.3), least_rank(A, 0.3), what)
    question = "This matrix has rank 2; what you count beside it is rounding: what counts as zero?"
    for size in 1.0, 2e9, 2e-9:  # a share of the largest is another number in each
        A = turned([3.0 * size, 2.0 * size], 6, 5, rng)
        what = f"the rank for singular values {3 * size:g} and {2 * size:g}, error 0"
        got = unchanged(answer, A, 0.0)
        recognize(got, 2, what, {question: (with_rounding(A, 0.0), 5, 4, 3)})
    what = "the rank when the whole of A may be lost"
    same(unchanged(answer, A, 1.0), 0, what)


exercise.equivalent(
    "a matrix and its transpose have the same singular values, whose size is the matrix's",
    "least_rank: * → sizes = np.linalg.svd(turned(A), compute_uv=False)",
    "by_copies: * → *np.linalg.norm(turned(A))*",
    "by_copies: * → *np.linalg.norm(sizes)*",
    "by_copies: * → if np.linalg.norm(copy - A) <= *",
)
exercise.equivalent(
    "rounding is far below these thresholds, and all that counts is far above",
    "least_rank: * → sizes[sizes <= 1e-05 * sizes[0]] = 0",
    "least_rank: * → sizes[sizes < 2e-05 * sizes[0]] = 0",
    "least_rank: * → *rest[0]).sum())",
    "least_rank: * → *rest[0] * 1).sum())",
    "least_rank: * → *rest[0] * (1 + 0)).sum())",
    "least_rank: * → *rest[0] * (1 + 2e-09)).sum())",
    "by_copies: * → if np.linalg.norm(A - copy) < error * np.linalg.norm(A) + 1e-05 * sizes[0]:",
    "by_copies: * → *+ 2e-05 * sizes[0]:",
)
exercise.equivalent(
    "nothing is left after the last, and no number is below it",
    "least_rank: * → rest = *[::-1], -1)",
    "least_rank: * → return (rest > *",
)
exercise.equivalent(
    "the loop ends when all singular values are copied, at the latest",
    "by_copies: * → for P in range(*",
)
