"""Exercise 3.8, A head for the previous word."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import query_and_key_matrices, unchanged
from helpers.exercises.shared.positions import angles, sinusoidal
from helpers.exercises.shared.reference import softmax_columns

LONGEST = 40  # tokens; in a shorter sentence each query has fewer wrong keys to choose from

exercise = Exercise(
    "3.8",
    "A head for the previous word",
    stars=2,
    stub='''\
def previous_word_head(D, delta):
    """Omega_q and Omega_k with which every token finds the one before it.

    The tokens are their positions and nothing else: X is the sinusoidal matrix of exercise 3.2,
    D × N, for any N from 2 to 40. The biases are zero and the scores are not scaled. Every token
    n ≥ 1 must pay more than 0.9 of its attention to token n − 1; token 0 may do as it likes.

    D: 8, 16 or 32; delta: 100 or 10000.
    Returns (Omega_q, Omega_k), each D × D.
    """
    return ...  # your code here
''',
    hints=(
        "With Omega_q = Omega_k = I the scores are the dot products of the columns of Π. Which key "
        "does query n then like best? So what would you rather have in place of column n?",
        "Look for a matrix M that turns column n of Π into column n − 1, for every n. For one pair "
        "of rows: write sin(ω(n − 1)) and cos(ω(n − 1)) in terms of sin(ωn) and cos(ωn).",
        "M has a 2 × 2 block on its diagonal for each pair of rows, with the cosine of the pair's "
        "frequency twice on the diagonal, and its sine once with a minus and once without. Token "
        "n asks with column n − 1, and the keys stay as they are.",
        "Too weak? The best score leads by little where all clocks stand nearly alike: print the "
        "scores of one query. A factor on Omega_q multiplies every lead.",
    ),
    notice="A shift by one position is the same rotation for every n, so one matrix serves all "
    "places. Heads that look at the previous word are found in trained networks as well.",
)


@exercise.solution
def previous_word_head(D, delta):
    Omega_q = np.zeros((D, D))
    for i in range(D // 2):
        omega = delta ** (-2 * i / D)  # the pair turns by omega from one token to the next
        cos, sin = np.cos(omega), np.sin(omega)
        Omega_q[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, -sin], [sin, cos]]
    return 40 * Omega_q, np.eye(D)  # query n is column n − 1; 40 makes the head sharp


def shift(D, delta, steps):
    """The matrix that turns column n of Π into column n + steps, D × D."""
    frequencies = angles(D, 2, delta)[:, 1]
    partners = np.kron(np.eye(D // 2), [[0.0, 1.0], [-1.0, 0.0]])  # (sin, cos) to (cos, −sin)
    return np.diag(np.cos(steps * frequencies)) + np.sin(steps * frequencies)[:, None] * partners


@exercise.right
def by_keys(D, delta):
    return 8 * np.eye(D), 8 * shift(D, delta, 1)


@exercise.right
def with_lists(D, delta):
    return [(6 * shift(D, delta, -1)).tolist(), (6 * np.eye(D)).tolist()]


@exercise.right
def by_least_squares(D, delta):
    Pi = sinusoidal(angles(D, 200, delta))
    return 50 * Pi[:, :-1] @ np.linalg.pinv(Pi[:, 1:]), np.eye(D)


@exercise.right
def by_fast_pairs(D, delta):
    weights = np.repeat(0.5 ** np.arange(D // 2), 2)
    return 400 * weights[:, None] * shift(D, delta, -1), np.eye(D)


@exercise.wrong("the next word")
def next_word(D, delta):
    return 40 * shift(D, delta, 1), np.eye(D)


@exercise.wrong("the next word")
def transposed(D, delta):
    Omega_q, Omega_k = previous_word_head(D, delta)
    return Omega_q.T, Omega_k


@exercise.wrong("the next word")
def exchanged(D, delta):
    return previous_word_head(D, delta)[::-1]


@exercise.wrong("to the word itself")
def identity(D, delta):
    return 10 * np.eye(D), 10 * np.eye(D)


@exercise.wrong("to the word itself")
def both_turned(D, delta):
    return 10 * shift(D, delta, -1), 10 * shift(D, delta, -1)


@exercise.wrong("but too weakly")
def weak(D, delta):
    return shift(D, delta, -1), np.eye(D)


@exercise.wrong("to the word 2 places before")
def two_words_back(D, delta):
    return 10 * shift(D, delta, -1), 10 * shift(D, delta, 1)


@exercise.wrong("to the word 3 places after")
def three_words_ahead(D, delta):
    return 100 * shift(D, delta, 3), np.eye(D)


@exercise.wrong("spreads its attention evenly")
def all_zeros(D, delta):
    return np.zeros((D, D)), np.eye(D)


@exercise.wrong("do all tokens look equally far back")
def first_token(D, delta):
    Pi = sinusoidal(angles(D, LONGEST, delta))
    return 10 * Pi[:, [0]] @ np.ones((1, D)), np.eye(D)


@exercise.wrong("do all tokens look equally far back")
def opposite(D, delta):
    return -40 * shift(D, delta, -1), np.eye(D)


@exercise.wrong("one row and one column for each of the 8 rows of Π")
def rotation_alone(D, delta):
    return shift(2, delta, -1), np.eye(2)


@exercise.wrong("one row and one column for each of the 16 rows of Π")
def one_size(D, delta):
    return previous_word_head(8, delta)


@exercise.wrong("are too large")
def overflowing(D, delta):
    return 1e200 * shift(D, delta, -1), 1e200 * np.eye(D)


@exercise.check
def check(answer):
    for D in 8, 16, 32:
        for delta in 100, 10_000:
            check_head(*square_matrices(unchanged(answer, D, delta), D), D, delta)


def check_head(Omega_q, Omega_k, D, delta):
    X = sinusoidal(angles(D, LONGEST, delta))
    with np.errstate(all="ignore"):
        scores = (Omega_k @ X).T @ (Omega_q @ X)
    if not np.isfinite(scores).all():
        raise Wrong(
            "Your matrices are too large: the scores overflow. By how much must one score exceed "
            "39 others for nine tenths of the attention?"
        )
    A = softmax_columns(scores)
    queries = np.arange(1, LONGEST)  # token 0 has no previous word
    found = A[queries - 1, queries]
    if (found > 0.9).all():
        return
    case = f"For D={D} and delta={delta}"
    if np.allclose(A, 1 / LONGEST):
        raise Wrong(f"{case} your head spreads its attention evenly: does its query meet any key?")
    offsets, tokens = np.unique(A[:, queries].argmax(axis=0) - queries, return_counts=True)
    usual = offsets[tokens.argmax()]
    pays = f"{case} your head pays most "
    if usual == 1:
        raise Wrong(
            f"{pays}to the next word: in which direction does your matrix turn, and is it the "
            "queries or the keys that it turns?"
        )
    if usual == 0:
        raise Wrong(
            f"{pays}to the word itself: query n finds the key of its own place; what must happen "
            "to column n of Π, so that it resembles column n − 1?"
        )
    if usual != -1 and tokens.max() > len(queries) / 2:
        side = "before" if usual < 0 else "after"
        raise Wrong(
            f"{pays}to the word {abs(usual)} places {side}: by how many places do your queries "
            "and keys turn, taken together?"
        )
    n = queries[found.argmin()]
    strongest = A[:, n].argmax()
    if strongest == n - 1:
        raise Wrong(
            f"{pays}to the previous word, as it should, but too weakly: token {n} pays it "
            f"{found.min():.2f}. By how much must one score exceed 39 others for nine tenths of "
            "the attention?"
        )
    raise Wrong(
        f"{pays}to words at other places: token {n} pays {A[strongest, n]:.2f} to token "
        f"{strongest} and {found.min():.2f} to the previous word; do all tokens look equally far "
        "back, and do all pairs of rows agree on how far?"
    )


def square_matrices(result, D):
    """Omega_q and Omega_k as arrays, D × D, or Wrong."""
    return query_and_key_matrices(
        result,
        lambda matrix: matrix.shape == (D, D),
        f"be {D} × {D}, with one row and one column for each of the {D} rows of Π.",
    )


exercise.equivalent(
    "any head that does what the docstring asks is right, and the check tries all; as the fast "
    "pairs of rows decide, the slow ones, delta and the factor may be others",
    "*",
)
