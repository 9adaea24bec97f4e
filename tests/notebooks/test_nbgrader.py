"""The notebooks work in nbgrader: generate an assignment, grade three submissions, compare marks.

The recipe, for a course folder with source/ps1/01_self_attention.ipynb in it:

    nbgrader generate_assignment ps1 --ClearSolutions.enabled=False
    nbgrader autograde ps1

The notebooks hold stubs, not solutions, so there is nothing to clear; left on, ClearSolutions would
replace each stub, signature and docstring included, by its own `raise NotImplementedError()`.
Each passed check is worth its stars.
"""

import os
import subprocess
import sys
import sysconfig

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.exercise import nbgrader_metadata, source_of
from helpers.notebooks import ROOT

EXERCISES = [find("1.1"), find("1.2")]


def notebook():
    """A set-up cell, then stub and check of each exercise, as in the collection's notebooks."""
    cells = [new_code_cell("import numpy as np\nfrom helpers.exercises import check")]
    for exercise in EXERCISES:
        stub, check = nbgrader_metadata(exercise)
        cells += [
            new_code_cell(exercise.stub, metadata={"tags": ["exercise"], "nbgrader": stub}),
            new_code_cell(exercise.call, metadata={"tags": ["check"], "nbgrader": check}),
        ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def wrong_source(exercise):
    """The source of a wrong answer, under the name of the stub."""
    wrong, _ = exercise.wrong_answers[0]
    return f"{source_of(wrong)}\n{exercise.name} = {wrong.__name__}"


@pytest.fixture
def nbgrader(tmp_path, monkeypatch):
    """nbgrader's command line in an empty course folder."""
    for name, first in (("PATH", sysconfig.get_path("scripts")), ("PYTHONPATH", str(ROOT))):
        # nbgrader calls the command alembic; the kernels import helpers.
        monkeypatch.setenv(name, first, prepend=os.pathsep)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "no-configuration"))

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr

    return call


def test_right_wrong_and_untouched_submissions_get_their_marks(tmp_path, nbgrader):
    source = tmp_path / "source" / "ps1" / "notebook.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(notebook(), source)
    nbgrader("generate_assignment", "ps1", "--ClearSolutions.enabled=False")

    released = nbformat.read(tmp_path / "release" / "ps1" / "notebook.ipynb", as_version=4)
    stubs = [c.source for c in released.cells if "exercise" in c.metadata.get("tags", [])]
    assert stubs == [exercise.stub for exercise in EXERCISES]

    answers = {
        "right": [exercise.source for exercise in EXERCISES],
        "wrong": [wrong_source(exercise) for exercise in EXERCISES],
        "untouched": stubs,
    }
    for student, sources in answers.items():
        cells = (c for c in released.cells if "exercise" in c.metadata.get("tags", []))
        for cell, answer in zip(cells, sources, strict=True):
            cell.source = answer
        path = tmp_path / "submitted" / student / "ps1" / "notebook.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(released, path)
    nbgrader("autograde", "ps1")

    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        marks = {s.student.id: s.score for s in gradebook.assignment_submissions("ps1")}
        assert gradebook.find_assignment("ps1").max_score == sum(e.stars for e in EXERCISES)
    assert marks == {"right": sum(e.stars for e in EXERCISES), "wrong": 0, "untouched": 0}
