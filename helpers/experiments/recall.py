"""Notebook 10's experiment: looking up what was said before, at a distance, and among many.

    python -m helpers.experiments.recall distance    # writes data/recall.csv
    python -m helpers.experiments.recall pairs       # writes data/recall_pairs.csv

Both are seeded. The notebook reads what they store, runs a part of each anew, and compares.
"""

import csv
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks.long_sequences import (
    big_bird,
    blocks,
    encoder,
    global_tokens,
    window,
)
from helpers.blocks.long_sequences_torch import (
    LinFormer,
    LongAttention,
    MemoryCompressed,
    Performer,
    linear_mix,
)
from helpers.blocks.transformer_layer_torch import PreNormLayer
from helpers.device import one_thread
from helpers.training import train

DATA = Path(__file__).parents[2] / "data"
RECALL, MANY = DATA / "recall.csv", DATA / "recall_pairs.csv"
N, GLOBAL, PAIRS, VALUES = 32, 2, 4, 8
DISTANCES = (1, 5, 9, 13, 17, 21, 25)  # at which a network is examined
FARTHEST = N - 1 - GLOBAL - PAIRS + 1  # of the last pair
SEEDS = (0, 1, 2)
HEADS, D = 2, 32


def texts(count, generator, distance=None):
    """Texts of N tokens, each a key with a value: (keys, values, answers), integers.

    First GLOBAL tokens that say nothing, at the end a question: a key whose value is not told.
    Somewhere stand PAIRS tokens in a row with different keys, the last of them `distance` tokens
    before the question, or at random from 1 to FARTHEST, near ones more often. One of them has the
    key that is asked for, and the answer is its value. All others have a random value, and the key
    of idle words.
    """
    idle, asks = 2 * PAIRS, VALUES
    keys = torch.full((count, N), idle)
    values = torch.randint(VALUES, (count, N), generator=generator)
    chosen = torch.rand(count, idle, generator=generator).argsort(dim=1)[:, :PAIRS]
    # Every doubling of the distance is equally frequent: a short window, too, gets examples enough.
    away = (FARTHEST + 1) ** torch.rand(count, 1, generator=generator)
    away = away.long().clamp(max=FARTHEST)
    away = away if distance is None else torch.full((count, 1), distance)
    places = N - 1 - away - torch.arange(PAIRS)
    asked = torch.randint(PAIRS, (count, 1), generator=generator)
    keys.scatter_(1, places, chosen)
    answers = values.gather(1, places.gather(1, asked))[:, 0]
    keys[:, :GLOBAL], values[:, :GLOBAL] = idle + 1, asks
    keys[:, -1:], values[:, -1] = chosen.gather(1, asked), asks
    return keys, values, answers


def many(count, generator, pairs, known=32):
    """Texts of `pairs` tokens with different keys out of `known`, then a question; as in texts."""
    keys = torch.rand(count, known, generator=generator).argsort(dim=1)[:, :pairs]
    values = torch.randint(VALUES, (count, pairs), generator=generator)
    asked = torch.randint(pairs, (count, 1), generator=generator)
    question, answers = keys.gather(1, asked), values.gather(1, asked)[:, 0]
    keys = torch.cat([keys, question], dim=1)
    return keys, F.pad(values, (0, 1), value=VALUES), answers


class Recaller(nn.Module):
    """Pre-norm layers over tokens of a key and a value; the last output names a value.

    layers: for each, a pattern, N × N in NumPy, keys down, True where a query may see; or a mix
    for LongAttention. keys: how many there are. length: of a text.
    """

    def __init__(self, layers, keys=2 * PAIRS + 2, length=N, H=HEADS):
        super().__init__()
        self.keys, self.values = nn.Embedding(keys, D), nn.Embedding(VALUES + 1, D)
        self.places = nn.Parameter(0.02 * torch.randn(length, D))
        for table in (self.keys, self.values):
            nn.init.normal_(table.weight, std=0.5)
        self.layers, self.hidden = nn.ModuleList(), []
        for number, layer in enumerate(layers):
            self.layers.append(PreNormLayer(D, H, 4 * D, 0.0))
            pattern = isinstance(layer, np.ndarray)
            self.hidden.append(~torch.from_numpy(layer.T.copy()) if pattern else None)
            if not pattern:
                self.layers[number].attention = LongAttention(D, H, layer)
        self.norm, self.out = nn.LayerNorm(D), nn.Linear(D, VALUES)

    def forward(self, keys, values):
        """keys, values: (texts, tokens) → logits of the answers, (texts, VALUES)."""
        x = self.keys(keys) + self.values(values) + self.places
        for layer, hidden in zip(self.layers, self.hidden, strict=True):
            x = layer(x, hidden)
        return self.out(self.norm(x[:, -1]))


def cycle(*patterns):
    """A function from a number of layers to that many patterns, which take turns."""
    return lambda K: [patterns[k % len(patterns)] for k in range(K)]


def bird(K):
    """BigBird's pattern, with other random keys in each layer."""
    return [big_bird(N, 2, GLOBAL, 2, np.random.default_rng(k)) for k in range(K)]


