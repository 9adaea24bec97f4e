"""Notebook 09's longer experiments: a translator into two languages, and six ways to translate.

    python -m helpers.experiments.translation translator    # writes data/translator.safetensors
    python -m helpers.experiments.translation ways          # writes data/translation_ways.csv

Both are seeded. The notebook reads what they store, runs a part of each anew, and compares.
"""

import csv
import sys
import time
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from helpers.blocks.cross_attention_torch import (
    SequenceModel,
    future_rows,
    target_loss,
    translations,
)
from helpers.corpora.phrases import phrases
from helpers.device import one_thread
from helpers.training import minibatches, train

DATA = Path(__file__).parents[2] / "data"
WEIGHTS, WAYS = DATA / "translator.safetensors", DATA / "translation_ways.csv"
LANGUAGES = "french", "italian"
STARTS = {"french": 1, "italian": 3}  # what is read first says which language is to be written
SIZES = dict(longest=24, K=2, D=128, H=4, D_mlp=256)
STEPS, SIZE = 3000, 64  # of the translator
WAY_STEPS, WAY_SEEDS = 400, (0, 1, 2)


@cache
def vocabulary():
    """The tokens of all three languages, a list: four special ones, then words."""
    drawn = phrases(20_000, 1, "train")
    words = {word for phrase in drawn for side in phrase[:3] for word in side.split()}
    return ["<pad>", "<french>", "<end>", "<italian>", *sorted(words)]


@cache
def number_of():
    """Dict from each token to its number."""
    return {word: number for number, word in enumerate(vocabulary())}


def padded(rows):
    """Lists of numbers as one tensor, with 0 after the shorter ones."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def sources(drawn):
    """The English words of phrases as numbers, (phrases, N_e)."""
    return padded([[number_of()[word] for word in phrase.english.split()] for phrase in drawn])


def targets(drawn, language):
    """The translations as numbers, (phrases, N_d + 1): start, words and end."""
    texts = [getattr(phrase, language).split() for phrase in drawn]
    return padded([[STARTS[language], *(number_of()[w] for w in text), 2] for text in texts])


def stored(model):
    """The model, with the stored weights of the longer run, in eval mode."""
    weights = {name: tensor.float() for name, tensor in load_file(WEIGHTS).items()}
    model.load_state_dict(weights, strict=False)  # the layers share the table of positions
    return model.eval()


def exact(model, drawn, language):
    """Which phrases a model translates exactly: a list of truth values."""
    device = next(model.parameters()).device
    written = translations(model, sources(drawn).to(device), STARTS[language])
    wanted = [row[1 : row.index(2)] for row in targets(drawn, language).tolist()]
    return [ours == theirs for ours, theirs in zip(written, wanted, strict=True)]


def both_languages(drawn):
    """Sources and targets of phrases in both languages, twice as many rows."""
    texts = [getattr(phrase, language).split() for language in LANGUAGES for phrase in drawn]
    starts = [STARTS[language] for language in LANGUAGES for _ in drawn]
    pairs = zip(starts, texts, strict=True)
    rows = [[start, *(number_of()[word] for word in text), 2] for start, text in pairs]
    return sources(drawn).repeat(2, 1), padded(rows)


@one_thread()
def translator():
    """Train one model for both languages on 60,000 phrases, and store it in half precision."""
    torch.manual_seed(0)
    model = SequenceModel(len(vocabulary()), **SIZES)
    batches = minibatches(*both_languages(phrases(60_000, 2, "train")), size=SIZE, seed=0)
    start = time.process_time()
    print(train(model, target_loss, batches, STEPS, learning_rate=4e-3, warm_up=100, show=False))
    print(f"{time.process_time() - start:.0f} s of one core")
    weights = {name: p.detach().half().contiguous() for name, p in model.named_parameters()}
    save_file(weights, WEIGHTS)
    held_out = phrases(1000, 9, "test")
    for language in LANGUAGES:
        right = exact(stored(model), held_out, language)
        print(f"{language}: {sum(right)} of {len(right)} held-out phrases exactly right")


class WithoutCross(SequenceModel):
    """An encoder-decoder whose cross-attention brings nothing: its last map is 0, and stays so."""

    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        for layer in self.decoder.layers:
            for parameter in layer.cross.combine.parameters():
                nn.init.zeros_(parameter)
                parameter.requires_grad_(False)


class OneSequence(SequenceModel):
    """A decoder alone, which reads the source and then writes the target, as one sequence.

    Five layers have as many parameters as two of an encoder and two of a decoder: a sixth
    attention more or an MLP more is the same. both_ways: tokens of the source see the whole source.
    """

    def __init__(self, V, longest, K, D, H, D_mlp, both_ways=False):
        super().__init__(V, 2 * longest, 5 * K // 2, D, H, D_mlp, encoder=False)
        self.both_ways = both_ways

    def forward(self, ids, source=None, hidden=None):
        """ids: (texts, N), source and target one after the other → logits (texts, N, V)."""
        if self.both_ways:
            of_source = ~from_start(ids)  # keys that stand before the target
            hidden = future_rows(ids) & ~of_source[:, None, :]
        return super().forward(ids, hidden=hidden)


def from_start(ids):
    """Which tokens belong to the target, with its start; True from there on."""
    starts = sum(ids == start for start in STARTS.values())
    return starts.cumsum(dim=1) > 0


def joined(batch):
    """Sources and targets, both padded, as one sequence without padding between them."""
    rows = torch.cat(batch, dim=1)
    order = (rows == 0).to(torch.uint8).argsort(dim=1, stable=True)
    rows = rows.gather(1, order)
    return rows[:, : int((rows != 0).sum(dim=1).max())]


def one_sequence_loss(model, batch, of_source=False):
    """As target_loss, for a decoder alone; of_source: the source's tokens are predicted, too."""
    ids = joined(batch)
    asked = ids[:, 1:]
    if not of_source:
        asked = torch.where(from_start(ids)[:, :-1], asked, 0)
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), asked.flatten(), ignore_index=0)


