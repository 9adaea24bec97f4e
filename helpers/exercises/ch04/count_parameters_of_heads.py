"""Exercise 4.4, Count the parameters of the heads."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "4.4",
    "Count the parameters of the heads",
    stars=1,
    stub='''\
def count_parameters_of_heads(D, H, D_q, D_v):
    """How many parameters multi-head self-attention has, as the chapter writes it.

    Tokens have D entries; each of the H heads has its own Omega and beta for queries and keys of
    D_q entries and for values of D_v entries. Omega_c combines the heads and has no bias.
    Returns one whole number.
    """
    return ...  # your code here
''',
    hints=(
        "Write the shapes of the six parameters of one head on paper, then that of Omega_c. How "
        "many rows do the concatenated outputs have?",
        "A linear map from D entries to D_q entries with a bias has D_q · D + D_q parameters.",
        "Queries and keys have D_q (D + 1) parameters each, values have D_v (D + 1), all of this "
        "H times. Omega_c makes D entries out of H·D_v.",
    ),
    notice="With D_q = D_v = D/H the count is 4D² + 3D whatever H is: as many as for one head of "
    "size D. Many small heads cost no more parameters than a large one.",
)


@exercise.solution
def count_parameters_of_heads(D, H, D_q, D_v):
    queries_and_keys = 2 * D_q * (D + 1)
    values = D_v * (D + 1)
    combination = D * H * D_v  # Omega_c
    return H * (queries_and_keys + values) + combination


@exercise.right
def by_shapes(D, H, D_q, D_v):
    one_head = [(D_q, D), (D_q, 1), (D_q, D), (D_q, 1), (D_v, D), (D_v, 1)]
    return sum(rows * columns for rows, columns in H * one_head + [(D, H * D_v)])


@exercise.right
def by_arrays(D, H, D_q, D_v):
    heads = [[np.zeros((rows, D + 1)) for rows in (D_q, D_q, D_v)] for _ in range(H)]
    Omega_c = np.zeros((D, sum(V.shape[0] for _, _, V in heads)))
    return sum(matrix.size for head in heads for matrix in head) + Omega_c.size


# The question that a slip gets, after the number, and the count with it
SLIPS = {
    "has D_q in the size of Omega_c, or in that of Omega_v alone: how long are values, and how "
    "long the outputs that are combined?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * (D + 1) + D * H * D_q
    ),
    "leaves out the biases: what does a head add to Omega_q X?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * D + D * H * D_v
    ),
    "leaves out D · H · D_v, the size of Omega_c, and also of all Omega_v together: have both been "
    "counted?": (lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * (D + 1)),
    "counts Omega_c as D × D, which is right where D_v = D/H: how many rows have the concatenated "
    "outputs here?": lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * (D + 1) + D * D,
    "counts Omega_c with a bias: does the chapter's equation add one there?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * (D + 1) + D * (H * D_v + 1)
    ),
    "counts Omega_c as D × D_v: the outputs of how many heads does it take?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * (D + 1) + D * D_v
    ),
    "counts an Omega_c for every head: how often is it applied?": (
        lambda D, H, D_q, D_v: H * ((2 * D_q + D_v) * (D + 1) + D * H * D_v)
    ),
    "is right for one head: do the heads share anything?": (
        lambda D, H, D_q, D_v: (2 * D_q + D_v) * (D + 1) + D * D_v
    ),
    "has the parameters of one head and all of Omega_c: do the heads share their queries, keys "
    "and values?": lambda D, H, D_q, D_v: (2 * D_q + D_v) * (D + 1) + D * H * D_v,
    "counts D_q (D + 1) only once for each head: what has the same size as the queries?": (
        lambda D, H, D_q, D_v: H * (D_q + D_v) * (D + 1) + D * H * D_v
    ),
    "has D_q in the size of Omega_v: how long is a value?": (
        lambda D, H, D_q, D_v: H * 3 * D_q * (D + 1) + D * H * D_v
    ),
    "gives every bias a single number: how many rows has Omega_q X?": (
        lambda D, H, D_q, D_v: H * ((2 * D_q + D_v) * D + 3) + D * H * D_v
    ),
    "has D_q and D_v exchanged, or a bias of D_v entries too many: which of queries, keys and "
    "values have D_v entries?": (
        lambda D, H, D_q, D_v: H * (2 * D_v + D_q) * (D + 1) + D * H * D_q
    ),
    "has D_q and D_v exchanged within the heads: which of queries, keys and values have D_v "
    "entries?": lambda D, H, D_q, D_v: H * (2 * D_v + D_q) * (D + 1) + D * H * D_v,
    "counts the biases of a single head: does each head add its own?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v) * D + 2 * D_q + D_v + D * H * D_v
    ),
    "gives every bias D entries: to what is a bias added?": (
        lambda D, H, D_q, D_v: H * (2 * D_q + D_v + 3) * D + D * H * D_v
    ),
}


for question, slip in SLIPS.items():
    exercise.wrong(question)(slip)


@exercise.check
def check(answer):
    D, H, D_q, D_v = 13, 4, 5, 11  # of which no two slips make the same number
    recognize(
        answer(D, H, D_q, D_v),
        count_parameters_of_heads(D, H, D_q, D_v),
        "the number of parameters for D=13, H=4, D_q=5, D_v=11",
        {
            f"For D=13, H=4, D_q=5, D_v=11, {count} {question}": count
            for question, count in ((q, slip(D, H, D_q, D_v)) for q, slip in SLIPS.items())
        },
    )
    rng = np.random.default_rng(44)
    # The first ones change one input at a time: nothing may be kept from the call before.
    for sizes in (
        *(
            (7, 4, 5, 11),
            (7, 6, 5, 11),
            (7, 6, 9, 11),
            (7, 6, 9, 8),
            (1, 1, 1, 1),
            (512, 8, 64, 64),
        ),
        *rng.integers(1, 9, size=(5, 4)).tolist(),
    ):
        what = "the number of parameters for D={}, H={}, D_q={}, D_v={}".format(*sizes)
        same(answer(*sizes), count_parameters_of_heads(*sizes), what)


exercise.equivalent(
    "the same products, summed in another order",
    "by_shapes: * → one_head = *",
    "by_shapes: * → *[(H * D_v, D)]))",
    "by_arrays: * → Omega_c = np.zeros((sum(*, D))",
    "by_arrays: * → *turned(*).size*",
)
exercise.equivalent(
    "only the size is counted", "by_arrays: * → * np.ones(*", "by_arrays: * → *[np.ones(*"
)
