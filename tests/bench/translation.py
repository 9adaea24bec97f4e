"""Our decoder layers against PyTorch's, and how well a translator does after so many seconds."""

import functools
import time

import torch
from torch import nn

from helpers.blocks.cross_attention_torch import (
    NormAfterDecoderLayer,
    PreNormDecoderLayer,
    SequenceModel,
    target_loss,
)
from helpers.corpora.phrases import phrases
from helpers.device import pick_device
from helpers.experiments.translation import SIZE, SIZES, exact, sources, targets, vocabulary
from helpers.training import minibatches, train
from tests.bench.layers import PASSES, H, claim_same
from tests.bench.peers import same_parameters
from tests.bench.report import interleaved, table

__all__ = ["measure"]

SHAPES = ((8, 64, 256), (32, 64, 128), (64, 16, 128))  # batch, tokens of both texts, features
SECONDS = (30, 60)  # of training
HELD_OUT = 500


class Reading(nn.Module):
    """A decoder layer as a function of the target alone, with a padded source and causal mask."""

    def __init__(self, layer, source, padding, future, theirs):
        super().__init__()
        self.layer, self.theirs = layer, theirs
        self.source, self.padding, self.future = source, padding, future

    def forward(self, x):
        if self.theirs:
            masks = dict(tgt_mask=self.future, memory_key_padding_mask=self.padding)
            return self.layer(x, self.source, **masks)
        return self.layer(x, self.source, self.future, self.padding[:, None])


def measure():
    """The section on decoder layers and translation, as Markdown."""
    device = pick_device()
    rows = [
        row for shape in SHAPES for pre_norm in (False, True) for row in rows_of(shape, pre_norm)
    ]
    shares = [[f"{seconds} s", *trained(seconds, device)] for seconds in SECONDS]
    return "\n\n".join(
        [
            "## Decoder layers and translation",
            "The decoder layers of notebook 09, with three sublayers, against "
            f"`nn.TransformerDecoderLayer`: {H} heads, an MLP four times as wide as a token, no "
            "dropout, float32; source and target have as many tokens, a fifth of the source is "
            "padding, and the future of the target is hidden. Both have the same parameters; their "
            "outputs and all gradients were found equal before they were timed. Passes as for the "
            "layers above. Above 1, theirs is faster.",
            table(
                ["layer", "batch × tokens × features", "pass", "ours", "theirs", "ours ÷ theirs"],
                rows,
            ),
            "English to French with the translator of notebook 09, trained for so many seconds by "
            f"{torch.get_num_threads()} threads on 20,000 phrases (seed 0): which share of "
            f"{HELD_OUT} held-out phrases it translates exactly.",
            table(["training", "steps", "exactly right"], shares),
        ]
    )


def pair(shape, pre_norm, device):
    """Our layer and PyTorch's, as functions of the target."""
    batch, tokens, D = shape
    torch.manual_seed(0)
    ours = (PreNormDecoderLayer if pre_norm else NormAfterDecoderLayer)(D, H, 4 * D, dropout=0.0)
    options = dict(dropout=0.0, batch_first=True, norm_first=pre_norm)
    theirs = same_parameters(ours, nn.TransformerDecoderLayer(D, H, 4 * D, **options))
    source = torch.randn(shape, device=device)
    padding = torch.zeros(batch, tokens, dtype=torch.bool, device=device)
    padding[:, tokens - tokens // 5 :] = True
    future = torch.ones(tokens, tokens, dtype=torch.bool, device=device).triu(1)
    return [
        Reading(layer.to(device), source, padding, future, theirs=layer is theirs)
        for layer in (ours, theirs)
    ]


def rows_of(shape, pre_norm):
    """The rows of the table for one size and placement, one for each pass."""
    device = pick_device()
    name = "pre-norm" if pre_norm else "norm-after"
    modules = pair(shape, pre_norm, device)
    x = torch.randn(shape, device=device, requires_grad=True)
    upstream = torch.randn(shape, device=device)
    rows = []
    for title, (training, work) in PASSES.items():
        # The parameters in our order, for the gradients to be compared one by one.
        ours, theirs = (named_parameters(module.train(training)) for module in modules)
        works = {
            who: functools.partial(work, module, parameters, x, upstream)
            for who, module, parameters in (
                ("ours", modules[0], ours),
                ("theirs", modules[1], theirs),
            )
        }
        text = " × ".join(map(str, shape))
        claim_same(f"{name} decoder layer, {text}, {title}", works["ours"](), works["theirs"]())
        mine, other = interleaved(works, device).values()
        times = [f"{1000 * seconds:.2f} ms" for seconds in (mine, other)]
        rows.append([name, text, title, *times, f"{mine / other:.2f}"])
    return rows


def named_parameters(reading):
    """The layer's parameters, in an order that is the same for ours and for PyTorch's."""
    layer = reading.layer
    if reading.theirs:
        parts = layer.self_attn, layer.multihead_attn, layer.linear1, layer.linear2
        norms = layer.norm1, layer.norm2, layer.norm3
    else:
        parts = layer.attention, layer.cross, layer.mlp[0], layer.mlp[2]
        norms = layer.norm_1, layer.norm_2, layer.norm_3
    return [parameter for part in (*parts, *norms) for parameter in part.parameters()]


def trained(seconds, device):
    """Steps made in so many seconds of training, and the share of phrases exactly right."""
    drawn = phrases(20_000, 1, "train")
    tensors = sources(drawn), targets(drawn, "french")

    def model_after(steps):
        torch.manual_seed(0)
        model = SequenceModel(len(vocabulary()), **SIZES).to(device)
        batches = minibatches(*tensors, size=SIZE, seed=0)
        start = time.perf_counter()
        train(model, target_loss, batches, steps, learning_rate=4e-3, warm_up=20, show=False)
        return model, time.perf_counter() - start

    model_after(20)  # start-up
    _, took = model_after(40)
    steps = int(seconds * 40 / took)
    model, _ = model_after(steps)
    right = exact(model, phrases(HELD_OUT, 9, "test"), "french")
    return steps, f"{100 * sum(right) / len(right):.1f} of 100"
