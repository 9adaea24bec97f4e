"""Our multi-head attention and our transformer layers against PyTorch's own."""

import functools

import torch
from torch import nn

from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention
from helpers.blocks.transformer_layer_torch import NormAfterLayer, PreNormLayer
from helpers.claims import below, claim
from helpers.device import pick_device
from tests.bench.attention import SIZES
from tests.bench.peers import forward, forward_and_backward, same_parameters
from tests.bench.report import interleaved, table

__all__ = ["measure"]

H = 8
PASSES = {  # title -> whether in train mode, and the work
    "evaluation": (False, forward),
    "training, forward": (True, lambda function, parameters, x, upstream: [function(x)]),
    "training, forward and backward": (True, forward_and_backward),
}


class TheirAttention(nn.MultiheadAttention):
    """PyTorch's attention as a function of one input."""

    def forward(self, x):
        return super().forward(x, x, x, need_weights=False)[0]


class Masked(nn.Module):
    """A layer as a function of one input, with the later tokens hidden from each token."""

    def __init__(self, layer, tokens):
        super().__init__()
        self.layer = layer
        self.register_buffer("hidden", torch.ones(tokens, tokens, dtype=torch.bool).triu(1))

    def forward(self, x):
        return self.layer(x, self.hidden)


def measure():
    """The section on multi-head attention and the layer, as Markdown."""
    device = pick_device()
    rows = [
        row
        for size in SIZES
        for name, modules in pairs(*size[1:]).items()
        for row in rows_of(name, [module.to(device) for module in modules], size, device)
    ]
    return "\n\n".join(
        [
            "## Multi-head attention and the transformer layer",
            "`MultiHeadSelfAttention` of notebook 04 against `nn.MultiheadAttention` with "
            "`need_weights=False`, and the layers of notebook 05 against "
            f"`nn.TransformerEncoderLayer`: {H} heads, an MLP four times as wide as a token, no "
            "dropout, float32. Both have the same parameters; their outputs and all gradients were "
            "found equal before they were timed. *Evaluation* is eval mode without gradients, "
            "where PyTorch's modules take their fast path, one native function for the whole "
            "module; on a CPU it writes all the scores out. *Training* is train mode: the forward "
            "pass also records what the backward pass needs, and there PyTorch's modules go step "
            "by step, as ours do. A causal mask hides from each token the later ones. Above 1, "
            "theirs is faster.",
            table(
                ["module", "batch × tokens × features", "pass", "ours", "theirs", "ours ÷ theirs"],
                rows,
            ),
        ]
    )


def pairs(tokens, D):
    """Dict from a name to our module and PyTorch's, with the same parameters."""
    torch.manual_seed(0)
    options = dict(dropout=0.0, batch_first=True)
    heads = MultiHeadSelfAttention(D, H)
    found = {"multi-head attention": (heads, TheirAttention(D, H, **options))}
    for name, variant in (("norm-after layer", NormAfterLayer), ("pre-norm layer", PreNormLayer)):
        options["norm_first"] = variant is PreNormLayer
        theirs = nn.TransformerEncoderLayer(D, H, 4 * D, **options)
        found[name] = variant(D, H, 4 * D, dropout=0.0), theirs
    for ours, theirs in found.values():
        same_parameters(ours, theirs)
    masked = tuple(Masked(layer, tokens) for layer in found["pre-norm layer"])
    return found | {"pre-norm layer, causal mask": masked}


def rows_of(name, modules, size, device):
    """The rows of the table for our module and PyTorch's, one for each pass."""
    shape = " × ".join(map(str, size))
    x = torch.randn(size, device=device, requires_grad=True)
    upstream = torch.randn(size, device=device)
    rows = []
    for title, (training, work) in PASSES.items():
        works = {
            who: functools.partial(
                work, module.train(training), [*module.parameters()], x, upstream
            )
            for who, module in zip(("ours", "theirs"), modules, strict=True)
        }
        claim_same(f"{name}, {shape}, {title}", works["ours"](), works["theirs"]())
        ours, theirs = interleaved(works, device).values()
        times = [f"{1000 * seconds:.2f} ms" for seconds in (ours, theirs)]
        rows.append([name, shape, title, *times, f"{ours / theirs:.2f}"])
    return rows


def claim_same(what, ours, theirs):
    """Claim that outputs, and gradients if there are any, are the same.

    Gradients are compared as a whole: where rounding carries one hidden unit of the MLP across the
    kink of ReLU, single entries differ.
    """
    outputs, *gradients = [
        float((a - b).detach().norm() / b.detach().norm())
        for a, b in zip(ours, theirs, strict=True)
    ]
    claim(f"{what}: ours and PyTorch's have the same outputs", below(outputs, 1e-5))
    if gradients:
        claim(f"{what}: and the same gradients", below(max(gradients), 1e-2))
