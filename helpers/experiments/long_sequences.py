"""Notebook 10's longer measurements: time and memory, and the ranks of published attention.

    python -m helpers.experiments.long_sequences times        # writes data/long_times.csv
    python -m helpers.experiments.long_sequences ranks        # writes data/attention_ranks.csv
    python -m helpers.experiments.long_sequences linformer    # writes data/linformer.csv

The first depends on the machine, and should have it to itself; the others need the published
models. The notebook reads what they store, measures a part of it anew, and compares.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from helpers.blocks.byte_pair_encoding import published_encoding
from helpers.blocks.long_sequences import rank_needed
from helpers.blocks.long_sequences_torch import contenders
from helpers.corpora.english import python_reference
from helpers.device import one_thread, peak_bytes
from helpers.pretrained import load_encoder, load_gpt, load_gpt_vocabulary

DATA = Path(__file__).parents[2] / "data"
TIMES, RANKS, LINFORMER = (
    DATA / name for name in ("long_times.csv", "attention_ranks.csv", "linformer.csv")
)
LENGTHS = (256, 512, 1024, 2048, 4096, 8192)  # in tokens
HEADS, D_Q, SWEEPS = 4, 64, 5
TOKENS = 256  # of the text in which ranks are looked for
MIXTURES, LEARNED, HELD_OUT = (4, 8, 16, 32, 64), 20, 4  # texts of 128 tokens
CHOSEN = ((0, 0), (1, 8), (3, 1), (5, 2))  # layer and head, counted from 0


def forward_and_backward(mix, q, k, v, upstream):
    """The gradients of q, k and v."""
    return torch.autograd.grad(mix(q, k, v), (q, k, v), upstream)


def inputs(N):
    """q, k, v and the gradient that arrives, each (1, HEADS, N, D_Q)."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, N, D_Q, requires_grad=True) for _ in range(3))
    return q, k, v, torch.randn(1, HEADS, N, D_Q)


def processor_seconds(work, at_least=0.1):
    """Least time of the processor that work() took, of as many calls as `at_least` seconds need."""
    taken = []
    while sum(taken) < at_least:
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


@one_thread()
def times():
    """Every way at every length: milliseconds, several sweeps, and MiB held at once."""
    rows = [("way", "tokens", "MiB", *(f"ms {sweep}" for sweep in range(SWEEPS)))]
    for N in LENGTHS:
        arguments = inputs(N)
        works = {
            name: lambda mix=mix, arguments=arguments: forward_and_backward(mix, *arguments)
            for name, mix in contenders(N, D_Q).items()
        }
        peaks = {name: peak_bytes(work, torch.device("cpu")) for name, work in works.items()}
        sweeps = [{n: processor_seconds(work) for n, work in works.items()} for _ in range(SWEEPS)]
        for name in works:
            taken = (f"{1000 * sweep[name]:.3f}" for sweep in sweeps)
            rows.append((name, N, f"{peaks[name] / 2**20:.2f}", *taken))
            print(*rows[-1], flush=True)
        write(TIMES, rows)


def load_times(path=TIMES):
    """What `times` stored: name → (lengths, MiB, milliseconds as lengths × sweeps)."""
    found = {}
    for name, *numbers in read(path):
        found.setdefault(name, []).append([float(number) for number in numbers])
    tables = {name: np.array(rows) for name, rows in found.items()}
    return {name: (table[:, 0], table[:, 1], table[:, 2:]) for name, table in tables.items()}


def exponent(lengths, values, least=1024):
    """The slope of log values against log lengths from `least` tokens on, and its spread.

    values: lengths × sweeps. The slope is that of the least values, since whatever else the machine
    does can only add to them; the spread is that of the single sweeps' slopes. Smaller texts are
    mostly start-up.
    """
    long = lengths >= least
    lowest = np.column_stack([values.min(axis=1), values])[long]
    slope, *slopes = np.polyfit(np.log(lengths[long]), np.log(lowest), 1)[0]
    return float(slope), float(np.std(slopes, ddof=1))


def cheaper_from(lengths, ours, theirs):
    """From which length on ours stays below theirs, found between two lengths; or None."""
    above = np.log(ours / theirs)
    if above[-1] >= 0:
        return None
    last = np.flatnonzero(above >= 0)
    if not len(last):
        return lengths[0]
    n = last[-1]
    share = above[n] / (above[n] - above[n + 1])
    return float(np.exp((1 - share) * np.log(lengths[n]) + share * np.log(lengths[n + 1])))


