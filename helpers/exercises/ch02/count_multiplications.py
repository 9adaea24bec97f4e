"""Exercise 2.4, Count the multiplications."""

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "2.4",
    "Count the multiplications",
    stars=1,
    stub='''\
def count_multiplications(D, N, D_q, D_v):
    """How many multiplications of two numbers the matrix products of self-attention need.

    N tokens of D entries; queries and keys have D_q entries, values D_v.
    Returns a dict of five whole numbers: "Q", "K" and "V" for Omega_q @ X, Omega_k @ X and
    Omega_v @ X, "scores" for K.T @ Q, "output" for V @ A. Additions and the softmax do not count.
    """
    return ...  # your code here
''',
    hints=(
        "How many multiplications does one entry of a matrix product take, and how many entries "
        "are there?",
        "A product of an a × b and a b × c matrix takes a · b · c. Write the shapes of the two "
        "factors next to each of the five products.",
        "Q: D_q × D times D × N. Scores: N × D_q times D_q × N. Which of the five grow with the "
        "square of N?",
    ),
    notice="The first three grow with N, the last two with its square: for long texts the pairs "
    "of tokens cost the most, which is the question of notebook 10.",
)


@exercise.solution
def count_multiplications(D, N, D_q, D_v):
    return {
        "Q": D_q * D * N,
        "K": D_q * D * N,
        "V": D_v * D * N,
        "scores": N * D_q * N,
        "output": D_v * N * N,
    }


@exercise.right
def by_tokens(D, N, D_q, D_v):
    of_a_token = {"Q": D * D_q, "K": D * D_q, "V": D * D_v, "scores": N * D_q, "output": N * D_v}
    return {name: N * count for name, count in of_a_token.items()}


@exercise.right
def one_by_one(D, N, D_q, D_v):
    count = dict.fromkeys(("output", "scores", "V", "K", "Q"), 0)
    for _ in range(N):
        for name, size in ("Q", D_q), ("K", D_q), ("V", D_v):
            count[name] += sum(D for _ in range(size))
        for _ in range(N):
            count["scores"] += D_q
            count["output"] += D_v
    return count


exercise.equivalent(
    "the same entries of the dict, in another order",
    "one_by_one: * → count = dict.fromkeys(('scores', 'output', 'V', 'K', 'Q'), 0)",
    "one_by_one: * → for name, size in (('K', D_q), ('Q', D_q), ('V', D_v)):",
)
exercise.equivalent("size is D_v after its loop", "one_by_one: * → count['output'] += size")


def with_slip(slip):
    """The right counts but for those that slip(D, N, D_q, D_v) returns."""
    return lambda *sizes: count_multiplications(*sizes) | slip(*sizes)


for words, slip in {
    "how many pairs of a query and a key": (
        lambda D, N, D_q, D_v: {"scores": N * D_q, "output": N * D_v}
    ),
    "what do the weights multiply": lambda D, N, D_q, D_v: {"output": N * N * D_q},
    "how many rows has Omega_v": lambda D, N, D_q, D_v: {"V": N * D * D_q},
    "how many tokens does Omega act on": (
        lambda D, N, D_q, D_v: {"Q": D * D_q, "K": D * D_q, "V": D * D_v}
    ),
    "how many rows has Omega_k": lambda D, N, D_q, D_v: {"K": D * D * N},
    "how large are queries and keys": lambda D, N, D_q, D_v: {"scores": D * N * N},
    "is Omega applied to pairs of tokens": lambda D, N, D_q, D_v: {"V": D * N * N},
    "how large is a value": lambda D, N, D_q, D_v: {"output": D * N * N},
    "expected 105, got 110": lambda D, N, D_q, D_v: {"Q": D_q * D * N + D},  # with biases
}.items():
    exercise.wrong(words)(with_slip(slip))


@exercise.wrong("are additions counted")
def doubled(*sizes):
    return {name: 2 * count for name, count in count_multiplications(*sizes).items()}


@exercise.wrong("are additions counted")
def with_additions(D, N, D_q, D_v):
    counts = count_multiplications(D, N, D_q, D_v)
    entries = {"Q": N * D_q, "K": N * D_q, "V": N * D_v, "scores": N * N, "output": N * D_v}
    return {name: 2 * count - entries[name] for name, count in counts.items()}


@exercise.check
def check(answer):
    D, N, D_q, D_v = 5, 3, 7, 11  # primes: every product tells where it comes from
    got, expected = answer(D, N, D_q, D_v), count_multiplications(D, N, D_q, D_v)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the counts")  # says what is missing
    pairs = "is right for one key per query: how many pairs of a query and a key are there?"
    additions = with_additions(D, N, D_q, D_v)
    for name, count in expected.items():
        mistakes = {
            2 * count: "is twice as many as needed: are additions counted as well?",
            additions[name]: "is the number of multiplications and additions: are additions "
            "counted as well?",
        }
        if name in "QKV":
            mistakes[count // N] = "is right for a single token: how many tokens does Omega act on?"
            mistakes[N * D * D] = f"has D squared in it: how many rows has Omega_{name.lower()}?"
            mistakes[N * N * D] = "has N squared in it: is Omega applied to pairs of tokens?"
        if name == "V":
            mistakes[N * D * D_q] = "has D_q in it: how many rows has Omega_v?"
        if name == "scores":
            mistakes[N * D_q] = pairs
            mistakes[N * N * D] = "has D in it: how large are queries and keys?"
        if name == "output":
            mistakes[N * D_v] = pairs
            mistakes[N * N * D_q] = "has D_q in it: what do the weights multiply?"
            mistakes[N * N * D] = "has D in it: how large is a value?"
        what = f"{name!r} for D=5, N=3, D_q=7, D_v=11"
        asked = {f"{what}: {number} {asks}": number for number, asks in mistakes.items()}
        recognize(got[name], count, what, asked)
    one_at_a_time = (5, 4, 7, 11), (6, 3, 7, 11), (5, 3, 8, 11), (5, 3, 7, 12)
    for sizes in *one_at_a_time, (1, 1, 1, 1), (1024, 37, 64, 64), (2, 6, 9, 4):
        what = "the counts for D={}, N={}, D_q={}, D_v={}".format(*sizes)
        same(answer(*sizes), count_multiplications(*sizes), what)
