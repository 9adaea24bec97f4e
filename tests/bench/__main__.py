"""Measure, and store the tables in results.md: `make bench`.

    python -m tests.bench [part …]

All of it takes about a quarter of an hour on two quiet cores, of which the notebooks take most.
Parts: torch, layers, training, gpt, translation, long, loops, tokens, corpora, notebooks, widgets.
With parts named, only these are measured and printed, and nothing is stored, so that the stored
tables always come from one run on one machine.
"""

import sys
from pathlib import Path

from tests.bench import (
    attention,
    corpora,
    gpt,
    layers,
    long_sequences,
    notebooks,
    tokens,
    training,
    translation,
    widgets,
)
from tests.bench.report import header

PARTS = {
    "torch": attention.measure_torch,
    "layers": layers.measure,
    "training": training.measure,
    "gpt": gpt.measure,
    "translation": translation.measure,
    "long": long_sequences.measure,
    "loops": attention.measure_loops,
    "tokens": tokens.measure,
    "corpora": corpora.measure,
    "notebooks": notebooks.measure,
    "widgets": widgets.measure,  # last, for pytest changes the environment of what starts after it
}
TITLE = """# Performance

Written by `make bench`. A time is the median of at least five samples, unless its table says
otherwise. Where a peer is named, they are taken in turns with the peer's, and the ratio is what
counts; elsewhere, the budget is."""


def main(names):
    if unknown := set(names) - PARTS.keys():
        raise SystemExit(f"There is no part {min(unknown)}: choose from {', '.join(PARTS)}.")
    sections = [TITLE, header()]
    for name in names or PARTS:
        print(f"Measuring: {name}", flush=True)
        sections.append(PARTS[name]())
    text = "\n\n".join(sections) + "\n"
    print(f"\n{text}")
    if not names:
        path = Path(__file__).with_name("results.md")
        path.write_text(text, encoding="utf-8")
        print(f"Stored in {path}.")


if __name__ == "__main__":
    main(sys.argv[1:])
