"""Wall time and peak memory of every notebook."""

import contextlib
import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import nbformat
import psutil

from helpers.execute import execute
from helpers.notebooks import notebook_paths, read
from tests.bench.report import median, table

__all__ = ["measure"]

BUDGET = 75  # seconds that a notebook may take on two cores
REPEATS = 5  # these are long, so the least that gives a fair median
BARE = "only imports"
WITHOUT = ", without the published GPT"  # which alone takes 513 MiB
IMPORTS = "import matplotlib.pyplot\nimport numpy\nimport torch"


def measure():
    """The section on whole notebooks, as Markdown."""
    bare = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(IMPORTS)])
    paths = notebook_paths()
    folder = paths[0].parent
    published = [path for path in paths if "load_gpt" in path.read_text("utf-8")]
    names = [path.stem for path in paths] + [path.stem + WITHOUT for path in published]
    runs = {name: [] for name in [BARE, *sorted(names)]}
    for _ in range(REPEATS):
        runs[BARE].append(run(bare, folder))
        for path in paths:
            runs[path.stem].append(run(read(path), folder))
        with without_the_published_gpt():
            for path in published:
                runs[path.stem + WITHOUT].append(run(read(path), folder))
    medians = {name: [median(x) for x in zip(*pairs, strict=True)] for name, pairs in runs.items()}
    rows = [
        [
            name,
            f"{seconds:.1f} s",
            f"{seconds / BUDGET:.2f}",
            f"{peak / 2**20:.0f} MiB",
            f"{peak / medians[BARE][1]:.2f}",
        ]
        for name, (seconds, peak) in medians.items()
    ]
    return "\n\n".join(
        [
            "## Whole notebooks",
            "From the kernel's start to the last cell, without a browser, and the most memory the "
            "kernel and what it starts hold at once. *Only imports* is a notebook that imports "
            "NumPy, Matplotlib and PyTorch and does nothing more.",
            table(
                [
                    "notebook",
                    "wall time",
                    f"÷ the budget of {BUDGET} s",
                    "peak memory",
                    "÷ only imports",
                ],
                rows,
            ),
        ]
    )


@contextlib.contextmanager
def without_the_published_gpt():
    """As on a machine that has not installed it."""
    name = "TRANSFORMER_NOTEBOOKS_GPT"
    before = os.environ.get(name)
    with tempfile.TemporaryDirectory() as empty:
        os.environ[name] = empty
        try:
            yield
        finally:
            del os.environ[name]
            if before is not None:
                os.environ[name] = before


def run(notebook, folder):
    """Execute a notebook in memory: (seconds, peak bytes)."""
    finished = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        peak = pool.submit(peak_of_children, finished)
        start = time.perf_counter()
        try:
            execute(notebook, folder)
        finally:
            finished.set()
        return time.perf_counter() - start, peak.result()


def peak_of_children(finished):
    """The most bytes resident in the processes below this one, sampled until `finished` is set."""
    this, peak = psutil.Process(), 0
    while not finished.wait(0.05):
        resident = 0
        for process in this.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                resident += process.memory_info().rss
        peak = max(peak, resident)
    return peak
