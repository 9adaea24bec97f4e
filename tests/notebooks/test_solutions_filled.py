"""Each notebook's exercises with their solutions filled in: every check says passed.

Only the set-up, the stubs, the checks and what these rest on are executed; that no other cell uses
what an exercise defines is among the rules.
"""

import pytest

from helpers.execute import execute
from helpers.exercises.engine.chapters import chapters, exercises_of
from helpers.notebooks import notebook_paths, only_what_needs, read

PATHS = [path for chapter in chapters() for path in notebook_paths(f"{chapter}_")]


def tagged(cells, tag):
    return [cell for cell in cells if tag in cell.metadata.get("tags", [])]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_solutions_pass_in_the_notebook(path):
    notebook = read(path)
    exercises = exercises_of(path.stem[:2])
    for cell, exercise in zip(tagged(notebook.cells, "exercise"), exercises, strict=True):
        cell.source = exercise.source
    only_what_needs(notebook, lambda cell: tagged([cell], "exercise") or tagged([cell], "check"))
    execute(notebook, path.parent)
    for cell, exercise in zip(tagged(notebook.cells, "check"), exercises, strict=True):
        (output,) = cell.outputs
        assert output.data["text/plain"].startswith(f"✓ Passed: {exercise.id}"), output.data
