"""Exercise 3.6, Queries that turn."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.positions import ANGLE_MISTAKES, angles, sinusoidal, turned
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "3.6",
    "Queries that turn",
    stars=2,
    stub='''\
def rotate(Q, delta):
    """Rotary encoding: turns each pair of rows by an angle that grows with the position.

    Q: D_q × N, D_q even, one query (or key) in each column; column n stands at position n, counted
       from 0; delta: above 1.
    Rows 2i and 2i + 1 of column n, the pair (x, y), become (x cos φ − y sin φ, x sin φ + y cos φ)
    with φ = n / delta^(2i / D_q), for i = 0, 1, …, D_q/2 − 1.
    Returns the turned columns, D_q × N.
    """
    return ...  # your code here
''',
    hints=(
        "Make all angles first, one for each pair and each position: D_q/2 × N.",
        "Q[0::2] holds every x and Q[1::2] every y, each D_q/2 × N, the shape of the angles.",
        "Both new rows need the old x and the old y: keep them until both are computed. Then fill "
        "the even and the odd rows of a new array.",
    ),
    notice="If queries and keys are both turned, the score of query n and key m depends on the "
    "offset m − n alone; and no column changes its length, so no token is louder than before.",
)


@exercise.solution
def rotate(Q, delta):
    D_q, N = Q.shape
    angles = np.outer(delta ** (-np.arange(0, D_q, 2) / D_q), np.arange(N))  # D_q/2 × N
    x, y = Q[0::2], Q[1::2]
    turned = np.zeros((D_q, N))
    turned[0::2] = x * np.cos(angles) - y * np.sin(angles)
    turned[1::2] = x * np.sin(angles) + y * np.cos(angles)
    return turned


@exercise.right
def by_loops(Q, delta):
    columns = []
    for n, q in enumerate(Q.T):
        column = []
        for i in range(len(q) // 2):
            angle = n / delta ** (2 * i / len(q))
            cos, sin = np.cos(angle), np.sin(angle)
            column.extend(np.array([[cos, -sin], [sin, cos]]) @ q[2 * i : 2 * i + 2])
        columns.append(column)
    return np.array(columns).T


@exercise.right
def by_complex_numbers(Q, delta):
    D_q, N = Q.shape
    z = Q[0::2] + 1j * Q[1::2]
    z = z * np.exp(1j * np.outer(delta ** (-np.arange(0, D_q, 2) / D_q), np.arange(N)))
    return np.stack([z.real, z.imag], axis=1).reshape(D_q, N)


@exercise.right
def in_float32(Q, delta):
    return turned(Q.astype(np.float32), angles(*Q.shape, delta).astype(np.float32))


def with_angles(mistaken):
    """The answer with other angles(D_q, N, delta)."""
    return lambda Q, delta: turned(Q, mistaken(*Q.shape, delta))


for question, versions in ANGLE_MISTAKES.items():
    for mistaken in versions:
        exercise.wrong(question)(with_angles(mistaken))


def pairs(Q, delta):
    """x, y, cos φ and sin φ, each D_q/2 × N."""
    by_pair = angles(*Q.shape, delta)[0::2]
    return Q[0::2], Q[1::2], np.cos(by_pair), np.sin(by_pair)


def interleaved(x, y):
    return np.stack([x, y], axis=1).reshape(-1, x.shape[1])


@exercise.wrong("turn the other way")
def other_way(Q, delta):
    return turned(Q, -angles(*Q.shape, delta))


@exercise.wrong("which row is the partner of row 0")
def halves(Q, delta):
    x, y = np.split(Q, 2)
    _, _, cos, sin = pairs(Q, delta)
    return np.concatenate([x * cos - y * sin, x * sin + y * cos])


@exercise.wrong("every x on top")
def stacked(Q, delta):
    x, y, cos, sin = pairs(Q, delta)
    return np.concatenate([x * cos - y * sin, x * sin + y * cos])


@exercise.wrong("Only rows 0 and 1 are turned")
def first_pair_alone(Q, delta):
    return np.concatenate([rotate(Q, delta)[:2], Q[2:]])


@exercise.wrong("was added")
def added(Q, delta):
    return Q + sinusoidal(angles(*Q.shape, delta))


@exercise.wrong("length of your columns")
def both_plus(Q, delta):
    x, y, cos, sin = pairs(Q, delta)
    return interleaved(x * cos + y * sin, x * sin + y * cos)


@exercise.wrong("length of your columns")
def both_minus(Q, delta):
    x, y, cos, sin = pairs(Q, delta)
    return interleaved(x * cos - y * sin, x * sin - y * cos)


@exercise.wrong("length of your columns")
def partners_left_out(Q, delta):
    return Q * np.cos(angles(*Q.shape, delta))


@exercise.wrong("x that is new already")
def one_after_the_other(Q, delta):
    x, y, cos, sin = pairs(Q, delta)
    x = x * cos - y * sin
    return interleaved(x, x * sin + y * cos)


@exercise.wrong("Sine and cosine are exchanged")
def exchanged(Q, delta):
    x, y, cos, sin = pairs(Q, delta)
    return interleaved(x * sin - y * cos, x * cos + y * sin)


@exercise.wrong("changes its input Q in place")
def in_place(Q, delta):
    x, y, cos, sin = pairs(Q.copy(), delta)
    Q[0::2], Q[1::2] = x * cos - y * sin, x * sin + y * cos
    return Q


@exercise.check
def check(answer):
    # Several pairs first: with one pair alone, an angle of 2πn is no angle.
    examples = (
        (np.arange(30.0).reshape(6, 5) % 7, 27, "D_q=6, N=5 and delta=27"),
        (np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), 10, "N=3 columns (1, 0)"),
        (np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]), 10, "the columns (1, 3), (2, 1), (3, 2)"),
    )
    for Q, delta, what in examples:
        mistakes = {
            "Your columns turn the other way: in which row of a pair does the minus sign stand?": (
                other_way(Q, delta)
            ),
            "Your pairs are row i and row i + D_q/2: which row is the partner of row 0 here?": (
                halves(Q, delta)
            ),
            "The right pairs are turned, and then they come apart, every x on top and every y "
            "below: in which rows did pair 0 stand?": stacked(Q, delta),
            "Only rows 0 and 1 are turned: what happens to the other pairs?": (
                first_pair_alone(Q, delta)
            ),
            "The encoding was added: this one does not add, it turns each pair of rows; what is "
            "multiplied by cos φ?": added(Q, delta),
            "The length of your columns changes, and turning keeps it: one of the two new rows "
            "has a minus sign, and each has x and y; which?": (
                both_plus(Q, delta),
                both_minus(Q, delta),
                partners_left_out(Q, delta),
            ),
            "The second row of a pair is made with an x that is new already: do both rows see the "
            "old x and y?": one_after_the_other(Q, delta),
            "Sine and cosine are exchanged: at position 0 the angle is 0; what should happen to a "
            "column there?": exchanged(Q, delta),
        }
        for question, versions in ANGLE_MISTAKES.items():
            mistakes[question] = tuple(turned(Q, wrong(*Q.shape, delta)) for wrong in versions)
        recognize(
            unchanged(answer, Q, delta),
            rotate(Q, delta),
            f"the result for {what}",
            mistakes,
        )
    rng = np.random.default_rng(37)
    for D_q, N, delta in (2, 1, 100.0), (4, 4, 10_000), (64, 3, 100), (16, 40, 2.5), (16, 40, 900):
        Q = rng.normal(size=(D_q, N))
        what = f"the result for D_q={D_q}, N={N}, delta={delta:g}"
        same(unchanged(answer, Q, delta), rotate(Q, delta), what)


exercise.equivalent(
    "every row is written once",
    "rotate: * → turned = np.ones((D_q, N))",
    "rotate: * → turned[*::2] += *",
)
exercise.equivalent("a column has as many entries as Q has rows", "by_loops: * → *len(Q)*")
exercise.equivalent("NumPy makes an array of the list", "by_loops: * → column.extend([[*]] @ *")
exercise.equivalent(
    "the same numbers follow each other",
    "by_complex_numbers: * → return np.concatenate(*, axis=1)*",
)
exercise.equivalent("more digits are no mistake", "in_float32: * → *, angles(*Q.shape, delta))")