def passage(start=2000, words=300):
    """Some words of the Python language reference."""
    return " ".join(python_reference().split()[start : start + words])


def ranks():
    """For each layer of both published models, the ranks of its heads: least, median, most."""
    rows = [("model", "layer", "least", "median", "most")]
    encoder, gpt = load_encoder(), load_gpt()
    pieces = encoder.tokenize(passage())[:TOKENS]
    ids = published_encoding(*load_gpt_vocabulary()).encode(passage())[:TOKENS]
    weights = {
        "encoder": encoder.run([encoder.word_piece.ids[piece] for piece in pieces])[1],
        "GPT": gpt.attention(ids),
    }
    for model, heads in weights.items():
        for layer, A in enumerate(heads):
            needed = rank_needed(A.astype(float))
            rows.append((model, layer, needed.min(), f"{np.median(needed):g}", needed.max()))
            print(*rows[-1], flush=True)
    write(RANKS, rows)


def load_ranks(path=RANKS):
    """What `ranks` stored: model → one (least, median, most) for each layer."""
    found = {}
    for model, _, *needed in read(path):
        found.setdefault(model, []).append(tuple(float(rank) for rank in needed))
    return found


def heads_of(encoder, ids, layer, head):
    """Queries, keys and values of one head on one text, each N × D_q."""
    X, weights = encoder.run(ids)[0][layer], encoder.layers[layer]
    parts = ((getattr(weights, f"Omega_{r}"), getattr(weights, f"beta_{r}")) for r in "qkv")
    return [(beta + Omega @ X).reshape(weights.H, -1, len(ids))[head].T for Omega, beta in parts]


def relative(got, wanted):
    """The size of the difference, as a share of that of what was wanted."""
    return float((got - wanted).norm() / wanted.norm())


@one_thread()
def fitted(q, k, v, P, steps=300):
    """Errors of LinFormer whose matrices were learned on the first texts: (there, on the others).

    q, k, v: (texts, N, d); the outputs to reach are those of softmax attention.
    """
    torch.manual_seed(0)
    wanted = F.scaled_dot_product_attention(q, k, v)
    average = torch.eye(P).repeat_interleave(q.shape[1] // P, dim=1) * P / q.shape[1]
    E = (average + 0.01 * torch.randn(2, *average.shape)).requires_grad_()
    optimizer = torch.optim.Adam([E], lr=0.01)

    def copy(some):
        return F.scaled_dot_product_attention(q[some], E[0] @ k[some], E[1] @ v[some])

    learned, others = slice(LEARNED), slice(LEARNED, None)
    for _ in range(steps):
        loss = (copy(learned) - wanted[learned]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return tuple(relative(copy(some), wanted[some]) for some in (learned, others))


def linformer():
    """What matrices of LinFormer that are learned for one head of the encoder are worth."""
    encoder = load_encoder()
    texts = [encoder.tokenize(passage(200 * n, 200))[:128] for n in range(LEARNED + HELD_OUT)]
    ids = [[encoder.word_piece.ids[piece] for piece in text] for text in texts]
    rows = [("layer", "head", "mixtures", "best copy", "learned texts", "other texts")]
    for layer, head in CHOSEN:
        parts = [heads_of(encoder, text, layer, head) for text in ids]
        q, k, v = (torch.from_numpy(np.stack(part)).float() for part in zip(*parts, strict=True))
        A = torch.softmax(q @ k.transpose(1, 2) / q.shape[2] ** 0.5, dim=-1)[LEARNED:]
        left, sizes, right = torch.linalg.svd(A)
        for P in MIXTURES:
            best = (left[..., :P] * sizes[:, None, :P]) @ right[:, :P] @ v[LEARNED:]
            errors = relative(best, A @ v[LEARNED:]), *fitted(q, k, v, P)
            rows.append((layer, head, P, *(f"{error:.4f}" for error in errors)))
            print(*rows[-1], flush=True)
    write(LINFORMER, rows)


def load_linformer(path=LINFORMER):
    """What `linformer` stored: (layer, head) → rows of P and the three errors."""
    found = {}
    for layer, head, *numbers in read(path):
        found.setdefault((int(layer), int(head)), []).append([float(x) for x in numbers])
    return {place: np.array(rows) for place, rows in found.items()}


def read(path):
    """The rows of a table without its header."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def main(arguments):
    commands = {"times": times, "ranks": ranks, "linformer": linformer}
    if len(arguments) != 1 or arguments[0] not in commands:
        raise SystemExit(__doc__)
    commands[arguments[0]]()


if __name__ == "__main__":
    main(sys.argv[1:])
