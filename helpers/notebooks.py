"""The collection's notebooks on disk: which there are, and how they are read and written."""

from pathlib import Path

import nbformat

__all__ = ["BLOCKS", "ENVIRONMENT", "ROOT", "notebook_paths", "read", "topic", "write"]

ROOT = Path(__file__).parents[1]
BLOCKS = ROOT / "helpers" / "blocks"

# Outputs are stored, and later compared, under the same conditions.
ENVIRONMENT = {
    "TRANSFORMER_NOTEBOOKS_DEVICE": "cpu",  # which every reader has
    # Threads that spin while they wait take the time that others compute in, and spoil what is
    # measured on a busy machine.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def notebook_paths(number=""):
    """The notebooks in order, or only those whose number starts with `number`, such as "01".

    Raises SystemExit with one sentence if there is none.
    """
    paths = sorted((ROOT / "notebooks").glob(f"{number}*.ipynb"))
    if not paths:
        raise SystemExit(f"There is no notebook whose name starts with “{number}” in notebooks/.")
    return paths


def topic(path):
    """The module name of a notebook's blocks: 01_self_attention.ipynb → self_attention."""
    return path.stem.partition("_")[2]


def read(path):
    """The notebook at `path` in nbformat's current form."""
    return nbformat.read(path, as_version=4)


def write(notebook, path):
    """Write a notebook as JupyterLab would, so that saving it there changes nothing else."""
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
