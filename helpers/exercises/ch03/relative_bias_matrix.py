"""Exercise 3.4, One bias for each offset."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "3.4",
    "One bias for each offset",
    stars=2,
    stub='''\
def relative_bias_matrix(pi, N):
    """The biases that are added to the scores of N tokens, one for each offset.

    pi: array of 2L − 1 biases. pi[L − 1 + offset] belongs to the offset, from −(L − 1) to L − 1:
        the position of the key minus that of the query. Keys farther away, before or after the
        query, use the first or the last entry of pi.
    Returns B, N × N, keys down and queries across: B[m, n] belongs to key m and query n.
    """
    return ...  # your code here
''',
    hints=(
        "Write the offsets m − n for N = 3 as a matrix on paper, keys down. Which entries of it "
        "are equal?",
        "Which entry of pi belongs to the offset 0, that is, to a token that meets itself? "
        "All others are counted from there.",
        "np.clip brings an offset into the range that pi has; and an array of whole numbers "
        "between the brackets of pi[ ] looks all of them up at once.",
    ),
    notice="B is constant along its diagonals, so a sentence that is shifted as a whole gets the "
    "same biases. N tokens need 2N − 1 numbers, where one for each pair would be N².",
)


@exercise.solution
def relative_bias_matrix(pi, N):
    L = (len(pi) + 1) // 2
    positions = np.arange(N)
    offsets = positions[:, None] - positions  # N × N, keys down, queries across
    return pi[L - 1 + np.clip(offsets, 1 - L, L - 1)]


@exercise.right
def by_loops(pi, N):
    B = np.zeros((N, N), dtype=np.float32)
    for m in range(N):
        for n in range(N):
            B[m, n] = pi[min(max(m - n + len(pi) // 2, 0), len(pi) - 1)]
    return B


@exercise.right
def by_diagonals(pi, N):
    longer = np.pad(pi, N, mode="edge")
    center = N + len(pi) // 2
    return sum(longer[center + k] * np.eye(N, k=-k) for k in range(1 - N, N))


@exercise.right
def by_windows(pi, N):
    center = N + len(pi) // 2
    longer = np.pad(pi, N, mode="edge")[center - N + 1 : center + N]
    return np.lib.stride_tricks.sliding_window_view(longer, N)[:, ::-1]


def at(pi, N, place):
    """B with the entry place(m, n) of pi, counted from its center."""
    m, n = np.indices((N, N))
    return np.take(pi, len(pi) // 2 + place(m, n), mode="clip")


@exercise.wrong("which of the two positions is subtracted")
def reversed_sign(pi, N):
    return at(pi, N, lambda m, n: n - m)


@exercise.wrong("a bias of its own")
def by_pair(pi, N):
    return np.resize(pi, (N, N))


@exercise.wrong("a bias of its own")
def by_pair_transposed(pi, N):
    return by_pair(pi, N).T


@exercise.wrong("has an offset a sign")
def distances(pi, N):
    return at(pi, N, lambda m, n: abs(m - n))


@exercise.wrong("has an offset a sign")
def distances_from_the_start(pi, N):
    return at(pi, N, lambda m, n: abs(m - n) - len(pi) // 2)


@exercise.wrong("one entry too far")
def center_too_high(pi, N):
    return at(pi, N, lambda m, n: m - n + 1)


@exercise.wrong("one entry too far")
def center_too_low(pi, N):
    return at(pi, N, lambda m, n: m - n - 1)


@exercise.wrong("or of the length of pi")
def center_of_sentence(pi, N):
    return at(pi, N, lambda m, n: m - n + N - 1 - len(pi) // 2)


@exercise.wrong("a negative index counts from the end")
def without_center(pi, N):
    return np.take(pi, np.subtract.outer(np.arange(N), np.arange(N)), mode="wrap")


@exercise.wrong("an offset needs both positions")
def by_key(pi, N):
    return at(pi, N, lambda m, n: m)


@exercise.wrong("an offset needs both positions")
def by_query(pi, N):
    return at(pi, N, lambda m, n: n)


@exercise.wrong("an offset needs both positions")
def by_key_from_the_start(pi, N):
    return at(pi, N, lambda m, n: m - len(pi) // 2)


@exercise.wrong("an offset needs both positions")
def by_query_from_the_start(pi, N):
    return at(pi, N, lambda m, n: n - len(pi) // 2)


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(pi, N):
    B = np.zeros((N, N))
    for m in range(N):
        B[m] = relative_bias_matrix(pi, N)[m]
        return B


@exercise.wrong("on one side of the diagonal")
def upper_half(pi, N):
    return np.triu(relative_bias_matrix(pi, N))


@exercise.wrong("on one side of the diagonal")
def lower_half(pi, N):
    return np.tril(relative_bias_matrix(pi, N))


@exercise.wrong("outside pi")
def unclipped(pi, N):
    positions = np.arange(N)
    return pi[len(pi) // 2 + positions[:, None] - positions]


@exercise.wrong("around to the other end")
def modulo(pi, N):
    positions = np.arange(N)
    return pi[(len(pi) // 2 + positions[:, None] - positions) % len(pi)]


@exercise.wrong("around to the other end")
def clipped_above(pi, N):
    positions = np.arange(N)
    offsets = np.minimum(positions[:, None] - positions, len(pi) // 2)
    return pi[len(pi) // 2 + offsets]


@exercise.wrong("the bias 0")
def zero_outside(pi, N):
    m, n = np.indices((N, N))
    return np.where(abs(m - n) > len(pi) // 2, 0, relative_bias_matrix(pi, N))


@exercise.wrong("here every key gets a finite bias")
def hidden_outside(pi, N):
    m, n = np.indices((N, N))
    return np.where(abs(m - n) > len(pi) // 2, -np.inf, relative_bias_matrix(pi, N))


@exercise.check
def check(answer):
    # As many entries as pairs, so that even one bias for each pair is found in pi.
    pi = np.array([11.0, 23.0, 31.0, 47.0, 53.0, 67.0, 71.0, 83.0, 97.0])  # 53 is for offset 0
    recognize(
        unchanged(answer, pi, 3),
        np.array([[53.0, 47.0, 31.0], [67.0, 53.0, 47.0], [71.0, 67.0, 53.0]]),
        "B for pi = 11, 23, 31, 47, 53, 67, 71, 83, 97 and N=3",
        {
            "The offset is the position of the key minus that of the query, and yours has the "
            "other sign: which of the two positions is subtracted, m of the row or n of the "
            "column?": reversed_sign(pi, 3),
            "Each pair of a key and a query has a bias of its own: which pairs have the same "
            "offset, and should share one?": (
                by_pair(pi, 3),
                by_pair_transposed(pi, 3),
            ),
            "The token before and the token after get the same bias, as if only the distance "
            "counted: has an offset a sign?": (
                distances(pi, 3),
                distances_from_the_start(pi, 3),
            ),
            "Every bias is taken one entry too far: pi has 2L − 1 entries; which of them is in "
            "the middle?": (
                center_too_high(pi, 3),
                center_too_low(pi, 3),
            ),
            "Your offset 0 takes entry 2 of pi, and entry 4 is in the middle: is the middle a "
            "matter of N, or of the length of pi?": center_of_sentence(pi, 3),
            "Your offset 0 takes the first entry of pi, and offset −1 the last, since a negative "
            "index counts from the end: which entry belongs to offset 0?": without_center(pi, 3),
            "Your bias depends on the key alone, or on the query alone: an offset needs both "
            "positions, how?": (
                by_key(pi, 3),
                by_query(pi, 3),
                by_key_from_the_start(pi, 3),
                by_query_from_the_start(pi, 3),
            ),
            "All biases on one side of the diagonal are 0: keys before the query and keys after "
            "it both have entries in pi. Where did one side go?": (
                upper_half(pi, 3),
                lower_half(pi, 3),
            ),
        },
    )
    pi = np.array([13.0, 17.0, 29.0, 37.0, 43.0])
    outside = (
        "For pi = 13, 17, 29, 37, 43 and N=4 you look outside pi: there are offsets from −3 to 3, "
        "and pi has entries for −2 to 2. Which entry should serve the larger offsets?"
    )
    recognize(
        run(answer, pi, 4, errors={"out of bounds for axis 0 with size 5": outside}),
        relative_bias_matrix(pi, 4),
        "B for pi = 13, 17, 29, 37, 43 and N=4",
        {
            "Offsets that are too large run around to the other end of pi: what does Python make "
            "of the index −1, and what of a remainder? They should use the nearest end.": tuple(
                wrong(pi, 4) for wrong in (modulo, clipped_above)
            ),
            "Offsets that are too large get the bias 0: which entries of pi should they use?": (
                zero_outside(pi, 4)
            ),
            "A bias of −∞ hides the keys that are too far away, and here every key gets a finite "
            "bias: which entries of pi should they use?": hidden_outside(pi, 4),
        },
    )
    rng = np.random.default_rng(35)
    for L, N in (
        (1, 1),
        (1, 4),
        (3, 1),
        (2, 9),
        (5, 5),
        (12, 7),
        (6, 20),
        (6, 20),
    ):  # twice the same sizes
        pi = rng.normal(size=2 * L - 1)
        what = f"B for {2 * L - 1} entries of pi and N={N}"
        same(unchanged(answer, pi, N), relative_bias_matrix(pi, N), what)


exercise.equivalent("only the length is read", "* → *len(whole(pi))*")
exercise.equivalent("pi has an odd number of entries", "* → L = (len(pi) + 2) // 2")
exercise.equivalent(
    "of two numbers the larger, or the smaller, whichever comes first",
    "* → return pi[L - 1 + np.clip(1 - L, offsets, L - 1)]",
    "by_loops: * → *min(len(pi) - 1, max(m - n + len(pi) // 2, 0))]",
    "by_loops: * → *max(0, m - n + len(pi) // 2)*",
)
exercise.equivalent(
    "every entry is written once",
    "by_loops: * → B = np.ones(*",
    "by_loops: * → B[m, n] += *",
)
exercise.equivalent("more digits are no mistake", "by_loops: * → B = np.zeros((N, N))")
exercise.equivalent(
    "np.eye(N, k=k) is 0 from k = N on",
    "by_diagonals: * → *range(1 - N, N + 1)))",
    "by_diagonals: * → *range(1 - N, center)))",
    "by_diagonals: * → *range(-1 - N, N)))",
    "by_diagonals: * → *range(0 - N, N)))",
    "by_diagonals: * → *range(1 - center, N)))",
)
