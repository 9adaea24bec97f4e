"""Prove the exercises: `python -m helpers.exercises` prints the counts and every fault found.

For each exercise: the solution and every right answer pass, every wrong answer (three at least) is
refused in its own words, the untouched stub counts as not attempted, and the notebook has the same
stub and check cells, in order, with their tags and nbgrader metadata. Exits with 1 if not. The
tests of the exercises' content ask the same.

With --mutants, its right answers are also mutated mechanically: see mutants/trial.py.
"""

import argparse
import ast
import sys

from helpers.exercises.engine.chapters import chapters, exercises_of
from helpers.exercises.engine.exercise import nbgrader_metadata
from helpers.exercises.engine.judge import PASSED, UNTOUCHED, WRONG, judge
from helpers.exercises.mutants import trial
from helpers.notebooks import ROOT, read

__all__ = ["answer_faults", "cell_faults", "notebook_faults"]


def answer_faults(exercise):
    """The faults of an exercise in itself, as sentences."""
    faults = []
    if exercise.stars not in (1, 2, 3) or len(exercise.hints) < 2:
        faults.append("it needs one to three stars and at least two hints")
    if exercise.answer is None or exercise.examine is None:
        return [*faults, "it has no solution or no check"]
    if ast.parse(exercise.source).body[0].name != exercise.name:
        faults.append(f"the solution must be named {exercise.name}, as the stub is")
    for right in (exercise.answer, *exercise.right_answers):
        verdict = judge(exercise, right)
        if verdict.state != PASSED:
            faults.append(f"the right answer {right.__name__} is refused: {verdict.sentence}")
    if len(exercise.wrong_answers) < 3:
        faults.append("it needs at least three wrong answers")
    words_of = {}  # answers that expect the same words make the same mistake
    for wrong, words in exercise.wrong_answers:
        verdict = judge(exercise, wrong)
        sentence = verdict.sentence
        if verdict.state != WRONG:
            faults.append(f"the wrong answer {wrong.__name__} counts as {verdict.state}")
        elif words not in sentence:
            faults.append(
                f"the wrong answer {wrong.__name__} is told “{sentence}” instead of “{words}”"
            )
        elif words_of.setdefault(sentence, words) != words:
            faults.append(f"“{sentence}” is told of “{words}” and of “{words_of[sentence]}”")
        elif sentence[0] != sentence[0].upper() or sentence[-1] not in ".?":
            faults.append(f"“{sentence}” is not a sentence")
    # The stub stands on the names of the solution's file, as in the notebook on its set-up cell.
    names = dict(sys.modules[exercise.answer.__module__].__dict__)
    exec(exercise.stub, names)
    verdict = judge(exercise, names[exercise.name])
    if verdict.state != UNTOUCHED:
        faults.append(f"the untouched stub counts as {verdict.state}: {verdict.sentence}")
    return faults


def cell_faults(exercises, cells):
    """The faults of a notebook's exercise cells, as sentences."""
    wanted = []
    for exercise in exercises:
        stub, check = nbgrader_metadata(exercise)
        wanted.append((exercise.id, "exercise", exercise.stub.strip(), stub))
        wanted.append((exercise.id, "check", exercise.call, check))
    tagged = [
        (cell, tag)
        for cell in cells
        for tag in ("exercise", "check")
        if tag in cell.metadata.get("tags", [])
    ]
    if len(tagged) != len(wanted):
        return [f"the notebook has {len(tagged)} stub and check cells instead of {len(wanted)}"]
    faults = []
    for (cell, found), (id, tag, source, metadata) in zip(tagged, wanted, strict=True):
        if found != tag or cell.source.strip() != source:
            faults.append(f"{id}: the {tag} cell of the notebook is not the file's")
        if cell.metadata.get("nbgrader") != metadata:
            faults.append(f"{id}: the {tag} cell needs the nbgrader metadata {metadata}")
    return faults


def notebook_faults(chapter):
    """The faults of the exercise cells in the notebook of a chapter such as "08", as sentences."""
    paths = sorted((ROOT / "notebooks").glob(f"{chapter}_*.ipynb"))
    if len(paths) != 1:
        return [f"ch{chapter} belongs to one notebook, and there are {len(paths)}"]
    faults = cell_faults(exercises_of(chapter), read(paths[0]).cells)
    return [f"{paths[0].name}: {fault}" for fault in faults]


def main():
    """Print the table of counts and the faults; returns the exit status."""
    faults = []
    rows = []
    for chapter in chapters():
        exercises = exercises_of(chapter)
        for exercise in exercises:
            faults += [f"{exercise.id}: {fault}" for fault in answer_faults(exercise)]
        faults += notebook_faults(chapter)
        rows.append(
            (
                f"notebook {chapter}",
                len(exercises),
                sum(e.stars for e in exercises),
                sum(1 + len(e.right_answers) for e in exercises),
                sum(len(e.wrong_answers) for e in exercises),
                sum(len(e.hints) for e in exercises),
            )
        )
    columns = zip(*rows, strict=True)
    next(columns)
    rows.append(("together", *map(sum, columns)))
    heads = ("", "exercises", "stars", "right answers", "wrong answers", "hints")
    for row in (heads, *rows):
        print("  ".join(str(cell).rjust(13) for cell in row))
    for fault in faults:
        print(f"✗ {fault}")
    print("✗ The exercises have faults." if faults else "✓ Every answer is judged as it should be.")
    return 1 if faults else 0


def arguments():
    parser = argparse.ArgumentParser(prog="python -m helpers.exercises", description=__doc__)
    parser.add_argument(
        "--mutants",
        nargs="*",
        metavar="ID",
        help="mutate the right answers of these exercises (of all) and list mutants that pass",
    )
    parser.add_argument(
        "--sentences", action="store_true", help="also list what the other mutants are told"
    )
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    if given.mutants is None:
        sys.exit(main())
    sys.exit(trial.main(given.mutants, given.sentences))
