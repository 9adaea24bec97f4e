"""Without the published encoder, a notebook says how to get it and goes on to its end.

Only the cells that depend on the encoder, and what these rest on, are executed.
"""

import pytest

from helpers.execute import execute
from helpers.notebooks import bound_names, needed_names, notebook_paths, only_what_needs, read

PATHS = [p for p in notebook_paths() if "load_encoder" in p.read_text("utf-8")]


def depend_on(name, cells):
    """The ids of the code cells that use a name, or what such cells bind."""
    names, ids = {name}, []
    for cell in cells:
        if cell.cell_type == "code" and names & (needed_names(cell) | bound_names(cell)):
            names |= bound_names(cell)
            ids.append(cell.id)
    return ids


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_goes_on_without_the_encoder(path, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_NOTEBOOKS_ENCODER", str(tmp_path))  # a folder without it
    notebook = read(path)
    dependent = depend_on("load_encoder", notebook.cells)
    only_what_needs(notebook, lambda cell: cell.id in dependent)
    execute(notebook, path.parent)  # raises if a cell fails
    printed = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", []))
    assert "The published encoder is not in" in printed and "download_encoder()" in printed
    assert "layers of" not in printed
