"""Exported from notebooks/09_cross_attention.ipynb by `make export`: edit it there."""

import numpy as np

from helpers.blocks.gpt import cached_attention
from helpers.blocks.scaling_and_multiple_heads import multi_head_self_attention, scaled_attention
from helpers.blocks.transformer_layer import layer_norm, mlp


def cross_attention(X_dec, X_enc, parameters, padding=None):
    """Each token of the target reads the source; one head, scaled by √D_q, tokens as columns.

    X_dec: D × N_d, which asks; X_enc: D_e × N_e, which answers. parameters: Omega_q, Omega_k,
    Omega_v and their biases beta_q, beta_k, beta_v, as columns. padding: N_e truth values, True
    where the source has no token. Returns (outputs D_v × N_d, A: N_e × N_d, keys down).
    Chapter 12, "Encoder-decoder models".
    """
    Q = parameters["beta_q"] + parameters["Omega_q"] @ X_dec  # D_q × N_d
    K, V = (parameters[f"beta_{r}"] + parameters[f"Omega_{r}"] @ X_enc for r in "kv")  # … × N_e
    mask = None if padding is None else np.repeat(padding[:, None], Q.shape[1], axis=1)
    return scaled_attention(Q, K, V, mask)


def multi_head_cross_attention(X_dec, X_enc, parameters, H, padding=None):
    """Cross-attention of H heads at once, scaled by √D_q; tokens are columns.

    X_dec: D × N_d; X_enc: D_e × N_e. parameters: as in multi_head_self_attention. padding: N_e
    truth values, True where the source has no token. Returns (outputs D × N_d, A: heads × N_e ×
    N_d, keys down).
    """
    Q, K, V = (
        (parameters[f"beta_{r}"] + parameters[f"Omega_{r}"] @ X).reshape(H, -1, X.shape[1])
        for r, X in (("q", X_dec), ("k", X_enc), ("v", X_enc))
    )
    mask = None if padding is None else np.repeat(padding[:, None], Q.shape[2], axis=1)
    heads = [scaled_attention(*head, mask) for head in zip(Q, K, V, strict=True)]
    stack, A = (np.stack(parts) for parts in zip(*heads, strict=True))  # heads × …
    return parameters["beta_c"] + parameters["Omega_c"] @ np.concatenate(stack), A


def norm_after_decoder_layer_numpy(X, X_enc, parameters, H, mask=None, padding=None):
    """The chapter's decoder layer, with LayerNorm after each addition; X: D × N_d → D × N_d.

    X_enc: D × N_e, from the encoder. parameters: those of a transformer layer, a third norm,
    norm_3_weight and norm_3_bias, and "cross", a dict for multi_head_cross_attention. mask: N_d ×
    N_d, keys down, True where hidden. padding: N_e truth values. Chapter 12, "Encoder-decoder
    models".
    """
    norms = [(parameters[f"norm_{n}_weight"], parameters[f"norm_{n}_bias"]) for n in (1, 2, 3)]
    X = layer_norm(X + multi_head_self_attention(X, parameters, H, mask)[0], *norms[0])
    read = multi_head_cross_attention(X, X_enc, parameters["cross"], H, padding)[0]
    X = layer_norm(X + read, *norms[1])
    return layer_norm(X + mlp(X, parameters), *norms[2])


def pre_norm_decoder_layer_numpy(X, X_enc, parameters, H, mask=None, padding=None):
    """The pre-norm variant: each sublayer gets a normalized copy of X; X: D × N_d → D × N_d.

    The rest as in norm_after_decoder_layer_numpy. Not in the chapter.
    """
    norms = [(parameters[f"norm_{n}_weight"], parameters[f"norm_{n}_bias"]) for n in (1, 2, 3)]
    X = X + multi_head_self_attention(layer_norm(X, *norms[0]), parameters, H, mask)[0]
    asking = layer_norm(X, *norms[1])
    X = X + multi_head_cross_attention(asking, X_enc, parameters["cross"], H, padding)[0]
    return X + mlp(layer_norm(X, *norms[2]), parameters)


def cached_reading(x, parameters, source):
    """Cross-attention of one target token, x, D × 1, to a source that was read before; D × 1.

    parameters: those of multi_head_cross_attention. source: [K, V], heads × D_q × N_e each.
    """
    K, V = source
    q = (parameters["beta_q"] + parameters["Omega_q"] @ x).reshape(len(K), -1, 1)
    scores = K.transpose(0, 2, 1) @ q / np.sqrt(q.shape[1])  # heads × N_e × 1
    a = np.exp(scores - scores.max(axis=1, keepdims=True))
    heads = V @ (a / a.sum(axis=1, keepdims=True))  # heads × D_q × 1
    return parameters["beta_c"] + parameters["Omega_c"] @ heads.reshape(-1, 1)


def cached_target_step(token, decoder, cache):
    """The logits after one more target token, V numbers; the target's part of the cache grows.

    decoder: from reading_decoder. cache: from source_cache.
    """
    n = cache[0][0][0].shape[2]  # tokens before this one
    x = decoder["E"][:, [token]] + decoder["Pi"][:, [n]]  # D × 1
    for p, (own, source) in zip(decoder["layers"], cache, strict=True):
        norms = [(p[f"norm_{k}_weight"], p[f"norm_{k}_bias"]) for k in (1, 2, 3)]
        x = x + cached_attention(layer_norm(x, *norms[0]), p, decoder["H"], own)
        x = x + cached_reading(layer_norm(x, *norms[1]), p["cross"], source)
        x = x + mlp(layer_norm(x, *norms[2]), p)
    return (decoder["E"].T @ layer_norm(x, *decoder["norm"]))[:, 0]
