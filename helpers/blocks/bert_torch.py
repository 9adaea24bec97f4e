"""Exported from notebooks/07_bert.ipynb by `make export`: edit it there."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.bert import NOTHING, SPECIAL, hide
from helpers.blocks.positional_encoding_torch import Learned
from helpers.blocks.transformer_layer_torch import NormAfterLayer, Transformer


class Bert(nn.Module):
    """An encoder like BERT: word vectors plus positions, LayerNorm, K norm-after layers with GELU.

    V: words; D: size of a token; H: heads; K: layers; longest: the most tokens; dropout: as in
    TransformerLayer. The MLPs have 4D hidden units. Chapter 12, "Encoder models: BERT".
    """

    def __init__(self, V, D, H, K, longest, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions = Learned(D, longest)
        self.norm = nn.LayerNorm(D)
        self.transformer = Transformer(NormAfterLayer, K, D, H, 4 * D, dropout, activation=nn.GELU)

    def forward(self, ids, with_weights=False):
        """ids: (batch, N) → (batch, N, D), with_weights as in Transformer; <pad>, 0, is hidden."""
        x = self.embedding(ids)
        x = self.norm(x + self.positions.encode(torch.arange(ids.shape[1], device=ids.device), x))
        return self.transformer(x, hidden=(ids == 0)[:, None], with_weights=with_weights)


class MaskedWords(nn.Module):
    """A Bert that guesses words: each word's score is its vector times the output, plus a bias."""

    def __init__(self, bert):
        super().__init__()
        self.bert, self.bias = bert, nn.Parameter(torch.zeros(bert.embedding.num_embeddings))

    def forward(self, ids, asked):
        """ids: (batch, N); asked: (batch, N) truth values. Returns scores (places asked, V)."""
        return self.bert(ids)[asked] @ self.bert.embedding.weight.T + self.bias


def gap_loss(model, batch):
    """Mean cross-entropy over the places asked, in nats; 0 for a batch in which none is."""
    inputs, labels = batch
    asked = labels != NOTHING
    total = F.cross_entropy(model(inputs, asked), labels[asked], reduction="sum")
    return total / max(int(asked.sum()), 1)


def gapped(ids, V, size, seed):
    """Endless batches (inputs, labels) of `size` texts, with new gaps every time.

    ids: (texts, longest). Texts of similar length share a batch, which so has little padding.
    """
    rng, lengths = np.random.default_rng(seed), (ids > 0).sum(axis=1)
    while True:
        order = rng.permutation(len(ids))
        order = order[np.argsort(lengths[order] // 4, kind="stable")]
        starts = np.arange(0, len(ids) - size + 1, size)
        for start in rng.permutation(starts):
            rows = order[start : start + size]
            yield tuple(
                torch.from_numpy(part) for part in hide(ids[rows, : lengths[rows].max()], V, rng)
            )


class Head(nn.Module):
    """A Bert with one more linear layer, which turns each token's output into E numbers."""

    def __init__(self, bert, E):
        super().__init__()
        self.bert, self.linear = bert, nn.Linear(bert.embedding.embedding_dim, E)

    def forward(self, ids):
        """ids: (batch, N) → (batch, N, E)."""
        return self.linear(self.bert(ids))


def verdict_loss(model, batch):
    """Binary cross-entropy of the number at <cls>; batch: (ids, sentiments 1.0 or 0.0)."""
    ids, sentiments = batch
    return F.binary_cross_entropy_with_logits(model(ids)[:, 0, 0], sentiments)


def tag_loss(model, batch):
    """Cross-entropy of each word's type; batch: (ids, types or NOTHING)."""
    ids, types = batch
    return F.cross_entropy(model(ids).flatten(0, 1), types.flatten(), ignore_index=NOTHING)


def span_scores(model, ids):
    """Scores of each place as start and as end, (batch, N) each; −∞ outside the second text."""
    start, end = model(ids).unbind(dim=-1)
    border = ids == SPECIAL.index("<sep>")
    outside = (border.cumsum(dim=1) != 1) | border  # the text stands between the two
    return start.masked_fill(outside, -torch.inf), end.masked_fill(outside, -torch.inf)


def span_loss(model, batch):
    """Cross-entropy over places, for the first and the last; batch: (ids, spans (batch, 2))."""
    ids, spans = batch
    pairs = zip(span_scores(model, ids), spans.unbind(dim=1), strict=True)
    return sum(F.cross_entropy(scores, places) for scores, places in pairs)


PARTS = {  # of a layer: ours → BERT's
    "attention.combine": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "mlp.0": "intermediate.dense",
    "mlp.2": "output.dense",
    "norm_2": "output.LayerNorm",
}


def as_bert(stored, H):
    """A Bert with H heads and the parameters of a published one, a dict from BERT's names."""
    part = "embeddings.{}.weight".format
    E, Pi = stored[part("word_embeddings")], stored[part("position_embeddings")]
    first_text = stored[part("token_type_embeddings")][0]  # added to all tokens of a first text
    taken = {"embedding.weight": E, "positions.table": Pi + first_text}
    K = 1 + max(int(name.split(".")[2]) for name in stored if name.startswith("encoder.layer."))
    for kind in ("weight", "bias"):
        taken[f"norm.{kind}"] = stored[f"embeddings.LayerNorm.{kind}"]
        for k in range(K):
            ours, theirs = f"transformer.layers.{k}.", f"encoder.layer.{k}."
            roles = [f"{theirs}attention.self.{role}.{kind}" for role in ("query", "key", "value")]
            taken[f"{ours}attention.project.{kind}"] = torch.cat([stored[role] for role in roles])
            for our_part, their_part in PARTS.items():
                taken[f"{ours}{our_part}.{kind}"] = stored[f"{theirs}{their_part}.{kind}"]
    with torch.device("meta"):  # so that nothing is stored twice
        bert = Bert(*E.shape, H, K, len(Pi))
    bert.load_state_dict(taken, assign=True)
    for norm in (module for module in bert.modules() if isinstance(module, nn.LayerNorm)):
        norm.eps = 1e-12  # as BERT has it
    return bert.eval()
