"""Exported from notebooks/08_gpt.ipynb by `make export`: edit it there."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.byte_pair_encoding_torch import TiedEmbedding
from helpers.blocks.gpt import future, next_distribution
from helpers.blocks.positional_encoding_torch import Learned
from helpers.blocks.transformer_layer_torch import PreNormLayer, Transformer, transformer_numpy


class Decoder(nn.Module):
    """A GPT: embeddings, learned positions, K masked pre-norm layers, logits by the embeddings.

    V: tokens of the vocabulary; longest: of a text, in tokens; D: size of a token; H: heads.
    masked: False lets every token see the future. positions: another scheme than learned vectors.
    Chapter 12, "Decoder models".
    """

    def __init__(self, V, longest, K, D, H, masked=True, positions=None):
        super().__init__()
        self.embedding = TiedEmbedding(V, D)
        positions = positions or Learned(D, longest)
        self.transformer = Transformer(PreNormLayer, K, D, H, 4 * D, 0.0, positions)
        self.masked = masked

    def forward(self, ids, with_weights=False):
        """ids: (batch, N) → logits (batch, N, V); with_weights adds (batch, K, H, N, N)."""
        N = ids.shape[1]
        hidden = torch.ones(N, N, dtype=torch.bool, device=ids.device).triu(1)  # queries down
        hidden = hidden if self.masked else None
        x = self.transformer(self.embedding(ids), hidden, with_weights=with_weights)
        x, *weights = x if with_weights else (x,)
        logits = self.embedding.scores(x)
        return (logits, *weights) if with_weights else logits


def decoder_numpy(ids, decoder):
    """The logits of a Decoder in NumPy and float64, V × N, one column a token; ids: N integers."""
    E, Pi = (
        w.detach().cpu().double().numpy().T
        for w in (decoder.embedding.weight, decoder.transformer.positions.table)
    )
    X = E[:, ids] + Pi[:, : len(ids)]  # D × N
    return E.T @ transformer_numpy(X, decoder.transformer, future(len(ids)))


def next_token_loss(model, batch, reduction="mean"):
    """Cross-entropy of each token given those before it, in nats; padding, 0, does not count.

    batch: one tensor (texts, tokens). reduction: "mean" over the tokens, or "sum". Chapter 12,
    "Masked self-attention".
    """
    (ids,) = batch
    ids = ids[:, : int((ids != 0).sum(dim=1).max())]  # no more padding than needed
    inputs, targets = ids[:, :-1], ids[:, 1:]
    logits = model(inputs).flatten(0, 1)
    return F.cross_entropy(logits, targets.flatten(), ignore_index=0, reduction=reduction)


def write(decoder, count, rng, longest=40, **choice):
    """Texts that a Decoder writes after the token 1, <start>, until it chooses 2, <end>.

    rng: a np.random.Generator. longest: the most tokens of a text. choice: temperature, k and p of
    next_distribution. Returns a list of lists of tokens, without <start> and <end>.
    """
    device = decoder.embedding.weight.device
    ids = np.ones((count, 1), int)
    while ids.shape[1] <= longest and not (ids == 2).any(axis=1).all():
        with torch.no_grad():
            logits = decoder(torch.from_numpy(ids).to(device))[:, -1].double().cpu().numpy()
        chosen = [rng.choice(len(row), p=next_distribution(row, **choice)) for row in logits]
        ids = np.column_stack([ids, chosen])
    rows = [row[1:].tolist() for row in ids]
    return [row[: row.index(2)] if 2 in row else row for row in rows]


def tasks(count, generator, letters=8, pairs=14):
    """Texts of letters and digits in turn, (count, 2 · pairs), each with a function of its own.

    Letters are the numbers 0 to letters − 1, digits the next as many. generator: of PyTorch.
    """
    functions = torch.randint(letters, (count, letters), generator=generator)
    asked = torch.randint(letters, (count, pairs), generator=generator)
    return torch.stack([asked, letters + functions.gather(1, asked)], dim=-1).flatten(1)


def answer_loss(model, batch):
    """Cross-entropy of the digits given all before them; the letters cannot be foretold."""
    (ids,) = batch
    logits = model(ids[:, :-1])[:, ::2]  # the outputs at the letters
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1::2].flatten())


def rms_norm_rows(x, gamma, epsilon):
    """RMSNorm of tokens as rows, (batch, N, D); gamma: D × 1."""
    return F.rms_norm(x, x.shape[-1:], gamma[:, 0], epsilon)


def swiglu_rows(x, w):
    """SwiGLU of tokens as rows, (batch, N, D); w: Omega_gate, Omega_up and Omega_down by name."""
    gated = F.silu(F.linear(x, w["Omega_gate"])) * F.linear(x, w["Omega_up"])
    return F.linear(gated, w["Omega_down"])


def turns(where, D_q, base):
    """Rotary positions as complex numbers e^(iθ), (N, D_q/2); where: the tokens' positions."""
    pairs = torch.arange(0, D_q, 2, device=where.device)
    theta = where[:, None] / base ** (pairs / D_q)
    return torch.polar(torch.ones_like(theta), theta)


