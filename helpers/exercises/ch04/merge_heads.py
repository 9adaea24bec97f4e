"""Exercise 4.6, Put the heads together again."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "4.6",
    "Put the heads together again",
    stars=1,
    seconds=WITH_TORCH,
    stub='''\
def merge_heads(y):
    """The way back from heads to tokens: what undoes split_heads.

    y: tensor, batch × H × N × d, the outputs of H heads.
    Returns a tensor, batch × N × H·d: for each token the outputs of all heads one after the
    other, the first head's first.
    """
    return ...  # your code here
''',
    hints=(
        "split_heads took two steps. In which order are they to be undone?",
        "reshape can melt two dimensions into one only where they stand next to each other, the "
        "slower one first. Next to which dimension do the heads have to stand?",
        "Exchange heads and tokens, which gives batch × N × H × d, then let a reshape melt the "
        "last two. (view refuses here, because after a transpose the numbers no longer lie in "
        "the order of the indices.)",
    ),
    notice="This is the vertical concatenation of the chapter, crossed over to rows: what was "
    "below is now to the right. Here the reshape must copy the numbers.",
)


@exercise.solution
def merge_heads(y):
    batch, H, N, d = y.shape
    return y.transpose(1, 2).reshape(batch, N, H * d)


@exercise.right
def by_concatenation(y):
    import torch

    return torch.cat(y.unbind(dim=1), dim=-1)


@exercise.right
def by_flattening(y):
    return y.permute(0, 2, 1, 3).flatten(start_dim=2)


@exercise.right
def by_loops(y):
    import torch

    batch, H, N, d = y.shape
    x = torch.zeros(batch, N, H * d)
    for h in range(H):
        x[:, :, h * d : (h + 1) * d] = y[:, h]
    return x


@exercise.wrong("which two dimensions have to change places")
def reshaped(y):
    batch, H, N, d = y.shape
    return y.reshape(batch, N, H * d)


@exercise.wrong("The heads take turns")
def interleaved(y):
    return y.permute(0, 2, 3, 1).flatten(start_dim=2)


@exercise.wrong("This is the sum of the heads")
def summed(y):
    return y.sum(dim=1)


@exercise.wrong("This is the mean of the heads")
def averaged(y):
    return y.mean(dim=1)


@exercise.wrong("as if there were more tokens")
def along_tokens(y):
    return y.flatten(start_dim=1, end_dim=2)


@exercise.wrong("still has a dimension for the heads")
def unmerged(y):
    return y.transpose(1, 2)


@exercise.wrong("one column for each token")
def in_columns(y):
    return merge_heads(y).transpose(1, 2)


@exercise.wrong("in reverse order")
def reversed_heads(y):
    return merge_heads(y.flip(1))


@exercise.wrong("This is the first head alone")
def first_alone(y):
    return y[:, 0]


@exercise.wrong("Use .reshape")
def by_view(y):
    batch, H, N, d = y.shape
    return y.transpose(1, 2).view(batch, N, H * d)


@exercise.check
def check(answer):
    import torch

    heads, tokens, features = (torch.arange(n, dtype=torch.float64) for n in (2, 4, 3))
    # Feature i of token n in head h is 10n + 3h + i, so that token n becomes 10n, …, 10n + 5.
    y = (3 * heads[:, None, None] + 10 * tokens[:, None] + features)[None]
    together = "are to stand one after the other, as many features as all heads have together"
    recognize(
        unchanged(answer, y),
        merge_heads(y),
        "the features for two heads of three features each, four tokens",
        {
            "The shape is right and the numbers are not: in y all tokens of one head follow each "
            "other, and a row mixes tokens. Before the reshape, which two dimensions have to "
            "change places?": reshaped(y),
            "The heads take turns, feature by feature: which features of a token are to come "
            "first, those of head 0 or the first ones of all heads?": interleaved(y),
            f"This is the sum of the heads: their outputs {together}.": summed(y),
            f"This is the mean of the heads: their outputs {together}.": averaged(y),
            "The heads follow each other as if there were more tokens: which dimension is to "
            "become longer, tokens or features?": along_tokens(y),
            "The result still has a dimension for the heads: which two are to become one?": (
                unmerged(y)
            ),
            "The result has one column for each token: in PyTorch's layout, which dimension comes "
            "last?": in_columns(y),
            "The heads come in reverse order: whose features come first?": reversed_heads(y),
            "This is the first head alone: where are the others?": first_alone(y),
        },
    )
    generator = torch.Generator().manual_seed(46)
    # The last sizes come twice: nothing may be kept from the call before.
    for batch, H, N, d in (
        (1, 1, 1, 1),
        (3, 4, 5, 2),
        (2, 3, 3, 3),
        (4, 1, 2, 5),
        (2, 6, 7, 1),
        (2, 6, 7, 1),
    ):
        y = torch.randn(batch, H, N, d, generator=generator, dtype=torch.float64)
        what = f"the features for batch={batch}, H={H}, N={N}, d={d}"
        same(unchanged(answer, y), merge_heads(y), what)


exercise.equivalent(
    "dimensions 1 and 2 change places either way; of four dimensions, 2 is also −2",
    "merge_heads: * → *transpose(2, 1)*",
    "merge_heads: * → *transpose(1, -2)*",
    "by_flattening: * → *permute(0, -2, 1, 3)*",
    "by_flattening: * → *flatten(start_dim=-2)",
)
exercise.equivalent(
    "every entry is written once", "by_loops: * → x = torch.ones(*", "by_loops: * → x[:, :, *] += *"
)
