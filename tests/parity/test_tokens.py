"""Byte pair encoding of notebook 06 against Hugging Face's tokenizers, written in Rust."""

import json
import os
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from helpers.blocks.byte_pair_encoding import (
    BytePairEncoding,
    learn_encoding,
    learn_tokens,
    published_encoding,
    split_words,
)
from helpers.corpora.english import python_reference
from helpers.pretrained import GPTMissing, load_gpt_vocabulary

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))  # half a pair of surrogates is no text
# What the rules for words are about: blanks of all kinds, apostrophes, numerals, marks.
TRICKY = st.lists(
    st.sampled_from(
        [
            *(" ", "\n", "\t", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"),
            *("'s", "'LL", "'", "’re", "_", "!", "7", "²", "Ⅷ", "٣", "一"),
            *("a", "é", "e\u0301", "ß", "ﬁ", "🙂", "👩\u200d🚀", "\x04", "\x00"),
        ]
    )
).map("".join)


def rust(pre_tokenizer, tokens=None, merges=None):
    tokenizer = Tokenizer(models.BPE(tokens, merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


@pytest.fixture(scope="module")
def published():
    """The published vocabulary in our encoder and in the library."""
    try:
        tokens, merges = load_gpt_vocabulary()
    except GPTMissing as missing:
        pytest.fail(str(missing)) if os.environ.get("CI") else pytest.skip(str(missing))
    digits = pre_tokenizers.Digits(individual_digits=True)
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    numbers = {token: number for number, token in enumerate(tokens)}
    theirs = rust(pre_tokenizers.Sequence([digits, level]), numbers, merges)
    return published_encoding(tokens, merges), theirs


@given(text=TEXTS | TRICKY)
@settings(max_examples=1000, deadline=None)
def test_the_published_vocabulary_gives_the_library_s_numbers(published, text):
    ours, theirs = published
    assert ours.encode(text) == theirs.encode(text).ids


def test_and_for_real_english_and_every_character(published):
    ours, theirs = published
    english = python_reference()
    assert ours.encode(english) == theirs.encode(english).ids
    every = map(chr, [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)])
    for character in every:
        text = f"a{character}a {character}{character} 1{character}"
        assert ours.encode(text) == theirs.encode(text).ids, hex(ord(character))


def learn_in_rust(words, size):
    """The library's merges under our rules: given words, bytes as characters of their numbers."""
    tokenizer = rust(pre_tokenizers.Split("\uffff", "removed"))
    alphabet = [chr(byte) for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    as_characters = "\uffff".join(word.decode("latin-1") for word in words.elements())
    tokenizer.train_from_iterator([as_characters], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(symbol.encode("latin-1") for symbol in pair) for pair in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].get), merges


# Few letters, so that ties, runs such as aaa, and two ways to the same token are common.
WORDS = st.lists(st.text("ab", min_size=1, max_size=12) | st.text("abcé ", min_size=1), max_size=20)


@given(words=WORDS, size=st.integers(257, 300))
@settings(max_examples=500, deadline=None)
def test_training_learns_the_library_s_merges(words, size):
    counts = Counter(word.encode("utf-8") for word in words)
    tokens, merges = learn_tokens(counts, size)
    their_tokens, their_merges = learn_in_rust(counts, size)
    assert merges == their_merges
    assert tokens == [token.encode("latin-1") for token in their_tokens]


def test_and_from_real_english():
    words = Counter(word.encode("utf-8") for word in split_words(python_reference()))
    assert learn_tokens(words, 4096)[1] == learn_in_rust(words, 4096)[1]


@pytest.fixture(scope="module")
def learned():
    return learn_encoding(python_reference()[:60_000], 800)


@given(text=TEXTS | TRICKY)
@settings(deadline=None)
def test_any_text_comes_back(learned, text):
    assert learned.decode(learned.encode(text)) == text


@given(text=st.text("abc", max_size=40), training=st.text("abc ", max_size=200))
@settings(max_examples=300, deadline=None)
def test_our_own_merges_encode_as_the_library_does(text, training):
    ours: BytePairEncoding = learn_encoding(training, 280)
    numbers = {token.decode("latin-1"): number for token, number in ours.numbers.items()}
    merges = [tuple(part.decode("latin-1") for part in pair) for pair in ours.ranks]
    theirs = rust(pre_tokenizers.Split("\uffff", "removed"), numbers, merges)
    assert ours.encode(text) == theirs.encode(text).ids
