"""Exported from notebooks/06_byte_pair_encoding.ipynb by `make export`: edit it there."""

import torch
from torch import nn


class TiedEmbedding(nn.Module):
    """One matrix at both ends of a language model: token → vector, and vector → scores of tokens.

    V: size of the vocabulary; D: size of a token's vector. Chapter 12, "Embeddings".
    """

    def __init__(self, V, D):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(V, D) / D**0.5)

    def forward(self, numbers):
        """numbers: whole numbers, (batch, N) → (batch, N, D)."""
        return self.weight[numbers]

    def scores(self, x):
        """x: (batch, N, D) → (batch, N, V), the dot product with each token's vector."""
        return x @ self.weight.T
