"""Exercise 10.10, Two blocks, without the matrix."""

import numpy as np

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import (
    NOT_THE_LARGEST,
    OVERFLOW,
    UNDERFLOW,
    differentiable,
    recognize,
    survives,
)

exercise = Exercise(
    "10.10",
    "Two blocks, without the matrix",
    stars=3,
    seconds=WITH_TORCH,
    stub='''\
def attend_to_two_blocks(q, k, v, size):
    """Scaled attention to one's own block and the block before it, in PyTorch and in order N.

    q, k: tensors, batch × N × D_q; v: batch × N × D_v. N is a multiple of size.
    The tokens are cut into blocks of `size` that follow each other. A query sees all keys of its
    own block and of the one before, and no others; the first block has none before it. Scores are
    divided by √D_q.
    Returns batch × N × D_v. No tensor holds an N × N matrix, and gradients go back through it.
    """
    return ...  # your code here
''',
    hints=(
        "Reshape q to batch × blocks × size × D_q. Which keys does each block of queries need, and "
        "what would their shape be, if the first block had a block before it, too?",
        "Move the blocks of keys by one place and put them beside the blocks themselves, with "
        "torch.cat: batch × blocks × 2 size × D_q. Then the products are batched.",
        "What stands before the first block is no text: its scores must be −∞ before the softmax, "
        "for a key of zeros has a score of 0 and gets weight.",
    ),
    notice="Scores are N × 2 size in all, so twice the text costs twice the time. Blocks let one "
    "large product do the work; a window that slides token by token is as cheap to count, and "
    "slower to run.",
)