def loss_on_both(model, batch):
    return one_sequence_loss(model, batch, of_source=True)


def exact_of_one_sequence(model, drawn, language, longest=20):
    """As `exact`, for a decoder alone."""
    ids = joined((sources(drawn), torch.full((len(drawn), 1), STARTS[language])))
    lengths = (ids != 0).sum(dim=1)
    begun, rows = lengths.tolist(), torch.arange(len(ids))
    ids = F.pad(ids, (0, longest))
    with torch.no_grad():
        for _ in range(longest):
            logits = model(ids[:, : int(lengths.max())])[rows, lengths - 1]
            ids[rows, lengths] = logits.argmax(dim=-1)
            lengths = lengths + 1
            if (ids == 2).any(dim=1).all():
                break
    wanted = [row[1 : row.index(2) + 1] for row in targets(drawn, language).tolist()]
    pairs = zip(ids.tolist(), begun, wanted, strict=True)
    return [row[start : start + len(words)] == words for row, start, words in pairs]


# Way → the model of a vocabulary's size, its loss, and how it is found what it translates exactly
MODELS = {
    "encoder-decoder": (lambda V: SequenceModel(V, **SIZES), target_loss, exact),
    "without cross-attention": (lambda V: WithoutCross(V, **SIZES), target_loss, exact),
    "without positions": (
        lambda V: SequenceModel(V, **SIZES, positions=False),
        target_loss,
        exact,
    ),
    "decoder alone": (lambda V: OneSequence(V, **SIZES), one_sequence_loss, exact_of_one_sequence),
    "decoder alone, loss on both": (
        lambda V: OneSequence(V, **SIZES),
        loss_on_both,
        exact_of_one_sequence,
    ),
    "decoder alone, source both ways": (
        lambda V: OneSequence(V, **SIZES, both_ways=True),
        one_sequence_loss,
        exact_of_one_sequence,
    ),
}


@one_thread()
def translate(way, seed, steps=WAY_STEPS):
    """Train one of MODELS on French; returns (share, parameters, seconds of one core)."""
    make, loss, judge = MODELS[way]
    torch.manual_seed(seed)
    model = make(len(vocabulary()))
    drawn = phrases(20_000, 1, "train")
    batches = minibatches(sources(drawn), targets(drawn, "french"), size=SIZE, seed=0)
    options = dict(learning_rate=4e-3, warm_up=50, show=False)
    start = time.process_time()
    train(model, loss, batches, steps, **options)
    seconds = time.process_time() - start
    right = judge(model, phrases(500, 9, "test"), "french")
    return sum(right) / len(right), sum(p.numel() for p in model.parameters()), seconds


def ways():
    """Share of exact translations of each way and seed, as a table."""
    rows = [("way", "seed", "share", "parameters", "seconds")]
    for seed in WAY_SEEDS:
        for way in MODELS:
            share, parameters, seconds = translate(way, seed)
            rows.append((way, seed, f"{share:.3f}", parameters, f"{seconds:.0f}"))
            print(*rows[-1], flush=True)
            with open(WAYS, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)


def load_ways():
    """The stored table of `ways`: a list of dicts, one for each way and seed."""
    with open(WAYS, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(arguments):
    commands = {"translator": translator, "ways": ways}
    if len(arguments) != 1 or arguments[0] not in commands:
        raise SystemExit(__doc__)
    commands[arguments[0]]()


if __name__ == "__main__":
    main(sys.argv[1:])
