"""The blocks of the GPT notebook, with random weights, against searches through everything."""

import signal
from itertools import islice

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.blocks.gpt import (
    answered,
    beam_search,
    cached_step,
    decoder_parameters,
    following,
    gpt_parameters,
    next_distribution,
    published_layer,
    rms_norm,
    shown,
    tell,
)
from helpers.blocks.gpt_torch import (
    Decoder,
    PublishedGPT,
    answer_loss,
    decoder_numpy,
    next_token_loss,
    tasks,
    write,
)
from helpers.pretrained import load_gpt
from tests.parity.test_published_gpt import SHAPES, as_llama, random_gguf, reference


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape['D']} wide")
def published(request, tmp_path):
    return load_gpt(random_gguf(tmp_path / "small.gguf", request.param), sha256=None)


@pytest.mark.parametrize("N", [1, 2, 13])
def test_the_published_gpt_in_our_blocks_agrees_with_transformers(published, N):
    ids = np.random.default_rng(N).integers(published.Omega_e.shape[1], size=N).tolist()
    logits, _ = reference(as_llama(published), ids)
    tolerance = dict(rtol=0, atol=3e-5 * np.abs(logits).max())
    with torch.no_grad():
        ours = PublishedGPT(published)(torch.tensor([ids]))[0].T.numpy()
    np.testing.assert_allclose(ours, logits, **tolerance)
    X = published.Omega_e[:, ids]
    sizes = published.heads, published.key_heads, published.base, published.epsilon
    for layer in published.layers:
        X = published_layer(X, layer, *sizes)
    X = rms_norm(X, published.gamma, published.epsilon)
    np.testing.assert_allclose(published.Omega_e.T @ X, logits, **tolerance)


def test_its_pytorch_form_shares_the_arrays(published):
    assert PublishedGPT(published).embedding.data_ptr() == published.Omega_e.ctypes.data


@pytest.mark.parametrize("sizes", [[1] * 20, [7, 1, 9, 3], [20]])
def test_its_cache_in_pytorch_changes_nothing(published, sizes):
    ids = torch.from_numpy(np.random.default_rng(5).integers(33, size=(2, 20)))
    model, cache = PublishedGPT(published), []
    with torch.no_grad():
        whole = model(ids)
        parts = [model(part, cache) for part in ids.split(sizes, dim=1)]
    tolerance = 3e-5 * float(whole.abs().max())
    np.testing.assert_allclose(torch.cat(parts, dim=1), whole, rtol=0, atol=tolerance)
    shape = (2, published.key_heads, 20, published.D_q)
    assert [part.shape for kept in cache for part in kept] == [shape] * 2 * len(published.layers)


def reading(gpt):
    """Function from further ids to the next token's logits: in NumPy, with a cache."""
    cache = gpt.cache(40)
    return lambda ids: gpt.logits(gpt.run(ids, cache)[:, -1])


def reading_in_pytorch(gpt):
    model, kept = PublishedGPT(gpt), []
    return torch.no_grad()(lambda ids: model(torch.tensor([ids]), kept)[0, -1].numpy())


@pytest.mark.parametrize("place", range(3))
def test_with_a_cache_it_writes_what_numpy_and_transformers_write(published, place):
    def choose(logits):  # the most probable token, or the second, or the third
        return np.argsort(-logits)[place]

    reads = reading_in_pytorch(published), reading(published)
    ours, numpys = (list(islice(following(read, [3, 1, 30], choose), 25)) for read in reads)
    assert ours == numpys
    if place == 0:  # transformers chooses the most probable one
        options = dict(max_new_tokens=25, min_new_tokens=25, do_sample=False, pad_token_id=2)
        with torch.no_grad():
            theirs = as_llama(published).generate(torch.tensor([[3, 1, 30]]), **options)
        assert ours == theirs[0, 3:].tolist()


def test_each_token_that_follows_is_read_once():
    read = []

    def logits(ids):
        read.append(list(ids))
        return -abs(np.arange(9) - len(read))  # the first token is 1, the second 2, …

    assert list(islice(following(logits, [7, 8]), 3)) == [1, 2, 3]
    assert read == [[7, 8], [1], [2]]
    assert next(following(logits, [0], choose=np.argmin)) == 0