@exercise.solution
def attend_to_two_blocks(q, k, v, size):
    import torch

    batch, N, D_q = q.shape
    q, k, v = (x.reshape(batch, N // size, size, -1) for x in (q, k, v))
    k, v = (torch.cat([x.roll(1, dims=1), x], dim=2) for x in (k, v))  # … × 2 size × …
    scores = q @ k.transpose(2, 3) / D_q**0.5  # batch × blocks × size × 2 size
    missing = torch.zeros(N // size, 1, 2 * size, dtype=torch.bool)
    missing[0, :, :size] = True  # what rolled around to the first block
    weights = scores.masked_fill(missing, -torch.inf).softmax(dim=3)
    return (weights @ v).reshape(batch, N, -1)


@exercise.right
def block_by_block(q, k, v, size):
    import torch

    outputs = []
    for start in range(0, q.shape[1], size):
        seen = slice(max(0, start - size), start + size)
        scores = torch.einsum("bnd,bmd->bnm", q[:, start : start + size], k[:, seen])
        weights = torch.softmax(scores / np.sqrt(q.shape[2]), dim=-1)
        outputs.append(torch.bmm(weights, v[:, seen]))
    return torch.cat(outputs, dim=1)


@exercise.right
def by_the_fused_function(q, k, v, size):
    from torch.nn import functional

    outputs = []
    for start in range(0, q.shape[1], size):
        first = start - size if start else 0
        seen = k[:, first : start + size], v[:, first : start + size]
        outputs.append(functional.scaled_dot_product_attention(q[:, start : start + size], *seen))
    return outputs[0] if len(outputs) == 1 else cat(outputs)


@exercise.right
def by_two_sums(q, k, v, size):
    import torch

    _, N, D_q = q.shape
    q, k, v = (x.unflatten(1, (N // size, size)) for x in (q, k, v))
    own = q @ k.mT * D_q**-0.5
    before = q[:, 1:] @ k[:, :-1].mT * D_q**-0.5
    before = torch.cat([torch.full_like(own[:, :1], -1e30), before], dim=1)
    v_before = torch.cat([torch.zeros_like(v[:, :1]), v[:, :-1]], dim=1)
    largest = torch.maximum(own.amax(3, keepdim=True), before.amax(3, keepdim=True))
    own, before = (own - largest).exp(), (before - largest).exp()
    total = own.sum(3, keepdim=True) + before.sum(3, keepdim=True)
    return ((own @ v + before @ v_before) / total).flatten(1, 2)


def cat(parts):
    import torch

    return torch.cat(parts, dim=1)


def masked(
    q, k, v, size, sees=lambda q, k, q_block, k_block: k_block <= q_block, back=1, scale=None
):
    """The attention by an N × N matrix, or one with slips.

    sees: function of the places and blocks of query and key, beside "at most `back` blocks before".
    """
    import torch

    N, D_q = q.shape[1:]
    place = torch.arange(N)
    places = place[:, None], place, place[:, None] // size, place // size  # queries down
    seen = sees(*places) & (places[3] >= places[2] - back)
    scores = q @ k.transpose(1, 2) / (D_q**0.5 if scale is None else scale(D_q, N, size))
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num() @ v


def slipped(**slip):
    """A wrong answer: masked with slips."""
    return lambda *inputs: masked(*inputs, **slip)


def around(q, k, v, size):
    """The first block sees the last one."""
    import torch

    first = masked(*(torch.cat([x[:, -size:], x], dim=1) for x in (q, k, v)), size)
    return first[:, size:]


def padded(q, k, v, size):
    """The first block sees keys and values of zeros before it."""
    import torch

    zeros = (torch.zeros_like(x[:, :size]) for x in (q, k, v))
    longer = (torch.cat([zero, x], dim=1) for zero, x in zip(zeros, (q, k, v), strict=True))
    return masked(*longer, size)[:, size:]


def softmax_over_queries(q, k, v, size):
    import torch

    place = torch.arange(q.shape[1]) // size
    seen = (place <= place[:, None]) & (place >= place[:, None] - 1)
    scores = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=1) @ v


def zero_scores(q, k, v, size):
    import torch

    place = torch.arange(q.shape[1]) // size
    seen = (place <= place[:, None]) & (place >= place[:, None] - 1)
    scores = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
    return scores.masked_fill(~seen, 0).softmax(dim=2) @ v


def separate_softmaxes(q, k, v, size):
    """One softmax over the own block and one over the block before, added."""
    own = masked(q, k, v, size, back=0)
    before = masked(q, k, v, size, sees=lambda q, k, q_block, k_block: k_block < q_block)
    return own + before


# The question to ask, and the wrong answer
MISTAKES = {
    "Your queries see their own block alone: what else do they see?": slipped(back=0),
    "Your queries see two blocks before their own: how many are asked for?": slipped(back=2),
    "Your queries see all blocks before their own: how many are asked for?": slipped(back=10**6),
    "Your queries see everything: which blocks are hidden?": slipped(
        sees=lambda q, k, q_block, k_block: k >= 0, back=10**6
    ),
    "Your queries see the block after their own, too: which two blocks are asked for?": slipped(
        sees=lambda q, k, q_block, k_block: k_block <= q_block + 1
    ),
    "Your queries see their own block and the one after it: which one is asked for?": slipped(
        sees=lambda q, k, q_block, k_block: k_block <= q_block + 1, back=0
    ),
    "Your queries see the block before and not their own: is it not one of the two?": slipped(
        sees=lambda q, k, q_block, k_block: k_block < q_block
    ),
    "Your queries do not see the later keys of their own block: is this a decoder?": slipped(
        sees=lambda q, k, q_block, k_block: k <= q
    ),
    "Your queries do not see their own key: is it hidden in the stub?": slipped(
        sees=lambda q, k, q_block, k_block: (k_block <= q_block) & (k != q)
    ),
    "Your window slides with each token: do all queries of a block see the same keys?": (
        slipped(
            sees=lambda q, k, q_block, k_block: (k <= q) & (q - k < 2 * int((k_block == 0).sum())),
            back=10**6,
        ),
        slipped(
            sees=lambda q, k, q_block, k_block: abs(q - k) <= int((k_block == 0).sum()),
            back=10**6,
        ),
    ),
    "Your first block sees the last one: what stands before the first block?": around,
    "Your first block sees keys of zeros before it, and a score of 0 has the exponential 1: how "
    "are they hidden?": padded,
    "Your scores are not divided by √D_q: how large is D_q?": slipped(scale=lambda D_q, N, size: 1),
    "Your scores are divided by D_q: is its root asked for?": slipped(
        scale=lambda D_q, N, size: D_q
    ),
    "Your scores are multiplied by √D_q: are they to become smaller or larger?": slipped(
        scale=lambda D_q, N, size: D_q**-0.5
    ),
    "Your scores are divided by the root of the number of keys that are seen: by the root of what "
    "should they be?": slipped(scale=lambda D_q, N, size: (2 * size) ** 0.5),
    "Your softmax runs over the queries: over what do the weights of one query sum to one?": (
        softmax_over_queries
    ),
    "Your hidden scores are 0, and have weight: which score has the exponential 0?": zero_scores,
    "Own block and block before have a softmax each: do the weights of a query sum to one "
    "together?": (separate_softmaxes, lambda *inputs: separate_softmaxes(*inputs) / 2),
}
register(exercise, MISTAKES)


@exercise.wrong("the first block is not as it should be")
def first_block_left_out(q, k, v, size):
    outputs = attend_to_two_blocks(q, k, v, size).clone()
    outputs[:, :size] = 0
    return outputs


@exercise.wrong("a tensor of 262,144 numbers was made")
def with_the_matrix(q, k, v, size):
    return masked(q, k, v, size)


@exercise.wrong("a tensor of 262,144 numbers was made")
def by_the_fused_function_and_a_mask(q, k, v, size):
    import torch
    from torch.nn import functional

    place = torch.arange(q.shape[1]) // size
    seen = (place <= place[:, None]) & (place >= place[:, None] - 1)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


@exercise.wrong("No gradient can go back")
def without_gradients(q, k, v, size):
    import torch

    with torch.no_grad():
        return attend_to_two_blocks(q, k, v, size)


@exercise.wrong("np.exp(1000) overflows")
def unstable(q, k, v, size):
    import torch

    place = torch.arange(q.shape[1]) // size
    seen = (place <= place[:, None]) & (place >= place[:, None] - 1)
    powers = (q @ k.transpose(1, 2) / q.shape[2] ** 0.5).exp() * seen
    return powers / powers.sum(dim=2, keepdim=True) @ v


@exercise.wrong("got an array of 1 × 5 × 8")
def transposed(q, k, v, size):
    return attend_to_two_blocks(q, k, v, size).transpose(1, 2)


@exercise.wrong("in place")
def in_place(q, k, v, size):
    q /= q.shape[2] ** 0.5
    return masked(q, k, v, size, scale=lambda D_q, N, size: 1)


@exercise.check
def check(answer):
    import torch

    generator = torch.Generator().manual_seed(1010)

    def tensors(batch, N, D_q, D_v):
        sizes = (D_q, D_q, D_v)
        return [torch.randn(batch, N, D, generator=generator).double() for D in sizes]

    inputs = *tensors(1, 8, 3, 5), 2
    got, expected = unchanged(answer, *inputs), attend_to_two_blocks(*inputs)
    rest = getattr(got, "shape", None) == expected.shape and matches(got[:, 2:], expected[:, 2:])
    mistakes = results(MISTAKES, *inputs)
    known = any(matches(got, wrong) for wrongs in mistakes.values() for wrong in wrongs)
    if rest and not known and not matches(got, expected):
        raise Wrong(
            "All blocks are right but the first, and the first block is not as it should be: what "
            "does it see, if no block stands before it?",
            expected[0],
            got[0],
        )
    what = "the outputs for batch=1, N=8, D_q=3, D_v=5 and size=2"
    recognize(got, expected, what, mistakes)
    for batch, N, D_q, D_v, size in (
        *((2, 12, 4, 3, 3), (3, 5, 2, 4, 5), (1, 6, 1, 1, 1), (2, 10, 5, 2, 5), (1, 16, 2, 3, 4)),
        *((2, 12, 4, 3, 3), (1, 16, 2, 3, 2)),
    ):
        inputs = *tensors(batch, N, D_q, D_v), size
        what = f"the outputs for batch={batch}, N={N}, D_q={D_q}, D_v={D_v} and size={size}"
        same(unchanged(answer, *inputs), attend_to_two_blocks(*inputs), what)
    check_large(answer)
    check_gradients(answer, tensors(2, 9, 4, 3), 3)
    check_sizes(answer, tensors)


def check_large(answer):
    """Scores of ±1000: the queries are 1, so the scores are the keys, here in blocks of two."""
    import torch

    values = torch.tensor([3.0, -2.0, 7.0, 5.0]).double()[None, :, None]
    for keys, why in (
        ([1000.0, 1001.0, 999.0, 1000.0], OVERFLOW),
        ([-1000.0, -1001.0, -999.0, -1000.0], UNDERFLOW),
        ([-1000.0, -999.0, 1000.0, 1.0], NOT_THE_LARGEST),
        ([1000.0, 1.0, -1000.0, -999.0], NOT_THE_LARGEST),
    ):
        inputs = torch.ones_like(values), torch.tensor(keys).double()[None, :, None], values, 2
        scores = ", ".join(f"{key:g}" for key in keys)
        what = f"the outputs for the scores {scores} and size=2"
        survives(unchanged(answer, *inputs), attend_to_two_blocks(*inputs), what, why)


def check_gradients(answer, tensors, size):
    """The gradients of all outputs together, weighted."""
    import torch

    gradients = []
    for work in (lambda *inputs: differentiable(answer, *inputs), attend_to_two_blocks):
        leaves = [x.clone().requires_grad_() for x in tensors]
        outputs = work(*leaves, size)
        weights = torch.arange(outputs.numel(), dtype=outputs.dtype).reshape(outputs.shape)
        found = torch.autograd.grad((weights.sin() * outputs).sum(), leaves, allow_unused=True)
        pairs = zip(found, leaves, strict=True)
        gradients.append([torch.zeros_like(x) if g is None else g for g, x in pairs])
    for name, got, expected in zip("qkv", *gradients, strict=True):
        same(got, expected, f"the gradient with respect to {name}")


def check_sizes(answer, tensors):
    """Whether any tensor on the way has a place for each pair of tokens."""
    from helpers.counting import largest

    N, size = 512, 8
    inputs = *tensors(1, N, 2, 3), size
    most = largest(lambda: answer(*inputs))
    if most >= N * N // 2:
        raise Wrong(
            f"The outputs are right, but for N={N}, size={size} a tensor of {most:,} numbers was "
            "made, half a place or more for each pair of tokens: which scores are not needed?"
        )


exercise.equivalent(
    "queries and keys are equally many and equally long, and there are as many values",
    "attend_to_two_blocks: * → batch, N, D_q = k.shape",
    "by_two_sums: * → _, N, D_q = k.shape",
    "block_by_block: * → for start in range(0, k.shape[1], size):",
    "block_by_block: * → for start in range(0, v.shape[1], size):",
    "block_by_block: * → weights = torch.softmax(scores / np.sqrt(k.shape[2]), dim=-1)",
    "by_the_fused_function: * → for start in range(0, k.shape[1], size):",
    "by_the_fused_function: * → for start in range(0, v.shape[1], size):",
)
exercise.equivalent(
    "a last block of no tokens adds nothing",
    "block_by_block: * → for start in range(0, q.shape[1] + 1, size):",
    "by_the_fused_function: * → for start in range(0, q.shape[1] + 1, size):",
)
exercise.equivalent(
    "the same numbers, written in another order",
    "attend_to_two_blocks: * → *k.transpose(3, 2)*",
    "attend_to_two_blocks: * → *k.transpose(-2, 3)*",
    "attend_to_two_blocks: * → missing[0, :, :size] += True",
    "block_by_block: * → seen = slice(max(start - size, 0), start + size)",
    "by_the_fused_function: * → first = start - size if outputs else 0",
    "by_two_sums: * → return *flatten(1, -2)",
)
exercise.equivalent(
    "one block alone may be joined, too", "by_the_fused_function: return outputs[0] if * → return *"
)
exercise.equivalent(
    "values that have no weight may be any numbers",
    "by_two_sums: v_before = * → v_before = *",
    "by_two_sums: * → *torch.full_like(own[:, :1], -2e+30)*",
    "by_two_sums: * → *torch.full_like(turned(own)[:, :1], *",
)
exercise.equivalent(
    "any number may be subtracted that keeps the largest exponential from overflowing",
    "by_two_sums: largest = * → largest = *",
)
