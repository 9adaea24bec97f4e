"""Exercise 8.9, A GPT in numbers."""

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "8.9",
    "A GPT in numbers",
    stars=2,
    stub='''\
def gpt_in_numbers(K, D, V, N, tokens, batch):
    """What a GPT costs, in four whole numbers.

    K: layers; D: entries of a token; V: tokens of the vocabulary; N: tokens of the longest text.
    It is trained once on so many `tokens`, in batches of `batch` tokens each.
    Returns a dict:
    "parameters": all that it learns. Before the layers, a vector of D entries for each token of
    the vocabulary and one for each of N positions. In each layer, attention with four maps from D
    to D, an MLP with 4D hidden units, and two LayerNorms; after all layers, one LayerNorm more.
    Every map has a bias for each of its outputs, a LayerNorm a weight and a bias of D entries each.
    The logits are computed with the vectors of the vocabulary, and nothing else is learned.
    "steps": the batches of the training; the last one may not be full.
    "operations": of the whole training, by the rule of thumb 6 for each parameter and token.
    "cache": the numbers that are kept while a text of N tokens is written: in each layer, a key
    and a value for each token, which have D entries each, all heads together.
    """
    return ...  # your code here
''',
    hints=(
        "Count the parameters of one layer first, as in exercise 5.5: what has D² in it, and how "
        "many times? What is learned outside the layers?",
        "A layer has 4(D² + D) for attention, 4D² + 4D and 4D² + D for the two maps of the MLP, "
        "and 4D for two LayerNorms. The vectors of the vocabulary are learned once.",
        "The number of batches is a division that is rounded up: −(−a // b) does that with whole "
        "numbers. Six times parameters times tokens needs no rounding; and the cache has K layers, "
        "N tokens, and two vectors of D entries for each.",
    ),
    notice="Of the six operations two belong to the way forward, a multiplication and an addition "
    "for each parameter, and four to the way back, which computes two gradients for each product. "
    "The attention between tokens is left out: for GPT-3 it would add a few percent.",
)


