"""The exercises of notebook 08 against PyTorch, and against transformers' GPT-2, Llama and cuts."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional

from helpers.exercises.ch08.apply_temperature import apply_temperature
from helpers.exercises.ch08.attend_with_cache import attend_with_cache, some_inputs
from helpers.exercises.ch08.gpt_in_numbers import gpt_in_numbers
from helpers.exercises.ch08.keep_nucleus import keep_nucleus
from helpers.exercises.ch08.keep_top_k import keep_top_k
from helpers.exercises.ch08.search_with_beam import Language, search_with_beam
from helpers.exercises.ch08.text_log_probability import random_text, text_log_probability
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.judge import judge


def causal_by_torch(scores):
    M, N = scores.shape
    hidden = torch.ones(M, N, dtype=torch.bool).tril(N - M - 1)
    return torch.from_numpy(scores).masked_fill(hidden, -torch.inf).softmax(dim=0)


def temperature_by_torch(logits, temperature):
    logits = torch.from_numpy(logits)
    if temperature == 0:
        return functional.normalize((logits == logits.max()).double(), p=1, dim=0)
    return (logits / temperature).softmax(dim=0)


def loss_by_torch(logits, ids):
    logits, ids = torch.from_numpy(logits.T)[:-1], torch.from_numpy(ids)[1:]
    return -functional.cross_entropy(logits, ids, ignore_index=0, reduction="sum")


def rms_by_torch(X, gamma, epsilon):
    tokens, gamma = torch.from_numpy(X.T.copy()), torch.from_numpy(gamma[:, 0])
    return functional.rms_norm(tokens, gamma.shape, gamma, epsilon).T


def swiglu_by_transformers(X, Omega_gate, Omega_up, Omega_down):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaMLP

    D_mlp, D = Omega_gate.shape
    sizes = {"num_attention_heads": 1, "head_dim": 2}  # which an MLP does not have
    config = LlamaConfig(hidden_size=D, intermediate_size=D_mlp, **sizes)
    mlp = LlamaMLP(config).double()
    maps = {"gate_proj": Omega_gate, "up_proj": Omega_up, "down_proj": Omega_down}
    mlp.load_state_dict({f"{name}.weight": torch.from_numpy(map) for name, map in maps.items()})
    return mlp(torch.from_numpy(X.T)).T


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("8.1", causal_by_torch),
        ("8.3", loss_by_torch),
        ("8.4", temperature_by_torch),
        ("8.10", rms_by_torch),
        ("8.11", swiglu_by_transformers),
    ],
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer, seconds=60)
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize("padding", [0, 3])
def test_the_log_probability_is_the_loss_with_the_sign_changed(padding):
    logits, ids = random_text(np.random.default_rng(padding), 20, 9, padding)
    theirs = loss_by_torch(logits, ids).item()
    np.testing.assert_allclose(text_log_probability(logits, ids), theirs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_temperature_and_cuts_are_those_of_transformers(seed):
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    logits = 2 * np.random.default_rng(seed).normal(size=50)
    scores = torch.from_numpy(logits)[None]
    for cut, ours in (
        (TemperatureLogitsWarper(0.7), apply_temperature(logits, 0.7)),
        (TopKLogitsWarper(7), keep_top_k(apply_temperature(logits, 1), 7)),
        (TopPLogitsWarper(0.8), keep_nucleus(apply_temperature(logits, 1), 0.8)),
    ):
        theirs = cut(None, scores).softmax(dim=1)[0]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("D", "D_q", "D_v", "N"), [(3, 2, 4, 1), (4, 5, 2, 8)])
def test_one_token_after_the_other_gives_what_one_masked_pass_gives(D, D_q, D_v, N):
    rng = np.random.default_rng(N)
    _, Pi, K, V, parameters = some_inputs(rng, D, D_q, D_v, 0)
    X, Pi = rng.normal(size=(2, D, N))
    outputs = []
    for n in range(N):
        output, K, V = attend_with_cache(X[:, [n]], Pi, K, V, parameters)
        outputs.append(output)
    q, k, v = (
        torch.from_numpy(parameters[f"beta_{r}"] + parameters[f"Omega_{r}"] @ (X + Pi)).T[None]
        for r in "qkv"
    )
    theirs = functional.scaled_dot_product_attention(q, k, v, is_causal=True)[0].T
    np.testing.assert_allclose(np.hstack(outputs), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_with_room_for_every_beginning_finds_the_best_of_all_texts(seed, alpha):
    V, longest, end = 3, 4, 1
    language = Language(None, seed, V, 0.1, end)
    going_on = [token for token in range(V) if token != end]
    best = -np.inf
    for length in range(1, longest + 1):
        for beginning in itertools.product(going_on, repeat=length - 1):
            text = (*beginning, end)
            total = sum(language(text[:n])[token] for n, token in enumerate(text))
            best = max(best, total / length**alpha)
    score, text = search_with_beam(language, V**longest, longest, end, alpha)
    np.testing.assert_allclose(score, best, rtol=1e-12)
    narrow = search_with_beam(language, 1, longest, end, alpha)
    assert narrow is None or narrow[0] <= score


@pytest.mark.parametrize(
    ("K", "D", "V", "N"), [(48, 1600, 50_257, 1024), (3, 8, 40, 11)], ids=["GPT-2 XL", "small"]
)
def test_parameters_and_cache_are_those_of_transformers(K, D, V, N):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=V, n_positions=N, n_embd=D, n_layer=K, n_head=4)
    with torch.device("meta"):
        model = GPT2LMHeadModel(config)
        kept = model(torch.zeros(1, N, dtype=torch.long)).past_key_values
    numbers = gpt_in_numbers(K, D, V, N, 1, 1)
    assert numbers["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    sizes = [part.numel() for layer in kept for part in layer[:2]]
    assert numbers["cache"] == sum(sizes)


def test_gpt_3():
    numbers = gpt_in_numbers(96, 12_288, 50_257, 2048, 300_000_000_000, 3_200_000)
    assert numbers == {
        "parameters": 174_604_259_328,
        "steps": 93_750,
        "operations": 314_287_666_790_400_000_000_000,
        "cache": 4_831_838_208,
    }
