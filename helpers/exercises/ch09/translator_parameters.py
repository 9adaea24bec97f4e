"""Exercise 9.4, The original in numbers."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "9.4",
    "The original in numbers",
    stars=2,
    stub='''\
def translator_parameters(K_e, K_d, D, D_mlp, V):
    """How many numbers an encoder-decoder learns, by part.

    K_e, K_d: layers of the encoder and of the decoder; D: size of a token; D_mlp: hidden units of
    an MLP; V: tokens of the vocabulary.
    All heads of an attention together have Omega_q, Omega_k, Omega_v and Omega_c, D × D each, and
    their biases. An MLP has two linear maps with biases. A LayerNorm has D weights and D biases;
    there is one for each sublayer, and none besides. One embedding, without a bias, serves source,
    target and output. Positions are sines and cosines, and learn nothing.
    Returns a dict with the whole numbers "embedding", "self-attention" (of both stacks together),
    "cross-attention", "MLPs" and "norms" (of both stacks together).
    """
    return ...  # your code here
''',
    hints=(
        "Which sublayers does a layer of the encoder have, and which a layer of the decoder? Count "
        "how many attentions of each kind, MLPs and norms there are in all K_e + K_d layers.",
        "An attention has four matrices and four biases. In cross-attention the queries are made "
        "from other tokens than keys and values: does that change how many numbers there are?",
        "A layer of the encoder has two sublayers, so two norms of 2D numbers; one of the decoder "
        "has three. In an MLP, which sizes have the two matrices and the two biases?",
    ),
    notice="sum(translator_parameters(6, 6, 512, 2048, 37_000).values()) is the original "
    "translator, 63 million. A layer of the decoder has a third more numbers than one of the "
    "encoder, where D_mlp = 4D: four matrices in twelve, and a norm.",
)


@exercise.solution
def translator_parameters(K_e, K_d, D, D_mlp, V):
    attention = 4 * (D * D + D)
    return {
        "embedding": V * D,
        "self-attention": (K_e + K_d) * attention,
        "cross-attention": K_d * attention,
        "MLPs": (K_e + K_d) * (2 * D * D_mlp + D_mlp + D),
        "norms": (2 * K_e + 3 * K_d) * 2 * D,
    }


@exercise.right
def by_shapes(K_e, K_d, D, D_mlp, V):
    def count(*maps):
        return sum(rows * columns + rows for rows, columns in maps)

    attention, mlp = count(*[(D, D)] * 4), count((D_mlp, D), (D, D_mlp))
    layers = {"encoder": K_e, "decoder": K_d}
    counts = dict.fromkeys(("self-attention", "cross-attention", "MLPs", "norms"), 0)
    for stack, K in layers.items():
        counts["self-attention"] += K * attention
        counts["MLPs"] += K * mlp
        counts["norms"] += K * 2 * 2 * D
        if stack == "decoder":
            counts["cross-attention"] += K * attention
            counts["norms"] += K * 2 * D
    return counts | {"embedding": V * D}


@exercise.right
def layer_by_layer(K_e, K_d, D, D_mlp, V):
    own = cross = mlps = norms = 0
    for sublayers in [2] * K_e + [3] * K_d:
        own += 4 * D**2 + 4 * D
        cross += (sublayers - 2) * (4 * D**2 + 4 * D)
        mlps += D_mlp * (D + 1) + D * (D_mlp + 1)
        norms += sublayers * 2 * D
    counts = {"embedding": V * D, "self-attention": own, "cross-attention": cross}
    return counts | {"MLPs": mlps, "norms": norms}


@exercise.right
def in_numpy(K_e, K_d, D, D_mlp, V):
    layers = np.array([K_e, K_d])
    sublayers = [[1, 0, 1, 2], [1, 1, 1, 3]]  # attentions of both kinds, MLPs, norms
    sizes = [4 * D * (D + 1)] * 2 + [D * D_mlp + D_mlp * D + D_mlp + D, D + D]
    own, cross, mlps, norms = layers @ sublayers * sizes
    counts = {"self-attention": own, "cross-attention": cross, "MLPs": mlps, "norms": norms}
    return counts | {"embedding": D * V}


def one_attention(D):
    return 4 * D * D + 4 * D


# By part: what a wrong number is, and how it comes from K_e, K_d, D, D_mlp and V
MISTAKES = {
    "embedding": {
        "twice as large as it is, as if source and target had one each: how many serve both?": (
            lambda K_e, K_d, D, D_mlp, V: 2 * V * D
        ),
        "three times as large as it is, as if source, target and output had one each: how many "
        "serve all three?": lambda K_e, K_d, D, D_mlp, V: 3 * V * D,
        "too large by V or D, as if it had a bias: has it one?": (
            lambda K_e, K_d, D, D_mlp, V: V * D + V,
            lambda K_e, K_d, D, D_mlp, V: V * D + D,
        ),
        "the number of tokens alone: how many numbers has each?": (lambda K_e, K_d, D, D_mlp, V: V),
    },
    "self-attention": {
        "that of the encoder alone: what is the first sublayer of the decoder?": (
            lambda K_e, K_d, D, D_mlp, V: K_e * one_attention(D)
        ),
        "that of the decoder alone: of which stacks is it asked for?": (
            lambda K_e, K_d, D, D_mlp, V: K_d * one_attention(D)
        ),
        "that of one layer: how many layers have it?": (
            lambda K_e, K_d, D, D_mlp, V: one_attention(D)
        ),
        "too large by the cross-attention of the decoder: where is that to be counted?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + 2 * K_d) * one_attention(D)
        ),
        "without biases: how many has an attention?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 4 * D * D
        ),
        "without Omega_c and its bias: how many matrices has an attention?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 3 * (D * D + D)
        ),
        "without Omega_c, and without biases: how many matrices and biases has an attention?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 3 * D * D
        ),
        "without the bias of Omega_c: how many biases has an attention?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (4 * D * D + 3 * D)
        ),
    },
    "cross-attention": {
        "0: has it no matrices of its own?": lambda K_e, K_d, D, D_mlp, V: 0,
        "that of as many layers as the encoder has: in which stack does it stand?": (
            lambda K_e, K_d, D, D_mlp, V: K_e * one_attention(D)
        ),
        "that of as many layers as both stacks have: in which of them does it stand?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * one_attention(D)
        ),
        "that of one layer: does each layer of the decoder have its own?": (
            lambda K_e, K_d, D, D_mlp, V: one_attention(D)
        ),
        "that of as many pairs as there are, each layer of the decoder with each of the encoder: "
        "which output of the encoder is read?": (
            lambda K_e, K_d, D, D_mlp, V: K_e * K_d * one_attention(D)
        ),
        "only that of keys and values: what asks, and what combines the heads?": (
            lambda K_e, K_d, D, D_mlp, V: K_d * 2 * (D * D + D)
        ),
        "without Omega_q and its bias: are queries those of self-attention?": (
            lambda K_e, K_d, D, D_mlp, V: K_d * 3 * (D * D + D)
        ),
        "without biases: how many has an attention?": (
            lambda K_e, K_d, D, D_mlp, V: K_d * 4 * D * D
        ),
    },
    "MLPs": {
        "that of the encoder alone: does a layer of the decoder have one?": (
            lambda K_e, K_d, D, D_mlp, V: K_e * (2 * D * D_mlp + D_mlp + D)
        ),
        "that of the decoder alone: of which stacks is it asked for?": (
            lambda K_e, K_d, D, D_mlp, V: K_d * (2 * D * D_mlp + D_mlp + D)
        ),
        "that of one layer: how many layers have it?": (
            lambda K_e, K_d, D, D_mlp, V: 2 * D * D_mlp + D_mlp + D
        ),
        "without biases: how many outputs have the two maps?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 2 * D * D_mlp
        ),
        "that of one linear map for each MLP: how many has it?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (D * D_mlp + D_mlp),
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (D * D_mlp + D),
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * D * D_mlp,
        ),
        "that of MLPs with 4D hidden units: what is D_mlp?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (8 * D * D + 5 * D)
        ),
        "right but for the biases, which are as many as a map has outputs: how many are that for "
        "the first and for the second?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (2 * D * D_mlp + 2 * D),
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (2 * D * D_mlp + 2 * D_mlp),
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (2 * D * D_mlp + D_mlp),
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * (2 * D * D_mlp + D),
        ),
        "that of two MLPs in a layer of the decoder: which are its three sublayers?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + 2 * K_d) * (2 * D * D_mlp + D_mlp + D)
        ),
    },
    "norms": {
        "that of two norms in each layer: how many sublayers has one of the decoder?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 4 * D
        ),
        "that of three norms in each layer: how many sublayers has one of the encoder?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 6 * D
        ),
        "that of one norm in each layer: how many sublayers are there?": (
            lambda K_e, K_d, D, D_mlp, V: (K_e + K_d) * 2 * D
        ),
        "that of three norms in the encoder's layers and two in the decoder's: which has more "
        "sublayers?": lambda K_e, K_d, D, D_mlp, V: (3 * K_e + 2 * K_d) * 2 * D,
        "half of what it is, weights or biases: has a LayerNorm not both?": (
            lambda K_e, K_d, D, D_mlp, V: (2 * K_e + 3 * K_d) * D
        ),
        "the number of norms: how many numbers has each?": (
            lambda K_e, K_d, D, D_mlp, V: 2 * K_e + 3 * K_d
        ),
        "twice the number of norms: are weight and bias one number each, or D?": (
            lambda K_e, K_d, D, D_mlp, V: 2 * (2 * K_e + 3 * K_d)
        ),
        "too large by a norm at the end, or by two: is there one besides those of the sublayers?": (
            lambda K_e, K_d, D, D_mlp, V: (2 * K_e + 3 * K_d + 1) * 2 * D,
            lambda K_e, K_d, D, D_mlp, V: (2 * K_e + 3 * K_d + 2) * 2 * D,
        ),
        "that of the encoder alone: has the decoder none?": (
            lambda K_e, K_d, D, D_mlp, V: 2 * K_e * 2 * D
        ),
        "that of the decoder alone: has the encoder none?": (
            lambda K_e, K_d, D, D_mlp, V: 3 * K_d * 2 * D
        ),
    },
}


def several(mistakes):
    return mistakes if isinstance(mistakes, tuple) else (mistakes,)


def with_slip(name, mistake):
    """The right numbers but for one."""
    return lambda *sizes: translator_parameters(*sizes) | {name: mistake(*sizes)}


for name, mistakes in MISTAKES.items():
    for question, slips in mistakes.items():
        for slip in several(slips):
            exercise.wrong(question)(with_slip(name, slip))


@exercise.wrong("expected a dict, got an int")
def total_alone(*sizes):
    return sum(translator_parameters(*sizes).values())


@exercise.wrong("the key 'cross-attention' is missing")
def with_another_key(*sizes):
    counts = translator_parameters(*sizes)
    counts["cross_attention"] = counts.pop("cross-attention")
    return counts


@exercise.check
def check(answer):
    sizes = 3, 5, 14, 37, 229  # so that no two slips lead to the same number
    got, expected = answer(*sizes), translator_parameters(*sizes)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the numbers")  # says what is missing
    for name, count in expected.items():
        mistakes = {
            f"{name!r} is {question}": tuple(slip(*sizes) for slip in several(slips))
            for question, slips in MISTAKES[name].items()
        }
        what = f"{name!r} for K_e=3, K_d=5, D=14, D_mlp=37, V=229"
        recognize(got[name], count, what, mistakes)
    for sizes in (
        *((4, 5, 14, 37, 229), (3, 6, 14, 37, 229), (3, 5, 15, 37, 229), (3, 5, 14, 38, 229)),
        *((3, 5, 14, 37, 230), (0, 4, 6, 11, 50), (2, 0, 8, 5, 31), (1, 1, 1, 1, 1)),
        *((6, 6, 512, 2048, 37_000), (6, 6, 1024, 4096, 37_000), (12, 2, 768, 3072, 30_522)),
    ):
        what = "the numbers for K_e={}, K_d={}, D={}, D_mlp={}, V={}".format(*sizes)
        same(answer(*sizes), translator_parameters(*sizes), what)


exercise.equivalent(
    "the two maps of an MLP have as many outputs together as inputs",
    "by_shapes: * → *(rows * columns + columns for rows, columns in maps*",
    "by_shapes: * → *count((D, D_mlp), (D_mlp, D)))",
)
exercise.equivalent(
    "the names may stand in any order, and cross-attention is written once, in the decoder",
    "by_shapes: * → counts = dict.fromkeys(('cross-attention', *",
    "by_shapes: * → counts['cross-attention'] = K * attention",
    "by_shapes: * → counts['cross-attention'] += K_d * attention",
    "by_shapes: * → counts['norms'] += K_d * 2 * D",
)
