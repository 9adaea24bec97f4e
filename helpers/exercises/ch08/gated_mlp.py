"""Exercise 8.11, An MLP with a gate."""

import math

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize, survives

exercise = Exercise(
    "8.11",
    "An MLP with a gate",
    stars=2,
    stub='''\
def gated_mlp(X, Omega_gate, Omega_up, Omega_down):
    """SwiGLU, the MLP of every token, without biases.

    X: D × N, one token in each column.
    Omega_gate, Omega_up: D_mlp × D, two maps to the hidden units. Omega_down: D × D_mlp, the map
    back.
    Each hidden unit is the product of silu(z), where z is what Omega_gate makes of the token, and
    of what Omega_up makes of it. silu(z) = z / (1 + exp(−z)); z may be ±1000.
    Returns D × N.
    """
    return ...  # your code here
''',
    hints=(
        "Write down the shapes: X goes through two maps at once, and what comes out of them has "
        "the same shape, D_mlp × N. Which kind of product needs that?",
        "silu acts on what Omega_gate gives, entry by entry, and on nothing else. The two hidden "
        "matrices are multiplied entry by entry, and Omega_down follows.",
        "exp(−z) overflows for z = −1000, though silu(−1000) is 0. Where z is below 0, multiply "
        "numerator and denominator by exp(z); so exp is never taken of a large number.",
    ),
    notice="silu(z) is z times a sigmoid, a ReLU with a smooth bend: near 0 for very negative z, "
    "near z for large ones. With three maps instead of two, D_mlp is made smaller, here 1536 for "
    "D = 576 instead of 2304, so that the MLP has as many parameters as before.",
)


@exercise.solution
def gated_mlp(X, Omega_gate, Omega_up, Omega_down):
    z = Omega_gate @ X  # D_mlp × N
    small = np.exp(-np.abs(z))  # never above 1
    sigmoid = np.where(z < 0, small, 1) / (1 + small)
    return Omega_down @ (z * sigmoid * (Omega_up @ X))


@exercise.right
def by_tanh(X, Omega_gate, Omega_up, Omega_down):
    z = Omega_gate @ X
    gates = 0.5 * z * (1 + np.tanh(0.5 * z))
    return Omega_down @ np.multiply(gates, Omega_up @ X)


