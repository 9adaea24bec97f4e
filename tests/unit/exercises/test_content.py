"""The exercises of the notebooks: what `python -m helpers.exercises` proves, and more."""

import numpy as np
import pytest
import torch

from helpers.exercises.__main__ import answer_faults, notebook_faults
from helpers.exercises.ch02.self_attention_backward import self_attention_backward
from helpers.exercises.ch03.previous_word_head import by_keys, previous_word_head
from helpers.exercises.ch03.sinusoidal_encoding import sinusoidal_encoding
from helpers.exercises.ch04.circuits import circuits
from helpers.exercises.ch04.multi_head import multi_head
from helpers.exercises.engine.chapters import chapters, exercises_of, find
from helpers.exercises.engine.judge import WRONG, judge
from helpers.exercises.shared.reference import random_parameters, softmax_columns
from helpers.notebooks import ROOT

EXERCISES = [exercise for chapter in chapters() for exercise in exercises_of(chapter)]
by_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


@pytest.mark.parametrize("chapter", chapters())
def test_every_file_of_a_chapter_is_an_exercise_of_its_own(chapter):
    files = {path.stem: path for path in (ROOT / f"helpers/exercises/ch{chapter}").glob("*.py")}
    del files["__init__"]
    assert sorted(files) == sorted(exercise.name for exercise in exercises_of(chapter))
    for path in files.values():
        assert "helpers.exercises.ch" not in path.read_text("utf-8")  # imports no other


@by_exercise
def test_the_solution_stands_alone_in_a_notebook(exercise):
    names = {"np": np}
    exec(exercise.source, names)
    assert judge(exercise, names[exercise.name]).passed


@by_exercise
def test_every_answer_is_judged_as_it_should_be(exercise):
    assert not answer_faults(exercise)


@pytest.mark.parametrize("chapter", chapters())
def test_the_notebook_has_the_same_stubs_and_checks(chapter):
    assert not notebook_faults(chapter)


@by_exercise
def test_hints_do_not_give_the_solution_away(exercise):
    code = [line.partition("#")[0].strip() for line in exercise.source.splitlines()[1:]]
    hints = " ".join(exercise.hints)
    assert not [line for line in code if len(line) > 20 and line in hints]


@by_exercise
@pytest.mark.parametrize(
    "junk",
    [None, "text", 0, float("nan"), [], {}, [[1.0], [2.0, 3.0]], (1, 2), np.zeros((2, 2)), object],
    ids=repr,
)
def test_junk_gets_a_sentence_about_the_result(exercise, junk):
    verdict = judge(exercise, lambda *inputs: junk)
    assert verdict.state == WRONG
    assert "could not be checked" not in verdict.sentence


def with_tensors(formula):
    """A NumPy signature around a formula in PyTorch."""

    def answer(*arrays):
        return formula(*(torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays))

    return answer


