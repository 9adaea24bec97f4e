"""Exported from notebooks/04_scaling_and_multiple_heads.ipynb by `make export`: edit it there."""

import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.positional_encoding_torch import Positions


def project_heads(project, x, marked, H):
    """Queries and keys of `marked`, values of x, by one linear layer; (3, batch, H, N, D/H)."""
    D = x.shape[-1]
    if marked is x:
        packed = project(x)
    else:  # positions enter queries and keys only
        weight, bias = project.weight, project.bias
        queries_keys = F.linear(marked, weight[: 2 * D], bias[: 2 * D])
        packed = torch.cat([queries_keys, F.linear(x, weight[2 * D :], bias[2 * D :])], dim=-1)
    return packed.unflatten(-1, (3, H, D // H)).permute(2, 0, 3, 1, 4)


def attention_weights(q, k, hidden=None, factor=None, bias=None):
    """Softmax[qkᵀ/√d · factor + bias] over the keys, written out; (batch, H, queries, keys).

    q, k: (batch, H, N, d). hidden: (batch, 1, queries, keys) or what broadcasts to it, True where
    the query may not see the key; a query that sees nothing gets weights of zero.
    """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if factor is not None:
        scores = scores * factor
    if bias is not None:
        scores = scores + bias
    if hidden is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return weights.masked_fill(hidden, 0.0)


def attended(q, k, v, hidden=None, factor=None, bias=None, with_weights=False):
    """The heads' outputs (batch, H, N, d) and their weights, or None where the fused kernel ran."""
    if with_weights or factor is not None:
        weights = attention_weights(q, k, hidden, factor, bias)
        return weights @ v, weights
    # Kernels want masks of four dimensions; with three, a CPU would write all scores out.
    hidden, bias = (m if m is None else m[(None,) * (4 - m.ndim)] for m in (hidden, bias))
    if hidden is None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias), None
    # Kernels differ in what a query gets that sees nothing: let it see all, then give it zero.
    blind = hidden.all(dim=-1, keepdim=True)
    hidden = hidden & ~blind
    # Their masks say where a key may be seen, and their biases may hold −∞.
    may_see = ~hidden if bias is None else bias.masked_fill(hidden, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=may_see).masked_fill(blind, 0.0), None


class MultiHeadSelfAttention(nn.Module):
    """Multi-head self-attention scaled by √(D/H), tokens as rows; chapter 12, "Multiple heads".

    D: size of a token, a multiple of the number of heads H; every head has D_q = D_v = D/H.
    positions: the scheme by which positions enter; by default none. `combine` is the chapter's Ω_c,
    with a bias as in nn.MultiheadAttention.
    """

    def __init__(self, D, H, positions=None):
        super().__init__()
        if D % H:
            raise ValueError(f"{D} features cannot be split into {H} equal heads.")
        self.H, self.positions = H, positions or Positions()
        self.project = nn.Linear(D, 3 * D)  # all queries, then all keys, then all values
        self.combine = nn.Linear(D, D)

    def forward(self, x, hidden=None, where=None, with_weights=False):
        """x: (batch, N, D) → the same; with_weights adds the weights (batch, H, queries, keys).

        hidden: None, or truth values that broadcast to (batch, queries, keys), True where the query
        may not see the key. where: the tokens' positions, 0 to N − 1 if None."""
        where = torch.arange(x.shape[1], device=x.device) if where is None else where
        hidden = None if hidden is None else hidden[..., None, :, :]  # the same for all heads
        marked = self.positions.at_queries_and_keys(x, where)
        q, k, v = project_heads(self.project, x, marked, self.H)  # each (batch, H, N, D/H)
        q, k = self.positions.turn(q, where), self.positions.turn(k, where)
        factor, bias = self.positions.factor(where), self.positions.bias(where)
        heads, weights = attended(q, k, v, hidden, factor, bias, with_weights)
        outputs = self.combine(heads.transpose(1, 2).flatten(2))  # side by side again
        return (outputs, weights) if with_weights else outputs
