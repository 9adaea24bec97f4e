"""Our attention against PyTorch's own, and the matrix form against loops."""

import functools
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.blocks.matrix_form import self_attention
from helpers.blocks.matrix_form_torch import SelfAttention
from helpers.blocks.self_attention import self_attention_by_loops
from helpers.claims import claim, close
from helpers.device import pick_device
from tests.bench.peers import forward, forward_and_backward
from tests.bench.report import interleaved, table

__all__ = ["SIZES", "measure_loops", "measure_torch"]

SIZES = ((8, 256, 128), (8, 1024, 256))  # batch, tokens, features
LENGTHS = (16, 64, 128)
FEATURES = 64


def measure_torch():
    """The section on PyTorch, as Markdown."""
    rows = [row for size in SIZES for row in torch_rows(size, pick_device())]
    return "\n\n".join(
        [
            "## Self-attention in PyTorch",
            "`SelfAttention` of notebook 02 followed by an output projection, because "
            "`nn.MultiheadAttention` (one head) has one. The fused kernel is "
            "`F.scaled_dot_product_attention` between the same projections. All have the same "
            "parameters, in float32, and were found equal before they were timed. In brackets: "
            "ours ÷ theirs, so above 1 theirs is faster.",
            table(
                [
                    "batch × tokens × features",
                    "pass",
                    "ours",
                    "`MultiheadAttention`, `need_weights=False`",
                    "`MultiheadAttention`, `need_weights=True`",
                    "fused kernel",
                ],
                rows,
            ),
        ]
    )


def torch_rows(size, device):
    """Two rows of the table: forward, and forward with backward."""
    batch, tokens, features = size
    torch.manual_seed(0)
    x = torch.randn(size, device=device, requires_grad=True)
    upstream = torch.randn(size, device=device)  # the gradient that arrives from above
    ways = contestants(features, device)

    shape = f"{batch} × {tokens} × {features}"
    ours = None
    for name, way in ways.items():
        output, gradient, *_ = forward_and_backward(*way, x, upstream)
        if ours is None:
            ours = output, gradient
            continue
        claim(f"{shape}: {name} has the same outputs as ours", close(output, ours[0], 1e-4))
        claim(f"{shape}: {name} has the same gradient as ours", close(gradient, ours[1], 1e-3))

    rows = []
    for title, work in (("forward", forward), ("forward and backward", forward_and_backward)):
        works = {name: functools.partial(work, *way, x, upstream) for name, way in ways.items()}
        rows.append([shape, title, *cells(interleaved(works, device))])
    return rows


def contestants(D, device):
    """Four ways to the same outputs: dict from a name to (function of x, its parameters)."""
    ours = SelfAttention(D, D, D).to(device)
    theirs = nn.MultiheadAttention(D, 1, batch_first=True, device=device).eval()
    output = theirs.out_proj
    scale = math.sqrt(D)  # theirs divides the scores by it, and the chapter's form does not
    projections = [ours.queries, ours.keys, ours.values]
    with torch.no_grad():
        for part, tensor in (("weight", theirs.in_proj_weight), ("bias", theirs.in_proj_bias)):
            q, k, v = (getattr(linear, part) for linear in projections)
            tensor.copy_(torch.cat([scale * q, k, v]))

    def fused(x):
        q, k, v = (linear(x) for linear in projections)
        return output(F.scaled_dot_product_attention(q, k, v, scale=1.0))

    our_parameters = [*ours.parameters(), *output.parameters()]
    their_parameters = list(theirs.parameters())
    return {
        "ours": (lambda x: output(ours(x)), our_parameters),
        "need_weights=False": (lambda x: theirs(x, x, x, need_weights=False)[0], their_parameters),
        "need_weights=True": (lambda x: theirs(x, x, x, need_weights=True)[0], their_parameters),
        "the fused kernel": (fused, our_parameters),
    }


def cells(times):
    """The times in milliseconds; behind each of theirs the ratio."""
    ours, *theirs = times.values()
    return [
        f"{1000 * ours:.2f} ms",
        *(f"{1000 * their:.2f} ms ({ours / their:.2f})" for their in theirs),
    ]


def measure_loops():
    """The section on loops and the matrix form, as Markdown."""
    rng = np.random.default_rng(0)
    head = {}
    for role in "qkv":
        head[f"Omega_{role}"] = rng.normal(size=(FEATURES, FEATURES)) / math.sqrt(FEATURES)
        head[f"beta_{role}"] = rng.normal(size=(FEATURES, 1))
    rows = []
    for N in LENGTHS:
        X = rng.normal(size=(FEATURES, N))
        works = {
            "loops": functools.partial(self_attention_by_loops, X, **head),
            "matrix form": functools.partial(self_attention, X, **head),
        }
        same = close(works["loops"]()[0], works["matrix form"]()[0])
        claim(f"{N} tokens: loops and matrix form compute the same outputs", same)
        times = interleaved(works)
        loops, matrix = times["loops"], times["matrix form"]
        rows.append(
            [N, f"{1000 * matrix:.3f} ms", f"{1000 * loops:.1f} ms", f"{loops / matrix:.0f}"]
        )
    return "\n\n".join(
        [
            "## Loops and matrix form in NumPy",
            f"`self_attention` of notebook 02 and `self_attention_by_loops` of notebook 01, in "
            f"float64; tokens, queries, keys and values have {FEATURES} entries.",
            table(["tokens", "matrix form", "loops", "loops ÷ matrix form"], rows),
        ]
    )
