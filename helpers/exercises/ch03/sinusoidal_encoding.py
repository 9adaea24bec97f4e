"""Exercise 3.2, The sinusoidal pattern."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.positions import ANGLE_MISTAKES, angles, sinusoidal
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "3.2",
    "The sinusoidal pattern",
    stars=2,
    stub='''\
def sinusoidal_encoding(D, N, delta):
    """The matrix Π of sines and cosines, one column for each position.

    D: number of rows, even; N: number of positions n, counted from 0; delta: above 1.
    Returns Π, D × N: row 2i is sin(n / delta^(2i / D)) and row 2i + 1 is cos(n / delta^(2i / D)),
    for the pairs of rows i = 0, 1, …, D/2 − 1.
    """
    return ...  # your code here
''',
    hints=(
        "Write the six rows of D = 6 on paper, with delta = 1000: which powers of delta occur, "
        "and how often each?",
        "Make all angles first: a column of D/2 frequencies times a row of N positions is an array "
        "of D/2 × N.",
        "Fill every second row: Pi[0::2] takes the sines, Pi[1::2] the cosines.",
    ),
    notice="Each pair of rows is the hand of a clock: the first makes a turn in 6.28 tokens, and "
    "every later one is slower by the same factor.",
)


@exercise.solution
def sinusoidal_encoding(D, N, delta):
    frequencies = delta ** (-2 * np.arange(D // 2) / D)  # one for each pair of rows
    angles = frequencies[:, None] * np.arange(N)  # D/2 × N
    Pi = np.zeros((D, N))
    Pi[0::2], Pi[1::2] = np.sin(angles), np.cos(angles)
    return Pi


@exercise.right
def by_loops(D, N, delta):
    Pi = np.zeros((D, N))
    for n in range(N):
        for row in range(D):
            angle = n / delta ** ((row - row % 2) / D)
            Pi[row, n] = np.cos(angle) if row % 2 else np.sin(angle)
    return Pi


@exercise.right
def by_complex_numbers(D, N, delta):
    hands = np.exp(1j * np.outer(delta ** (-np.arange(0, D, 2) / D), np.arange(N)))
    return np.stack([hands.imag, hands.real], axis=1).reshape(D, N)


@exercise.right
def in_float32(D, N, delta):
    pairs = np.arange(D // 2, dtype=np.float32)
    angles = np.exp(-2 * pairs[:, None] / np.float32(D) * np.log(np.float32(delta)))
    angles = angles * np.arange(N, dtype=np.float32)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(D, N)


def with_angles(mistaken):
    """The answer with other angles(D, N, delta)."""
    return lambda D, N, delta: sinusoidal(mistaken(D, N, delta))


for question, versions in ANGLE_MISTAKES.items():
    for mistaken in versions:
        exercise.wrong(question)(with_angles(mistaken))


@exercise.wrong("Sine and cosine are exchanged")
def exchanged(D, N, delta):
    return np.sin(angles(D, N, delta) + np.pi / 2 * (np.arange(D)[:, None] % 2 == 0))


@exercise.wrong("wrong sign")
def negative_sines(D, N, delta):
    return sinusoidal(-angles(D, N, delta))


@exercise.wrong("all the cosines below")
def in_halves(D, N, delta):
    by_angle = angles(D, N, delta)[0::2]
    return np.concatenate([np.sin(by_angle), np.cos(by_angle)])


@exercise.wrong("which index counts the positions")
def transposed(D, N, delta):
    return sinusoidal_encoding(D, N, delta).T


@exercise.wrong("a return that stands inside it")
def return_in_the_loop(D, N, delta):
    Pi = np.zeros((D, N))
    for n in range(N):
        Pi[:, n] = sinusoidal_encoding(D, N, delta)[:, n]
        return Pi


@exercise.wrong("nothing but sines")
def sines_alone(D, N, delta):
    return np.sin(angles(D, N, delta))


@exercise.wrong("these are the angles")
def angles_alone(D, N, delta):
    return angles(D, N, delta)


@exercise.check
def check(answer):
    # Several pairs first: with one pair alone, an angle of 2πn is no angle.
    for D, N, delta in (6, 5, 27), (2, 3, 10):
        sizes, Pi = (D, N, delta), sinusoidal_encoding(D, N, delta)
        mistakes = {
            "Sine and cosine are exchanged: at position 0 every angle is 0; which rows are 0 "
            "there, and which are 1?": exchanged(*sizes),
            "Your sines have the wrong sign: in row 0, does sin(n) grow or fall from position 0 to "
            "position 1?": negative_sines(*sizes),
            "All the sines stand on top, and all the cosines below: which two rows belong to "
            "pair 0?": in_halves(*sizes),
            "Your Π is transposed: which index counts the positions?": Pi.T,
            "There is nothing but sines: what stands in row 2i + 1?": sines_alone(*sizes),
            "The numbers are right, and these are the angles: which functions of them make the "
            "rows?": (angles_alone(*sizes), angles(*sizes)[0::2]),
        }
        for question, versions in ANGLE_MISTAKES.items():
            mistakes[question] = tuple(sinusoidal(wrong(*sizes)) for wrong in versions)
        what = f"Π for D={D}, N={N}, delta={delta}"
        recognize(unchanged(answer, *sizes), Pi, what, mistakes)
    # The last ones change one input at a time: nothing may be kept from the call before.
    for D, N, delta in (
        *((2, 1, 100.0), (4, 4, 10_000), (512, 3, 100), (16, 40, 10_000)),
        *((16, 40, 2.5), (16, 9, 2.5), (8, 9, 2.5)),
    ):
        what = f"Π for D={D}, N={N}, delta={delta:g}"
        got = unchanged(answer, D, N, delta)
        same(got, sinusoidal_encoding(D, N, delta), what)


exercise.equivalent("D is even", "* → *np.arange(D / 2*")
exercise.equivalent("every entry is written", "* → Pi = np.ones((D, N))")
exercise.equivalent("the entry was 0", "by_loops: * → Pi[row, n] += *")
exercise.equivalent("row % -2 is 0 or −1, and −1 is as true as 1", "by_loops: * → *row % -2 else*")
exercise.equivalent(
    "the same numbers follow each other",
    "* → return np.concatenate([*], axis=1).reshape(D, N)",
)
exercise.equivalent(
    "more digits are no mistake",
    "in_float32: * → pairs = np.arange(D // 2)",
    "in_float32: * → *pairs[:, None] / D *",
    "in_float32: * → *np.log(delta))",
    "in_float32: * → angles = angles * np.arange(N)",
)
