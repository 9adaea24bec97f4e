"""Try the mutants of an exercise: which pass its check, and what the others are told.

    python -m helpers.exercises --mutants [1.5 …] [--sentences]

A mutant that passes is the same function on all allowed inputs, which `exercise.equivalent` says
beside the exercise with the reason, or it is a hole in the check.
"""

import collections
import contextlib
import fnmatch
import multiprocessing
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from helpers.exercises.engine.chapters import chapters, exercises_of, find
from helpers.exercises.engine.exercise import source_of
from helpers.exercises.engine.judge import PASSED, judge
from helpers.exercises.mutants.edits import PROBE, edits
from helpers.exercises.mutants.probe import Probe

__all__ = ["Trial", "main", "trial"]

SECONDS = 3.0  # a mutant that never ends is as good as refused
BYTES = 8 * 2**30  # no process that tries mutants may ever take more


@dataclass
class Trial:
    """What came of the mutants of one exercise; each is named "answer: before → after"."""

    count: int = 0
    holes: list = field(default_factory=list)
    explained: int = 0
    used: set = field(default_factory=set)  # patterns of `exercise.equivalent` that explain one
    told: dict = field(default_factory=lambda: collections.defaultdict(list))  # by sentence

    def unneeded(self, exercise):
        """The patterns of `exercise.equivalent` that no passing mutant matches."""
        return [p for p in exercise.equivalents if p not in self.used]


def trial(id, most=None):
    """Judge the mutants of every right answer to an exercise, or at most so many, always the same.

    id: the exercise's number, such as "1.5".
    """
    exercise = find(id)
    answers = (exercise.answer, *exercise.right_answers)
    listed = [(a, edit) for a in answers if (source := _source(a)) for edit in edits(source)]
    if most is not None:
        random.Random(id).shuffle(listed)
    chosen = {}
    while listed and len(chosen) != most:
        answer, edit = listed.pop(0)
        if mutant := edit():
            chosen.setdefault(f"{answer.__qualname__} {mutant.source}", (answer, mutant))
    result = Trial()
    judge(exercise, exercise.answer)  # imports what the check needs; mutants have less time
    for answer, mutant in chosen.values():
        _judge(exercise, answer, mutant, result)
    return result


def _source(answer):
    """The source of an answer that can be read on its own; None of one that closes over values."""
    try:
        source = source_of(answer)
    except (OSError, SyntaxError):
        return None
    whole = source.startswith(("def ", "class ")) and "<locals>" not in answer.__qualname__
    return source if whole else None


def _judge(exercise, answer, mutant, result):
    probe = Probe()
    names = dict(vars(sys.modules[answer.__module__])) | {PROBE: probe}
    try:
        exec(compile(mutant.source, "mutant", "exec"), names)
    except Exception:  # a class whose body fails, a default that cannot be computed
        return
    verdict = judge(exercise, names[answer.__name__], seconds=min(SECONDS, exercise.seconds))
    if f"{PROBE}." in mutant.source and not probe.changed:
        return
    result.count += 1
    name = f"{answer.__name__}: {mutant.change}"
    patterns = [p for p in exercise.equivalents if fnmatch.fnmatchcase(name, _only_stars(p))]
    if verdict.state == PASSED:
        result.explained += bool(patterns)
        result.holes += [] if patterns else [name]
    else:
        result.told[verdict.sentence or verdict.state].append(name)
    if verdict.state == PASSED or verdict.sentence.startswith("It did not finish"):
        result.used.update(patterns)  # one that is right, but slow, may run out of time


def _only_stars(pattern):
    """The pattern as fnmatch takes it, where brackets and question marks stand for themselves."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def _bounded():
    """Limit the memory of this process for good, where the system can (all but Windows)."""
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))


def main(ids, sentences=False):
    """Print what the exercises' mutants found; returns the exit status: 1 if there is a hole."""
    ids = ids or [e.id for chapter in chapters() for e in exercises_of(chapter)]
    unknown = [id for id in ids if find(id) is None]
    if unknown:
        print(f"There is no exercise {unknown[0]}.")
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    count = passed = faults = 0
    # A process for each: mutants leave threads behind that nothing can stop.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        os.cpu_count(), context, initializer=_bounded, max_tasks_per_child=1
    ) as processes:
        for id, result in zip(ids, processes.map(trial, ids), strict=True):
            exercise = find(id)
            unneeded = result.unneeded(exercise)
            print(
                f"{id}: {result.count} mutants, {result.explained + len(result.holes)} pass, "
                f"{result.explained} of them explained",
                flush=True,
            )
            for name in result.holes:
                print(f"  ✗ {name}")
            for pattern in unneeded:
                print(f"  ✗ no passing mutant is explained by: {pattern}")
            if sentences:
                for sentence, told in result.told.items():
                    if sentence.startswith("It stopped with"):
                        continue  # the exception speaks for itself
                    print(f"  “{sentence}” ({len(told)})")
                    for name in told[:6]:
                        print(f"      {name}")
            count += result.count
            passed += result.explained + len(result.holes)
            faults += len(result.holes) + len(unneeded)
    print(f"{count} mutants, {passed} pass, {faults} faults.")
    return 1 if faults else 0
