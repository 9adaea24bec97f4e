"""Exercise 0.1, Count the parameters."""

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "0.1",
    "Count the parameters",
    stars=1,
    stub='''\
def count_parameters(D, N, k):
    """How many weights and biases a layer has that maps N words of D numbers to N of D numbers.

    Returns a dict of three whole numbers:
    "dense": every one of the N · D outputs sees every one of the N · D inputs;
    "convolution": every output word sees k neighboring words, everywhere with the same weights;
    "self-attention": three linear maps (values, queries, keys), each applied to every word.
    """
    return ...  # your code here
''',
    hints=(
        "A linear map from a numbers to b numbers has a · b weights. How many biases does it have?",
        "For the dense layer, a and b are both N · D. For a single word, both are D: how many such "
        "D × D maps does a convolution of width k use, and how many does self-attention?",
        "In a convolution, the k maps are added up before the bias is. In self-attention, each of "
        "the three maps has a bias of its own. In which of the three layers does N occur?",
    ),
    notice="Only the dense layer has N in it: it is made for texts of one length, and grows with "
    "the square of it. The other two use the same weights again for every word.",
)


@exercise.solution
def count_parameters(D, N, k):
    return {
        "dense": (N * D) ** 2 + N * D,
        "convolution": k * D**2 + D,
        "self-attention": 3 * (D**2 + D),
    }


@exercise.right
def by_linear_maps(D, N, k):
    def linear(inputs, outputs):
        return (inputs + 1) * outputs  # the bias is the weight of an input that is always one

    return {
        "self-attention": 3 * linear(D, D),
        "convolution": linear(k * D, D),
        "dense": linear(N * D, N * D),
    }


@exercise.right
def by_outputs(D, N, k):
    # Each output has a weight for every number that it sees, and a bias.
    return {
        "dense": sum(N * D + 1 for _ in range(N * D)),
        "convolution": sum(k * D + 1 for _ in range(D)),
        "self-attention": sum(D + 1 for _ in range(3 * D)),
    }


def with_slip(slip):
    """The right counts but for those that slip(D, N, k) returns."""
    return lambda *sizes: count_parameters(*sizes) | slip(*sizes)


for words, slip in {
    "where are the biases": lambda D, N, k: {"dense": (N * D) ** 2},
    "where are its biases": lambda D, N, k: {"convolution": k * D**2},
    "where are the three biases": lambda D, N, k: {"self-attention": 3 * D**2},
    "sees nothing but its own word": lambda D, N, k: {"dense": N * D**2 + N * D},
    "does each of the N · D outputs see": lambda D, N, k: {"dense": N * D**2 + D},
    "how many numbers does one output word hold": lambda D, N, k: {"dense": N**2 * D + N * D},
    "how many outputs does the layer have": lambda D, N, k: {"dense": (N * D) ** 2 + D},
    "does it learn new weights at every place": (
        lambda D, N, k: {"convolution": N * (k * D**2 + D)}
    ),
    "has the bias anything to do with the width": (lambda D, N, k: {"convolution": k * (D**2 + D)}),
    "and has each its bias": lambda D, N, k: {"convolution": k * D**2 + 1},
    "is each of them a sum": lambda D, N, k: {"convolution": k * D**2 + k},
    "are the neighbors k words, or N": lambda D, N, k: {"convolution": N * D**2 + D},
    "how many of the D input numbers": lambda D, N, k: {"convolution": k * D + D},
    "is right for width 1": lambda D, N, k: {"convolution": D**2 + D},
    "are they learned, or computed": (lambda D, N, k: {"self-attention": 3 * (D**2 + D) + N**2}),
    "three maps for each word": lambda D, N, k: {"self-attention": 3 * N * (D**2 + D)},
    "has each of the three maps": lambda D, N, k: {"self-attention": 3 * D**2 + D},
    "how many numbers does a map put out": lambda D, N, k: {"self-attention": 3 * D**2 + 3},
    "how many biases does one map have": lambda D, N, k: {"self-attention": 3 * D**2 + 1},
    "is right for one of the maps": lambda D, N, k: {"self-attention": D**2 + D},
    "which is the fourth": lambda D, N, k: {"self-attention": 4 * (D**2 + D)},
}.items():
    exercise.wrong(words)(with_slip(slip))


