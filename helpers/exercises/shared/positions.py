"""Angles that grow with the position: for sines and cosines (3.2, 3.8) and for rotations (3.6).

Here, too, are the mistakes that can be made with these angles. They stand in a D × N array, one
for each row and each token; the rows 2i and 2i + 1 of pair i are alike.
"""

import numpy as np

__all__ = ["ANGLE_MISTAKES", "angles", "sinusoidal", "turned"]


def angles(D, N, delta):
    """The angle n / delta^(2i / D) of pair i and token n, all counted from 0; D × N."""
    return _angles(2 * _pair(D) / D, np.arange(N), delta)


def sinusoidal(angles):
    """The sines of the even rows and the cosines of the odd rows, D × N."""
    even = np.arange(len(angles))[:, None] % 2 == 0
    return np.where(even, np.sin(angles), np.cos(angles))


def turned(Q, angles):
    """Every pair of rows (x, y) of Q turned by its angles, both D_q × N."""
    quarter = np.stack([-Q[1::2], Q[0::2]], axis=1).reshape(Q.shape)  # (−y, x)
    return np.cos(angles) * Q + np.sin(angles) * quarter


def _pair(D):
    """The number of the pair that each of D rows belongs to: 0, 0, 1, 1, 2 …"""
    return np.arange(D) // 2


def _angles(exponents, positions, delta):
    return np.outer(float(delta) ** -exponents, positions)


# The question to ask, and the functions of D, N and delta that give such wrong angles
ANGLE_MISTAKES = {
    "Your angles are the right ones times a fixed factor: are they in radians, without 2π and "
    "without degrees?": (
        lambda D, N, delta: 2 * np.pi * angles(D, N, delta),
        lambda D, N, delta: np.radians(angles(D, N, delta)),
        lambda D, N, delta: np.degrees(angles(D, N, delta)),
    ),
    "All your tokens have the same angles, or nearly so: where does the position n enter, and is "
    "it divided by too much?": (
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.zeros(N), delta),
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.ones(N), delta),
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.full(N, N - 1), delta),
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.full(N, N), delta),
    ),
    "Your first token does not stand at position 0: from which number are positions counted?": (
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.arange(N) + 1, delta),
        lambda D, N, delta: _angles(2 * _pair(D) / D, np.arange(N) - 1, delta),
    ),
    "Your first pair of rows is too slow, its angle should be n itself: from which number does i "
    "count the pairs?": (lambda D, N, delta: _angles(2 * (_pair(D) + 1) / D, np.arange(N), delta),),
    "All your pairs of rows have the same frequency: what does the exponent depend on?": (
        lambda D, N, delta: _angles(np.zeros(D), np.arange(N), delta),
    ),
    "The two rows of a pair have different angles: does i count rows, or pairs of rows?": (
        lambda D, N, delta: _angles(2 * np.arange(D) / D, np.arange(N), delta),
        lambda D, N, delta: _angles(np.arange(D) / D, np.arange(N), delta),
    ),
    "Your later pairs get faster, and each should be slower than the one before it: is n "
    "multiplied by the power of delta, or divided?": (
        lambda D, N, delta: _angles(-2 * _pair(D) / D, np.arange(N), delta),
    ),
    "The frequencies fall at the wrong pace: for pair i the exponent is 2i / D; is a 2 missing, "
    "is one too many, or is D left out?": (
        lambda D, N, delta: _angles(_pair(D) / D, np.arange(N), delta),
        lambda D, N, delta: _angles(4 * _pair(D) / D, np.arange(N), delta),
        lambda D, N, delta: _angles(2 * _pair(D), np.arange(N), delta),
    ),
    "The exponent ends too early: Python reads delta ** 2 * i / D as (delta ** 2) * i / D; what "
    "must stand in brackets?": (
        lambda D, N, delta: np.outer(_pair(D), np.arange(N)) / (delta**2 * D),  # n / delta**2*i/D
        lambda D, N, delta: np.arange(N) / (delta**2 * _pair(D) / D)[:, None],
        lambda D, N, delta: np.arange(N) / (float(delta) ** (2 * _pair(D)) / D)[:, None],
        lambda D, N, delta: np.arange(N) / (float(delta) ** (2 * _pair(D)) * D)[:, None],
    ),
    "Your last pair has the frequency 1 / delta, which no pair should reach: by what is 2i "
    "divided, by D or by D − 2?": (
        lambda D, N, delta: _angles(2 * _pair(D) / max(D - 2, 1), np.arange(N), delta),
    ),
    "Your frequencies are those of delta = 10000, whatever delta is given: where does the input "
    "delta enter?": (lambda D, N, delta: angles(D, N, 10_000),),
}
