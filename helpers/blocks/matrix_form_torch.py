"""Exported from notebooks/02_matrix_form.ipynb by `make export`: edit it there."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    """One head of unscaled self-attention, Softmax[QKᵀ]V with tokens as rows.

    D: size of a token. D_q: size of queries and keys. D_v: size of values and outputs.
    Chapter 12, "Self-attention in matrix form", crossed over to (batch, tokens, features).
    """

    def __init__(self, D, D_q, D_v):
        super().__init__()
        self.queries = nn.Linear(D, D_q)
        self.keys = nn.Linear(D, D_q)
        self.values = nn.Linear(D, D_v)

    def forward(self, x, hidden=None):
        """Attend from every token to every token.

        x: (batch, N, D). hidden: None, or truth values that broadcast to (batch, queries, keys),
        True where the query may not see the key. A query that sees nothing gets the output zero.
        Returns (batch, N, D_v).
        """
        q, k, v = self.queries(x), self.keys(x), self.values(x)
        scores = q @ k.transpose(1, 2)  # (batch, queries, keys)
        if hidden is not None:
            scores = scores.masked_fill(hidden, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if hidden is not None:
            weights = weights.masked_fill(hidden, 0.0)  # a row of nan becomes a row of zeros
        return weights @ v
