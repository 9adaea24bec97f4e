"""Exported from notebooks/05_transformer_layer.ipynb by `make export`: edit it there."""

import numpy as np

from helpers.blocks.scaling_and_multiple_heads import multi_head_self_attention


def layer_norm(X, weight, bias, epsilon=1e-5):
    """LayerNorm of each token by the mean and the variance of its own D entries; X: D × N.

    weight, bias: D × 1, the learned scale and shift. Chapter 12, "The transformer layer".
    """
    centered = X - X.mean(axis=0)
    variance = (centered**2).mean(axis=0)  # divided by D, not by D − 1
    return weight * centered / np.sqrt(variance + epsilon) + bias


def relu(Z):
    """Each entry where it is above 0, and 0 elsewhere."""
    return np.maximum(Z, 0)


def mlp(X, parameters, activation=relu):
    """The same two-layer network for every token, β₂ + Ω₂ ReLU[β₁ + Ω₁ X]; X: D × N.

    parameters: Omega_1 D_mlp × D, beta_1 D_mlp × 1, Omega_2 D × D_mlp, beta_2 D × 1. activation:
    what stands in the place of ReLU, a function of each entry. Chapter 12, "The transformer layer".
    """
    hidden_units = activation(parameters["beta_1"] + parameters["Omega_1"] @ X)  # D_mlp × N
    return parameters["beta_2"] + parameters["Omega_2"] @ hidden_units


def norm_after_layer_numpy(X, parameters, H, mask=None, bias=0.0, activation=relu):
    """The chapter's transformer layer, with LayerNorm after each addition; X: D × N → D × N.

    parameters: those of multi_head_self_attention and of mlp, and norm_1_weight, norm_1_bias,
    norm_2_weight, norm_2_bias, each D × 1. mask, bias: as in multi_head_self_attention; activation:
    as in mlp. Chapter 12, "The transformer layer".
    """
    X = X + multi_head_self_attention(X, parameters, H, mask, bias)[0]
    X = layer_norm(X, parameters["norm_1_weight"], parameters["norm_1_bias"])
    X = X + mlp(X, parameters, activation)
    X = layer_norm(X, parameters["norm_2_weight"], parameters["norm_2_bias"])
    return X


def pre_norm_layer_numpy(X, parameters, H, mask=None, bias=0.0, activation=relu):
    """The pre-norm variant: each part gets a normalized copy, the sum is not normalized; X: D × N.

    Parameters as in norm_after_layer_numpy. Not in the chapter; most later models use it.
    """
    normalized = layer_norm(X, parameters["norm_1_weight"], parameters["norm_1_bias"])
    X = X + multi_head_self_attention(normalized, parameters, H, mask, bias)[0]
    normalized = layer_norm(X, parameters["norm_2_weight"], parameters["norm_2_bias"])
    X = X + mlp(normalized, parameters, activation)
    return X


def as_numpy(layer):
    """The parameters of a TransformerLayer under the chapter's names, biases as columns."""
    taken = {
        f"norm_{n}_{part}": getattr(getattr(layer, f"norm_{n}"), part)
        for n in (1, 2)
        for part in ("weight", "bias")
    }
    for name, linear in [("1", layer.mlp[0]), ("2", layer.mlp[2]), ("c", layer.attention.combine)]:
        taken |= {f"Omega_{name}": linear.weight, f"beta_{name}": linear.bias}
    project = layer.attention.project
    for name, Omega, beta in zip(
        "qkv", project.weight.chunk(3), project.bias.chunk(3), strict=True
    ):
        taken |= {f"Omega_{name}": Omega, f"beta_{name}": beta}
    arrays = {name: tensor.detach().cpu().double().numpy() for name, tensor in taken.items()}
    return {name: a[:, None] if a.ndim == 1 else a for name, a in arrays.items()}
