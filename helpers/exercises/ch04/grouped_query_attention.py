"""Exercise 4.7, Shared keys and values."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "4.7",
    "Shared keys and values",
    stars=2,
    seconds=WITH_TORCH,
    stub='''\
def grouped_query_attention(q, k, v):
    """Grouped-query attention: H heads of queries share G heads of keys and values.

    q: tensor, batch × H × N × d; k: batch × G × N × d; v: batch × G × N × d_v; H is a multiple
    of G.
    The first H/G query heads read key and value head 0, the next H/G read head 1, and so on.
    The scores are divided by √d.
    Returns the outputs, batch × H × N × d_v.
    """
    return ...  # your code here
''',
    hints=(
        "For H = 4 and G = 2, write down for each query head which key head it reads. What must "
        "be done to a list of two heads to make that list of four?",
        "Every key head is needed H/G times in a row: 0, 0, 1, 1. The values likewise.",
        "k.repeat_interleave(times, dim=1) repeats each head in place, whereas k.repeat lays the "
        "whole list down again, 0, 1, 0, 1. After that it is scaled attention as before, the "
        "softmax over the keys, which are the last dimension.",
    ),
    notice="With G = H it is multi-head attention; with G = 1, multi-query attention. Only keys "
    "and values become fewer, and these are what a decoder has to keep while it writes.",
)


@exercise.solution
def grouped_query_attention(q, k, v):
    times = q.shape[1] // k.shape[1]  # query heads for each key head
    k = k.repeat_interleave(times, dim=1)  # batch × H × N × d
    v = v.repeat_interleave(times, dim=1)  # batch × H × N × d_v
    scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5  # batch × H × queries × keys
    return scores.softmax(dim=3) @ v


@exercise.right
def by_fused_kernel(q, k, v):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


@exercise.right
def by_broadcasting(q, k, v):
    (batch, H, N, d), G = q.shape, k.shape[1]
    q, k, v = q.reshape(batch, G, H // G, N, d), k[:, :, None], v[:, :, None]
    weights = (q @ k.transpose(3, 4) * d**-0.5).softmax(dim=-1)
    return (weights @ v).flatten(start_dim=1, end_dim=2)


@exercise.right
def by_loop(q, k, v):
    import torch

    outputs = torch.zeros(*q.shape[:3], v.shape[3])
    for h in range(q.shape[1]):
        g = h * k.shape[1] // q.shape[1]
        scores = torch.einsum("bnd,bmd->bnm", q[:, h], k[:, g]) / q.shape[3] ** 0.5
        outputs[:, h] = scores.softmax(dim=2) @ v[:, g]
    return outputs


def attention(q, k, v, divisor=None, dim=3):
    """Scaled attention in every head: the softmax along dim, the scores over √d or the divisor."""
    scores = q @ k.transpose(2, 3) / (divisor or q.shape[3] ** 0.5)
    return scores.softmax(dim=dim) @ v


def shared(q, *keys_or_values):
    """Keys, values or both with every head repeated in place, H heads."""
    return (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in keys_or_values)


def tiled(q, *keys_or_values):
    """Keys, values or both with the list of heads repeated as a whole, H heads."""
    return (x.repeat(1, q.shape[1] // x.shape[1], 1, 1) for x in keys_or_values)


@exercise.wrong("take turns over the groups")
def both_tiled(q, k, v):
    return attention(q, *tiled(q, k, v))


@exercise.wrong("keys take turns")
def keys_tiled(q, k, v):
    return attention(q, *tiled(q, k), *shared(q, v))


@exercise.wrong("All heads read the first group")
def first_alone(q, k, v):
    return attention(q, k[:, :1], v[:, :1])


@exercise.wrong("All heads read the mean of the groups")
def averaged(q, k, v):
    return attention(q, k.mean(dim=1, keepdim=True), v.mean(dim=1, keepdim=True))


@exercise.wrong("keys are averaged")
def keys_averaged(q, k, v):
    return attention(q, k.mean(dim=1, keepdim=True), *shared(q, v))


@exercise.wrong("first group's keys")
def first_keys(q, k, v):
    return attention(q, k[:, :1], *shared(q, v))


@exercise.wrong("The scores are not scaled")
def unscaled(q, k, v):
    return attention(q, *shared(q, k, v), divisor=1.0)


@exercise.wrong("divided by d itself")
def by_dimension(q, k, v):
    return attention(q, *shared(q, k, v), divisor=float(q.shape[3]))


@exercise.wrong("multiplied by √d")
def multiplied(q, k, v):
    return attention(q, *shared(q, k, v), divisor=q.shape[3] ** -0.5)


@exercise.wrong("divided by √H")
def by_heads(q, k, v):
    return attention(q, *shared(q, k, v), divisor=q.shape[1] ** 0.5)


@exercise.wrong("divided by √d_v")
def by_values(q, k, v):
    return attention(q, *shared(q, k, v), divisor=v.shape[3] ** 0.5)


@exercise.wrong("root of the number of tokens")
def by_tokens(q, k, v):
    return attention(q, *shared(q, k, v), divisor=q.shape[2] ** 0.5)


@exercise.wrong("root of G, or always the same")
def by_constant(q, k, v):
    return attention(q, *shared(q, k, v), divisor=2**0.5)


@exercise.wrong("sees no later key")
def causal(q, k, v):
    from torch.nn.functional import scaled_dot_product_attention

    return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


@exercise.wrong("groups in reverse order")
def reversed_groups(q, k, v):
    return grouped_query_attention(q, k.flip(1), v.flip(1))


@exercise.wrong("groups in reverse order")
def reversed_outputs(q, k, v):
    return grouped_query_attention(q, k, v).flip(1)


@exercise.wrong("runs over the queries")
def over_queries(q, k, v):
    return attention(q, *shared(q, k, v), dim=2)


@exercise.wrong("runs over the heads")
def over_heads(q, k, v):
    return attention(q, *shared(q, k, v), dim=1)


@exercise.wrong("keys ask and queries answer")
def exchanged(q, k, v):
    k, v = shared(q, k, v)
    return attention(k, q, v)


@exercise.wrong("a dimension of groups and a dimension of heads")
def unmerged(q, k, v):
    H, G = q.shape[1], k.shape[1]
    return grouped_query_attention(q, k, v).unflatten(1, (G, H // G))


@exercise.wrong("one output for each group")
def one_of_each_group(q, k, v):
    return attention(q[:, :: q.shape[1] // k.shape[1]], k, v)


@exercise.wrong("how often is each of the two needed")
def unshared(q, k, v):
    return attention(q, k, v)


@exercise.wrong("how many query heads read the same group")
def h_over_groups(q, k, v):
    groups = [h // k.shape[1] for h in range(q.shape[1])]
    return attention(q, k[:, groups], v[:, groups])


# For H = 6 and G = 2: words of PyTorch's errors, and the question
MISFITS = {
    "tensor a (6) must match the size of tensor b (2)": "Six heads of queries met two heads of "
    "keys or values, and PyTorch pairs them one to one: how often is each of the two needed?",
    "index 2 is out of bounds for dimension": "Head 2 was asked of a tensor that has the heads 0 "
    "and 1: for H=6 and G=2, how many query heads read the same group, and how many heads have the "
    "outputs?",
}


def compare(got, expected, what, mistakes):
    """recognize, with one head in each row, so that all can be shown."""
    if getattr(got, "shape", None) == expected.shape:
        what = f"{what}, one head in each row"
        mistakes = {question: _in_rows(result) for question, result in mistakes.items()}
        got, expected = _in_rows(got), _in_rows(expected)
    recognize(got, expected, what, mistakes)


def _in_rows(outputs):
    """The outputs of each head as a row; what has no heads stays as it is."""
    return outputs.flatten(2).flatten(0, 1) if outputs.dim() == 4 else outputs


@exercise.check
def check(answer):
    import torch

    # All queries are 0, so every output is an average, 4 or 33 of the values.
    q, k = torch.zeros(1, 6, 4, 9), torch.ones(1, 2, 4, 9)
    v = torch.tensor([[[1.0, 3.0, 4.0, 8.0], [10.0, 30.0, 40.0, 52.0]]])[..., None]
    six = "the first three of six query heads read head 0 of two, the others head 1. "
    compare(
        run(answer, q, k, v, errors=MISFITS),
        torch.tensor([4.0, 4, 4, 33, 33, 33])[None, :, None, None].expand(1, 6, 4, 1),
        "the outputs for H=6, G=2 when all queries are 0 (averages of the values)",
        {
            "Your query heads take turns over the groups, 0, 1, 0, 1: "
            f"{six}Which call repeats each head in place?": both_tiled(q, k, v),
            f"All heads read the first group: {six}Where is it used?": first_alone(q, k, v),
            f"All heads read the mean of the groups: {six}Are there still two groups?": (
                averaged(q, k, v)
            ),
            "The outputs have a dimension of groups and a dimension of heads in each: which two "
            "are to become one?": unmerged(q, k, v),
            "The softmax runs over the heads: each head is to have weights that sum to one. Which "
            "dim counts the keys?": over_heads(q, k, v),
            "There is one output for each group: how many heads of queries are there?": (
                one_of_each_group(q, k, v)
            ),
            "A query of yours sees no later key: does the docstring hide any?": causal(q, k, v),
            f"Your query heads read the groups in reverse order: {six}Which comes first?": (
                reversed_groups(q, k, v)
            ),
        },
    )
    generator = torch.Generator().manual_seed(47)

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    # All sizes differ, so that each root tells where it comes from.
    inputs = random(3, 8, 5, 7), random(3, 2, 5, 7), random(3, 2, 5, 11)
    compare(
        unchanged(answer, *inputs),
        grouped_query_attention(*inputs),
        "the outputs for batch=3, H=8, G=2, N=5, d=7, d_v=11",
        {
            "The values are shared as they should be, and the keys take turns, 0, 1, 0, 1: does "
            "a query head read keys and values of the same group?": keys_tiled(*inputs),
            "The keys are averaged over the groups: which group's keys does a query head meet?": (
                keys_averaged(*inputs)
            ),
            "All queries meet the first group's keys: which keys belong to the other values?": (
                first_keys(*inputs)
            ),
            "The scores are not scaled: by what are they to be divided?": unscaled(*inputs),
            "The scores are divided by d itself: where is the root?": by_dimension(*inputs),
            "The scores are multiplied by √d: is the softmax to become sharper or softer?": (
                multiplied(*inputs)
            ),
            "The scores are divided by √H: over how many products does a score sum?": (
                by_heads(*inputs)
            ),
            "The scores are divided by √d_v: over how many products does a score sum?": (
                by_values(*inputs)
            ),
            "The scores are divided by the root of the number of tokens: over how many products "
            "does a score sum?": by_tokens(*inputs),
            "The scores are divided by √2, which is the root of G, or always the same: which size "
            "do queries and keys share?": by_constant(*inputs),
            "The softmax runs over the queries: the weights of one query, a row of its scores, do "
            "not sum to one. Which dim counts the keys?": over_queries(*inputs),
            "In your scores keys ask and queries answer: which of the two has to stand transposed "
            "on the right?": exchanged(*inputs),
        },
    )
    # The last sizes come twice: nothing may be kept from the call before.
    for batch, H, G, N, d, d_v in (
        *((1, 1, 1, 1, 1, 1), (2, 3, 3, 4, 2, 5), (3, 6, 1, 5, 4, 2)),
        *((2, 6, 3, 3, 3, 3), (2, 6, 3, 3, 3, 3)),
    ):
        inputs = random(batch, H, N, d), random(batch, G, N, d), random(batch, G, N, d_v)
        what = f"the outputs for batch={batch}, H={H}, G={G}, N={N}, d={d}, d_v={d_v}"
        same(unchanged(answer, *inputs), grouped_query_attention(*inputs), what)


exercise.equivalent(
    "these dimensions stay where they are, or are equal in the three tensors",
    "* → *turned(*).shape[*",
    "* → *v.shape[1]*",
    "* → *k.shape[3] ** 0.5",
    "by_loop: * → *outputs.shape[1]*",
)
exercise.equivalent(
    "two dimensions change places either way; of four dimensions, 2 is also −2",
    "* → *k.transpose(3, 2) *",
    "* → *k.transpose(-2, 3) *",
    "* → *k.transpose(4, 3) *",
)
exercise.equivalent(
    "every entry is written once",
    "by_loop: * → outputs = torch.ones(*",
    "by_loop: * → outputs[:, h] += *",
)
