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
LOAD_BUDGET, DRAW_BUDGET = 0.3, 3  # seconds
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
        time_taken = statistics.median(samples)
        rows.append([name, f"{time_taken:.2f} s", f"{time_taken / LOAD_BUDGET:.2f}"])
    loads = table(["corpus", "load in a new Python", f"÷ {LOAD_BUDGET} s"], rows)
    rows = []
    for name in ("reviews", "phrases"):
        time_taken = draw(name)
        rows.append([f"20,000 {name}", f"{time_taken:.2f} s", f"{time_taken / DRAW_BUDGET:.2f}"])
    draws = table(["drawn", "time", f"÷ {DRAW_BUDGET} s"], rows)
    return f"## Corpora\n\n{loads}\n\n{draws}"


def draw(name):
    """Seconds for 20,000 texts: the median of five."""
    from helpers.corpora.phrases import phrases
    from helpers.corpora.reviews import reviews

    make, samples = {"reviews": reviews, "phrases": phrases}[name], []
    for seed in range(5):
        start = time.perf_counter()
        make(20_000, seed)
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)