def attention(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    scores = (Omega_k @ X + beta_k).T @ (Omega_q @ X + beta_q)
    return (Omega_v @ X + beta_v) @ scores.softmax(dim=0)


def parameter_free(X):
    tokens = X.T[None]
    return torch.nn.functional.scaled_dot_product_attention(tokens, tokens, tokens)[0].T


def backward_by_autograd(*inputs):
    """The same dict of gradients, from PyTorch."""
    names = "X", "Omega_q", "beta_q", "Omega_k", "beta_k", "Omega_v", "beta_v"
    *leaves, dY = (torch.from_numpy(array) for array in inputs)
    for leaf in leaves:
        leaf.requires_grad_()
    gradients = torch.autograd.grad(attention(*leaves), leaves, dY)
    return dict(zip(names, gradients, strict=True))


def parameters_by_torch(D, N, k):
    """The same counts, of PyTorch's own layers."""
    layers = {
        "dense": [torch.nn.Linear(N * D, N * D, device="meta")],
        "convolution": [torch.nn.Conv1d(D, D, k, device="meta")],
        "self-attention": [torch.nn.Linear(D, D, device="meta") for _ in range(3)],
    }
    return {
        name: sum(parameter.numel() for layer in group for parameter in layer.parameters())
        for name, group in layers.items()
    }


def convolution_by_torch(X, Omega, beta):
    kernel = Omega.permute(1, 2, 0)  # D_out × D × k
    return torch.nn.functional.conv1d(X, kernel, beta[:, 0], padding="same")


def logistic_regression_by_torch(counts, labels):
    layer = torch.nn.Linear(counts.shape[1], 1, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(200):
        optimizer.zero_grad()
        loss(layer(counts.double())[:, 0], labels.double()).backward()
        optimizer.step()
    return layer.weight[0], layer.bias


def padding_by_torch(lengths, N):
    return torch.arange(N) >= torch.tensor(lengths)[:, None]


def turns_by_torch(D, N, delta):
    """exp(iφ) for each pair of rows and each position, D/2 × N."""
    frequencies = torch.exp(-torch.arange(0, D, 2) / D * np.log(delta))
    angles = torch.outer(frequencies, torch.arange(N).float())
    return torch.polar(torch.ones_like(angles), angles)


def sinusoids_by_torch(D, N, delta):
    turns = turns_by_torch(D, N, delta)
    return torch.stack([turns.imag, turns.real], dim=1).flatten(0, 1)


def rotary_by_torch(Q, delta):
    turned = torch.complex(Q[0::2], Q[1::2]) * turns_by_torch(*Q.shape, delta)
    return torch.stack([turned.real, turned.imag], dim=1).flatten(0, 1)


def attention_with_positions(X, Pi, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    tokens, values = (X + Pi).T[None], (Omega_v @ X + beta_v).T[None]
    Q, K = tokens @ Omega_q.T + beta_q.T, tokens @ Omega_k.T + beta_k.T
    return torch.nn.functional.scaled_dot_product_attention(Q, K, values, scale=1.0)[0].T


def scaled_by_torch(Q, K, V):
    return torch.nn.functional.scaled_dot_product_attention(Q.mT[None], K.mT[None], V.mT[None])[0].T


def jacobian_by_autograd(scores):
    return torch.autograd.functional.jacobian(lambda z: z.softmax(dim=0), scores)


def heads_by_torch(X, heads, Omega_c):
    def project(role):  # H × N × size
        columns = [head[f"beta_{role}"] + head[f"Omega_{role}"] @ X for head in heads]
        return torch.from_numpy(np.stack(columns)).mT

    outputs = torch.nn.functional.scaled_dot_product_attention(*map(project, "qkv"))
    return torch.from_numpy(Omega_c) @ outputs.mT.flatten(end_dim=1)


def head_parameters_by_torch(D, H, D_q, D_v):
    layers = [torch.nn.Linear(D, size, device="meta") for size in H * (D_q, D_q, D_v)]
    layers.append(torch.nn.Linear(H * D_v, D, bias=False, device="meta"))
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("0.1", parameters_by_torch),
        ("0.2", with_tensors(convolution_by_torch)),
        ("0.5", with_tensors(logistic_regression_by_torch)),
        ("1.2", with_tensors(lambda scores: scores.softmax(dim=0))),
        ("1.3", with_tensors(parameter_free)),
        ("1.5", with_tensors(attention)),
        ("2.1", with_tensors(lambda X, Omega, beta: torch.addmm(beta, Omega, X))),
        ("2.2", with_tensors(lambda Q, K: (K.T @ Q).softmax(dim=0))),
        ("2.3", with_tensors(attention)),
        ("2.7", padding_by_torch),
        ("2.8", backward_by_autograd),
        ("3.2", sinusoids_by_torch),
        ("3.3", with_tensors(attention_with_positions)),
        ("3.6", with_tensors(rotary_by_torch)),
        ("4.2", with_tensors(scaled_by_torch)),
        ("4.1", with_tensors(jacobian_by_autograd)),
        ("4.3", heads_by_torch),
        ("4.4", head_parameters_by_torch),
    ],
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer)
    assert verdict.passed, verdict.sentence


def as_lists(result):
    return np.asarray(result).tolist()


def as_learned_tensor(result):
    return torch.tensor(np.asarray(result), dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("kind", [as_lists, as_learned_tensor])
@pytest.mark.parametrize("id", "3.1 3.2 3.3 3.4 3.5 3.6 4.1 4.2 4.3 5.1 5.2 5.3 5.4 5.6".split())
def test_an_array_may_come_as_lists_or_as_a_tensor_that_is_learned(id, kind):
    exercise = find(id)
    verdict = judge(exercise, lambda *inputs: kind(exercise.answer(*inputs)))
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize("answer", [previous_word_head, by_keys])
@pytest.mark.parametrize(("D", "delta"), [(8, 100), (8, 10_000), (16, 10_000), (32, 100)])
def test_a_head_for_the_previous_word_serves_every_length(answer, D, delta):
    """The check of 3.8 looks at 40 tokens alone."""
    Omega_q, Omega_k = answer(D, delta)
    for N in range(2, 41):
        Pi = sinusoidal_encoding(D, N, delta)
        A = softmax_columns((Omega_k @ Pi).T @ (Omega_q @ Pi))
        assert A.diagonal(1).min() > 0.9  # A[n − 1, n]


@pytest.mark.parametrize(("D", "D_q", "D_v", "N"), [(3, 2, 4, 1), (4, 3, 2, 6), (1, 1, 1, 3)])
def test_backward_equals_autograd(D, D_q, D_v, N):
    rng = np.random.default_rng(N)
    inputs = rng.normal(size=(D, N)), *random_parameters(rng, D, D_q, D_v)
    dY = rng.normal(size=(D_v, N))
    ours, theirs = self_attention_backward(*inputs, dY), backward_by_autograd(*inputs, dY)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        np.testing.assert_allclose(gradient, theirs[name], rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(("D", "H", "D_q", "D_v", "N"), [(4, 2, 2, 2, 3), (3, 4, 5, 2, 6)])
def test_circuits_give_the_outputs_of_the_heads(D, H, D_q, D_v, N):
    rng = np.random.default_rng(N)
    X, Omega_c = rng.normal(size=(D, N)), rng.normal(size=(D, H * D_v))
    names = "Omega_q", "beta_q", "Omega_k", "beta_k", "Omega_v", "beta_v"
    heads = [dict(zip(names, random_parameters(rng, D, D_q, D_v), strict=True)) for _ in range(H)]
    for head in heads:
        head.update({name: 0 * head[name] for name in names[1::2]})
    outputs = 0
    for W_qk, W_ov in circuits(heads, Omega_c):
        outputs = outputs + W_ov @ X @ softmax_columns(X.T @ W_qk @ X)
    np.testing.assert_allclose(outputs, multi_head(X, heads, Omega_c), rtol=0, atol=1e-12)