def in_letters(ids):
    """Bytes as text; a letter may take several."""
    return bytes(ids).decode("utf-8", errors="replace")


def test_a_text_is_told_while_it_comes(capsys):
    told = []

    def tokens():
        for byte in "né!".encode():
            yield byte
            told.append(capsys.readouterr().out)

    assert tell(tokens(), in_letters) == "né!"
    assert told == ["n", "", "é", "!"] and capsys.readouterr().out == "\n"


@pytest.mark.parametrize("inside", [True, False])
def test_an_interrupt_keeps_what_has_been_written(capsys, inside):
    def tokens():
        yield from b"abc"
        if inside:
            signal.raise_signal(signal.SIGINT)
        raise KeyboardInterrupt

    assert tell(tokens(), in_letters) == "abc"
    sentence = "Stopped by you after 3 tokens; what has been written is kept."
    assert capsys.readouterr().out == f"abc\n{sentence}\n"


def test_prompts_show_other_pairs_and_ask_for_the_query(published):
    pairs = [(letter, letter.upper()) for letter in "abcdefgh"]
    prompt, answer = shown(pairs, 2, 7, seed=1)
    *examples, question = prompt.split("\n")
    assert sorted(examples) == sorted(f"{a} -> {b}" for a, b in pairs if a != "c")
    assert (question, answer) == ("c ->", " C") and shown(pairs, 2, 0) == ("c ->", " C")
    assert shown(pairs, 2, 3, seed=1)[0].split("\n")[:3] == examples[:3] != sorted(examples)[:3]
    assert shown(pairs, 2, 7, answers=list("stuvwxyz"))[0].count("c ->") == 1

    class Spelling:
        def encode(self, text):
            return [ord(letter) % 33 for letter in text]

    ids = Spelling().encode("ab")
    made = list(islice(following(reading(published), ids), 2))
    wanted = "".join(map(chr, made))
    assert answered(published, Spelling(), "ab", wanted)
    for n in range(2):
        wrong = wanted[:n] + chr((made[n] + 1) % 33) + wanted[n + 1 :]
        assert not answered(published, Spelling(), "ab", wrong)


@pytest.fixture
def decoder():
    torch.manual_seed(0)
    decoder = Decoder(V=11, longest=9, K=3, D=12, H=3)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return decoder.eval()


def test_numpy_cache_and_pytorch_agree(decoder):
    ids = np.array([1, 5, 10, 3, 3, 0, 7, 2, 4])
    with torch.no_grad():
        expected = decoder(torch.from_numpy(ids)[None])[0].T.numpy()
    np.testing.assert_allclose(decoder_numpy(ids, decoder), expected, rtol=0, atol=1e-5)
    parameters, cache = decoder_parameters(decoder), []
    steps = np.column_stack([cached_step(token, parameters, cache) for token in ids])
    np.testing.assert_allclose(steps, decoder_numpy(ids, decoder), rtol=0, atol=1e-10)
    assert [part.shape for kept in cache for part in kept] == [(3, 4, 9)] * 6


def test_only_the_unmasked_decoder_sees_the_future(decoder):
    ids = torch.tensor([[1, 5, 10, 3, 3]])
    later = torch.tensor([[1, 5, 10, 7, 2]])
    with torch.no_grad():
        assert torch.equal(decoder(ids)[:, :3], decoder(later)[:, :3])
        decoder.masked = False
        assert (decoder(ids)[:, 0] - decoder(later)[:, 0]).abs().max() > 1e-3


@pytest.mark.parametrize("sizes", [(11, 9, 3, 12), (5, 2, 1, 8)])
def test_the_calculator_counts_a_decoder(sizes):
    counted = sum(p.numel() for p in Decoder(*sizes, H=2).parameters())
    assert sum(gpt_parameters(*sizes).values()) == counted


