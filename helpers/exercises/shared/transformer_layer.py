"""The transformer layer, which is put together in two orders (5.3 and 5.4), with one check.

`parts` are what both orders take after X: attention, mlp, norm_1 and norm_2, each a function of
a D × N matrix with a result of the same shape.
"""

import numpy as np

from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize
from helpers.exercises.shared.reference import random_parameters, self_attention

__all__ = ["check_layer"]


def random_parts(rng, D):
    """Self-attention, an MLP with 4D hidden units and two LayerNorms, with random parameters."""
    projections = random_parameters(rng, D, D, D)
    Omega_1, Omega_2 = rng.normal(size=(4 * D, D)), rng.normal(size=(D, 4 * D))
    beta_1, beta_2 = rng.normal(size=(4 * D, 1)), rng.normal(size=(D, 1))

    def norm(gamma, beta):
        return lambda X: beta + gamma * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + 0.1)

    return (
        lambda X: self_attention(X, *projections),
        lambda X: beta_2 + Omega_2 @ np.maximum(0, beta_1 + Omega_1 @ X),
        norm(*rng.normal(size=(2, D, 1))),
        norm(*rng.normal(size=(2, D, 1))),
    )


def check_layer(answer, layer, mistakes):
    """First four parts that can be followed on paper, then real ones of several sizes.

    layer: the right answer; mistakes: dict from the question to ask to the answer that gets
    it, or to a tuple of several.
    """
    X = np.array([[2.0, 5.0]])
    # No part is linear or undoes another, so that every order of them has a result of its own.
    parts = [lambda X: X + 1, lambda X: X**2, lambda X: 10 - X, lambda X: 2 * X + 1]
    recognize(
        unchanged(answer, X, *parts),
        layer(X, *parts),
        "the layer of X = [[2, 5]], where attention adds 1, mlp squares, norm_1 subtracts from 10 "
        "and norm_2 doubles and adds 1",
        {
            question: tuple(
                mistaken(X, *parts)
                for mistaken in (answers if isinstance(answers, tuple) else (answers,))
            )
            for question, answers in mistakes.items()
        },
    )
    for i, name in enumerate(("attention", "mlp", "norm_1", "norm_2")):
        others = [*parts[:i], lambda X: 3 * X, *parts[i + 1 :]]
        what = f"the layer of X = [[2, 5]] with the same parts but for {name}, which triples"
        same(unchanged(answer, X, *others), layer(X, *others), what)
    rng = np.random.default_rng(54)
    for D, N in (3, 4), (4, 1), (1, 3), (5, 5), (2, 17):
        parts = random_parts(rng, D)
        for X in rng.normal(size=(2, D, N)):
            same(unchanged(answer, X, *parts), layer(X, *parts), f"the layer for D={D}, N={N}")
