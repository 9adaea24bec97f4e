"""The decoder of the reviews after a minute, and the published GPT against transformers."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from helpers.blocks.gpt_torch import Decoder, PublishedGPT, next_token_loss
from helpers.corpora.reviews import REVIEWS, reviews
from helpers.experiments.distributed import learn
from helpers.experiments.gpt import SIZES, numbers
from helpers.notebooks import ROOT
from helpers.pretrained import find_gpt, load_gpt
from tests.bench.report import interleaved, table
from tests.parity.test_published_gpt import as_llama, greedily, greedily_in_pytorch

__all__ = ["measure"]

MINUTE = 60  # seconds of training on two cores
COUNT = 16  # tokens that are written after each prompt
LENGTHS = (8, 64, 256)  # of the prompts, in tokens


def measure():
    """The sections on GPTs, as Markdown."""
    return f"{entropy_gap()}\n\n{published()}"


def entropy_gap():
    """How far from the grammar's own distribution the decoder is after a minute of two cores."""
    texts = reviews(2000, 9, "test")
    true = -np.mean([text.log_probability for text in texts])
    rows = []
    for name, train in (
        ("one, with both cores", alone),
        ("two, a half of each batch each", shared),
    ):
        seconds, _ = train(40)
        steps = int(MINUTE / seconds * 40)
        seconds, decoder = train(steps)
        reached = nats(decoder, texts)
        gap = reached - true
        measured = f"{reached:.2f}", f"{gap:.2f}", f"{100 * gap / true:.1f}%"
        rows.append([name, f"{steps:,}", f"{seconds:.0f} s", *measured])
    note = (
        f"The decoder of notebook 08, trained from random parameters for about {MINUTE} s of two "
        f"cores. The grammar has an entropy of {REVIEWS.entropy:.2f} nats a review; on the 2,000 "
        f"test reviews that are used here its own distribution needs {true:.2f}. The aim is a gap "
        "of at most 1.5% to that."
    )
    columns = ["processes", "steps", "training", "nats a review", "above the truth", "in percent"]
    return f"## A minute of training\n\n{note}\n\n{table(columns, rows)}"


def alone(steps):
    """Seconds of training, and the decoder, for so many steps in this process."""
    decoder, history = learn(steps)
    return history.seconds, decoder


def shared(steps):
    """The same in two processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result"
        command = ["-m", "helpers.experiments.distributed", "--processes", "2"]
        command += ["--steps", str(steps), "--store", str(path)]
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True
        )
        weights = load_file(path)
    decoder = Decoder(**SIZES)
    weights.pop("losses")
    decoder.load_state_dict(weights, strict=False)  # the layers share the table of positions
    seconds = float(done.stdout.split(" steps in ")[1].split(" s")[0])
    return seconds, decoder.eval()


@torch.no_grad()
def nats(decoder, texts):
    """Mean cross-entropy of a review, in nats."""
    parts = [numbers(texts[i : i + 200]) for i in range(0, len(texts), 200)]
    return sum(next_token_loss(decoder, (part,), "sum").item() for part in parts) / len(texts)


def published():
    """Tokens a second of the published GPT, ours and transformers'."""
    if find_gpt() is None:
        return "## The published GPT\n\nIt is not on this machine."
    gpt = load_gpt()
    llama = as_llama(gpt)
    rows, more = [], []
    for length in LENGTHS:
        ids = np.random.default_rng(length).integers(17, 49_152, size=length).tolist()
        numpys, torchs, theirs, without = times(gpt, llama, ids)
        milliseconds = (f"{1000 * t:.1f} ms" for t in (numpys, torchs, theirs, without))
        rows.append([length, *milliseconds, f"{numpys / theirs:.2f}", f"{torchs / theirs:.2f}"])
        reading, *tokens = one_token(gpt, ids)
        more.append([length, f"{1000 * reading:.1f} ms"])
        for taken in tokens:
            more[-1] += [f"{1000 * taken:.1f} ms", f"{taken / reading:.2f}"]
        bandwidth = 4 * 134_515_008 / reading / 1e9
    note = (
        f"SmolLM2-135M-Instruct, float32, {torch.get_num_threads()} threads: the time of a token, "
        f"of {COUNT} written greedily, the reading of the prompt included. All write the same. "
        "Without a cache: one token, all of the prompt read again."
    )
    columns = ["tokens of the prompt", "NumPy", "PyTorch", "`generate`", "NumPy without a cache"]
    columns += ["NumPy ÷ `generate`", "PyTorch ÷ `generate`"]
    limit = (
        "One token more, after the prompt. It needs all weights, 538 MB, once; taken in turns with "
        f"it, one pass over them in memory, a dot product ({bandwidth:.0f} GB a second)."
    )
    names = ["tokens of the prompt", "one pass over the weights"]
    names += ["NumPy", "NumPy ÷ the pass", "PyTorch", "PyTorch ÷ the pass"]
    return (
        f"## The published GPT\n\n{note}\n\n{table(columns, rows)}\n\n{limit}\n\n"
        f"{table(names, more)}"
    )


def arrays(gpt):
    """All weights of a GPT, as NumPy arrays that lie in memory without gaps."""
    layers = [array for layer in gpt.layers for array in vars(layer).values()]
    return [gpt.Omega_e.T, gpt.gamma, *layers]


def one_token(gpt, ids):
    """Seconds for a pass over all weights, for one token more in NumPy and for one in PyTorch."""
    weights, cache, kept = arrays(gpt), gpt.cache(len(ids) + 1), []
    gpt.run(ids, cache)
    model = PublishedGPT(gpt)
    with torch.no_grad():
        model(torch.tensor([ids]), kept, last=True)

    def in_numpy():
        cache.length = len(ids)
        return gpt.logits(gpt.run([100], cache)).argmax()

    @torch.no_grad()
    def in_pytorch():
        return model(torch.tensor([[100]]), [list(pair) for pair in kept]).argmax()

    works = {"reading": lambda: [np.vdot(a, a) for a in weights]}
    return interleaved(works | {"NumPy": in_numpy, "PyTorch": in_pytorch}).values()


def times(gpt, llama, ids):
    """Seconds for a token: NumPy, PyTorch and transformers with caches, NumPy without."""
    prompt = torch.tensor([ids])
    options = dict(max_new_tokens=COUNT, min_new_tokens=COUNT, do_sample=False, pad_token_id=2)

    def generate():
        with torch.no_grad():
            return llama.generate(prompt, **options)[0, len(ids) :].tolist()

    works = {
        "NumPy": lambda: greedily(gpt, ids, COUNT),
        "PyTorch": lambda: greedily_in_pytorch(gpt, ids, COUNT),
        "theirs": generate,
    }
    written = [work() for work in works.values()]
    assert written[0] == written[1] == written[2]
    taken = [seconds / COUNT for seconds in interleaved(works).values()]
    without = interleaved({"": lambda: gpt.logits(gpt.run(ids)[:, -1:]).argmax()})[""]
    return *taken, without
