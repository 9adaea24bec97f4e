import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from helpers.export import blocks


def saved(folder, *cells):
    path = folder / "07_some_topic.ipynb"
    notebook = new_notebook(
        cells=[new_code_cell(c, metadata={"tags": t}) for c, t in cells], metadata={}
    )
    nbformat.write(notebook, path)
    return path


def test_exported_cells_come_with_the_imports_they_need(tmp_path):
    path = saved(
        tmp_path,
        ("import numpy as np\nimport torch\nfrom math import pi, tau", []),
        ("unused = 1", []),
        ("def area(r):\n    return pi * np.square(r)", ["export"]),
        ("def double(r):\n    return 2 * area(r)", ["export"]),
        ("def tensor(r):\n    return torch.tensor(double(r))", ["export"]),
    )
    made = blocks(path)
    assert set(made) == {"some_topic", "some_topic_torch"}
    assert "torch" not in made["some_topic"] and "tau" not in made["some_topic"]
    assert "unused" not in made["some_topic"]
    assert "from helpers.blocks.some_topic import double" in made["some_topic_torch"]
    assert made["some_topic"].splitlines()[0].startswith('"""Exported from notebooks/07_some_topic')
    namespace = {}
    exec(made["some_topic"], namespace)
    assert namespace["double"](1) == pytest.approx(6.283185307)


def test_a_name_that_comes_from_nowhere_is_named(tmp_path):
    path = saved(tmp_path, ("scale = 2", []), ("def f(x):\n    return scale * x", ["export"]))
    with pytest.raises(ValueError, match=r"07_some_topic\.ipynb: an exported cell uses 'scale'"):
        blocks(path)
