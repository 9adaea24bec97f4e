"""Exercises in the notebooks: check("1.3", attention_weights), hint("1.3"), solution("1.3")."""

import os
from pathlib import Path

from IPython.display import display

from helpers.exercises.engine.board import Board
from helpers.exercises.engine.box import (
    board_box,
    hint_box,
    message_box,
    solution_box,
    verdict_box,
)
from helpers.exercises.engine.chapters import chapters, exercises_of, find, nearest
from helpers.exercises.engine.judge import UNTOUCHED, judge
from helpers.exercises.engine.wording import short

__all__ = ["NotPassed", "check", "hint", "progress", "solution"]

board = Board()


class NotPassed(AssertionError):
    """An answer did not pass; raised only where nbgrader is grading."""


def check(id, answer):
    """Judge an answer, a function or a class, and show what was found.

    Whatever is passed in, this shows a box and raises nothing. Only where nbgrader is grading
    (NBGRADER_EXECUTION is set) it raises NotPassed for an answer that is wrong or missing, and
    leaves the board alone.
    """
    exercise = _find(id)
    grading = "NBGRADER_EXECUTION" in os.environ
    if exercise is None:
        if grading:
            raise NotPassed(f"There is no exercise {short(id)}.")
        return
    verdict = judge(exercise, answer)
    if verdict.state != UNTOUCHED and not grading:
        board.record(exercise.id, tried=True, passed=verdict.passed)
    box = verdict_box(exercise, verdict, board.take_notes())
    display(box)
    if grading and not verdict.passed:
        raise NotPassed(repr(box))


def hint(id):
    """Show the next hint; which ones you have read is remembered on the board."""
    exercise = _find(id)
    if exercise is not None:
        number = board.of(exercise.id)["hints"] + 1
        if number <= len(exercise.hints):
            board.record(exercise.id, hints=number)
        display(hint_box(exercise, number, board.take_notes()))


def solution(id):
    """Show the solution and what is worth noticing in it."""
    exercise = _find(id)
    if exercise is not None:
        display(solution_box(exercise))


def progress():
    """Show the board: the exercises of all notebooks, with those you have passed."""
    records = board.records()
    rows = [(_name(chapter), exercises_of(chapter)) for chapter in chapters()]
    display(board_box(rows, records, board.take_notes()))


def _find(id):
    """The exercise, or None after a sentence that names the nearest ids."""
    text = str(id) if type(id) in (str, int, float) else short(id)
    exercise = find(text)
    if exercise is None:
        display(
            message_box(
                f"There is no exercise {short(text)}. The nearest are {', '.join(nearest(text))}."
            )
        )
    return exercise


def _name(chapter):
    """The name of a chapter's notebook as its file has it: 01 self attention."""
    paths = sorted(Path(__file__).parents[2].glob(f"notebooks/{chapter}_*.ipynb"))
    return paths[0].stem.replace("_", " ") if paths else f"notebook {chapter}"
