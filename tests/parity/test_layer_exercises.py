"""The exercises of notebook 05 against PyTorch's own layers, schedules and gradients."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from helpers.exercises.ch05.layer_backward import layer_backward, random_inputs
from helpers.exercises.ch05.layer_parameters import layer_parameters
from helpers.exercises.ch05.learning_rate import learning_rate
from helpers.exercises.ch05.norm_after_layer import norm_after_layer
from helpers.exercises.ch05.pre_norm_layer import pre_norm_layer
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.judge import judge


def normalize_by_torch(X, gamma, beta, epsilon):
    X, gamma, beta = map(torch.from_numpy, (X, gamma, beta))
    return functional.layer_norm(X.T, X.shape[:1], gamma[:, 0], beta[:, 0], epsilon).T


def mlp_by_torch(*inputs):
    X, Omega_1, beta_1, Omega_2, beta_2 = map(torch.from_numpy, inputs)
    hidden = functional.linear(X.T, Omega_1, beta_1[:, 0]).relu()
    return functional.linear(hidden, Omega_2, beta_2[:, 0]).T


def parameters_by_torch(D, D_mlp):
    layer = torch.nn.TransformerEncoderLayer(D, 1, D_mlp, device="meta")
    return sum(parameter.numel() for parameter in layer.parameters())


def layer_by_torch(X, p):
    """The layer of exercise 5.9, tensors with tokens in columns, from PyTorch's functions."""

    def linear(name, x):
        return functional.linear(x, p[f"Omega_{name}"], p[f"beta_{name}"][:, 0])

    def norm(name, x):
        weight, bias = p[f"{name}_weight"][:, 0], p[f"{name}_bias"][:, 0]
        return functional.layer_norm(x, x.shape[-1:], weight, bias)

    x = X.T[None]  # batch × tokens × D
    attended = functional.scaled_dot_product_attention(*(linear(name, x) for name in "qkv"))
    x = norm("norm_1", x + linear("c", attended))
    return norm("norm_2", x + linear("2", linear("1", x).relu()))[0].T


def backward_by_autograd(X, parameters, dY):
    leaves = {name: torch.from_numpy(value) for name, value in ({"X": X} | parameters).items()}
    for leaf in leaves.values():
        leaf.requires_grad_()
    output = layer_by_torch(leaves["X"], leaves)
    gradients = torch.autograd.grad(output, leaves.values(), torch.from_numpy(dY))
    return dict(zip(leaves, gradients, strict=True))


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("5.1", normalize_by_torch),
        ("5.2", mlp_by_torch),
        ("5.5", parameters_by_torch),
        ("5.9", backward_by_autograd),
    ],
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer)
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize(
    ("D", "D_mlp", "N"), [(3, 5, 4), (4, 16, 1), (1, 3, 2), (8, 32, 11), (6, 2, 30)]
)
def test_backward_equals_autograd(D, D_mlp, N):
    inputs = random_inputs(np.random.default_rng(N), D, D_mlp, N)
    ours, theirs = layer_backward(*inputs), backward_by_autograd(*inputs)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        np.testing.assert_allclose(gradient, theirs[name], rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("layer", "norm_first"), [(norm_after_layer, False), (pre_norm_layer, True)]
)
def test_both_orders_are_those_of_pytorch(layer, norm_first):
    D, N = 6, 5
    torch.manual_seed(0)
    theirs = torch.nn.TransformerEncoderLayer(
        D, 2, 4 * D, batch_first=True, norm_first=norm_first, dtype=torch.float64
    ).eval()
    for parameter in theirs.parameters():  # at the start, both LayerNorms are alike
        torch.nn.init.normal_(parameter)

    def columns(module):
        """A module on batch × tokens × D as a function of a D × N matrix."""
        return lambda X: module(torch.from_numpy(X.T)[None])[0].detach().numpy().T

    parts = (
        lambda x: theirs.self_attn(x, x, x)[0],
        lambda x: theirs.linear2(theirs.linear1(x).relu()),
        theirs.norm1,
        theirs.norm2,
    )
    X = np.random.default_rng(5).normal(size=(D, N))
    np.testing.assert_allclose(layer(X, *map(columns, parts)), columns(theirs)(X), atol=1e-12)


@pytest.mark.parametrize(("D", "D_mlp"), [(8, 32), (512, 2048)])
def test_four_times_as_many_hidden_units(D, D_mlp):
    assert layer_parameters(D, D_mlp) == 12 * D**2 + 13 * D


def test_the_schedule_is_pytorchs():
    steps, warm_up, peak = 40, 8, 3e-4
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=peak)
    schedule = torch.optim.lr_scheduler
    rising = schedule.LinearLR(optimizer, 1 / warm_up, 1.0, total_iters=warm_up - 1)
    falling = schedule.CosineAnnealingLR(optimizer, T_max=steps - warm_up)
    scheduler = schedule.SequentialLR(optimizer, [rising, falling], milestones=[warm_up])
    rates = []
    for _ in range(steps):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    ours = [learning_rate(step, steps, warm_up, peak) for step in range(steps)]
    np.testing.assert_allclose(ours, rates, rtol=0, atol=1e-12)
