"""Exercise 5.5, What a layer learns."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "5.5",
    "What a layer learns",
    stars=1,
    stub='''\
def layer_parameters(D, D_mlp):
    """How many numbers a transformer layer learns.

    D: entries of a token; D_mlp: hidden units of the MLP.
    All heads together have D queries, D keys and D values for each token; Omega_c, D × D, combines
    their outputs. Every linear map of the layer has a bias, Omega_c as well, as in PyTorch.
    Returns a whole number.
    """
    return ...  # your code here
''',
    hints=(
        "A linear map from a to b numbers learns a · b weights and b biases. Which linear maps "
        "does the layer have, and from how many to how many numbers?",
        "Four of them belong to attention, all from D to D. Two belong to the MLP, from D to D_mlp "
        "and back. What else in the layer learns?",
        "A LayerNorm learns a weight and a bias for each of the D dimensions, and the layer has "
        "two LayerNorms.",
    ),
    notice="With the usual D_mlp = 4D this is 12D² + 13D: four D² for attention, eight for the "
    "MLP. Neither the number of tokens nor the number of heads occurs in it.",
)


@exercise.solution
def layer_parameters(D, D_mlp):
    attention = 4 * (D * D + D)  # queries, keys, values, and combining the heads
    mlp = (D * D_mlp + D_mlp) + (D_mlp * D + D)
    norms = 2 * (D + D)
    return attention + mlp + norms


@exercise.right
def by_shapes(D, D_mlp):
    shapes = [(D, D), (D, 1)] * 4 + [(D_mlp, D), (D_mlp, 1), (D, D_mlp), (D, 1)] + [(D, 1)] * 4
    return sum(rows * columns for rows, columns in shapes)


@exercise.right
def by_linear_maps(D, D_mlp):
    def linear(inputs, outputs):
        return (inputs + 1) * outputs  # the bias is the weight of an input that is always one

    return 4 * linear(D, D) + linear(D, D_mlp) + linear(D_mlp, D) + 2 * linear(1, D)


@exercise.right
def as_polynomial(D, D_mlp):
    return 4 * D**2 + 2 * D * D_mlp + D_mlp + 9 * D


def with_slip(slip):
    """The right count with slip(D, D_mlp) too many."""
    return lambda D, D_mlp: layer_parameters(D, D_mlp) + slip(D, D_mlp)


for words, slip in {
    "have the two LayerNorms been counted": lambda D, D_mlp: -4 * D,  # or attention's biases
    "are the LayerNorms and the biases of attention's four maps left out": lambda D, D_mlp: -8 * D,
    "how many LayerNorms are there": lambda D, D_mlp: -2 * D,  # or the norms' biases
    "where are their biases": lambda D, D_mlp: -5 * D - D_mlp,
    "and the biases of the LayerNorms": lambda D, D_mlp: -7 * D - D_mlp,
    "and does not a LayerNorm learn": lambda D, D_mlp: -9 * D - D_mlp,
    "what combines the heads": lambda D, D_mlp: -D * D - D,
    "is the bias of Omega_c counted": lambda D, D_mlp: -D,  # or beta_2
    "where is beta_1": lambda D, D_mlp: -D_mlp,
    "where are the two biases of the MLP": lambda D, D_mlp: -D - D_mlp,
    "how does the MLP get back": lambda D, D_mlp: -D * D_mlp - D,
    "what makes the hidden units": lambda D, D_mlp: -D * D_mlp - D_mlp,
    "which has two: where is the other": lambda D, D_mlp: -D * D_mlp,
    "how many numbers does the second map of the MLP put out": lambda D, D_mlp: D_mlp - D,
    "how many hidden units has the MLP": lambda D, D_mlp: 2 * (D - D_mlp) * D + D - D_mlp,
    "is right for D_mlp = 4D": lambda D, D_mlp: (4 * D - D_mlp) * (2 * D + 1),
    "without the MLP": lambda D, D_mlp: -2 * D * D_mlp - D_mlp - D,
    "without attention": lambda D, D_mlp: -4 * (D * D + D),
}.items():
    exercise.wrong(words)(with_slip(slip))


@exercise.check
def check(answer):
    D, D_mlp = 11, 29  # primes, of which no two slips leave the same number out
    biases = D_mlp + 5 * D  # of the six linear maps
    right = layer_parameters(D, D_mlp)
    mistakes = {
        4 * D: "4D too few: have the two LayerNorms been counted, with weight and bias, and the "
        "biases of attention's four maps?",
        8 * D: "8D too few: are the LayerNorms and the biases of attention's four maps left out, "
        "or one of the two subtracted?",
        2 * D: "2D too few: how many LayerNorms are there, and has each both a weight and a bias?",
        biases: "right but for the six linear maps: where are their biases?",
        biases + 2 * D: "the count without any bias: where are the biases of the six maps, and the "
        "biases of the LayerNorms?",
        biases + 4 * D: "the count of the six matrices alone: has a map no bias, and does not a "
        "LayerNorm learn?",
        D * D + D: "D² + D too few, one linear map: queries, keys, values, and what combines the "
        "heads?",
        D: "D too few: is the bias of Omega_c counted, and the bias of the MLP's second map?",
        D_mlp: "D_mlp too few: where is beta_1, the bias of the hidden units?",
        D + D_mlp: "D + D_mlp too few: where are the two biases of the MLP?",
        D * D_mlp + D: "right for an MLP with one linear map: how does the MLP get back from D_mlp "
        "to D numbers?",
        D * D_mlp + D_mlp: "right but for the first map of the MLP: what makes the hidden units?",
        D * D_mlp: "right but for a matrix of the MLP, which has two: where is the other?",
        D - D_mlp: "right but for a bias: how many numbers does the second map of the MLP put out?",
        2 * (D_mlp - D) * D + D_mlp - D: "right for D hidden units: how many hidden units has the "
        "MLP?",
        (D_mlp - 4 * D) * (2 * D + 1): "12D² + 13D, which is right for D_mlp = 4D: is D_mlp always "
        "4D?",
        2 * D * D_mlp + D_mlp + D: "the count without the MLP: what follows attention?",
        4 * (D * D + D): "the count without attention: how many maps does it learn?",
    }
    recognize(
        answer(D, D_mlp),
        right,
        "the number of parameters for D=11, D_mlp=29",
        {
            f"{right - missing} parameters for D=11, D_mlp=29, that is {asks}": right - missing
            for missing, asks in mistakes.items()
        },
    )
    rng = np.random.default_rng(56)
    for D, D_mlp in (
        (1, 1),
        (1024, 4096),
        (512, 2048),
        (512, 100),
        *rng.integers(1, 99, size=(5, 2)).tolist(),
    ):
        what = f"the number of parameters for D={D}, D_mlp={D_mlp}"
        same(answer(D, D_mlp), layer_parameters(D, D_mlp), what)


exercise.equivalent("the same products, summed in another order", "by_shapes: * → shapes = *")
