"""Exported from notebooks/10_long_sequences.ipynb by `make export`: edit it there."""

import numpy as np

from helpers.blocks.gpt import future
from helpers.blocks.scaling_and_multiple_heads import scaled_attention


def encoder(N):
    """Every query may see every key: N × N truth values, keys down, True where it may.

    Chapter 12, "Scaling to long sequences", as all patterns below.
    """
    return np.ones((N, N), bool)


def decoder(N):
    """A query may see the keys up to its own: what `future` hides is all the rest."""
    return ~future(N)


def offsets(N):
    """Key position minus query position, N × N, keys down."""
    return np.arange(N)[:, None] - np.arange(N)


def window(N, reach, step=1):
    """Keys 0, step, 2 · step, … up to reach · step away, to either side; step 1: a convolution."""
    away = abs(offsets(N))
    return (away <= reach * step) & (away % step == 0)


def strided(N, stride):
    """Every stride-th key, counted from the query, however far."""
    return offsets(N) % stride == 0


def blocks(N, size):
    """Keys of the query's own block; the last block may be smaller."""
    block = np.arange(N) // size
    return block[:, None] == block


def global_tokens(N, count):
    """The first `count` tokens see all tokens and are seen by all."""
    special = np.arange(N) < count
    return special[:, None] | special


def random_keys(N, count, rng):
    """For each query `count` different keys, at random."""
    return rng.random((N, N)).argsort(axis=0) < count


def big_bird(N, reach, count, drawn, rng):
    """A window, global tokens, and `drawn` random keys for each query."""
    return window(N, reach) | global_tokens(N, count) | random_keys(N, drawn, rng)


def receptive_field(patterns):
    """Which keys reach which queries through a stack, N × N, keys down.

    patterns: those of the layers, the first layer first.
    """
    reached = patterns[0]
    for pattern in patterns[1:]:
        reached = reached.astype(np.float32) @ pattern > 0  # counts, exact in float32
    return reached


def layers_until_all_meet(cycle, most=100):
    """The least number of layers after which every key reaches every query, or None.

    cycle: patterns that take turns, layer by layer. most: layers to try.
    """
    reached = np.eye(len(cycle[0]), dtype=bool)
    for layer in range(most):
        reached = receptive_field([reached, cycle[layer % len(cycle)]])
        if reached.all():
            return layer + 1
    return None


def compress(X, kernel):
    """A strided convolution over tokens, D × N → D × ⌈N / size⌉: each new column from its own few.

    kernel: D × D × size, new features, old features, place; its stride is its size. Missing tokens
    at the end count as zeros. Chapter 12, "Scaling to long sequences".
    """
    size = kernel.shape[2]
    X = np.pad(X, ((0, 0), (0, -X.shape[1] % size)))  # no token is lost
    pieces = X.reshape(len(X), -1, size)  # D × new tokens × place
    return np.einsum("eds,dns->en", kernel, pieces)


def linformer(Q, K, V, E, F):
    """Attention to P mixtures of the keys and values; E, F: N × P. Returns D_v × N.

    Chapter 12, "Scaling to long sequences". It has no place for a mask: each mixture holds all
    tokens, later ones too.
    """
    return scaled_attention(Q, K @ E, V @ F)[0]


def rank_needed(A, share=0.9):
    """How many singular values hold this share of the sum of all squares; A: … × N × N."""
    squares = np.linalg.svd(A, compute_uv=False) ** 2
    held = np.cumsum(squares, axis=-1) / squares.sum(axis=-1, keepdims=True)
    return (held < share).sum(axis=-1) + 1


def elu_plus_one(X):
    """The linear transformer's features: x + 1 above zero, eˣ below; all positive."""
    return np.where(X > 0, X + 1, np.exp(np.minimum(X, 0)))


