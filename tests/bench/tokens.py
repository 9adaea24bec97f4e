"""Byte pair encoding of notebook 06 against tokenizers (Rust) and a trainer in minbpe's manner."""

import time
from collections import Counter
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from helpers.blocks.byte_pair_encoding import (
    BytePairEncoding,
    learn_tokens,
    published_encoding,
    split_words,
)
from helpers.corpora.english import python_reference
from helpers.pretrained import load_gpt_vocabulary
from tests.bench.report import interleaved, table

__all__ = ["measure"]

SIZE = 4096
COUNTED = 60  # merges of the trainer in minbpe's manner; all of them would take many minutes
INTRODUCTION = f"""## Byte pair encoding

Text in memory to a vocabulary of {SIZE:,}: words cut and counted, and {SIZE - 256:,} merges. The
text is the whole language reference inside Python, code and tables included. *tokenizers* is
Hugging Face's trainer, in Rust, with its byte level words and single digits; under one rule for
ties its merges were found equal to ours (tests/parity). *In minbpe's manner* is a trainer written
from the description of that project, which counts all pairs of the whole text again for each merge.
Its time is that of its first {COUNTED} merges alone, so the factor is a lower bound. Above 1, ours
is faster."""


def measure():
    """The section on byte pair encoding, as Markdown."""
    from pydoc_data.topics import topics

    text = "\n".join(topics.values())
    works = {"ours": lambda: ours(text), "tokenizers": lambda: in_rust(text)}
    times = interleaved(works)
    start = time.perf_counter()
    in_minbpe_s_manner(text, COUNTED)
    times[f"in minbpe's manner, {COUNTED} merges"] = time.perf_counter() - start
    rows = [
        [name, f"{len(text):,}", f"{taken:.2f} s", f"{taken / times['ours']:.2f}"]
        for name, taken in times.items()
    ]
    training = table(["trainer", "characters", "time", "÷ ours"], rows)
    return "\n\n".join([INTRODUCTION, training, growth(text), encoding()])


def growth(text):
    """How the times grow with the text; that in minbpe's manner learns only a few merges."""
    few, rows = 2, []
    for part in (16, 8, 4, 2, 1):
        some = text[: len(text) // part]
        works = {"ours": lambda some=some: ours(some), "rust": lambda some=some: in_rust(some)}
        works["slow"] = lambda some=some: in_minbpe_s_manner(some, few)
        taken = interleaved(works)
        rows.append([f"{len(some):,}", *(f"{1000 * taken[name]:.0f} ms" for name in taken)])
    slow = f"in minbpe's manner, {few} merges"
    note = "The same for the first sixteenth of the text, and for twice as much each time."
    return f"{note}\n\n{table(['characters', 'ours', 'tokenizers', slow], rows)}"


def encoding():
    """Characters a second with the published GPT's vocabulary, on the prose of the reference."""
    text = python_reference()
    tokens, merges = load_gpt_vocabulary()
    encoding, theirs = published_encoding(tokens, merges), library(tokens, merges)
    assert encoding.encode(text) == theirs.encode(text).ids

    def afresh():
        """Without words met before."""
        encoding.met.clear()
        encoding.encode(text)

    works = {
        "ours, no word met before": afresh,
        "ours, again": lambda: encoding.encode(text),
        "tokenizers": lambda: theirs.encode(text),
    }
    times = interleaved(works)
    rows = [
        [name, f"{len(text) / taken / 1e6:.1f} million", f"{taken / times['tokenizers']:.2f}"]
        for name, taken in times.items()
    ]
    note = (
        f"Encoding {len(text):,} characters of English with the published GPT's vocabulary, in one "
        "call; the numbers were found equal. *Again*: every word is known by heart. The library "
        "also notes where each token stands in the text."
    )
    return f"{note}\n\n{table(['encoder', 'characters a second', 'time ÷ tokenizers'], rows)}"


def ours(text):
    words = {word.encode("utf-8"): n for word, n in Counter(split_words(text)).items()}
    tokens, merges = learn_tokens(words, SIZE)
    return BytePairEncoding(tokens, merges)


def library(tokens=None, merges=None):
    """A Tokenizer with GPT-2's words, single digits, and byte level symbols."""
    numbers = None if tokens is None else {token: n for n, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(numbers, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, level])
    return tokenizer


def in_rust(text):
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, show_progress=False)
    tokenizer = library()
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainer)
    return tokenizer


def in_minbpe_s_manner(text, merges):
    """Every occurrence of every word is a list of numbers; each merge counts and rewrites all."""
    chunks = [list(word.encode("utf-8")) for word in split_words(text)]
    for new in range(256, 256 + merges):
        counts = {}
        for chunk in chunks:
            for pair in pairwise(chunk):
                counts[pair] = counts.get(pair, 0) + 1
        pair = max(counts, key=counts.get)
        chunks = [replaced(chunk, pair, new) for chunk in chunks]
    return chunks


def replaced(chunk, pair, new):
    result, at = [], 0
    while at < len(chunk):
        if at < len(chunk) - 1 and chunk[at] == pair[0] and chunk[at + 1] == pair[1]:
            result.append(new)
            at += 2
        else:
            result.append(chunk[at])
            at += 1
    return result
