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
from helpers.exercises.engine.calls import copied
from helpers.exercises.engine.chapters import chapters, exercises_of, find, nearest
from helpers.exercises.engine.exercise import Wrong
from helpers.exercises.engine.hints import Hints
from helpers.exercises.engine.judge import UNTOUCHED, WRONG, judge
from helpers.exercises.engine.limits import in_limited
from helpers.exercises.engine.wording import short

__all__ = ["NotPassed", "check", "example", "hint", "progress", "solution"]

board = Board()
hints = Hints()
examples = {}  # by an exercise's id: the inputs of the call that its last failed check was about

MISSING = object()  # None and ... are answers, if no right ones


class NotPassed(AssertionError):
    """An answer did not pass; raised only where nbgrader is grading."""


def check(id=MISSING, answer=MISSING):
    """Judge an answer, a function or a class, and show what was found.

    Whatever is passed in, this shows a box and raises nothing. Only where nbgrader is grading
    (NBGRADER_EXECUTION is set) it raises NotPassed for an answer that is wrong or missing, and
    leaves the board alone.
    """
    if in_limited():
        raise Wrong(
            "It calls check, which would call it again: can the check stand in a cell of its own?"
        )
    grading = "NBGRADER_EXECUTION" in os.environ
    exercise, sentence = _asked_for("check", id, answer)
    if sentence:
        display(message_box(sentence))
        if grading:
            raise NotPassed(sentence)
        return
    verdict = judge(exercise, answer)
    if verdict.state != UNTOUCHED and not grading:
        board.record(exercise.id, tried=True, passed=verdict.passed)
    if verdict.state == WRONG:
        hints.note_try(exercise, answer)
    if not verdict.passed and verdict.call.example is not None:
        examples[exercise.id] = verdict.call.example
    help = hints.offer(exercise, board.of(exercise.id)["hints"])
    box = verdict_box(exercise, verdict, help, board.take_notes())
    display(box)
    for output in verdict.call.displayed:
        if isinstance(output, tuple):
            data, metadata = output
            display(data, metadata=metadata, raw=True)
        else:
            display(output)
    if grading and not verdict.passed:
        raise NotPassed(repr(box))


def example(id=MISSING):
    """The inputs of the call that the last failed check of an exercise was about, as a tuple.

    So attention_weights(*example("1.4")) makes that call again. For a class there are two tuples,
    the inputs of its constructor and those of the method. Empty, after a sentence, if there is no
    such call.
    """
    exercise, sentence = _asked_for("example", id)
    if not sentence and exercise.id not in examples:
        sentence = (
            f"There is no example for {exercise.id} yet: run `{exercise.call}`, and where your "
            "answer fails, `example` gives you the inputs."
        )
    if sentence:
        display(message_box(sentence))
        return ()
    return copied(examples[exercise.id])


def hint(id=MISSING, number=None):
    """Show the hints so far, one more if a different answer failed since, or all up to `number`.

    Which ones you have read is remembered on the board.
    """
    exercise, sentence = _asked_for("hint", id)
    if not sentence and number is not None and number not in range(1, len(exercise.hints) + 1):
        total = len(exercise.hints)
        sentence = f'{exercise.id} has {total} hints; `hint("{exercise.id}", {total})` shows all.'
    if sentence:
        display(message_box(sentence))
        return
    shown = hints.give(exercise, board.of(exercise.id)["hints"], number)
    board.record(exercise.id, hints=shown)
    display(hint_box(exercise, shown, board.take_notes()))


def solution(id=MISSING):
    """Show the solution and what is worth noticing in it."""
    exercise, sentence = _asked_for("solution", id)
    display(message_box(sentence) if sentence else solution_box(exercise))


def progress(*given):
    """Show the board: the exercises of all notebooks, with those you have passed."""
    if given:
        sentence = "progress needs no number, it shows the exercises of all notebooks: "
        display(message_box(f"{sentence}`progress()`."))
        return
    records = board.records()
    rows = [(_name(chapter), exercises_of(chapter)) for chapter in chapters()]
    display(board_box(rows, records, board.take_notes()))


def _asked_for(call, id, answer=None):
    """The exercise with this id and "", or None and a sentence that says how to call."""
    given = id if callable(id) else answer
    owner = _exercise_of(given) if callable(given) else None
    arguments = f'"{owner.id}"' if owner else '"1.2"'
    if call == "check":
        arguments += f", {owner.name}" if owner else ", softmax_columns"
    like = f"{':' if owner else ', as in'} `{call}({arguments})`"
    if id is MISSING or callable(id):
        wanted = "the number of an exercise first" if call == "check" else "an exercise's number"
        return None, f"{call} needs {wanted}{like}."
    text = str(id) if type(id) in (str, int, float) else short(id)
    exercise = find(text)
    if exercise is None:
        near = ", ".join(nearest(text))
        return None, f"There is no exercise {short(text)}. The nearest are {near}."
    if answer is MISSING:
        return None, f"{call} needs your answer, too: `{exercise.call}`."
    return exercise, ""


def _exercise_of(answer):
    """The exercise whose stub has the answer's name, or None."""
    name = getattr(answer, "__name__", None)
    return next((e for c in chapters() for e in exercises_of(c) if e.name == name), None)


def _name(chapter):
    """The name of a chapter's notebook as its file has it: 01 self attention."""
    paths = sorted(Path(__file__).parents[2].glob(f"notebooks/{chapter}_*.ipynb"))
    return paths[0].stem.replace("_", " ") if paths else f"notebook {chapter}"