def turned(q, turn):
    """Queries or keys, (..., N, D_q), their pairs turned by `turn`."""
    pairs = torch.view_as_complex(q.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turn).flatten(-2).to(q.dtype)


def shared_attention(x, w, counts, turn, see, kept):
    """Attention of tokens as rows whose heads share keys and values, (batch, N, D) → the same.

    counts: heads of queries "q", of keys "k" and of values "v". turn: of turns. see: N × M truth
    values, which of all M keys a query may see. kept: [K, V] of the tokens before, or [] at first;
    it then holds the new ones too.
    """
    q, k, v = (
        F.linear(x, w[f"Omega_{r}"]).unflatten(-1, (count, -1)).transpose(1, 2)
        for r, count in counts.items()
    )
    q, k = turned(q, turn), turned(k, turn)
    if kept:
        k, v = torch.cat([kept[0], k], dim=2), torch.cat([kept[1], v], dim=2)
    kept[:] = k, v
    see = see if len(see) > 1 else None  # a single query is the last: it sees everything
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=see, enable_gqa=True)
    return F.linear(mixed.transpose(1, 2).flatten(2), w["Omega_c"])


class PublishedGPT(nn.Module):
    """A helpers.pretrained.GPT in PyTorch; on the CPU, in float32, its arrays are shared."""

    def __init__(self, gpt, device="cpu", dtype=torch.float32):
        super().__init__()
        self.counts = {"q": gpt.heads, "k": gpt.key_heads, "v": gpt.key_heads}
        self.epsilon, self.base, self.D_q = gpt.epsilon, gpt.base, gpt.D_q
        parts = [*map(vars, gpt.layers), {"embedding": gpt.Omega_e.T, "gamma": gpt.gamma}]
        *self.layers, ends = (
            {name: torch.from_numpy(array).to(device, dtype) for name, array in part.items()}
            for part in parts
        )
        self.embedding, self.gamma = ends.values()

    def forward(self, ids, cache=None, last=False):
        """ids: (batch, N) → logits (batch, N, tokens), or (batch, 1, tokens), of the last alone.

        cache: [K, V] for each layer, of the tokens before these; [] at first."""
        cache = [] if cache is None else cache
        past, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
        cache.extend([] for _ in range(len(self.layers) - len(cache)))
        turn = turns(torch.arange(past, past + N, device=ids.device), self.D_q, self.base)
        see = torch.ones(N, past + N, dtype=torch.bool, device=ids.device).tril(past)
        x = self.embedding[ids]
        for w, kept in zip(self.layers, cache, strict=True):
            z = rms_norm_rows(x, w["gamma_1"], self.epsilon)
            x = x + shared_attention(z, w, self.counts, turn, see, kept)
            x = x + swiglu_rows(rms_norm_rows(x, w["gamma_2"], self.epsilon), w)
        x = x[:, -1:] if last else x
        return F.linear(rms_norm_rows(x, self.gamma, self.epsilon), self.embedding)
