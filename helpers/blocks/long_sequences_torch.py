"""Exported from notebooks/10_long_sequences.ipynb by `make export`: edit it there."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.long_sequences import positive_rows
from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention, project_heads


def window_mask(N, rows, reach, step, causal, device):
    """Who may see whom in local_attention, (step · blocks, reach, keys of a block's queries)."""
    row = torch.arange(rows, device=device).unflatten(0, (-1, reach))  # blocks × reach
    after = 0 if causal else reach
    key = row[:, :1] - reach + torch.arange(2 * reach + after, device=device)  # blocks × keys
    gap = row[:, :, None] - key[:, None]
    near = (gap.abs() <= reach) & (gap >= 0 if causal else True)
    place = key * step + torch.arange(step, device=device)[:, None, None]
    there = (key >= 0) & (place < N)  # step × blocks × keys: no padding
    # What is padded must see something: zeros are cut off later, but NaN would spread.
    return (near & there[:, :, None] | (gap == 0)).flatten(0, 1)


def local_attention(q, k, v, reach, step=1, causal=False):
    """Attention in a window: keys 0, step, … up to reach · step tokens away, to either side.

    q, k, v: (batch, H, N, d), tokens as rows. causal: earlier keys alone. Each block of `reach`
    queries reads the blocks of keys in which its windows lie. Chapter 12, "Scaling to long
    sequences".
    """
    N, after = q.shape[2], 0 if causal else reach
    rows = -(-N // (step * reach)) * reach  # tokens that are step apart make a text of this length
    q, k, v = (
        F.pad(x, (0, 0, 0, rows * step - N)).unflatten(2, (rows, step)).transpose(2, 3)
        for x in (q, k, v)
    )  # (batch, H, step, rows, d)
    q = q.unflatten(3, (-1, reach))
    k, v = (
        F.pad(x, (0, 0, reach, after)).unfold(3, 2 * reach + after, reach).transpose(-1, -2)
        for x in (k, v)
    )  # (batch, H, step, blocks, 2 · reach + after, d)
    may_see = window_mask(N, rows, reach, step, causal, q.device)
    together = (x.flatten(2, 3).flatten(0, 1) for x in (q, k, v))  # one "head" for each block
    out = F.scaled_dot_product_attention(*together, attn_mask=may_see[None])
    out = out.unflatten(1, (step, -1)).flatten(2, 3).transpose(1, 2).flatten(1, 2)
    return out[:, :N].unflatten(0, q.shape[:2])


def read_blocks(x, size, table, count):
    """What each block of block_attention reads, (batch · H, blocks, count + M · size, d)."""
    x = x.flatten(0, 1)
    chosen = x.unflatten(1, (-1, size))[:, table.clamp(min=0)].flatten(2, 3)
    return torch.cat([x[:, None, :count].expand(-1, len(table), -1, -1), chosen], dim=2)


def block_attention(q, k, v, size, table, count=0):
    """Attention by blocks: each block of queries sees the blocks of keys named in its row.

    q, k, v: (batch, H, N, d), N a multiple of size. table: blocks × M numbers of different blocks,
    −1 where there are fewer than M. count: the first tokens are global: they see all and are seen
    by all. Chapter 12, "Scaling to long sequences".
    """
    token = table[:, :, None] * size + torch.arange(size, device=q.device)  # blocks × M × size
    may_see = ((table >= 0)[:, :, None] & (token >= count)).flatten(1)  # no key twice
    may_see = F.pad(may_see, (count, 0), value=True)

    queries = q.flatten(0, 1).unflatten(1, (-1, size))
    mask = may_see[None, :, None]
    keys_values = (read_blocks(x, size, table, count) for x in (k, v))
    out = F.scaled_dot_product_attention(queries, *keys_values, attn_mask=mask)
    out = out.flatten(1, 2).unflatten(0, q.shape[:2])
    first = F.scaled_dot_product_attention(q[:, :, :count], k, v)
    return torch.cat([first, out[:, :, count:]], dim=2) if count else out


def big_bird_table(blocks, reach, drawn, generator):
    """Which blocks each of `blocks` blocks sees: neighbors up to reach, and `drawn` at random.

    Returns blocks × (2 · reach + 1 + drawn) numbers, −1 where there is no neighbor. generator: of
    PyTorch. Draws from the blocks that are no neighbors.
    """
    number = torch.arange(blocks)
    near = number[:, None] + torch.arange(-reach, reach + 1)
    others = max(blocks - 2 * reach - 1, 0)  # not near, counted around the end of the text
    if drawn > others:
        raise ValueError(f"{drawn} blocks cannot be drawn from {others}.")
    steps = torch.stack([torch.randperm(others, generator=generator)[:drawn] for _ in number])
    far = (number[:, None] + reach + 1 + steps) % blocks
    near = torch.where((near >= 0) & (near < blocks), near, -1)
    return torch.cat([near, far], dim=1)


def compress_rows(x, weight):
    """A strided convolution over tokens, (batch, H, N, d) → (batch, H, ⌈N / size⌉, d).

    weight: (d, d, size), new features, old features, place; its stride is its size.
    """
    filled = F.pad(x, (0, 0, 0, -x.shape[2] % weight.shape[2])).flatten(0, 1)  # no token is lost
    short = F.conv1d(filled.transpose(1, 2), weight, stride=weight.shape[2])
    # In rows again, in memory too: otherwise the fused kernel declines, and all scores are written.
    return short.transpose(1, 2).contiguous().unflatten(0, x.shape[:2])


def elu_features(x):
    """The linear transformer's g, elu + 1: x + 1 above zero, eˣ below; always positive."""
    return F.elu(x) + 1


def linear_attention_rows(g_q, g_k, v):
    """(g[K]ᵀV) first: attention whose similarity is g[k]ᵀg[q], in order N.

    g_q, g_k: (batch, H, N, features); v: (batch, H, N, d). A column of ones rides along with the
    values and collects the denominators.
    """
    v = F.pad(v, (0, 1), value=1.0)
    out = g_q @ (g_k.transpose(-1, -2) @ v)
    return out[..., :-1] / out[..., -1:]


def causal_linear_rows(g_q, g_k, v, size=64):
    """The same for a decoder: a token sees itself and those before it; N a multiple of size.

    Within a piece of `size` tokens all pairs are compared; all earlier pieces enter by their sum.
    """
    v = F.pad(v, (0, 1), value=1.0)
    g_q, g_k, v = (x.unflatten(2, (-1, size)) for x in (g_q, g_k, v))
    state = (g_k.transpose(-1, -2) @ v).cumsum(dim=2)  # (batch, H, pieces, features, d + 1)
    before = F.pad(state[:, :, :-1], (0, 0, 0, 0, 1, 0))  # of the pieces before each piece
    out = (g_q @ g_k.transpose(-1, -2)).tril() @ v + g_q @ before
    out = out.flatten(2, 3)
    return out[..., :-1] / out[..., -1:]


class LongAttention(MultiHeadSelfAttention):
    """Multi-head attention whose heads mix in another way; mix(q, k, v) as in the functions above.

    D, H, positions: as in MultiHeadSelfAttention. The mix may be a module with weights of its own.
    """

    def __init__(self, D, H, mix, positions=None):
        super().__init__(D, H, positions)
        self.mix = mix

    def forward(self, x, hidden=None, where=None, with_weights=False):
        """x: (batch, N, D) → the same. Raises ValueError for a mask: the mix says who sees whom."""
        if hidden is not None or with_weights:
            raise ValueError("The mix has its own pattern, and no N × N weights to show.")
        where = torch.arange(x.shape[1], device=x.device) if where is None else where
        marked = self.positions.at_queries_and_keys(x, where)
        q, k, v = project_heads(self.project, x, marked, self.H)
        heads = self.mix(self.positions.turn(q, where), self.positions.turn(k, where), v)
        return self.combine(heads.transpose(1, 2).flatten(2))


class LinFormer(nn.Module):
    """A mix with weights of its own: attention to P mixtures of N keys and values.

    The same matrices serve all heads. Texts of another length than N do not fit.
    """

    def __init__(self, N, P):
        super().__init__()
        self.E, self.F = (nn.Parameter(torch.randn(P, N) / N**0.5) for _ in range(2))

    def forward(self, q, k, v):
        """q, k, v: (batch, H, N, d) → (batch, H, N, d)."""
        return F.scaled_dot_product_attention(q, self.E @ k, self.F @ v)


class MemoryCompressed(nn.Module):
    """A mix with weights of its own: strided convolutions make one key and value of `size`."""

    def __init__(self, d, size):
        super().__init__()
        average = torch.eye(d)[:, :, None].expand(d, d, size) / size  # a start that loses little
        self.keys, self.values = (
            nn.Parameter(average + 0.1 / d**0.5 * torch.randn(d, d, size)) for _ in range(2)
        )

    def forward(self, q, k, v):
        """q, k, v: (batch, H, N, d) → (batch, H, N, d)."""
        k, v = compress_rows(k, self.keys), compress_rows(v, self.values)
        return F.scaled_dot_product_attention(q, k, v)


def linear_mix(q, k, v):
    """The linear transformer's mix, for LongAttention."""
    return linear_attention_rows(elu_features(q), elu_features(k), v)


class Performer(nn.Module):
    """The Performer's mix with m positive features of fixed random directions; d: of a head."""

    def __init__(self, m, d, causal=False):
        super().__init__()
        self.causal = causal
        self.register_buffer("directions", torch.randn(m, d))

    def forward(self, q, k, v):
        """q, k, v: (batch, H, N, d) → (batch, H, N, d)."""
        g_q = positive_rows(q, self.directions, of_keys=False)
        g_k = positive_rows(k, self.directions, of_keys=True)
        return (causal_linear_rows if self.causal else linear_attention_rows)(g_q, g_k, v)


def causal_linear_mix(q, k, v):
    """The linear transformer's mix for a decoder."""
    return causal_linear_rows(elu_features(q), elu_features(k), v)


def contenders(N, d, size=64):
    """Ways to mix N tokens, by name, each a function of q, k and v, (batch, H, N, d).

    N: a multiple of size, the reach of windows and the length of blocks and pieces.
    """
    own = torch.arange(N // size)[:, None]
    drawn = min(2, max(N // size - 3, 0))  # blocks beside the neighbors
    table = big_bird_table(N // size, 1, drawn, torch.Generator().manual_seed(0))
    return {
        "all pairs, fused": F.scaled_dot_product_attention,
        "causal, fused": partial(F.scaled_dot_product_attention, is_causal=True),
        "window": partial(local_attention, reach=size),
        "dilated by 4": partial(local_attention, reach=size, step=4),
        "blocks + 2 global": partial(block_attention, size=size, table=own, count=2),
        "BigBird": partial(block_attention, size=size, table=table, count=2),
        "LinFormer, 128": LinFormer(N, 128),
        "compressed by 4": MemoryCompressed(d, 4),
        "linear": linear_mix,
        "linear, causal": causal_linear_mix,
        "Performer, 128": Performer(128, d),
    }
