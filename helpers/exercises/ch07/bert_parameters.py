"""Exercise 7.4, BERT, counted."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "7.4",
    "BERT, counted",
    stars=2,
    stub='''\
def bert_parameters(V, N, D, D_mlp, K):
    """How many numbers BERT learns while it is trained on masked words.

    V: tokens of the vocabulary; N: positions; D: entries of a token; D_mlp: hidden units of an MLP;
    K: layers.
    Before the layers, three vectors of D entries are added up for each token: that of its number
    in the vocabulary, that of its position, and that of its segment (first text or second). A
    LayerNorm of the sum follows.
    Each layer is that of notebook 05: four maps from D to D in attention, two in the MLP, from D to
    D_mlp and back, and two LayerNorms.
    Behind the layers stands the head for masked words: a map from D to D, a LayerNorm, and a score
    for each token of the vocabulary: its vector, the same as before the layers, times the output,
    plus a bias of its own.
    Every map from D to D, or of an MLP, has a bias for each of its outputs; a LayerNorm has a
    weight and a bias for each of D entries.
    Returns a whole number.
    """
    return ...  # your code here
''',
    hints=(
        "Three parts, counted apart: what stands before the layers, one layer, and the head. Which "
        "of them occurs K times?",
        "Before the layers there are V + N + 2 vectors and one LayerNorm. A layer is exercise 5.5: "
        "4(D² + D) for attention, D · D_mlp twice, the two biases of the MLP, and two LayerNorms.",
        "The head has one map from D to D with its bias, one LayerNorm, and V more numbers. The "
        "vectors by which it scores are counted already.",
    ),
    notice="Of BERT-large's 335 million, 302 million stand in the 24 layers and 31 million in the "
    "vectors of its tokens. With vectors of its own for the scores there would be 31 million more.",
)


@exercise.solution
def bert_parameters(V, N, D, D_mlp, K):
    norm = 2 * D
    embedding = (V + N + 2) * D + norm
    layer = 4 * (D * D + D) + (D * D_mlp + D_mlp) + (D_mlp * D + D) + 2 * norm
    head = (D * D + D) + norm + V
    return embedding + K * layer + head


@exercise.right
def by_shapes(V, N, D, D_mlp, K):
    norm = [(D,), (D,)]
    square = [(D, D), (D,)]
    layer = 4 * square + [(D_mlp, D), (D_mlp,), (D, D_mlp), (D,)] + 2 * norm
    embedding = [(V, D), (N, D), (2, D), *norm]
    return int(sum(np.prod(shape) for shape in embedding + K * layer + square + norm + [(V,)]))


@exercise.right
def by_polynomial(V, N, D, D_mlp, K):
    per_layer = 4 * D**2 + 9 * D + (2 * D + 1) * D_mlp
    return V * (D + 1) + D * (N + D + 7) + K * per_layer


def layer_of(D, D_mlp):
    return 4 * (D * D + D) + 2 * D * D_mlp + D_mlp + D + 4 * D


# What is missing (or below 0, too much) in the count of a mistake, and the question to ask
MISSING = {
    "V · D too many: the head scores with the vectors that were looked up at the input, so are "
    "they learned twice?": lambda V, N, D, D_mlp, K: -V * D,
    "D² + D too many: is there a map in the head, or before the layers, that is not asked for?": (
        lambda V, N, D, D_mlp, K: -D * D - D
    ),
    "V · D too few: where are the vectors of the vocabulary?": lambda V, N, D, D_mlp, K: V * D,
    "N · D too few: where are the vectors of the positions, which BERT learns?": (
        lambda V, N, D, D_mlp, K: N * D
    ),
    "the right count without positions and segments: how many vectors are added up for a token?": (
        lambda V, N, D, D_mlp, K: (N + 2) * D
    ),
    "2D too few: are the two segments counted, the LayerNorm before the layers, and that of the "
    "head?": lambda V, N, D, D_mlp, K: 2 * D,
    "4D too few: which two are missing, of the two segments, the LayerNorm before the layers, and "
    "that of the head?": lambda V, N, D, D_mlp, K: 4 * D,
    "6D too few: where are the two segments, the LayerNorm before the layers, and that of the "
    "head?": lambda V, N, D, D_mlp, K: 6 * D,
    "D too few: are there two segments, and has the map of the head a bias?": (
        lambda V, N, D, D_mlp, K: D
    ),
    "V too few: has each token of the vocabulary a bias in its score?": (
        lambda V, N, D, D_mlp, K: V
    ),
    "right but for the biases of the scores: are there D of them, or is there one for each token "
    "of the vocabulary?": lambda V, N, D, D_mlp, K: V - D,
    "D² + D too few: where is the map of the head?": lambda V, N, D, D_mlp, K: D * D + D,
    "the right count but for the head's map and its LayerNorm: what lies between the last layer "
    "and the scores?": lambda V, N, D, D_mlp, K: D * D + 3 * D,
    "the right count without the head: what turns the outputs into scores of words?": (
        lambda V, N, D, D_mlp, K: D * D + 3 * D + V
    ),
    "the right count with one layer: how often does it occur?": (
        lambda V, N, D, D_mlp, K: (K - 1) * layer_of(D, D_mlp)
    ),
    "the right count without any layer: what do they learn?": (
        lambda V, N, D, D_mlp, K: K * layer_of(D, D_mlp)
    ),
    "4D too few in each layer: have its two LayerNorms been counted, with weight and bias, and the "
    "biases of attention's four maps?": lambda V, N, D, D_mlp, K: K * 4 * D,
    "2D too few in each layer: how many LayerNorms has it, and has each a weight and a bias?": (
        lambda V, N, D, D_mlp, K: K * 2 * D
    ),
    "the right count without any LayerNorm: how many are there?": (
        lambda V, N, D, D_mlp, K: (4 * K + 4) * D
    ),
    "the right count if a LayerNorm learned D numbers: has it a weight alone?": (
        lambda V, N, D, D_mlp, K: (2 * K + 2) * D
    ),
    "D + D_mlp too few in each layer: where are the two biases of its MLP?": (
        lambda V, N, D, D_mlp, K: K * (D + D_mlp)
    ),
    "D_mlp too few in each layer: where is the bias of the hidden units?": (
        lambda V, N, D, D_mlp, K: K * D_mlp
    ),
    "D too few in each layer: where is the bias of the MLP's second map, and that of Omega_c?": (
        lambda V, N, D, D_mlp, K: K * D
    ),
    "right but for the biases of the maps in the layers: has each of the six one?": (
        lambda V, N, D, D_mlp, K: K * (5 * D + D_mlp)
    ),
    "right but for the biases of all maps, in the layers and in the head: has each one?": (
        lambda V, N, D, D_mlp, K: K * (5 * D + D_mlp) + D
    ),
    "the right count without the biases of all maps and of the scores: has each one?": (
        lambda V, N, D, D_mlp, K: K * (5 * D + D_mlp) + D + V
    ),
    "D² + D too few in each layer: queries, keys, values, and what combines the heads?": (
        lambda V, N, D, D_mlp, K: K * (D * D + D)
    ),
    "one matrix of the MLP too few in each layer: how does it get from D to D_mlp, and how back?": (
        lambda V, N, D, D_mlp, K: K * D * D_mlp
    ),
    "right for D_mlp = 4D: is D_mlp always that?": (
        lambda V, N, D, D_mlp, K: K * (D_mlp - 4 * D) * (2 * D + 1)
    ),
    "the right count with the part before the layers in each layer: how often is a token looked "
    "up?": lambda V, N, D, D_mlp, K: (1 - K) * ((V + N + 2) * D + 2 * D),
    "the right count with the head in each layer: how often are scores computed?": (
        lambda V, N, D, D_mlp, K: (1 - K) * (D * D + 3 * D + V)
    ),
}


def with_slip(missing):
    """The right count, less missing(V, N, D, D_mlp, K)."""
    return lambda *sizes: bert_parameters(*sizes) - missing(*sizes)


for question, missing in MISSING.items():
    exercise.wrong(question)(with_slip(missing))


@exercise.check
def check(answer):
    sizes = 211, 17, 13, 37, 5  # so that no two slips leave the same number out
    right, names = bert_parameters(*sizes), "V=211, N=17, D=13, D_mlp=37, K=5"
    recognize(
        answer(*sizes),
        right,
        f"the number of parameters for {names}",
        {
            f"{count} parameters for {names}, that is {question}": count
            for question, missing in MISSING.items()
            for count in [right - missing(*sizes)]
        },
    )
    small = np.array([50, 9, 4, 6, 3])
    one_more = (small + np.eye(5, dtype=int)).tolist()  # in each place in turn
    for sizes in (
        *((1, 1, 1, 1, 1), (30_522, 512, 1024, 4096, 24), (30_522, 512, 768, 3072, 12)),
        *(small.tolist(), *one_more, (50, 9, 4, 6, 0)),
    ):
        names = "V={}, N={}, D={}, D_mlp={}, K={}".format(*sizes)
        same(answer(*sizes), bert_parameters(*sizes), f"the number of parameters for {names}")


exercise.equivalent("the same products, summed in another order", "by_shapes: * → * = *")
exercise.equivalent("NumPy's whole numbers are whole numbers", "by_shapes: * → return sum(*")
