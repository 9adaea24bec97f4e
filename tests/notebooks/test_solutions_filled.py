"""Each notebook with its solutions filled in: everything runs, and every check says passed."""

import pytest

from helpers.execute import execute
from helpers.exercises.engine.chapters import chapters, exercises_of
from helpers.notebooks import notebook_paths, read

PATHS = [path for chapter in chapters() for path in notebook_paths(f"{chapter}_")]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_solutions_pass_in_the_notebook(path):
    notebook = read(path)
    exercises = exercises_of(path.stem[:2])
    stubs = [cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])]
    for cell, exercise in zip(stubs, exercises, strict=True):
        cell.source = exercise.source
    execute(notebook, path.parent)
    checks = [cell for cell in notebook.cells if "check" in cell.metadata.get("tags", [])]
    for cell, exercise in zip(checks, exercises, strict=True):
        (output,) = cell.outputs
        assert output.data["text/plain"].startswith(f"✓ Passed: {exercise.id}"), output.data
