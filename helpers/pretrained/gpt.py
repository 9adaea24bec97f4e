"""A published GPT in plain NumPy: tokens are columns, weights are Omega, a cache keeps the past."""

import math

import numpy as np

from helpers.pretrained.encoder import softmax_columns
from helpers.pretrained.gguf import PUBLISHED_GPT, open_gpt

__all__ = ["GPT", "Cache", "load_gpt"]

PIECE = 256  # tokens that are read at a time: a long prompt needs no large matrix of scores


def load_gpt(path=None, sha256=PUBLISHED_GPT):
    """Read the published GPT's weights (513 MiB of float32, from a file of 94 MiB).

    path:   a GGUF file; None takes find_gpt()'s.
    sha256: what the file's SHA-256 must be; None accepts any model of the same kind.
    Raises GPTMissing if there is no file, ValueError if it is damaged or does not hold what it
    should.
    """
    return GPT(open_gpt(path, sha256))


class Cache:
    """The keys and values of the tokens that have been read, for every layer, as rows.

    keys, values: layers × heads × room × D_q; the first `length` rows are in use.
    """

    def __init__(self, layers, heads, room, D_q):
        self.keys, self.values = np.empty((2, layers, heads, room, D_q), np.float32)
        self.length = 0

    @property
    def room(self):
        return self.keys.shape[2]

    def __repr__(self):
        return f"Cache({self.length} of {self.room} tokens, {self.keys.shape[0]} layers)"


class GPT:
    """A decoder of pre-norm layers with RMSNorm, rotary positions, grouped queries and SwiGLU.

    The columns of Omega_e are the tokens' embeddings (D × vocabulary), and its transpose gives the
    logits. layers: the Layers. gamma: the last norm's weights, D × 1. Everything is float32.

    file: a helpers.pretrained.gguf.GGUF. Raises ValueError if it holds another kind of model.
    """

    def __init__(self, file):
        D, H, H_kv, D_mlp, layers, vocabulary = (
            file.value(f"llama.{name}", int)
            for name in (
                "embedding_length",
                "attention.head_count",
                "attention.head_count_kv",
                "feed_forward_length",
                "block_count",
                "vocab_size",
            )
        )
        if not H or not H_kv or D % H or H % H_kv or D // H % 2:
            raise ValueError(f"{file.path}: {H} heads on {H_kv} do not divide a width of {D}.")
        if file.value("llama.rope.dimension_count", int) != D // H:
            raise ValueError(f"{file.path} does not turn the whole of every query and key.")
        self.heads, self.key_heads, self.D_q = H, H_kv, D // H
        self.epsilon = file.value("llama.attention.layer_norm_rms_epsilon", float)
        self.base = file.value("llama.rope.freq_base", float)
        self.longest = file.value("llama.context_length", int)
        # What is taken is noted, so that nothing the file holds is left out of the model unnoticed.
        left = set(file.tensors)

        def take(name, *shape):
            left.discard(name)
            return file.take(name, *shape)

        self.Omega_e = take("token_embd.weight", vocabulary, D).T
        self.layers = [
            Layer(take, f"blk.{number}.", D, H_kv * D // H, D_mlp) for number in range(layers)
        ]
        self.gamma = take("output_norm.weight", D)[:, None]
        if left:
            raise ValueError(f"{file.path} holds {min(left):.40}, which this model has no use for.")

    def cache(self, room):
        """An empty Cache with room for so many tokens."""
        return Cache(len(self.layers), self.key_heads, room, self.D_q)

    def run(self, ids, cache=None):
        """Read N token ids, after those that the cache holds; returns the last outputs, D × N.

        The cache, if there is one, holds these tokens too afterwards. ValueError if an id is no
        token, if there are none, or if they do not fit into the cache or the model's context.
        """
        ids = np.asarray(ids)
        cache = self.cache(len(ids)) if cache is None else cache
        self._check(ids, cache)
        pieces = [ids[start : start + PIECE] for start in range(0, len(ids), PIECE)]
        return np.hstack([self._read(piece, cache, lambda A: None) for piece in pieces])

    def logits(self, X):
        """The next token's logits, vocabulary × N, after each of the outputs X, D × N."""
        return self.Omega_e.T @ X

    def attention(self, ids):
        """All attention weights on N ids: layers × heads × N keys × N queries."""
        ids, weights = np.asarray(ids), []
        cache = self.cache(len(ids))
        self._check(ids, cache)
        self._read(ids, cache, weights.append)
        return np.stack(weights)

    def _read(self, ids, cache, see):
        """Run all layers on ids; `see` is called with each layer's attention weights."""
        past, N = cache.length, len(ids)
        where = np.arange(past, past + N)
        angles = where / self.base ** (np.arange(0, self.D_q, 2)[:, None] / self.D_q)
        turn = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)  # D_q/2 × N
        hidden = np.arange(past + N)[:, None] > where  # keys down: a query sees no later key
        X = self.Omega_e[:, ids]  # D × N
        for number, layer in enumerate(self.layers):
            keys, values = (kept[number, :, : past + N] for kept in (cache.keys, cache.values))
            normalized = rms_norm(X, layer.gamma_1, self.epsilon)
            mixed, A = self._attend(layer, normalized, keys, values, turn, hidden)
            X = X + layer.Omega_c @ mixed
            X = X + swiglu(rms_norm(X, layer.gamma_2, self.epsilon), layer)
            see(A)
        cache.length += N
        return rms_norm(X, self.gamma, self.epsilon)

    def _attend(self, layer, X, keys, values, turn, hidden):
        """All heads on X (D × N); the new keys and values become the last rows of `keys`, `values`.

        Returns the heads' outputs one below the other (H·D_v × N) and A, heads × keys × queries.
        """
        N, M = X.shape[1], keys.shape[1]
        Q = rotate((layer.Omega_q @ X).reshape(self.heads, self.D_q, N), *turn)
        K = rotate((layer.Omega_k @ X).reshape(self.key_heads, self.D_q, N), *turn)
        V = (layer.Omega_v @ X).reshape(self.key_heads, self.D_q, N)
        keys[:, M - N :], values[:, M - N :] = K.transpose(0, 2, 1), V.transpose(0, 2, 1)
        # Query heads in a row share a key head: their queries stand side by side below it.
        Q = Q.reshape(self.key_heads, -1, self.D_q, N)
        scores = keys[:, None] @ Q / np.float32(math.sqrt(self.D_q))  # … × M × N
        A = softmax_columns(np.where(hidden, -np.inf, scores))
        mixed = values[:, None].swapaxes(-1, -2) @ A  # key heads × their queries × D_v × N
        return mixed.reshape(-1, N), A.reshape(self.heads, M, N)

    def _check(self, ids, cache):
        if ids.ndim != 1 or not len(ids) or ids.dtype.kind not in "iu":
            raise ValueError("The GPT reads a list of one or more token ids, which are integers.")
        if ids.min() < 0 or ids.max() >= self.Omega_e.shape[1]:
            raise ValueError(f"Token ids go from 0 to {self.Omega_e.shape[1] - 1}.")
        needed = cache.length + len(ids)
        if needed > min(cache.room, self.longest):
            raise ValueError(
                f"{needed} tokens do not fit: the cache has room for {cache.room}, and the model "
                f"was trained on {self.longest} at most."
            )

    def __repr__(self):
        D, vocabulary = self.Omega_e.shape
        return (
            f"GPT({len(self.layers)} layers of {self.heads} heads on {self.key_heads}, {D} wide, "
            f"{vocabulary} tokens)"
        )


