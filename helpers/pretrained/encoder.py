"""BERT's layers in plain NumPy: tokens are columns, weights are Omega, biases are beta."""

import math
import warnings
from typing import NamedTuple

import numpy as np

__all__ = ["Encoded", "Encoder"]


class Encoded(NamedTuple):
    """What an encoder computed for one text of N tokens.

    tokens:    list of N word pieces, from [CLS] to [SEP]
    hidden:    (layers + 1) × D × N, the embeddings and then every layer's output
    attention: layers × heads × N keys × N queries; each column sums to one
    """

    tokens: list
    hidden: np.ndarray
    attention: np.ndarray

    def __repr__(self):
        hidden, attention = (" × ".join(map(str, a.shape)) for a in (self.hidden, self.attention))
        return f"Encoded({len(self.tokens)} tokens, hidden {hidden}, attention {attention})"


class Encoder:
    """A BERT encoder: embeddings, then transformer layers with the norm after each addition.

    config:     BERT's config.json as a dictionary
    weights:    a helpers.pretrained.files.Weights
    word_piece: the WordPiece whose ids select the embeddings
    """

    def __init__(self, config, weights, word_piece):
        D, H = config["hidden_size"], config["num_attention_heads"]
        D_mlp, epsilon = config["intermediate_size"], config["layer_norm_eps"]
        self.word_piece = word_piece
        self.dtype = weights.dtype
        # D × vocabulary, one column a word piece; kept as stored, for it is half of the model.
        self.Omega_e = weights.take("embeddings.word_embeddings.weight", len(word_piece.ids), D).T
        self.Pi = weights.matrix(
            "embeddings.position_embeddings.weight", config["max_position_embeddings"], D
        ).T  # D × positions
        # BERT tells a first from a second sentence by a learned vector; here there is only a first.
        self.sentence = weights.matrix(
            "embeddings.token_type_embeddings.weight", config["type_vocab_size"], D
        ).T[:, :1]  # D × 1
        self.norm = Norm(weights, "embeddings.LayerNorm", D, epsilon)
        self.layers = [
            Layer(weights, f"encoder.layer.{number}.", D, H, D_mlp, epsilon)
            for number in range(config["num_hidden_layers"])
        ]

    def __call__(self, text):
        """Encode one text; returns Encoded(tokens, hidden, attention)."""
        tokens = self.tokenize(text)
        return Encoded(tokens, *self.run([self.word_piece.ids[token] for token in tokens]))

    def tokenize(self, text):
        """The text's word pieces between [CLS] and [SEP].

        Warns, and leaves out the end, where there are more pieces than learned positions.
        """
        pieces = self.word_piece.tokenize(text)
        room = self.Pi.shape[1] - 2
        if len(pieces) > room:
            warnings.warn(
                f"The text has {len(pieces)} word pieces; the encoder reads the first {room}.",
                stacklevel=2,
            )
        return ["[CLS]", *pieces[:room], "[SEP]"]

    def run(self, ids):
        """Run all layers on N token ids.

        Returns hidden ((layers + 1) × D × N) and attention (layers × heads × keys × queries).
        """
        X = self.Omega_e[:, ids].astype(self.dtype) + self.Pi[:, : len(ids)] + self.sentence
        X = self.norm(X)  # D × N
        hidden, attention = [X], []
        for layer in self.layers:
            X, A = layer(X)
            hidden.append(X)
            attention.append(A)
        return np.stack(hidden), np.stack(attention)

    def __repr__(self):
        return (
            f"Encoder({len(self.layers)} layers of {self.layers[0].H} heads, "
            f"{self.Omega_e.shape[0]} wide, {self.Omega_e.shape[1]} word pieces, {self.dtype})"
        )


class Layer:
    """One transformer layer: attention, then an MLP, each added to its input and normalized."""

    def __init__(self, weights, prefix, D, H, D_mlp, epsilon):
        self.H = H
        # One below the other, the H heads' D/H × D matrices fill a D × D matrix.
        self.Omega_q, self.beta_q = weights.linear(prefix + "attention.self.query", D, D)
        self.Omega_k, self.beta_k = weights.linear(prefix + "attention.self.key", D, D)
        self.Omega_v, self.beta_v = weights.linear(prefix + "attention.self.value", D, D)
        self.Omega_c, self.beta_c = weights.linear(prefix + "attention.output.dense", D, D)
        self.norm_1 = Norm(weights, prefix + "attention.output.LayerNorm", D, epsilon)
        self.Omega_1, self.beta_1 = weights.linear(prefix + "intermediate.dense", D_mlp, D)
        self.Omega_2, self.beta_2 = weights.linear(prefix + "output.dense", D, D_mlp)
        self.norm_2 = Norm(weights, prefix + "output.LayerNorm", D, epsilon)

    def __call__(self, X):
        """X: D × N. Returns the layer's output, D × N, and its attention, H × keys × queries."""
        D, N = X.shape
        heads = self.H, D // self.H, N
        Q = (self.beta_q + self.Omega_q @ X).reshape(heads)  # H × D_q × N
        K = (self.beta_k + self.Omega_k @ X).reshape(heads)
        V = (self.beta_v + self.Omega_v @ X).reshape(heads)
        A = softmax_columns(K.transpose(0, 2, 1) @ Q / math.sqrt(D // self.H))  # H × N × N
        X = self.norm_1(X + self.beta_c + self.Omega_c @ (V @ A).reshape(D, N))
        mlp = self.beta_2 + self.Omega_2 @ gelu(self.beta_1 + self.Omega_1 @ X)
        return self.norm_2(X + mlp), A


class Norm:
    """LayerNorm: standardizes every column, then scales its D entries by gamma, shifts by delta."""

    def __init__(self, weights, name, D, epsilon):
        self.gamma = weights.vector(name + ".weight", D)
        self.delta = weights.vector(name + ".bias", D)
        self.epsilon = epsilon

    def __call__(self, X):
        centered = X - X.mean(axis=0)
        variance = (centered**2).mean(axis=0)
        return self.delta + self.gamma * centered / np.sqrt(variance + self.epsilon)


def softmax_columns(scores):
    """Softmax over the keys of scores (…, keys, queries); the maximum comes off for safety."""
    exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return exponentials / exponentials.sum(axis=-2, keepdims=True)


def gelu(X):
    """X · Φ(X) with the exact normal distribution Φ, as BERT was trained (no tanh formula)."""
    return X * (0.5 + 0.5 * erf(X / math.sqrt(2)).astype(X.dtype))


erf = np.frompyfunc(math.erf, 1, 1)  # NumPy has no erf of its own; Python's has full precision
