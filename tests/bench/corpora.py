"""How fast the corpora load and are drawn."""

import statistics
import subprocess
import sys
import time

from tests.bench.report import REPEATS, table

__all__ = ["measure"]

LOAD = (
    "import time; start = time.perf_counter(); import helpers.corpora.{name} as corpus; {use}; "
    "print(time.perf_counter() - start)"
)
CORPORA = {  # name -> what makes it ready
    "reviews": "corpus.REVIEWS",
    "phrases": "corpus.phrases(1)",
    "english": "corpus.python_reference()",
    "pictures": "corpus.digits('train')",
    "word_vectors": "corpus.load_word_vectors()",
}


def measure():
    """The section on corpora, as Markdown."""
    rows = []
    for name, use in CORPORA.items():
        command = [sys.executable, "-c", LOAD.format(name=name, use=use)]
        samples = [float(subprocess.check_output(command)) for _ in range(REPEATS)]
        rows.append([name, f"{statistics.median(samples):.2f} s"])
    loads = table(["corpus", "load in a new Python (budget 0.3 s)"], rows)
    draws = table(
        ["drawn", "time (budget for reviews 3 s)"],
        [["20,000 reviews", draw("reviews")], ["20,000 phrases", draw("phrases")]],
    )
    return f"## Corpora\n\n{loads}\n\n{draws}"


def draw(name):
    """Seconds for 20,000 texts, in words: the median of five."""
    from helpers.corpora.phrases import phrases
    from helpers.corpora.reviews import reviews

    make, samples = {"reviews": reviews, "phrases": phrases}[name], []
    for seed in range(5):
        start = time.perf_counter()
        make(20_000, seed)
        samples.append(time.perf_counter() - start)
    return f"{statistics.median(samples):.2f} s"