# The way in which tokens meet, as a function of the number of layers; and which numbers are tried.
WAYS = {
    "all pairs": (cycle(encoder(N)), (1,)),
    "window of 4": (cycle(window(N, 4)), (1, 2, 4)),
    "window of 2, dilated by 1, 4, 16": (cycle(*(window(N, 2, 4**n) for n in range(3))), (1, 2, 3)),
    "blocks of 8": (cycle(blocks(N, 8)), (3,)),
    "blocks of 8, then all pairs": (cycle(blocks(N, 8), encoder(N)), (2,)),
    "window of 4, 2 global": (cycle(window(N, 4) | global_tokens(N, GLOBAL)), (1, 2)),
    "BigBird: 2, 2 global, 2 random": (bird, (1, 2)),
    "LinFormer, 8 mixtures": (lambda K: [LinFormer(N, 8) for _ in range(K)], (1,)),
    "compressed by 4": (lambda K: [MemoryCompressed(D // HEADS, 4) for _ in range(K)], (1,)),
    "linear transformer": (lambda K: [linear_mix] * K, (1,)),
    "Performer, 64 features": (lambda K: [Performer(64, D // HEADS) for _ in range(K)], (1,)),
}
MIXES = {  # for the second experiment: one layer, four heads of 8
    "softmax": lambda pairs: encoder(pairs + 1),
    "linear": lambda pairs: linear_mix,
    "Performer": lambda pairs: Performer(64, D // 4),
}
COUNTS = (4, 8, 16, 32)


def answer_loss(model, batch):
    """Cross-entropy of the answers."""
    keys, values, answers = batch
    return F.cross_entropy(model(keys, values), answers)


def share_right(model, batch):
    """How many answers are right."""
    keys, values, answers = batch
    with torch.no_grad():
        return float((model(keys, values).argmax(dim=1) == answers).float().mean())


@one_thread()
def learned(model, draw, seed, steps, size=32):
    """Train a Recaller on draw(count, generator); returns its losses."""
    generator = torch.Generator().manual_seed(seed)
    batches = iter(lambda: draw(size, generator), None)
    options = dict(learning_rate=3e-3, warm_up=50, seed=seed, show=False)
    return train(model, answer_loss, batches, steps, **options).losses


def steps_until(losses, share=0.5, over=50):
    """After how many steps the mean loss of the last `over` is a share of chance's; or None."""
    means = np.convolve(losses, np.ones(over) / over, mode="valid")
    there = np.flatnonzero(means < share * np.log(VALUES))
    return int(there[0]) + over if len(there) else None


def at_distances(way, K, seed, steps=600):
    """(share right at each of DISTANCES, steps until half the loss) of K layers of one of WAYS."""
    torch.manual_seed(seed)
    model = Recaller(WAYS[way][0](K))
    losses = learned(model, texts, seed, steps)
    exams = (texts(500, torch.Generator().manual_seed(99), distance) for distance in DISTANCES)
    return [share_right(model, exam) for exam in exams], steps_until(losses)


def among(mix, pairs, seed, steps=800):
    """The share right of one layer, four heads of eight, that looks up one of so many pairs."""
    torch.manual_seed(seed)
    model = Recaller([MIXES[mix](pairs)], keys=32, length=pairs + 1, H=4)
    learned(model, partial(many, pairs=pairs), seed, steps)
    return share_right(model, many(1000, torch.Generator().manual_seed(99), pairs))


def distance():
    """Every way with every number of layers and seed, as a table."""
    found = {}
    for seed in SEEDS:
        for way, K in ((way, K) for way, (_, numbers) in WAYS.items() for K in numbers):
            right, steps = at_distances(way, K, seed)
            found[way, K, seed] = (steps or "", *(f"{share:.3f}" for share in right))
            print(way, K, seed, *found[way, K, seed], flush=True)
    order = list(WAYS)
    rows = sorted(found, key=lambda case: (order.index(case[0]), *case[1:]))
    header = ("way", "layers", "seed", "steps", *DISTANCES)
    write(RECALL, [header, *((*case, *found[case]) for case in rows)])


def pairs():
    """Every mix with every number of pairs and seed, as a table."""
    rows = [("mix", "pairs", "seed", "right")]
    for mix in MIXES:
        for count in COUNTS:
            for seed in SEEDS:
                rows.append((mix, count, seed, f"{among(mix, count, seed):.3f}"))
                print(*rows[-1], flush=True)
    write(MANY, rows)


def load_recall(path=RECALL):
    """What `distance` stored: (way, layers) → (shares right, steps), in the order of WAYS.

    Shares: seeds × DISTANCES. Steps: until the loss was half of chance's, or None, a list.
    """
    found = {}
    for way, K, _, steps, *right in read(path):
        found.setdefault((way, int(K)), []).append((steps, [float(share) for share in right]))
    return {
        case: (
            np.array([row[1] for row in rows]),
            [int(row[0]) if row[0] else None for row in rows],
        )
        for case, rows in found.items()
    }


def load_many(path=MANY):
    """What `pairs` stored: mix → (numbers of pairs, shares right as numbers × seeds)."""
    found = {}
    for mix, count, _, right in read(path):
        found.setdefault(mix, {}).setdefault(int(count), []).append(float(right))
    return {mix: (list(rows), np.array(list(rows.values()))) for mix, rows in found.items()}


def read(path):
    """The rows of a table without its header."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def main(arguments):
    commands = {"distance": distance, "pairs": pairs}
    if len(arguments) != 1 or arguments[0] not in commands:
        raise SystemExit(__doc__)
    commands[arguments[0]]()


if __name__ == "__main__":
    main(sys.argv[1:])
