"""Exercise 4.5, Split the features into heads."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "4.5",
    "Split the features into heads",
    stars=2,
    seconds=WITH_TORCH,
    stub='''\
def split_heads(x, H):
    """The features of every token, dealt out to H heads.

    x: tensor, batch × N × D, with D a multiple of H.
    Returns a tensor, batch × H × N × D/H: head h gets the features h·D/H … (h+1)·D/H − 1 of
    every token, counted from 0.
    """
    return ...  # your code here
''',
    hints=(
        "Which of the three dimensions is to be cut into pieces, and which ones stay whole? What "
        "is the shape right after the cut, before anything changes places?",
        "reshape reads and writes the numbers in one order, the last index running fastest. So "
        "it can cut the last dimension in two: batch × N × H × D/H.",
        "Now the second and third dimension have to change places. That is a transpose; another "
        "reshape would deal the numbers out anew.",
    ),
    notice="Neither step moves a number in memory: the result is another view of x. Heads and "
    "batch now stand side by side, and one product serves all heads of all sentences.",
)


@exercise.solution
def split_heads(x, H):
    batch, N, D = x.shape
    return x.reshape(batch, N, H, D // H).transpose(1, 2)  # batch × H × N × D/H


@exercise.right
def by_slices(x, H):
    import torch

    d = x.shape[2] // H
    return torch.stack([x[:, :, h * d : (h + 1) * d] for h in range(H)], dim=1)


@exercise.right
def by_chunks(x, H):
    import torch

    return torch.stack(x.chunk(H, dim=-1), dim=1)


@exercise.right
def by_loops(x, H):
    import torch

    batch, N, D = x.shape
    heads = torch.zeros(batch, H, N, D // H, dtype=x.dtype)
    for h in range(H):
        for i in range(D // H):
            heads[:, h, :, i] = x[:, :, h * (D // H) + i]
    return heads


@exercise.wrong("every head gets all features of some tokens")
def along_tokens(x, H):
    batch, N, D = x.shape
    return x.reshape(batch, H, N // H, D)


@exercise.wrong("which call exchanges two dimensions")
def reshaped(x, H):
    batch, N, D = x.shape
    return x.reshape(batch, H, N, D // H)


@exercise.wrong("are neighbors to stay together")
def interleaved(x, H):
    batch, N, D = x.shape
    return x.reshape(batch, N, D // H, H).permute(0, 3, 1, 2)


@exercise.wrong("last two dimensions are exchanged")
def transposed(x, H):
    return split_heads(x, H).transpose(2, 3)


@exercise.wrong("at which dimension")
def left_in_place(x, H):
    return split_heads(x, H).transpose(1, 2)


@exercise.wrong("which of the two counts the heads")
def sizes_exchanged(x, H):
    return split_heads(x, x.shape[2] // H)


@exercise.wrong("before the batch")
def heads_first(x, H):
    return split_heads(x, H).transpose(0, 1)


@exercise.wrong("in reverse order")
def reversed_heads(x, H):
    return split_heads(x, H).flip(1)


@exercise.wrong("the same features")
def first_features_alone(x, H):
    return split_heads(x, H)[:, :1].expand(-1, H, -1, -1)


@exercise.wrong("one tensor of them")
def one_tensor_for_each_head(x, H):
    return x.chunk(H, dim=2)


@exercise.check
def check(answer):
    import torch

    tokens = torch.arange(4, dtype=torch.float64)
    x = (10 * tokens[:, None] + torch.arange(6))[None]  # feature i of token n is 10n + i
    got = unchanged(answer, x, 2)
    if isinstance(got, (tuple, list)) and all(hasattr(head, "shape") for head in got):
        raise Wrong(
            f"Your heads are separate tensors, {len(got)} in all: which call makes one tensor of "
            "them, with a new dimension for the heads?"
        )
    recognize(
        got,
        split_heads(x, 2),
        "the heads for H=2 and four tokens of six features, feature i of token n being 10n + i",
        {
            "You cut along the tokens: every head gets all features of some tokens, and is to get "
            "some features of all tokens. Which dimension counts the features?": (
                along_tokens(x, 2)
            ),
            "The shape is right and the numbers are not: reshape deals them out again in the same "
            "order, so that the first head got the first tokens. Cut the features first: "
            "which call exchanges two dimensions?": reshaped(x, 2),
            "The heads take turns, feature by feature: head 0 is to get the features 0, 1, 2; are "
            "neighbors to stay together?": interleaved(x, 2),
            "The last two dimensions are exchanged: does a row of a head belong to a token or to "
            "a feature?": transposed(x, 2),
            "The features are cut as they should be, and the heads stand after the tokens: at "
            "which dimension does PyTorch want the heads?": left_in_place(x, 2),
            "There are D/H heads of H features each: which of the two counts the heads?": (
                sizes_exchanged(x, 2)
            ),
            "The heads stand before the batch: which dimension comes first?": heads_first(x, 2),
            "The heads come in reverse order: which features does head 0 get?": (
                reversed_heads(x, 2)
            ),
            "All heads got the same features, the first D/H: where do the features of head h "
            "begin?": first_features_alone(x, 2),
        },
    )
    generator = torch.Generator().manual_seed(45)
    # Among them, the same tensor size with another H, and the same sizes twice
    for batch, N, H, d in (
        *((1, 1, 1, 1), (3, 5, 4, 2), (2, 3, 3, 3), (4, 2, 1, 5)),
        *((2, 7, 6, 1), (2, 7, 3, 2), (2, 7, 3, 2)),
    ):
        x = torch.randn(batch, N, H * d, generator=generator, dtype=torch.float64)
        what = f"the heads for batch={batch}, N={N}, D={H * d}, H={H}"
        same(unchanged(answer, x, H), split_heads(x, H), what)


exercise.equivalent(
    "dimensions 1 and 2 change places either way, and dimension 2 of four is also −2",
    "split_heads: * → *.transpose(2, 1)",
    "split_heads: * → *.transpose(1, -2)",
)
exercise.equivalent(
    "every entry is written once",
    "by_loops: * → heads = torch.ones(*",
    "by_loops: * → heads[:, h, :, i] += *",
)
exercise.equivalent(
    "any kind of float will do",
    "by_loops: * → heads = torch.zeros(batch, H, N, D // H)",
    "by_loops: * → *dtype=turned(x).dtype)",
)
