"""Without the published encoder, a notebook says how to get it and goes on to its end."""

import pytest

from helpers.execute import execute
from helpers.notebooks import notebook_paths, read

PATHS = [p for p in notebook_paths() if "load_encoder" in p.read_text("utf-8")]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_goes_on_without_the_encoder(path, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_NOTEBOOKS_ENCODER", str(tmp_path))  # a folder without it
    notebook = execute(read(path), path.parent)  # raises if a cell fails
    printed = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", []))
    assert "The published encoder is not in" in printed and "download_encoder()" in printed
    assert "layers of" not in printed