def test_the_loss_counts_every_next_token_and_no_padding(decoder):
    ids = torch.tensor([[1, 5, 10, 2, 0, 0], [1, 7, 2, 0, 0, 0]])
    with torch.no_grad():
        one_by_one = [
            F.cross_entropy(decoder(row[None, :n])[0, -1], row[n])
            for row, end in zip(ids, (4, 3), strict=True)
            for n in range(1, end)
        ]
        total, mean = (next_token_loss(decoder, (ids,), how) for how in ("sum", "mean"))
    np.testing.assert_allclose(total, sum(one_by_one), rtol=1e-5)
    np.testing.assert_allclose(mean, sum(one_by_one) / 5, rtol=1e-5)


def test_every_text_of_tasks_has_a_function():
    ids = tasks(50, torch.Generator().manual_seed(0), letters=6, pairs=20)
    asked, answers = ids[:, ::2], ids[:, 1::2]
    assert ids.shape == (50, 40) and asked.max() < 6 <= answers.min() and answers.max() < 12
    for row, told in zip(asked.tolist(), answers.tolist(), strict=True):
        pairs = set(zip(row, told, strict=True))
        assert len(pairs) == len(set(row))
    decoder = Decoder(12, 40, 1, 8, 2)
    assert answer_loss(decoder, (ids,)).ndim == 0


LOGITS = st.lists(st.integers(-40, 40), min_size=1, max_size=12).map(lambda xs: np.array(xs) / 8)


@settings(max_examples=300, deadline=None)
@given(LOGITS, st.floats(0.05, 5), st.integers(1, 14), st.floats(0.01, 1))
def test_the_next_distribution_is_temperature_then_k_then_p(logits, temperature, k, p):
    softmax = np.exp(logits / temperature - max(logits / temperature))
    softmax /= softmax.sum()
    order = sorted(range(len(logits)), key=lambda n: (-logits[n], n))[:k]
    kept, together, total = [], 0.0, softmax[order].sum()
    for n in order:
        if together >= p - 1e-12:
            break
        kept.append(n)
        together += softmax[n] / total
    expected = np.zeros(len(logits))
    expected[kept] = softmax[kept] / softmax[kept].sum()
    found = next_distribution(logits, temperature, k, p)
    borderline = abs(together - softmax[kept[-1]] / total - p) < 1e-9 or abs(together - p) < 1e-9
    assert borderline or np.allclose(found, expected)
    assert np.isclose(found.sum(), 1)


def language(seed, V=3, longest=4):
    """Random log probabilities after every beginning; token V − 1 ends a text."""

    def log_probabilities(tokens):
        generator = np.random.default_rng([seed, len(tokens), *tokens])
        logs = np.log(generator.dirichlet([0.5] * V))
        return logs if len(tokens) < longest - 1 else np.where(np.arange(V) == V - 1, 0, -np.inf)

    return log_probabilities


def everything(log_probabilities, tokens=(), total=0.0):
    for n, log in enumerate(log_probabilities(tokens)):
        if log > -np.inf:
            text = total + log, (*tokens, n)
            yield from [text] if n == 2 else everything(log_probabilities, text[1], text[0])


@pytest.mark.parametrize("seed", range(30))
def test_a_beam_of_full_width_finds_the_best_text(seed):
    log_probabilities = language(seed)
    best = max(everything(log_probabilities))
    found = beam_search(log_probabilities, width=8, longest=4, end=2)
    assert found[0][1] == best[1] and np.isclose(found[0][0], best[0])
    assert [total for total, _ in found] == sorted((total for total, _ in found), reverse=True)
    narrow = beam_search(log_probabilities, width=1, longest=4, end=2)
    assert narrow[0][0] <= best[0] + 1e-12
    assert all(tokens[-1] == 2 and 2 not in tokens[:-1] for _, tokens in found)


def test_writing_follows_the_distribution_and_stops_at_the_end(decoder):
    texts = write(decoder, 5, np.random.default_rng(0), longest=6, k=1)
    assert all(text == texts[0] for text in texts)  # greedy
    ids, greedy = [1], []
    with torch.no_grad():
        while len(greedy) < 6:
            token = int(decoder(torch.tensor([ids]))[0, -1].argmax())
            if token == 2:
                break
            greedy.append(token)
            ids.append(token)
    assert texts[0] == greedy
    lively = write(decoder, 40, np.random.default_rng(1), longest=6, temperature=3.0)
    assert all(2 not in text and len(text) <= 6 for text in lively)
    assert len({tuple(text) for text in lively}) > 20
