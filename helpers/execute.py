"""Execute notebooks and store their outputs: `make execute`, or one with `make execute NB=01`."""

import os
import sys
import tempfile
import time
from pathlib import Path

from nbclient import NotebookClient

from helpers.notebooks import ENVIRONMENT, notebook_paths, read, write

__all__ = ["execute"]


def execute(notebook, folder):
    """Run all cells of a notebook in `folder` in order, in place, and tidy what was stored.

    The learner's board is set aside, so outputs are those of a first visit; they are made on the
    CPU, which every reader has; and the state of widgets is not kept, so a reader without a kernel
    sees each widget's static table. Progress bars, which have none, would stand at 0% for ever:
    they are left out.
    Raises nbclient.exceptions.CellExecutionError if a cell fails without leave.
    """
    with tempfile.TemporaryDirectory() as empty:
        board = {"TRANSFORMER_NOTEBOOKS_PROGRESS": str(Path(empty) / "progress.json")}
        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute(env=os.environ | ENVIRONMENT | board)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _frozen(output)]
    # The kernel reports its exact Python version; it says nothing about the text.
    notebook.metadata.get("language_info", {}).pop("version", None)
    return notebook


def _frozen(output):
    """Whether an output is a widget with no static table, such as a progress bar."""
    data = output.get("data", {})
    return "application/vnd.jupyter.widget-view+json" in data and "text/html" not in data


def main(arguments):
    """Execute the notebooks whose number is given, or all."""
    for path in notebook_paths(*arguments):
        start = time.perf_counter()
        write(execute(read(path), path.parent), path)
        print(f"{path.name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
