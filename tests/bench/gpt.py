"""The published GPT in NumPy against transformers: tokens a second, with and without the cache."""

import numpy as np
import torch

from helpers.pretrained import find_gpt, load_gpt
from tests.bench.report import interleaved, table
from tests.parity.test_published_gpt import as_llama, greedily

__all__ = ["measure"]

COUNT = 16  # tokens that are written after each prompt
LENGTHS = (8, 64, 256)  # of the prompts, in tokens


def measure():
    """The section on the published GPT, as Markdown."""
    if find_gpt() is None:
        return "## The published GPT\n\nIt is not on this machine."
    gpt = load_gpt()
    llama = as_llama(gpt)
    rows = []
    for length in LENGTHS:
        ids = np.random.default_rng(length).integers(17, 49_152, size=length).tolist()
        ours, theirs, without = times(gpt, llama, ids)
        milliseconds = (f"{1000 * t:.1f} ms" for t in (ours, theirs, without))
        rows.append([length, *milliseconds, f"{ours / theirs:.2f}"])
    reading = interleaved({"": lambda: [np.vdot(a, a) for a in arrays(gpt)]})[""]
    note = (
        f"SmolLM2-135M-Instruct, float32, {torch.get_num_threads()} threads: the time of a token, "
        f"of {COUNT} written greedily, the reading of the prompt included. Both write the same. "
        "Without a cache: one token, all of the prompt read again. Each token needs all weights, "
        f"and one pass over them in memory (a dot product) takes {1000 * reading:.1f} ms."
    )
    columns = ["tokens of the prompt", "NumPy", "`generate`", "NumPy without a cache"]
    columns += ["NumPy ÷ `generate`"]
    return f"## The published GPT\n\n{note}\n\n{table(columns, rows)}"


def arrays(gpt):
    """All weights of a GPT, as NumPy arrays that lie in memory without gaps."""
    layers = [array for layer in gpt.layers for array in vars(layer).values()]
    return [gpt.Omega_e.T, gpt.gamma, *layers]


def times(gpt, llama, ids):
    """Seconds for one token: ours with a cache, transformers' with its own, ours without."""
    prompt = torch.tensor([ids])
    options = dict(max_new_tokens=COUNT, min_new_tokens=COUNT, do_sample=False, pad_token_id=2)

    def generate():
        with torch.no_grad():
            return llama.generate(prompt, **options)

    assert greedily(gpt, ids, COUNT) == generate()[0, len(ids) :].tolist()
    taken = interleaved({"ours": lambda: greedily(gpt, ids, COUNT), "theirs": generate})
    without = interleaved({"": lambda: gpt.logits(gpt.run(ids)[:, -1:]).argmax()})[""]
    return taken["ours"] / COUNT, taken["theirs"] / COUNT, without