@exercise.right
def by_tokens(X, Omega_gate, Omega_up, Omega_down):
    outputs = np.zeros((Omega_down.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        z, hidden = Omega_gate @ X[:, n], Omega_up @ X[:, n]
        outputs[:, n] = Omega_down @ (z * np.exp(-np.logaddexp(0, -z)) * hidden)
    return outputs


@exercise.right
def by_the_formula(X, Omega_gate, Omega_up, Omega_down):
    z = Omega_gate @ X
    with np.errstate(over="ignore"):
        return Omega_down @ (z / (1 + np.exp(-z)) * (Omega_up @ X))


def sigmoid(z):
    return 0.5 + 0.5 * np.tanh(z / 2)


def silu(z):
    return z * sigmoid(z)


def exact_gelu(z):
    return z * np.vectorize(lambda x: (1 + math.erf(x / math.sqrt(2))) / 2)(z)


def gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def by_hidden(hidden):
    """A wrong answer whose hidden units are hidden(gate, up), of what the two maps give."""
    return lambda X, gate, up, down: down @ hidden(gate @ X, up @ X)


# The question to ask, and the wrong answer
MISTAKES = {
    "Your silu acts on what Omega_up gives: which of the two makes the gates?": by_hidden(
        lambda gate, up: gate * silu(up)
    ),
    "Your silu acts on both, and one of them passes as it is: which?": by_hidden(
        lambda gate, up: silu(gate) * silu(up)
    ),
    "Your silu acts on the product: on what should it act alone?": by_hidden(
        lambda gate, up: silu(gate * up)
    ),
    "The two are added: what does a gate do with what passes through it?": by_hidden(
        lambda gate, up: silu(gate) + up
    ),
    "There is no silu in yours, the two are multiplied as they are: what opens and closes the "
    "gates?": by_hidden(lambda gate, up: gate * up),
    "Your gates are sigmoids: where is the factor z of silu?": by_hidden(
        lambda gate, up: sigmoid(gate) * up
    ),
    "Your gates are ReLUs: what is silu(z) for a z just below 0?": by_hidden(
        lambda gate, up: np.maximum(gate, 0) * up
    ),
    "Your gates are GELUs: which function is asked for?": (
        by_hidden(lambda gate, up: gelu(gate) * up),
        by_hidden(lambda gate, up: exact_gelu(gate) * up),
    ),
    "Your gates are tanh(z): which function is asked for?": by_hidden(
        lambda gate, up: np.tanh(gate) * up
    ),
    "Your gates have the wrong sign in exp: to what does silu(z) go for a large z?": by_hidden(
        lambda gate, up: gate * sigmoid(-gate) * up
    ),
    "Your gates are multiplied by 1 + exp(−z): is z not divided by it?": by_hidden(
        lambda gate, up: gate * (1 + np.exp(-gate)) * up
    ),
    "Your gates are z / 1 + exp(−z), without brackets: what is divided by what?": by_hidden(
        lambda gate, up: (gate + np.exp(-gate)) * up
    ),
    "Your hidden units are the gates alone: where does Omega_up come in?": by_hidden(
        lambda gate, up: silu(gate)
    ),
    "Your hidden units have no gates: where does Omega_gate come in?": (
        by_hidden(lambda gate, up: up),
        by_hidden(lambda gate, up: silu(up)),
    ),
    "The gates come from the output of Omega_up alone: which map makes them?": by_hidden(
        lambda gate, up: silu(up) * up
    ),
    "Both factors come from Omega_gate: what passes through the gates?": by_hidden(
        lambda gate, up: silu(gate) * gate
    ),
    "X is added to the output: is that not done outside the MLP?": lambda X, gate, up, down: (
        X + down @ (silu(gate @ X) * (up @ X))
    ),
    "Your silu acts on the output, too: what follows the map back?": lambda X, gate, up, down: silu(
        down @ (silu(gate @ X) * (up @ X))
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("an array of 3 × 4")
def not_mapped_back(X, Omega_gate, Omega_up, Omega_down):
    return silu(Omega_gate @ X) * (Omega_up @ X)


@exercise.wrong("np.exp(1000) overflows")
def unstable(X, Omega_gate, Omega_up, Omega_down):
    z = Omega_gate @ X
    with np.errstate(all="ignore"):
        return Omega_down @ (z * np.exp(z) / (1 + np.exp(z)) * (Omega_up @ X))


@exercise.wrong("were large scores cut off")
def cut_off(X, Omega_gate, Omega_up, Omega_down):
    return Omega_down @ (silu(np.clip(Omega_gate @ X, -50, 50)) * (Omega_up @ X))


@exercise.wrong("in place")
def in_place(X, Omega_gate, Omega_up, Omega_down):
    outputs = Omega_down @ (silu(Omega_gate @ X) * (Omega_up @ X))
    X[:] = outputs
    return outputs


@exercise.check
def check(answer):
    rng = np.random.default_rng(811)
    inputs = [array.round(1) for array in sizes(rng, 3, 5, 4)]
    what = "the outputs for D=3, D_mlp=5, N=4"
    recognize(unchanged(answer, *inputs), gated_mlp(*inputs), what, results(MISTAKES, *inputs))
    for D, D_mlp, N in (1, 1, 1), (4, 2, 3), (2, 7, 1), (3, 3, 3), (5, 4, 6), (5, 4, 6):
        inputs = sizes(rng, D, D_mlp, N)
        what = f"the outputs for D={D}, D_mlp={D_mlp}, N={N}"
        same(unchanged(answer, *inputs), gated_mlp(*inputs), what)
    X, one = np.array([[1000.0, -1000.0, 20.0]]), np.ones((1, 1))
    survives(
        unchanged(answer, X, one, 0.001 * one, one),
        np.array([[1000.0, 0.0, 0.4]]),
        "the outputs for z = 1000, −1000 and 20",
        "np.exp(1000) overflows, and infinity divided by infinity is not a number: of which of "
        "exp(z) and exp(−z) is the result at most 1?",
        size=1e-3,
    )


def sizes(rng, D, D_mlp, N):
    """Random inputs of these sizes."""
    return [rng.normal(size=size) for size in ((D, N), (D_mlp, D), (D_mlp, D), (D, D_mlp))]


exercise.equivalent(
    "exp(0) is 1, and both products and sums may be turned around",
    "gated_mlp: * → sigmoid = np.where(z <= 0, *",
    "by_tanh: * → *np.multiply(Omega_up @ X, gates)",
    "by_tokens: * → *np.logaddexp(-z, 0)*",
)
exercise.equivalent(
    "every column is written once, and the outputs are as large as X",
    "by_tokens: * → outputs = np.ones(*",
    "by_tokens: * → outputs = np.zeros((X.shape[0], *",
    "by_tokens: * → for n in range(outputs.shape[1]):",
    "by_tokens: * → outputs[:, n] += *",
)
exercise.equivalent("a warning is no mistake", "by_the_formula: * → with np.errstate():")
