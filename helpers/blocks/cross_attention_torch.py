"""Exported from notebooks/09_cross_attention.ipynb by `make export`: edit it there."""

from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.byte_pair_encoding_torch import TiedEmbedding
from helpers.blocks.cross_attention import (
    norm_after_decoder_layer_numpy,
    pre_norm_decoder_layer_numpy,
)
from helpers.blocks.gpt import decoder_parameters, future
from helpers.blocks.positional_encoding_torch import Learned, Positions
from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention, attended
from helpers.blocks.transformer_layer import layer_norm
from helpers.blocks.transformer_layer_torch import (
    NormAfterLayer,
    PreNormLayer,
    Transformer,
    TransformerLayer,
    as_numpy,
)


class CrossAttention(MultiHeadSelfAttention):
    """Multi-head cross-attention scaled by √(D/H), tokens as rows.

    The same parameters as MultiHeadSelfAttention; source and target have the same size D of a
    token. Chapter 12, "Encoder-decoder models".
    """

    def keys_and_values(self, source):
        """source: (batch, N_e, D) → its keys and values, (2, batch, H, N_e, D/H)."""
        D = source.shape[-1]
        packed = F.linear(source, self.project.weight[D:], self.project.bias[D:])
        return packed.unflatten(-1, (2, self.H, D // self.H)).permute(2, 0, 3, 1, 4)

    def forward(self, x, source, hidden=None, with_weights=False):
        """x: (batch, N_d, D), source: (batch, N_e, D) → (outputs like x, weights or None).

        hidden: None, or truth values that broadcast to (batch, N_d, N_e), True where the query may
        not see the key. with_weights: return the weights, (batch, H, N_d, N_e), too.
        """
        D = x.shape[-1]
        q = F.linear(x, self.project.weight[:D], self.project.bias[:D])
        q = q.unflatten(-1, (self.H, D // self.H)).transpose(1, 2)  # (batch, H, N_d, D/H)
        k, v = self.keys_and_values(source)
        hidden = None if hidden is None else hidden[..., None, :, :]  # the same for all heads
        heads, weights = attended(q, k, v, hidden, with_weights=with_weights)
        return self.combine(heads.transpose(1, 2).flatten(2)), weights


class DecoderLayer(TransformerLayer):
    """The parts of a decoder layer with three sublayers; its variants say in which order.

    norm_1, norm_2 and norm_3 belong to self-attention, cross-attention and MLP. The rest as in
    TransformerLayer. Chapter 12, "Encoder-decoder models".
    """

    def __init__(self, D, H, D_mlp, dropout=0.1, positions=None, activation=nn.ReLU):
        super().__init__(D, H, D_mlp, dropout, positions, activation)
        self.cross, self.norm_3 = CrossAttention(D, H), nn.LayerNorm(D)


class NormAfterDecoderLayer(DecoderLayer, NormAfterLayer):
    """The chapter's decoder layer: LayerNorm after each addition."""

    def forward(self, x, source, hidden=None, padding=None, where=None, with_weights=False):
        """x: (batch, N_d, D), source: (batch, N_e, D) → like x, and the cross-attention's weights.

        hidden, where: of the self-attention. padding: (batch, 1, N_e), True where nothing is read.
        """
        x = self.norm_1(x + self.dropout(self.attention(x, hidden, where)))
        read, weights = self.cross(x, source, padding, with_weights)
        x = self.norm_2(x + self.dropout(read))
        x = self.norm_3(x + self.dropout(self.mlp(x)))
        return (x, weights) if with_weights else x


class PreNormDecoderLayer(DecoderLayer, PreNormLayer):
    """The variant with LayerNorm before each sublayer."""

    def forward(self, x, source, hidden=None, padding=None, where=None, with_weights=False):
        """As in NormAfterDecoderLayer."""
        x = x + self.dropout(self.attention(self.norm_1(x), hidden, where))
        read, weights = self.cross(self.norm_2(x), source, padding, with_weights)
        x = x + self.dropout(read)
        x = x + self.dropout(self.mlp(self.norm_3(x)))
        return (x, weights) if with_weights else x


class DecoderStack(Transformer):
    """A stack of decoder layers, which all read the same source; the rest as in Transformer."""

    def forward(self, x, source, hidden=None, padding=None, with_weights=False):
        """x: (batch, N_d, D) → the same shape; with_weights adds (batch, K, H, N_d, N_e)."""
        where, every = torch.arange(x.shape[1], device=x.device), []
        for number, layer in enumerate(self.layers):
            x = self.positions.at_input(x, where, number)
            x = layer(x, source, hidden, padding, where, with_weights)
            if with_weights:
                x, weights = x
                every.append(weights)
        x = self.norm(x)
        return (x, torch.stack(every, dim=1)) if with_weights else x


class TwoStacks(nn.Module):
    """The parts of a SequenceModel: embeddings, and an encoder, a decoder, or both."""

    def __init__(
        self, V, longest, K, D, H, D_mlp, encoder=True, decoder=True, pre_norm=True, positions=True
    ):
        super().__init__()
        if not (encoder or decoder):
            raise ValueError("A model needs an encoder, a decoder, or both.")
        layer = PreNormLayer if pre_norm else NormAfterLayer
        reader = PreNormDecoderLayer if pre_norm else NormAfterDecoderLayer
        sizes = K, D, H, D_mlp, 0.0  # no dropout
        schemes = [Learned(D, longest) if positions else Positions() for _ in range(2)]
        self.embedding, self.encoder, self.decoder = TiedEmbedding(V, D), None, None
        if encoder:
            self.encoder = Transformer(layer, *sizes, schemes[0])
        if decoder and encoder:
            self.decoder = DecoderStack(reader, *sizes, schemes[1])
        elif decoder:
            self.decoder = Transformer(layer, *sizes, schemes[1])


def future_rows(ids):
    """Which keys a query may not see, N × N, queries down: those after it; ids: (batch, N)."""
    N = ids.shape[1]
    return torch.ones(N, N, dtype=torch.bool, device=ids.device).triu(1)


class SequenceModel(TwoStacks):
    """The chapter's three paradigms by two switches: an encoder, a decoder, or both.

    V: tokens of the vocabulary, 0 for padding; longest: of a text, in tokens; K: layers of each
    stack; D, H, D_mlp: as in TransformerLayer. pre_norm: False for the chapter's norm-after layers.
    positions: False for none. Chapter 12, "Encoder-decoder models".
    """

    def encode(self, source):
        """source: (batch, N_e) → outputs (batch, N_e, D) and where it is padded (batch, 1, N_e)."""
        padding = (source == 0)[:, None, :]
        return self.encoder(self.embedding(source), padding), padding

    def decode(self, ids, E, padding, with_weights=False):
        """Logits of what comes after each of ids, (batch, N_d, V), and (batch, K, H, N_d, N_e)."""
        x = self.decoder(self.embedding(ids), E, future_rows(ids), padding, with_weights)
        x, *weights = x if with_weights else (x,)
        return (self.embedding.scores(x), *weights) if with_weights else self.embedding.scores(x)

    def forward(self, ids, source=None, hidden=None):
        """ids: (batch, N) → logits (batch, N, V). source: (batch, N_e), if there are both stacks.

        hidden: another mask than the future, for a decoder alone."""
        if self.encoder and self.decoder:
            return self.decode(ids, *self.encode(source))
        if self.encoder:
            return self.embedding.scores(self.encode(ids)[0])
        hidden = future_rows(ids) if hidden is None else hidden
        return self.embedding.scores(self.decoder(self.embedding(ids), hidden))


def decoder_layer_as_numpy(layer):
    """The parameters of a DecoderLayer under the chapter's names, those of reading in "cross"."""
    parts = dict(attention=layer.cross, mlp=layer.mlp, norm_1=layer.norm_2, norm_2=layer.norm_3)
    reading = as_numpy(SimpleNamespace(**parts))
    last = {f"norm_3_{part}": reading[f"norm_2_{part}"] for part in ("weight", "bias")}
    cross = {name: reading[name] for name in reading if name[-1] in "qkvc"}
    return as_numpy(layer) | last | {"cross": cross}


def decoder_stack_numpy(X, X_enc, stack, padding=None):
    """A DecoderStack in NumPy and float64; X: D × N_d, with its positions; X_enc: D × N_e."""
    pre_norm = isinstance(stack.layers[0], PreNormLayer)
    run = pre_norm_decoder_layer_numpy if pre_norm else norm_after_decoder_layer_numpy
    for layer in stack.layers:
        parameters = decoder_layer_as_numpy(layer)
        X = run(X, X_enc, parameters, layer.cross.H, future(X.shape[1]), padding)
    if pre_norm:
        norm = (stack.norm.weight, stack.norm.bias)
        X = layer_norm(X, *(p.detach().cpu().double().numpy()[:, None] for p in norm))
    return X


def target_loss(model, batch):
    """Cross-entropy of each target token given the source and the true tokens before it, in nats.

    batch: sources (texts, N_e) and targets (texts, N_d + 1), from a start token to the end;
    padding, 0, does not count. Chapter 12, "Encoder-decoder models".
    """
    source, target = (ids[:, : int((ids != 0).sum(dim=1).max())] for ids in batch)
    logits = model(target[:, :-1], source).flatten(0, 1)
    return F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=0)


def translations(model, source, start, longest=20):
    """What the model writes, always the most probable token; the source is encoded once.

    source: (batch, N_e). start: the token that the target begins with. longest: the most tokens of
    a target. Returns a list of lists of tokens, without the start and the end, 2.
    """
    with torch.no_grad():
        E, padding = model.encode(source)
        ids = torch.full_like(source[:, :1], start)
        while ids.shape[1] <= longest and not (ids == 2).any(dim=1).all():
            token = model.decode(ids, E, padding)[:, -1].argmax(dim=-1)
            ids = torch.cat([ids, token[:, None]], dim=1)
    rows = [row[1:] for row in ids.tolist()]
    return [row[: row.index(2)] if 2 in row else row for row in rows]


def reading_decoder(model):
    """What cached_target_step needs of a pre-norm SequenceModel with both stacks, in NumPy."""
    parts = SimpleNamespace(embedding=model.embedding, transformer=model.decoder)
    layers = [decoder_layer_as_numpy(layer) for layer in model.decoder.layers]
    return decoder_parameters(parts) | {"layers": layers}


def source_cache(X_enc, decoder):
    """The stores before the first word: for each layer two pairs [K, V], of target and source.

    X_enc: D × N_e, from the encoder. K and V are heads × D_q × tokens; the target's are empty.
    """
    H, (D, N_e) = decoder["H"], X_enc.shape
    nothing, crosses = np.zeros((H, D // H, 0)), [layer["cross"] for layer in decoder["layers"]]
    return [
        (
            [nothing, nothing],
            [(p[f"beta_{r}"] + p[f"Omega_{r}"] @ X_enc).reshape(H, -1, N_e) for r in "kv"],
        )
        for p in crosses
    ]
