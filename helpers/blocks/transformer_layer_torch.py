"""Exported from notebooks/05_transformer_layer.ipynb by `make export`: edit it there."""

import numpy as np
import torch
from torch import nn

from helpers.blocks.positional_encoding_torch import Positions
from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention
from helpers.blocks.transformer_layer import (
    as_numpy,
    layer_norm,
    norm_after_layer_numpy,
    pre_norm_layer_numpy,
    relu,
)


class TransformerLayer(nn.Module):
    """The parts of a transformer layer; NormAfterLayer and PreNormLayer say in which order.

    D: size of a token; H: heads; D_mlp: width of the MLP, usually 4D. dropout: the probability
    with which an entry is dropped before each addition, in training. positions: as in
    MultiHeadSelfAttention. activation: the class of the MLP's activation, nn.ReLU or nn.GELU.
    Chapter 12, "The transformer layer".
    """

    def __init__(self, D, H, D_mlp, dropout=0.1, positions=None, activation=nn.ReLU):
        super().__init__()
        self.attention = MultiHeadSelfAttention(D, H, positions)
        self.mlp = nn.Sequential(nn.Linear(D, D_mlp), activation(), nn.Linear(D_mlp, D))
        self.norm_1, self.norm_2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, hidden, where, with_weights):
        """The outputs of the attention, and its weights or None."""
        result = self.attention(x, hidden, where, with_weights)
        return result if with_weights else (result, None)


class NormAfterLayer(TransformerLayer):
    """The chapter's layer: LayerNorm after each addition."""

    def forward(self, x, hidden=None, where=None, with_weights=False):
        """x: (batch, N, D) → the same shape; the rest as in MultiHeadSelfAttention."""
        attended, weights = self.attend(x, hidden, where, with_weights)
        x = x + self.dropout(attended)
        x = self.norm_1(x)
        x = x + self.dropout(self.mlp(x))
        x = self.norm_2(x)
        return (x, weights) if with_weights else x


class PreNormLayer(TransformerLayer):
    """The variant with LayerNorm before the attention and before the MLP."""

    def forward(self, x, hidden=None, where=None, with_weights=False):
        """x: (batch, N, D) → the same shape; the rest as in MultiHeadSelfAttention."""
        attended, weights = self.attend(self.norm_1(x), hidden, where, with_weights)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.mlp(self.norm_2(x)))
        return (x, weights) if with_weights else x


class Transformer(nn.Module):
    """A stack of K transformer layers of one variant, NormAfterLayer or PreNormLayer.

    A pre-norm stack ends in one more LayerNorm. All layers share the scheme of positions. The rest
    as in TransformerLayer.
    """

    def __init__(self, variant, K, D, H, D_mlp, dropout=0.1, positions=None, activation=nn.ReLU):
        super().__init__()
        self.positions = positions or Positions()
        options = D, H, D_mlp, dropout, self.positions, activation
        self.layers = nn.ModuleList(variant(*options) for _ in range(K))
        self.norm = nn.LayerNorm(D) if issubclass(variant, PreNormLayer) else nn.Identity()

    def forward(self, x, hidden=None, where=None, with_weights=False):
        """x: (batch, N, D) → the same shape; with_weights adds (batch, K, H, queries, keys)."""
        where = torch.arange(x.shape[1], device=x.device) if where is None else where
        every = []
        for number, layer in enumerate(self.layers):
            x = self.positions.at_input(x, where, number)
            if with_weights:
                x, weights = layer(x, hidden, where, with_weights=True)
                every.append(weights)
            else:
                x = layer(x, hidden, where)
        x = self.norm(x)
        return (x, torch.stack(every, dim=1)) if with_weights else x


def gelu(Z):
    """GELU, Z · Φ[Z] with the normal distribution Φ: a smooth ReLU, and BERT's activation."""
    # NumPy has no error function, PyTorch has.
    return Z * (1 + torch.special.erf(torch.from_numpy(Z / np.sqrt(2))).numpy()) / 2


ACTIVATIONS = {nn.ReLU: relu, nn.GELU: gelu}


def transformer_numpy(X, transformer, mask=None):
    """The forward pass of a PyTorch Transformer in NumPy and float64; X: D × N → D × N.

    X already holds what positions add at the input; biases of the scores are taken from the
    transformer's scheme. mask: N × N, keys down, as in NumPy. Raises ValueError for schemes that
    open other doors.
    """
    positions, device = transformer.positions, transformer.layers[0].norm_1.weight.device
    where, x = torch.arange(X.shape[1], device=device), torch.zeros(1, *X.T.shape, device=device)
    inside = [positions.at_input(x, where, 1), positions.at_queries_and_keys(x, where)]
    inside.append(positions.turn(x, where))
    if positions.factor(where) is not None or any(entered is not x for entered in inside):
        raise ValueError("In NumPy, positions enter at the input or as a bias of the scores only.")
    bias = positions.bias(where)  # queries down
    bias = 0.0 if bias is None else bias.detach().cpu().double().numpy().swapaxes(-1, -2)
    for layer in transformer.layers:
        run = pre_norm_layer_numpy if isinstance(layer, PreNormLayer) else norm_after_layer_numpy
        activation = ACTIVATIONS[type(layer.mlp[1])]
        X = run(X, as_numpy(layer), layer.attention.H, mask, bias, activation)
    if isinstance(transformer.norm, nn.LayerNorm):
        last = (transformer.norm.weight, transformer.norm.bias)
        X = layer_norm(X, *(p.detach().cpu().double().numpy()[:, None] for p in last))
    return X
