"""Exercise 4.8, Two matrices for each head."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "4.8",
    "Two matrices for each head",
    stars=2,
    stub='''\
def circuits(heads, Omega_c):
    """The two matrices that say everything about a head without biases: W_qk and W_ov.

    heads: list of H dicts with "Omega_q" and "Omega_k", D_q × D, and "Omega_v", D_v × D.
    Omega_c: D × H·D_v; its first D_v columns belong to the first head.
    Returns a list of H pairs (W_qk, W_ov) of matrices D × D such that for every X, D × N,

        MhSa[X] = Σ_h W_ov,h · X · Softmax[Xᵀ · W_qk,h · X]

    with the scaling by √D_q inside W_qk,h.
    """
    return ...  # your code here
''',
    hints=(
        "Write Kᵀ Q for one head with K = Omega_k X and Q = Omega_q X, and transpose the product "
        "in it. What stands between Xᵀ and X?",
        "Between Xᵀ and X stand Omega_kᵀ Omega_q, both together D × D; the division by √D_q can "
        "be done there as well. Which part of Omega_c meets the output of head h?",
        "Omega_c times outputs one below the other is a sum: block h of D_v columns of Omega_c "
        "times the output of head h, which is Omega_v X A. So what stands on the left of X A?",
        "The columns of head h, counted from 0, are h·D_v … (h+1)·D_v − 1. That block, D × D_v, "
        "times Omega_v, D_v × D, is W_ov.",
    ),
    notice="W_qk says which tokens attend to which, W_ov what is written once they do; neither "
    "rank exceeds the head's D_q or D_v. Queries and keys alone have no meaning: only their "
    "product shows.",
)


@exercise.solution
def circuits(heads, Omega_c):
    pairs = []
    for h, head in enumerate(heads):
        D_q, D_v = head["Omega_q"].shape[0], head["Omega_v"].shape[0]
        W_qk = head["Omega_k"].T @ head["Omega_q"] / np.sqrt(D_q)  # D × D, asked on the right
        Omega_ch = Omega_c[:, h * D_v : (h + 1) * D_v]  # D × D_v
        pairs.append((W_qk, Omega_ch @ head["Omega_v"]))
    return pairs


@exercise.right
def by_einsum(heads, Omega_c):
    Omega_q, Omega_k, Omega_v = (
        np.stack([head[name] for head in heads]) for name in ("Omega_q", "Omega_k", "Omega_v")
    )
    H, D_q, D = Omega_q.shape
    W_qk = np.einsum("hqi,hqj->hij", Omega_k, Omega_q) / D_q**0.5
    W_ov = np.einsum("ihv,hvj->hij", Omega_c.reshape(D, H, -1), Omega_v)
    return list(zip(W_qk, W_ov, strict=True))


@exercise.right
def by_splitting(heads, Omega_c):
    blocks = np.split(Omega_c, len(heads), axis=1)
    return [
        [(h["Omega_q"].T @ h["Omega_k"]).T / len(h["Omega_k"]) ** 0.5, block @ h["Omega_v"]]
        for h, block in zip(heads, blocks, strict=True)
    ]


@exercise.right
def by_probing(heads, Omega_c):
    D = len(Omega_c)
    columns = iter(Omega_c.T)
    pairs = []
    for head in heads:
        W_qk, W_ov = np.zeros((D, D)), np.zeros((D, D))
        for i in range(D):
            for j in range(D):  # the score of key e_i for query e_j
                W_qk[i, j] = head["Omega_k"][:, i] @ head["Omega_q"][:, j]
        for row in head["Omega_v"]:
            W_ov += np.outer(next(columns), row)
        pairs.append((W_qk / np.sqrt(len(head["Omega_q"])), W_ov))
    return pairs


# The question that a mistake gets, and what then stands in place of W_qk: a function of Omega_q,
# Omega_k and Omega_v of one head.
QK_MISTAKES = {
    "it is transposed: in Xᵀ W_qk X, does the token on the left ask or answer?": (
        lambda q, k, v: q.T @ k / np.sqrt(len(q))
    ),
    "it is not scaled: where is √D_q?": lambda q, k, v: k.T @ q,
    "it is divided by D_q itself: where is the root?": lambda q, k, v: k.T @ q / len(q),
    "it is divided by √D: over how many products does a score sum?": (
        lambda q, k, v: k.T @ q / np.sqrt(q.shape[1])
    ),
    "it is divided by √D_v: over how many products does a score sum?": (
        lambda q, k, v: k.T @ q / np.sqrt(len(v))
    ),
    "it is multiplied by √D_q: is the softmax to become sharper or softer?": (
        lambda q, k, v: k.T @ q * np.sqrt(len(q))
    ),
    "the product is in the reverse order, D_q × D_q: which sides of the two Omegas meet X?": (
        lambda q, k, v: k @ q.T / np.sqrt(len(q))
    ),
    "the product runs backward, and query and key are exchanged in it, D_q × D_q: what is KᵀQ, "
    "written with X?": lambda q, k, v: q @ k.T / np.sqrt(len(q)),
    "Omega_q stands on both sides: which Omega makes a key?": (
        lambda q, k, v: q.T @ q / np.sqrt(len(q))
    ),
    "Omega_k stands on both sides: which Omega makes a query?": (
        lambda q, k, v: k.T @ k / np.sqrt(len(q))
    ),
}


def block(Omega_c, h, H):
    """The columns of Omega_c for head h."""
    return np.split(Omega_c, H, axis=1)[h]


# The same in place of W_ov: a function of Omega_v, Omega_c, h and H.
OV_MISTAKES = {
    "it has every H-th column of Omega_c, and the rows of one head stand together: which columns "
    "of Omega_c do they meet?": lambda v, c, h, H: c[:, h::H] @ v,
    "it has the columns of the heads in reverse order: whose columns come first in Omega_c?": (
        lambda v, c, h, H: block(c, H - 1 - h, H) @ v
    ),
    "it has the first columns of Omega_c for every head: where do those of head h begin?": (
        lambda v, c, h, H: block(c, 0, H) @ v
    ),
    "the product is in the reverse order, D_v × D_v: which of the two matrices meets X first?": (
        lambda v, c, h, H: v @ block(c, h, H)
    ),
    "it is transposed: on which side of X does W_ov stand?": (
        lambda v, c, h, H: (block(c, h, H) @ v).T
    ),
    "it is Omega_v alone, D_v × D: what becomes of a value on its way to the output?": (
        lambda v, c, h, H: v
    ),
    "it is Omega_vᵀ Omega_v, where Omega_c does not occur: what becomes of a value on its way to "
    "the output?": lambda v, c, h, H: v.T @ v,
}


def with_mistakes(qk=None, ov=None):
    """The right answer but for another W_qk, another W_ov, or both."""

    def answer(heads, Omega_c):
        pairs = circuits(heads, Omega_c)
        for h, head in enumerate(heads):
            W_qk, W_ov = pairs[h]
            if qk is not None:
                W_qk = qk(head["Omega_q"], head["Omega_k"], head["Omega_v"])
            if ov is not None:
                W_ov = ov(head["Omega_v"], Omega_c, h, len(heads))
            pairs[h] = W_qk, W_ov
        return pairs

    return answer


for question, mistake in QK_MISTAKES.items():
    exercise.wrong(question)(with_mistakes(qk=mistake))
for question, mistake in OV_MISTAKES.items():
    exercise.wrong(question)(with_mistakes(ov=mistake))


@exercise.wrong("which of the two comes first")
def exchanged(heads, Omega_c):
    return [(W_ov, W_qk) for W_qk, W_ov in circuits(heads, Omega_c)]


@exercise.wrong("was the pair taken apart")
def pair_not_unpacked(heads, Omega_c):
    return circuits([*enumerate(heads)], Omega_c)


@exercise.wrong("got a list of 1")
def return_in_the_loop(heads, Omega_c):
    pairs = []
    for pair in circuits(heads, Omega_c):
        pairs.append(pair)
        return pairs


@exercise.wrong("in reverse order")
def reversed_heads(heads, Omega_c):
    return circuits(heads, Omega_c)[::-1]


@exercise.wrong("expected a list of 3 pairs")
def two_lists(heads, Omega_c):
    return tuple(zip(*circuits(heads, Omega_c), strict=True))


@exercise.wrong("expected a list of 3 pairs")
def first_pair(heads, Omega_c):
    return circuits(heads, Omega_c)[0]


NOT_UNPACKED = {
    "tuple indices must be integers": "With enumerate come pairs, a number and a head: was "
    "the pair taken apart, as in `for h, head in enumerate(heads)`?"
}


def pairs_of(got, H):
    """The answer as a list of H pairs, or Wrong."""
    wanted = f"expected a list of {H} pairs (W_qk, W_ov), one for each head"
    try:
        pairs = [tuple(pair) for pair in got]
    except TypeError:
        raise Wrong(f"The result: {wanted}, got {kind(got)}.") from None
    if len(pairs) != H:
        raise Wrong(f"The result: {wanted}, got {kind(got)} of {len(pairs)}.")
    if any(len(pair) != 2 for pair in pairs):
        raise Wrong(f"The result: {wanted}; one of yours does not have two parts.")
    return pairs


@exercise.check
def check(answer):
    # Three heads of D_q = 7 and D_v = 5 for tokens of four entries: all sizes differ.
    numbers = np.random.default_rng(48).integers(-2, 4, size=(3, 19, 4)).astype(float)
    heads = [{"Omega_q": m[:7], "Omega_k": m[7:14], "Omega_v": m[14:]} for m in numbers]
    Omega_c = np.arange(60.0).reshape(4, 15)
    check_pairs(answer, heads, Omega_c, "D=4, H=3, D_q=7, D_v=5")
    rng = np.random.default_rng(49)
    # The last sizes come twice: nothing may be kept from the call before.
    for D, H, D_q, D_v in (1, 1, 1, 1), (4, 2, 2, 2), (3, 3, 3, 3), (2, 4, 1, 3), (2, 4, 1, 3):
        heads = [
            {
                "Omega_q": rng.normal(size=(D_q, D)),
                "Omega_k": rng.normal(size=(D_q, D)),
                "Omega_v": rng.normal(size=(D_v, D)),
            }
            for _ in range(H)
        ]
        Omega_c = rng.normal(size=(D, H * D_v))
        got = pairs_of(unchanged(answer, heads, Omega_c), H)
        for h, pair in enumerate(circuits(heads, Omega_c)):
            for name, matrix, expected in zip(("W_qk", "W_ov"), got[h], pair, strict=True):
                sizes = f"D={D}, H={H}, D_q={D_q}, D_v={D_v}"
                same(matrix, expected, f"{name} of head {h} for {sizes}")


def check_pairs(answer, heads, Omega_c, sizes):
    """First all W_qk, then all W_ov, so that a mistake in one of them is not hidden by another."""
    H = len(heads)
    got = pairs_of(run(answer, heads, Omega_c, errors=NOT_UNPACKED), H)
    expected = circuits(heads, Omega_c)
    for h, head in enumerate(heads):
        name = f"W_qk of head {h} for {sizes}"
        inputs = head["Omega_q"], head["Omega_k"], head["Omega_v"]
        recognize(
            got[h][0],
            expected[h][0],
            name,
            {f"{name}: {question}": mistaken(*inputs) for question, mistaken in QK_MISTAKES.items()}
            | {f"{name}: it is W_ov; which of the two comes first?": expected[h][1]}
            | {
                f"{name}: it is that of head {H - 1 - h}, and your pairs come in reverse order: "
                "whose pair comes first?": expected[H - 1 - h][0]
            },
        )
    for h, head in enumerate(heads):
        name = f"W_ov of head {h} for {sizes}"
        inputs = head["Omega_v"], Omega_c, h, H
        recognize(
            got[h][1],
            expected[h][1],
            name,
            {
                f"{name}: {question}": mistaken(*inputs)
                for question, mistaken in OV_MISTAKES.items()
            },
        )


exercise.equivalent(
    "queries and keys have the same size", "by_einsum: * → H, D_q, D = Omega_k.shape"
)
exercise.equivalent("any negative size is filled in", "by_einsum: * → *reshape(D, H, -2)*")
exercise.equivalent(
    "a list, a zip or an iterator of as many pairs as there are heads",
    "by_einsum: * → return zip(*",
    "* → *zip(*))",
    "* → *, strict=False)*",
    "by_splitting: * → *zip(heads, blocks)]",
)
exercise.equivalent(
    "every entry is written once, and both matrices begin with zeros",
    "by_probing: * → W_ov, W_qk = *",
    "by_probing: * → W_qk, W_ov = (np.ones(*",
    "by_probing: * → W_qk[i, j] += *",
)
exercise.equivalent("only the size is read", "by_probing: * → D = len(whole(Omega_c))")
exercise.equivalent(
    "of two vectors either may come first",
    "by_probing: * → W_qk[i, j] = head['Omega_q'][:, j] @ head['Omega_k'][:, i]",
)