@exercise.wrong("'convolution' is missing")
def dense_alone(D, N, k):
    return {"dense": (N * D) ** 2 + N * D}


@exercise.check
def check(answer):
    D, N, k = 5, 7, 3  # primes: every product tells where it comes from
    got, expected = answer(D, N, k), count_parameters(D, N, k)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the counts")  # says what is missing
    for layer, mistakes in {
        "dense": {
            (N * D) ** 2: "counts the weights alone: where are the biases?",
            N * D**2: "has one D × D map for each word, without biases: which words does an output "
            "of a dense layer see?",
            N * D**2 + N * D: "is right for a layer in which each output sees nothing but its own "
            "word: which words does it see in a dense layer?",
            N * D**2 + D: "has one D × D map for each word, and D biases: does each of the N · D "
            "outputs see all words, and has each its bias?",
            N**2 * D: "connects every word with every word by D weights, without biases: how many "
            "does it take to map D numbers to D numbers?",
            N**2 * D + N * D: "connects every word with every word by D weights: how many numbers "
            "does one output word hold, and how many one input word?",
            (N * D) ** 2 + D: "has D biases: how many outputs does the layer have?",
            (N * D) ** 2 + N: "has N biases: how many outputs does the layer have?",
            (N * D) ** 2 + 1: "has a single bias: how many outputs does the layer have?",
        },
        "convolution": {
            k * D**2: "counts the weights alone: where are its biases?",
            k * D**2 + 1: "has a single bias: how many numbers does an output word have, and has "
            "each its bias?",
            k * D**2 + k: "has k biases: how many numbers does an output word have, and is each "
            "of them a sum with one bias?",
            N * D**2 + D: "has a D × D map for each of the N words: does an output see them all; "
            "are the neighbors k words, or N?",
            N * (k * D**2 + D): "has N in it: the convolution slides over the text; does it learn "
            "new weights at every place?",
            N * k * D**2: "has N in it, and no biases: does a convolution learn new weights at "
            "every place?",
            k * D**2 + N * D: "has a bias for each word: does a convolution learn a new one at "
            "every place?",
            k * (D**2 + D): "has k biases for each output: the k products are added up, then the "
            "bias; has the bias anything to do with the width?",
            k * D + D: "has k weights for each output: how many of the D input numbers of a "
            "neighbor does an output see?",
            D**2 + D: "is right for width 1: how many words does an output see?",
        },
        "self-attention": {
            3 * D**2: "counts the weights alone: where are the three biases?",
            3 * D**2 + D: "has D biases, enough for one map: has each of the three maps its own?",
            3 * D**2 + 3: "has one bias for each map: how many numbers does a map put out, and "
            "has each its bias?",
            3 * D**2 + 1: "has a single bias: how many biases does one map have, and how many "
            "maps are there?",
            3 * (D**2 + D) + N**2: "has N² in it: the N × N attention weights of a text, are "
            "they learned, or computed from its words?",
            3 * N * (D**2 + D): "has N in it: does self-attention learn three maps for each word?",
            D**2 + D: "is right for one of the maps: how many do values, queries and keys take?",
            2
            * (
                D**2 + D
            ): "is right for two of the maps: how many do values, queries and keys take?",
            4 * (D**2 + D): "has four maps: values, queries, keys, and which is the fourth?",
        },
    }.items():
        what = f"{layer!r} for D=5, N=7, k=3"
        asked = {f"{what}: {number} {asks}": number for number, asks in mistakes.items()}
        recognize(got[layer], expected[layer], what, asked)
    one_at_a_time = (5, 8, 3), (6, 7, 3), (5, 7, 4)
    for sizes in *one_at_a_time, (1, 1, 1), (1024, 37, 3), (4, 2, 9):
        what = "the counts for D={}, N={}, k={}".format(*sizes)
        same(answer(*sizes), count_parameters(*sizes), what)