def linear_attention(Q, K, V, features=elu_plus_one):
    """Attention with the similarity g[k]ᵀg[q], in order N; tokens are columns.

    Q, K: D_q × N; V: D_v × N; features: D_q × N → features × N. Returns D_v × N. Chapter 12,
    "Scaling to long sequences".
    """
    G_q, G_k = features(Q), features(K)
    state = V @ G_k.T  # D_v × features
    total = G_k.sum(axis=1)  # what the denominators need of the keys
    return state @ G_q / (total @ G_q)


def linear_recurrence(Q, K, V, features=elu_plus_one):
    """Linear attention of a decoder, one token after the other, with a state of fixed size.

    Shapes as in linear_attention. Returns (outputs D_v × N, the last state D_v × features).
    """
    G_q, G_k = features(Q), features(K)
    state, total = np.zeros((len(V), len(G_k))), np.zeros(len(G_k))
    outputs = np.empty((len(V), Q.shape[1]))
    for n in range(Q.shape[1]):
        state += np.outer(V[:, n], G_k[:, n])
        total += G_k[:, n]
        outputs[:, n] = state @ G_q[:, n] / (total @ G_q[:, n])
    return outputs, state


def positive_features(X, directions):
    """The Performer's features, all positive: D × N → m × N; directions: m × D.

    The mean of g[k]ᵀg[q] over random directions is exp[kᵀq]. Chapter 12, "Scaling to long
    sequences".
    """
    return np.exp(directions @ X - (X**2).sum(axis=0) / 2) / np.sqrt(len(directions))


def trigonometric_features(X, directions):
    """Sines and cosines with the same mean, D × N → 2m × N: these may be negative."""
    angles = directions @ X
    waves = np.concatenate([np.cos(angles), np.sin(angles)])
    return np.exp((X**2).sum(axis=0) / 2) * waves / np.sqrt(len(directions))


def orthogonal_directions(m, D, rng):
    """Random directions, m × D, at right angles in groups of D, as long as normal vectors are."""
    groups = []
    for _ in range(-(-m // D)):
        turned, triangle = np.linalg.qr(rng.normal(size=(D, D)))
        groups.append((turned * np.sign(np.diag(triangle))).T)  # without the signs: not uniform
    lengths = np.sqrt(rng.chisquare(D, size=(m, 1)))
    return lengths * np.vstack(groups)[:m]


def read_tile(read, scores, values):
    """What is known of each query, (largest, total, mixed), after one more tile of keys.

    largest, total: N numbers; mixed: D_v × N. scores: tile × N; values: D_v × tile.
    """
    largest, total, mixed = read
    new = np.maximum(largest, scores.max(axis=0))
    rescale = np.exp(largest - new)  # what was summed was relative to the old largest
    powers = np.exp(scores - new)
    return new, rescale * total + powers.sum(axis=0), rescale * mixed + values @ powers


def online_attention(Q, K, V, tile):
    """Scaled attention, exact, with at most tile × tile scores at a time; D_v × N.

    Shapes as in scaled_attention. The idea of FlashAttention, and of PyTorch's fused kernel.
    """
    outputs = np.empty((len(V), Q.shape[1]))
    for q in range(0, Q.shape[1], tile):
        queries = Q[:, q : q + tile] / np.sqrt(len(Q))
        n = queries.shape[1]
        read = np.full(n, -np.inf), np.zeros(n), np.zeros((len(V), n))
        for k in range(0, K.shape[1], tile):
            read = read_tile(read, K[:, k : k + tile].T @ queries, V[:, k : k + tile])
        outputs[:, q : q + tile] = read[2] / read[1]
    return outputs


def positive_rows(x, directions, of_keys):
    """The Performer's positive features, (batch, H, N, d) → (batch, H, N, m); directions: m × d.

    They stand for exp[kᵀq / √d]. All are divided by one number, for queries one each, which
    cancels between numerator and denominator and keeps the exponentials from overflowing.
    """
    x = x / x.shape[-1] ** 0.25
    powers = x @ directions.T - x.square().sum(dim=-1, keepdim=True) / 2
    largest = powers.detach().amax(dim=(-2, -1) if of_keys else -1, keepdim=True)
    return (powers - largest).exp()
