"""Exported from notebooks/01_self_attention.ipynb by `make export`: edit it there."""

import torch


def torch_self_attention_by_loops(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention by loops on PyTorch tensors; shapes as in the NumPy version."""
    N = X.shape[1]
    keys = [beta_k[:, 0] + Omega_k @ X[:, m] for m in range(N)]
    values = [beta_v[:, 0] + Omega_v @ X[:, m] for m in range(N)]
    outputs = []
    for n in range(N):
        q = beta_q[:, 0] + Omega_q @ X[:, n]
        a = torch.softmax(torch.stack([keys[m] @ q for m in range(N)]), dim=0)
        outputs.append(sum(a[m] * values[m] for m in range(N)))
    return torch.stack(outputs, dim=1)
