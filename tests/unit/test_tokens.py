"""What notebook 06 exports and its text does not look at: edges, errors, special tokens."""

import numpy as np
import pytest
import torch

from helpers.blocks.byte_pair_encoding import (
    BytePairEncoding,
    Vocabulary,
    learn_encoding,
    learn_tokens,
    one_hot,
    split_words,
)
from helpers.blocks.byte_pair_encoding_torch import TiedEmbedding
from helpers.pretrained import EncoderMissing, load_word_piece


def test_a_vocabulary_keeps_words_and_special_tokens_apart():
    vocabulary = Vocabulary(["<pad>", "sea"], special=("<pad>", "<unknown>", "<mask>"))
    assert len(vocabulary) == 5
    assert vocabulary.encode(["<pad>", "sea", "<mask>", "lake"]) == [3, 4, 1, 1]
    assert vocabulary.decode([0, 2, 4]) == ["<pad>", "<mask>", "sea"]


def test_nothing_to_learn():
    assert learn_tokens({}, 300)[1] == []
    tokens, merges = learn_tokens({b"a": 5, b"": 2}, 300)
    assert len(tokens) == 256 and merges == []
    assert learn_tokens({b"ab": 5}, 200)[1] == []  # smaller than the bytes: no merges
    tokens, merges = learn_tokens({b"ab": 5}, 300)  # fewer than asked for
    assert merges == [(b"a", b"b")] and len(tokens) == 257


def test_empty_text():
    encoding = learn_encoding("", 300, ("<end>",))
    assert encoding.encode("") == [] and encoding.decode([]) == "" and split_words("") == []
    assert encoding.decode([encoding.numbers["<end>"]]) == "<end>" and len(encoding.tokens) == 257


def test_two_ways_to_one_token():
    """ab + c and a + bc are both learned, and lead to the same number."""
    merges = [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")]
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc"]
    assert BytePairEncoding(tokens, merges).encode("abc") == [5]


def test_half_a_pair_of_surrogates_is_no_text():
    with pytest.raises(UnicodeEncodeError):
        learn_encoding("", 256).encode("\ud83d")


def test_one_hot_refuses_numbers_that_are_no_tokens():
    assert one_hot([], 3).shape == (3, 0)
    with pytest.raises(IndexError):
        one_hot([3], 3)


def test_tied_embedding_is_a_look_up_and_its_transpose():
    tied, numbers = TiedEmbedding(7, 4), torch.tensor([[2, 0, 2]])
    x = tied(numbers)
    assert torch.equal(x[0], tied.weight[[2, 0, 2]])
    expected = np.einsum("bnd,vd->bnv", x.detach(), tied.weight.detach())
    np.testing.assert_allclose(tied.scores(x).detach(), expected, rtol=1e-5, atol=1e-6)


def test_word_pieces_come_without_the_weights(tmp_path):
    for name in ("model.safetensors", "config.json"):
        (tmp_path / name).touch()
    with pytest.raises(EncoderMissing, match=r"lacks vocab\.txt"):
        load_word_piece(tmp_path)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nsea\n##s\n", "utf-8")
    assert load_word_piece(tmp_path).tokenize("seas") == ["sea", "##s"]