@exercise.solution
def gpt_in_numbers(K, D, V, N, tokens, batch):
    norm = 2 * D
    attention = 4 * (D * D + D)
    mlp = (4 * D * D + 4 * D) + (4 * D * D + D)
    parameters = (V + N) * D + K * (attention + mlp + 2 * norm) + norm
    return {
        "parameters": parameters,
        "steps": -(-tokens // batch),
        "operations": 6 * parameters * tokens,
        "cache": 2 * K * N * D,
    }


@exercise.right
def by_polynomials(K, D, V, N, tokens, batch):
    steps, rest = divmod(tokens, batch)
    learned = D * (V + N + 2 + K * (12 * D + 13))
    return {
        "cache": K * N * D + K * N * D,
        "operations": learned * 2 * tokens + learned * 4 * tokens,
        "parameters": learned,
        "steps": steps + (rest > 0),
    }


@exercise.right
def by_shapes(K, D, V, N, tokens, batch):
    maps = [(D, D)] * 4 + [(D, 4 * D), (4 * D, D)]
    layer = sum(rows * columns + rows for rows, columns in maps) + 4 * D
    parameters = sum(layer for _ in range(K)) + D * V + D * N + 2 * D
    steps = (tokens - 1) // batch + 1
    operations = parameters * tokens * 6
    return {
        "parameters": parameters,
        "steps": steps,
        "operations": operations,
        "cache": sum(2 * D for _ in range(K * N)),
    }


def norm_of(D):
    return 2 * D


def layer_of(D):
    return 12 * D * D + 13 * D


# For each number, the question to ask, and what a mistake makes of it: a function of the right
# number and of the inputs
MISTAKES = {
    "parameters": {
        "V · D too many: the logits are computed with the vectors of the vocabulary, so are they "
        "learned twice?": lambda right, K, D, V, N, *_: right + V * D,
        "V too many: have the logits a bias of their own here?": (
            lambda right, K, D, V, N, *_: right + V
        ),
        "V · D + V too many: the logits are computed with the vectors of the vocabulary, and have "
        "no bias: what is learned for them?": lambda right, K, D, V, N, *_: right + V * D + V,
        "N · D too few: where are the vectors of the positions?": (
            lambda right, K, D, V, N, *_: right - N * D
        ),
        "V · D too few: where are the vectors of the vocabulary?": (
            lambda right, K, D, V, N, *_: right - V * D
        ),
        "what the layers have: what is learned before and after them?": (
            lambda right, K, D, V, N, *_: K * layer_of(D)
        ),
        "what stands outside the layers: what do they learn?": (
            lambda right, K, D, V, N, *_: right - K * layer_of(D)
        ),
        "the right count with one layer: how many are there?": (
            lambda right, K, D, V, N, *_: right - (K - 1) * layer_of(D)
        ),
        "2D too few: where is the LayerNorm after all layers?": (
            lambda right, K, D, V, N, *_: right - norm_of(D)
        ),
        "4D too few in each layer: have its two LayerNorms been counted, with weight and bias, and "
        "the biases of attention's four maps?": (
            lambda right, K, D, V, N, *_: right - 2 * K * norm_of(D)
        ),
        "right but for all LayerNorms: how many are there, in the layers and after them?": (
            lambda right, K, D, V, N, *_: right - (2 * K + 1) * norm_of(D)
        ),
        "right for one LayerNorm in each layer: how many are there?": (
            lambda right, K, D, V, N, *_: right - K * norm_of(D)
        ),
        "right for LayerNorms that learn D numbers: has each a weight and a bias?": (
            lambda right, K, D, V, N, *_: right - (2 * K + 1) * D
        ),
        "right but for all biases of the maps: has each one?": (
            lambda right, K, D, V, N, *_: right - 9 * K * D
        ),
        "right but for all biases and LayerNorms: has each map a bias?": (
            lambda right, K, D, V, N, *_: right - 13 * K * D - norm_of(D)
        ),
        "right but for the biases of the MLP: how many outputs have its two maps?": (
            lambda right, K, D, V, N, *_: right - 5 * K * D
        ),
        "right for an MLP whose two biases have 4D entries each: how many outputs has its second "
        "map?": lambda right, K, D, V, N, *_: right + 3 * K * D,
        "right for three maps in attention: what combines the heads?": (
            lambda right, K, D, V, N, *_: right - K * (D * D + D)
        ),
        "right for one map in attention: queries, keys, values, and what combines the heads?": (
            lambda right, K, D, V, N, *_: right - 3 * K * (D * D + D)
        ),
        "right for an MLP with D hidden units: how many are asked for?": (
            lambda right, K, D, V, N, *_: right - K * (6 * D * D + 3 * D)
        ),
        "right for an MLP with one map: how does it get to 4D, and how back?": (
            lambda right, K, D, V, N, *_: right - K * (4 * D * D + D)
        ),
        "right but for the MLPs: what else is in a layer?": (
            lambda right, K, D, V, N, *_: right - K * (8 * D * D + 5 * D)
        ),
        "12 D² for each layer alone, the rule of thumb: what else is learned?": (
            lambda right, K, D, V, N, *_: 12 * K * D * D
        ),
    },
    "steps": {
        "rounded down: is the last batch not read, if it is not full?": (
            lambda right, K, D, V, N, tokens, batch: tokens // batch
        ),
        "one step too many here: is there a last batch that is not full?": (
            lambda right, K, D, V, N, tokens, batch: tokens // batch + 1
        ),
        "not a whole number: is the last batch a step as well?": (
            lambda right, K, D, V, N, tokens, batch: tokens / batch
        ),
        "what comes out if `batch` counts texts of N tokens: what does it count here?": (
            lambda right, K, D, V, N, tokens, batch: -(-tokens // (batch * N)),
            lambda right, K, D, V, N, tokens, batch: tokens // (batch * N),
            lambda right, K, D, V, N, tokens, batch: tokens / (batch * N),
        ),
        "the number of texts of N tokens: how many tokens does a step read?": (
            lambda right, K, D, V, N, tokens, batch: -(-tokens // N),
            lambda right, K, D, V, N, tokens, batch: tokens // N,
            lambda right, K, D, V, N, tokens, batch: tokens / N,
        ),
        "the number of tokens: how many of them does a step read?": (
            lambda right, K, D, V, N, tokens, batch: tokens
        ),
    },
    "operations": {
        "a third of what is asked for, the way forward alone: how many operations has the way "
        "back?": lambda right, *_: right // 3,
        "two thirds of what is asked for, the way back alone: how many operations has the way "
        "forward?": lambda right, *_: right * 2 // 3,
        "a sixth of what is asked for: how many operations does each parameter take for a token?": (
            lambda right, *_: right // 6
        ),
        "half of what is asked for: how many operations does each parameter take for a token?": (
            lambda right, *_: right // 2
        ),
        "six for each token: how many parameters are there?": (
            lambda right, K, D, V, N, tokens, batch: 6 * tokens
        ),
        "those of one token: how many are there?": (
            lambda right, K, D, V, N, tokens, batch: right // tokens
        ),
        "those of one step: how many are there?": (
            lambda right, K, D, V, N, tokens, batch: right // tokens * batch
        ),
        "those of one text of N tokens: how many tokens are there in the training?": (
            lambda right, K, D, V, N, tokens, batch: right // tokens * N
        ),
        "parameters times steps, six times: how many tokens does a step read?": (
            lambda right, K, D, V, N, tokens, batch: right // tokens * -(-tokens // batch)
        ),
        "multiplied by N once more: are the tokens not counted all together?": (
            lambda right, K, D, V, N, tokens, batch: right * N
        ),
        "those of full batches, also in the last step: how many tokens are read?": (
            lambda right, K, D, V, N, tokens, batch: right // tokens * batch * -(-tokens // batch)
        ),
    },
    "cache": {
        "half of what is asked for: are both kept, keys and values?": lambda right, *_: right // 2,
        "three halves of what is asked for: are the queries needed again?": (
            lambda right, *_: right * 3 // 2
        ),
        "that of one layer: how many are there?": lambda right, K, *_: right // K,
        "that of one token: how many has the text?": (lambda right, K, D, V, N, *_: right // N,),
        "right for keys and values of one number: how many entries have they?": (
            lambda right, K, D, *_: right // D
        ),
        "the number of weights between tokens, of N by N: are they kept?": (
            lambda right, K, D, V, N, *_: K * N * N,
            lambda right, K, D, V, N, *_: 2 * K * N * N,
        ),
        "as large as the outputs of all layers and D too large: what is kept of a token?": (
            lambda right, K, D, V, N, *_: right * D
        ),
        "multiplied by the batch: how many texts are written?": (
            lambda right, K, D, V, N, tokens, batch: right * batch
        ),
        "multiplied by 2 or 4, perhaps in bytes: are numbers asked for?": (
            lambda right, *_: 2 * right,
            lambda right, *_: 4 * right,
        ),
        "that of the whole training: how long is one text?": (
            lambda right, K, D, V, N, tokens, batch: right // N * tokens
        ),
    },
}


def with_slip(name, mistake):
    """The right numbers but for one."""

    def answer(*sizes):
        counts = gpt_in_numbers(*sizes)
        return counts | {name: mistake(counts[name], *sizes)}

    return answer


def several(mistakes):
    return mistakes if isinstance(mistakes, tuple) else (mistakes,)


for name, mistakes in MISTAKES.items():
    for question, slips in mistakes.items():
        for slip in several(slips):
            exercise.wrong(question)(with_slip(name, slip))


@exercise.wrong("a dict")
def as_tuple(*sizes):
    return tuple(gpt_in_numbers(*sizes).values())


@exercise.wrong("the key 'steps' is missing")
def with_another_key(*sizes):
    counts = gpt_in_numbers(*sizes)
    counts["batches"] = counts.pop("steps")
    return counts


@exercise.check
def check(answer):
    sizes = 5, 14, 227, 19, 10_007, 128  # so that no two slips lead to the same number
    named = "K=5, D=14, V=227, N=19, 10,007 tokens in batches of 128"
    got, expected = answer(*sizes), gpt_in_numbers(*sizes)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the numbers")  # says what is missing
    for name, count in expected.items():
        mistakes = {
            f"{name!r} is {question}": tuple(slip(count, *sizes) for slip in several(slips))
            for question, slips in MISTAKES[name].items()
        }
        recognize(got[name], count, f"{name!r} for {named}", mistakes)
    for sizes in (
        *((5, 14, 227, 19, 10_240, 128), (5, 14, 227, 19, 10_241, 128), (5, 14, 227, 19, 127, 128)),
        *(
            (6, 14, 227, 19, 10_007, 128),
            (5, 15, 227, 19, 10_007, 128),
            (5, 14, 229, 19, 10_007, 128),
        ),
        *((5, 14, 227, 20, 10_007, 128), (5, 14, 227, 19, 10_007, 64), (1, 1, 1, 1, 1, 1)),
        (48, 1600, 50_257, 1024, 40_000_000_000, 524_288),
        (96, 12_288, 50_257, 2048, 300_000_000_000, 3_200_000),
    ):
        got, expected = answer(*sizes), gpt_in_numbers(*sizes)
        named = "K={}, D={}, V={}, N={}, {} tokens in batches of {}".format(*sizes)
        if got["steps"] == expected["steps"] + 1 and sizes[4] % sizes[5] == 0:
            mistake = {
                f"'steps' for {named} is one step too many here: is there a last batch that is not "
                "full?": got["steps"]
            }
            recognize(got["steps"], expected["steps"], "the steps", mistake)
        same(in_range(got), in_range(expected), f"the numbers for {named}")


def in_range(counts):
    """The numbers, those as floats that have no room in 64 bits."""
    return {
        name: float(count) if isinstance(count, int) and count >= 2**63 else count
        for name, count in counts.items()
    }


exercise.equivalent(
    "the two maps of the MLP have as many outputs together as inputs",
    "by_shapes: * → maps = [(D, D)] * 4 + [(4 * D, D), (D, 4 * D)]",
    "by_shapes: * → layer = sum((rows * columns + columns for *",
)
