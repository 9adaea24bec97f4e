"""Wall time, peak memory and first widget of every notebook."""

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
from tests.bench.report import table

__all__ = ["measure"]

BUDGET = 75  # seconds that a notebook may take on two cores
FIRST = 3  # seconds to its first widget
BARE = "only imports"
WITHOUT = ", without the published GPT"  # which alone takes 513 MiB
IMPORTS = "import matplotlib.pyplot\nimport numpy\nimport torch"


def measure():
    """The section on whole notebooks, as Markdown."""
    bare = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(IMPORTS)])
    folder = notebook_paths()[0].parent
    run(bare, folder)  # does not count: it also brings the packages from the disk
    seconds, least, _ = run(bare, folder)
    rows = [[BARE, *wall_time(seconds), "", "", *memory(least, least)]]

    def measured(name, path):
        seconds, peak, first = run(read(path), folder)
        widget = [f"{first:.1f} s", f"{first / FIRST:.2f}"]
        rows.append([name, *wall_time(seconds), *widget, *memory(peak, least)])

    for path in notebook_paths():
        measured(path.stem, path)
        if "load_gpt(" in path.read_text("utf-8"):
            with without_the_published_gpt():
                measured(path.stem + WITHOUT, path)
    return "\n\n".join(
        [
            "## Whole notebooks",
            "One run of each, without a browser: from the kernel's start to the last cell, and to "
            "the first widget; and the most memory the kernel and what it starts hold at once. "
            "*Only imports* is a notebook that imports NumPy, Matplotlib and PyTorch and does "
            "nothing more.",
            table(
                [
                    "notebook",
                    "wall time",
                    f"÷ the budget of {BUDGET} s",
                    "first widget",
                    f"÷ {FIRST} s",
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


def wall_time(seconds):
    return [f"{seconds:.1f} s", f"{seconds / BUDGET:.2f}"]


def memory(peak, least):
    return [f"{peak / 2**20:.0f} MiB", f"{peak / least:.2f}"]


def run(notebook, folder):
    """Execute a notebook in memory: (seconds, peak bytes, seconds to its first widget or None)."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []  # the stored ones
    finished = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        start = time.perf_counter()
        watch = pool.submit(watched, notebook, finished)
        try:
            execute(notebook, folder)
        finally:
            finished.set()
        seconds = time.perf_counter() - start
        peak, first = watch.result()
        return seconds, peak, first and first - start


def watched(notebook, finished):
    """What is seen in 20 looks a second, until `finished` is set: (peak, first).

    peak: the most bytes resident in the processes below this one. first: when an output first held
    a widget with a static table, which progress bars have not; None if none did.
    """
    this, peak, first = psutil.Process(), 0, None
    while not finished.wait(0.05):
        if first is None and any(map(holds_a_widget, notebook.cells)):
            first = time.perf_counter()
        resident = 0
        for process in this.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                resident += process.memory_info().rss
        peak = max(peak, resident)
    return peak, first


def holds_a_widget(cell):
    kinds = {"application/vnd.jupyter.widget-view+json", "text/html"}
    return any(kinds <= set(output.get("data", ())) for output in cell.get("outputs", ()))
