"""The exercises of notebook 09 against PyTorch's attention, decoder layer, loss and autograd."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from helpers.exercises.ch09.aligned_words import aligned_words, examples
from helpers.exercises.ch09.prefix_mask import prefix_mask
from helpers.exercises.ch09.read_source import read_source
from helpers.exercises.ch09.read_source_backward import random_inputs, read_source_backward
from helpers.exercises.ch09.read_with_cache import read_with_cache
from helpers.exercises.ch09.teacher_forcing_loss import more_examples, teacher_forcing_loss
from helpers.exercises.ch09.three_sublayers import three_sublayers
from helpers.exercises.ch09.translate_greedily import EXAMPLES, translate_greedily, translators
from helpers.exercises.ch09.translator_parameters import translator_parameters
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.judge import judge

SIZES = [(4, 3, 2, 5, 6, 7), (3, 5, 4, 2, 1, 6), (2, 1, 3, 4, 5, 1)]


def tensors(arrays):
    return {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}


def attention_by_torch(X_dec, X_enc, padding, p):
    """Tokens as rows inside, columns outside."""
    q, k, v = (
        (p[f"beta_{role}"] + p[f"Omega_{role}"] @ X).T[None]
        for role, X in (("q", X_dec), ("k", X_enc), ("v", X_enc))
    )
    seen = ~torch.from_numpy(padding)[None]
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)[0].T


def read_by_torch(X_dec, X_enc, padding, parameters):
    p = {name: torch.from_numpy(matrix) for name, matrix in parameters.items()}
    return attention_by_torch(torch.from_numpy(X_dec), torch.from_numpy(X_enc), padding, p)


def backward_by_torch(X_dec, X_enc, padding, parameters, dY):
    leaves = tensors({"X_dec": X_dec, "X_enc": X_enc} | parameters)
    inputs = dict(leaves)
    Y = attention_by_torch(inputs.pop("X_dec"), inputs.pop("X_enc"), padding, inputs)
    gradients = torch.autograd.grad(Y, [*leaves.values()], torch.from_numpy(dY))
    return dict(zip(leaves, gradients, strict=True))


def loss_by_torch(model, source, texts):
    rows = [torch.tensor([1, *text, 2]) for text in texts]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    logits = torch.from_numpy(model(source, ids[:, :-1].numpy()))
    return functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)


def mask_by_torch(M, N):
    hidden = torch.ones(M + N, M + N, dtype=torch.bool).triu(1)  # queries down
    hidden[:, :M] = False
    return hidden.T


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("9.1", read_by_torch),
        ("9.6", loss_by_torch),
        ("9.5", mask_by_torch),
        ("9.2", backward_by_torch),
    ],
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer, seconds=60)
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize("sizes", SIZES)
def test_cross_attention_and_its_gradients_are_those_of_pytorch(sizes):
    rng = np.random.default_rng(sum(sizes))
    *sizes, N_e = sizes
    padding = np.arange(N_e) % 3 == 1
    *inputs, dY = random_inputs(rng, *sizes, padding)
    theirs = read_by_torch(*inputs)
    np.testing.assert_allclose(read_source(*inputs), theirs, rtol=0, atol=1e-12)
    theirs = backward_by_torch(*inputs, dY)
    for name, gradient in read_source_backward(*inputs, dY).items():
        np.testing.assert_allclose(gradient, theirs[name], rtol=0, atol=1e-12, err_msg=name)


def test_one_word_after_the_other_gives_what_all_at_once_give():
    rng = np.random.default_rng(9)
    X, E, padding, parameters, _ = random_inputs(rng, 4, 3, 2, 5, 6, np.zeros(7, bool))
    kept, outputs = None, []
    for n in range(X.shape[1]):
        output, kept = read_with_cache(X[:, [n]], None if n else E, kept, parameters)
        outputs.append(output)
    at_once = read_source(X, E, padding, parameters)
    np.testing.assert_allclose(np.hstack(outputs), at_once, rtol=0, atol=1e-12)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_layer_is_that_of_pytorch(pre_norm):
    torch.manual_seed(9)
    D, N_d, N_e = 8, 5, 7
    layer = nn.TransformerDecoderLayer(D, 2, 32, 0.0, norm_first=pre_norm, batch_first=True)
    layer = layer.double().eval()
    for parameter in layer.parameters():  # no bias 0, no weight 1
        nn.init.normal_(parameter, std=0.5)
    X, E = torch.randn(N_d, D).double(), torch.randn(N_e, D).double()
    future = torch.ones(N_d, N_d, dtype=torch.bool).triu(1)

    def of_columns(function):
        """A function of tokens as rows, made one of matrices with tokens as columns."""
        return lambda *matrices: (
            function(*(torch.tensor(X.T)[None] for X in matrices))[0].detach().numpy().T
        )

    def own(x):
        return layer.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def cross(x, e):
        return layer.multihead_attn(x, e, e, need_weights=False)[0]

    def mlp(x):
        return layer.linear2(functional.relu(layer.linear1(x)))

    norms = [of_columns(norm) for norm in (layer.norm1, layer.norm2, layer.norm3)]
    parts = of_columns(own), of_columns(cross), of_columns(mlp)
    ours = three_sublayers(X.numpy().T, E.numpy().T, *parts, norms, pre_norm)
    theirs = layer(X[None], E[None], tgt_mask=future)[0].detach().numpy().T
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_the_loss_is_cross_entropy_without_padding():
    for inputs, what in more_examples():
        theirs = loss_by_torch(*inputs).item()
        np.testing.assert_allclose(teacher_forcing_loss(*inputs), theirs, rtol=1e-12, err_msg=what)


@pytest.mark.parametrize(
    ("K_e", "K_d", "D", "D_mlp", "V"), [(6, 6, 512, 2048, 37_000), (2, 3, 8, 20, 11)]
)
def test_the_numbers_are_those_of_pytorch_without_its_norms_at_the_end(K_e, K_d, D, D_mlp, V):
    with torch.device("meta"):
        model = nn.Transformer(D, 4, K_e, K_d, D_mlp)
        embedding = nn.Embedding(V, D)
    counts = {name: parameter.numel() for name, parameter in model.named_parameters()}
    at_the_end = sum(n for name, n in counts.items() if name.split(".")[1] == "norm")
    numbers = translator_parameters(K_e, K_d, D, D_mlp, V)
    assert numbers["embedding"] == sum(p.numel() for p in embedding.parameters())
    assert numbers["cross-attention"] == sum(n for k, n in counts.items() if "multihead" in k)
    assert numbers["self-attention"] == sum(n for k, n in counts.items() if "self_attn" in k)
    assert numbers["MLPs"] == sum(n for k, n in counts.items() if "linear" in k)
    assert numbers["norms"] == sum(n for k, n in counts.items() if "norm" in k) - at_the_end


def test_the_original_has_63_million_numbers():
    assert sum(translator_parameters(6, 6, 512, 2048, 37_000).values()) == 63_082_496


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_greedy_translation_gives_no_other_word_a_larger_logit(example):
    number, V, seed, source, longest = example
    encoder, decoder, _ = translators()
    encode, decode = encoder(number), decoder(V, seed)
    words = translate_greedily(encode, decode, source, longest)
    assert len(words) <= longest
    logits = torch.from_numpy(decode(encode(source), [1, *words]))
    best = logits.argmax(dim=0).tolist()  # in one pass, since a column knows nothing later
    assert best[: len(words)] == words
    assert 2 not in words
    assert len(words) == longest or best[-1] == 2


def test_a_mask_hides_all_of_the_target_from_the_source_and_the_future_from_the_target():
    hidden = prefix_mask(5, 4)
    assert not hidden[:5].any()
    assert hidden[5:, :5].all()
    np.testing.assert_array_equal(hidden[5:, 5:], np.tri(4, k=-1) == 1)


def test_an_alignment_is_that_of_averaged_weights_shifted_by_one():
    for (weights, source, inputs), what in examples():
        mean = torch.from_numpy(weights).mean(dim=0)
        mean[torch.tensor(source) < 3] = -torch.inf
        best = mean.argmax(dim=0)[:-1][torch.tensor(inputs)[1:] > 2]
        assert aligned_words(weights, source, inputs) == best.tolist(), what
