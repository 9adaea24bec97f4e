"""The exercises of notebook 07 against PyTorch's losses and gradients, and Hugging Face's BERT."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from helpers.exercises.ch07.bert_parameters import bert_parameters
from helpers.exercises.ch07.masked_loss import masked_loss
from helpers.exercises.ch07.masked_loss_backward import masked_loss_backward, random_inputs
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.judge import judge


def autograd_through(encode):
    """The encoder of exercise 7.9 as a function of tensors that gradients can go back through."""

    class Encoder(torch.autograd.Function):
        @staticmethod
        def forward(context, X):
            Y, context.way_back = encode(X.numpy())
            return torch.from_numpy(Y)

        @staticmethod
        def backward(context, dY):
            return torch.from_numpy(context.way_back(dY.numpy()))

    return Encoder.apply


def backward_by_autograd(tokens, labels, Omega_e, beta, encode):
    tokens, labels, Omega_e, beta = map(torch.from_numpy, (tokens, labels, Omega_e, beta))
    leaves = Omega_e.requires_grad_(), beta.requires_grad_()
    Y = autograd_through(encode)(functional.embedding(tokens, Omega_e.T).T)
    total = functional.cross_entropy((Omega_e.T @ Y + beta).T, labels, reduction="sum")
    gradients = torch.autograd.grad(total / max((labels >= 0).sum(), 1), leaves)
    return dict(zip(("Omega_e", "beta"), gradients, strict=True))


def sigmoid_by_layer(outputs, weight, bias):
    scores = functional.linear(outputs[:, 0], weight[None], bias[None])
    return torch.special.expit(scores[:, 0])


def parameters_of_transformers(V, N, D, D_mlp, K):
    """Those of BERT with the head for masked words, counted on the meta device."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=V,
        max_position_embeddings=N,
        hidden_size=D,
        intermediate_size=D_mlp,
        num_hidden_layers=K,
        num_attention_heads=1,
        pad_token_id=None,
    )
    with torch.device("meta"):
        model = BertForMaskedLM(config)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("id", "answer"), [("7.6", sigmoid_by_layer), ("7.9", backward_by_autograd)]
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer)
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize(("D", "V", "N"), [(3, 7, 9), (5, 30, 4), (1, 4, 12)])
def test_backward_equals_autograd(D, V, N):
    inputs = random_inputs(np.random.default_rng(N), D, V, N)
    ours, theirs = masked_loss_backward(*inputs), backward_by_autograd(*inputs)
    for name, gradient in ours.items():
        np.testing.assert_allclose(gradient, theirs[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_the_loss_is_pytorchs_where_something_is_masked(share):
    torch.manual_seed(7)
    logits, labels = torch.randn(3, 9, 11), torch.randint(0, 11, (3, 9))
    labels[torch.rand(3, 9) > share] = -100
    labels[0, 0] = 5
    theirs = functional.cross_entropy(logits.flatten(end_dim=1), labels.flatten())
    torch.testing.assert_close(masked_loss(logits, labels), theirs)


@pytest.mark.parametrize(
    "sizes",
    [(30_522, 512, 1024, 4096, 24), (30_522, 512, 768, 3072, 12), (40, 7, 6, 10, 3)],
    ids=["BERT-large", "BERT-base", "small"],
)
def test_parameters_are_those_of_transformers(sizes):
    assert bert_parameters(*sizes) == parameters_of_transformers(*sizes)


def test_bert_large():
    assert bert_parameters(30_522, 512, 1024, 4096, 24) == 335_174_458