class Layer:
    """The weights of one layer; head h owns the h-th block of rows (of columns in Omega_c).

    Omega_q D × D; Omega_k, Omega_v H_kv·D_q × D; Omega_c D × D; gamma_1, gamma_2 D × 1;
    Omega_gate, Omega_up D_mlp × D; Omega_down D × D_mlp. There are no biases.
    """

    def __init__(self, take, prefix, D, D_kv, D_mlp):
        self.gamma_1 = take(prefix + "attn_norm.weight", D)[:, None]
        self.Omega_q = take(prefix + "attn_q.weight", D, D)
        self.Omega_k = take(prefix + "attn_k.weight", D_kv, D)
        self.Omega_v = take(prefix + "attn_v.weight", D_kv, D)
        self.Omega_c = take(prefix + "attn_output.weight", D, D)
        self.gamma_2 = take(prefix + "ffn_norm.weight", D)[:, None]
        self.Omega_gate = take(prefix + "ffn_gate.weight", D_mlp, D)
        self.Omega_up = take(prefix + "ffn_up.weight", D_mlp, D)
        self.Omega_down = take(prefix + "ffn_down.weight", D, D_mlp)


def rms_norm(X, gamma, epsilon):
    """Divide every column by its root mean square, then scale its entries by gamma; X: D × N."""
    return gamma * (X / np.sqrt((X * X).mean(axis=0) + np.float32(epsilon)))


def rotate(Q, cosine, sine):
    """Turn each pair of rows (2i, 2i + 1) of every head; Q: heads × D_q × N, the rest D_q/2 × N."""
    even, odd = Q[:, 0::2], Q[:, 1::2]
    turned = np.empty_like(Q)
    turned[:, 0::2] = even * cosine - odd * sine
    turned[:, 1::2] = even * sine + odd * cosine
    return turned


def swiglu(X, layer):
    """The gated MLP, Omega_down [silu(Omega_gate X) · (Omega_up X)]; X: D × N."""
    gate = layer.Omega_gate @ X  # D_mlp × N
    # silu(z) = z / (1 + exp(−z)), written so that no exponential overflows.
    return layer.Omega_down @ (gate * (1 + np.tanh(gate / 2)) / 2 * (layer.Omega_up @ X))
