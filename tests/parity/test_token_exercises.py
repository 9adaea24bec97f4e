"""The exercises of notebook 06 against the Rust tokenizers, PyTorch, and each other."""

import itertools

import numpy as np
import pytest
import torch
from tokenizers import models
from torch.nn import functional

from helpers.exercises.ch06.count_pairs import count_pairs
from helpers.exercises.ch06.encode_word import encode_word, random_merges
from helpers.exercises.ch06.learn_merges import RHYME, learn_merges, marked
from helpers.exercises.ch06.look_up_gradient import look_up_gradient
from helpers.exercises.ch06.merge_and_update import merge_and_update, tables
from helpers.exercises.ch06.wordpiece_word import wordpiece_word

seeds = pytest.mark.parametrize("seed", range(20))


@seeds
def test_encoding_equals_the_rust_encoder(seed):
    rng = np.random.default_rng(seed)
    merges = random_merges(rng, int(rng.integers(1, 15)))
    symbols = ["a", "b", "c", *map("".join, merges)]
    bpe = models.BPE({symbol: i for i, symbol in enumerate(symbols)}, merges)
    for length in range(1, 20):
        word = "".join(rng.choice([*"abc"], size=length))
        assert encode_word(word, merges) == [token.value for token in bpe.tokenize(word)]


@seeds
def test_word_pieces_equal_the_rust_encoder(seed):
    rng = np.random.default_rng(seed)
    parts = ["".join(rng.choice([*"ab"], size=rng.integers(1, 4))) for _ in range(6)]
    pieces = {*parts, *("##" + part for part in parts[2:])}
    numbers = {piece: i for i, piece in enumerate(["[UNK]", *sorted(pieces)])}
    greedy = models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100)
    for length in range(1, 20):
        word = "".join(rng.choice([*"ab"], size=length))
        assert wordpiece_word(word, pieces) == [token.value for token in greedy.tokenize(word)]


@seeds
def test_the_gradient_of_a_look_up_is_the_embeddings(seed):
    rng = np.random.default_rng(seed)
    ids, dX = rng.integers(7, size=12), rng.normal(size=(3, 12))
    weight = torch.zeros(7, 3, dtype=torch.float64, requires_grad=True)
    functional.embedding(torch.from_numpy(ids), weight).backward(torch.from_numpy(dX.T))
    np.testing.assert_allclose(look_up_gradient(ids.tolist(), dX, 7), weight.grad.T, atol=1e-12)


def test_steps_that_mend_their_tables_learn_the_same_merges():
    words = sorted({tuple(word) for word in marked(RHYME)})
    frequencies = [marked(RHYME).count([*word]) for word in words]
    words = [[*word] for word in words]
    counts, where = tables(words, frequencies)
    learned = []
    while counts:
        assert counts == count_pairs(dict(zip(map(tuple, words), frequencies, strict=True)))
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        learned.append(pair)
        merge_and_update(words, frequencies, counts, where, pair)
        assert (counts, where) == tables(words, frequencies)
    assert learned == learn_merges(RHYME, 1000)
    assert all(len(word) == 1 for word in words)


def test_learned_merges_encode_the_words_they_were_learned_from():
    merges = learn_merges(RHYME, 1000)
    for word, k in itertools.product(RHYME.split(), (0, 5, 22, 1000)):
        assert "".join(encode_word(word + "_", merges[:k])) == word + "_"
    assert all(len(encode_word(word + "_", merges)) == 1 for word in RHYME.split())
