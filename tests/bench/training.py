"""How many tokens a second a small network learns from, in our loop and in one by hand."""

import copy
import itertools

import torch
from torch import nn
from torch.nn import functional as F

from helpers.blocks.transformer_layer_torch import NormAfterLayer, Transformer
from helpers.claims import claim, close
from helpers.device import pick_device
from helpers.training import minibatches, train
from tests.bench.peers import same_parameters
from tests.bench.report import interleaved, table

__all__ = ["measure"]

K, D, H, WORDS = 4, 128, 8, 400
BATCH, TOKENS, STEPS = 64, 64, 4  # STEPS make one sample


def measure():
    """The section on training, as Markdown."""
    device = pick_device()
    ours, theirs = networks(device)
    sentences = torch.randint(WORDS, (STEPS * BATCH, TOKENS), device=device)
    targets = sentences.max(dim=1, keepdim=True).values.expand_as(sentences)

    def batches():
        return minibatches(sentences, targets, size=BATCH, seed=0)

    again = copy.deepcopy(ours)
    works = {
        "`Transformer`, `train`": lambda: train(ours, loss, batches(), STEPS, show=False).losses,
        "`Transformer`, loop by hand": lambda: by_hand(again, batches()),
        "`nn.TransformerEncoder`, loop by hand": lambda: by_hand(theirs, batches()),
    }
    first, *others = (work()[0] for work in works.values())
    claim("all three begin with the same loss", close(others, [first] * 2, 1e-4))
    times = interleaved(works, device)
    *_, peer = times.values()
    rows = [
        [name, f"{STEPS * BATCH * TOKENS / seconds:,.0f}", f"{seconds / peer:.2f}"]
        for name, seconds in times.items()
    ]
    parameters = sum(p.numel() for p in ours.parameters())
    return "\n\n".join(
        [
            "## Training",
            f"Embedding, {K} norm-after layers and readout: {D} features, {H} heads, "
            f"{parameters:,} parameters; {BATCH} × {TOKENS} tokens a step, no dropout, float32. "
            "The loop by hand is AdamW and nothing else, without the schedule, clipping and "
            "records of `train`. All start from the same parameters and see the same batches. "
            "Above 1, the last row is faster.",
            table(["network and loop", "tokens a second", "time ÷ the last row's"], rows),
        ]
    )


def networks(device):
    """Ours, and the same of PyTorch's parts with the same parameters."""
    torch.manual_seed(0)
    stack = Transformer(NormAfterLayer, K, D, H, 4 * D, dropout=0.0)
    layer = nn.TransformerEncoderLayer(D, H, 4 * D, dropout=0.0, batch_first=True)
    ours, theirs = (
        nn.Sequential(nn.Embedding(WORDS, D), middle, nn.Linear(D, WORDS)).to(device)
        for middle in (stack, nn.TransformerEncoder(layer, K))
    )
    return ours, same_parameters(ours, theirs)


def loss(model, batch):
    """Each place should name the largest token of its sentence."""
    sentences, targets = batch
    return F.cross_entropy(model(sentences).flatten(0, 1), targets.flatten())


def by_hand(model, batches):
    """The bare loop, for STEPS steps; returns the losses."""
    optimizer, losses = torch.optim.AdamW(model.parameters()), []
    for batch in itertools.islice(batches, STEPS):
        value = loss(model, batch)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses
