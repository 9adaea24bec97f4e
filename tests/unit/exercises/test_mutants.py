"""The mutation tester makes the mistakes it says, and finds the holes of a check."""

import numpy as np
import pytest

from helpers.exercises.engine.chapters import chapters, exercises_of
from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.mutants import trial as trials
from helpers.exercises.mutants.edits import mutants
from helpers.exercises.mutants.probe import Probe
from helpers.exercises.shared.compare import same

IDS = [exercise.id for chapter in chapters() for exercise in exercises_of(chapter)]
MUTANTS = 25  # an exercise, always the same; `python -m helpers.exercises --mutants` tries all


@pytest.mark.parametrize("id", IDS)
def test_no_mutant_passes_unexplained(id):
    assert not trials.trial(id, MUTANTS).holes


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("def f(a, b):\n    return a + b", "return a + b → return a - b"),
        ("def f(a, b):\n    return a @ b", "return a @ b → return b @ a"),
        ("def f(a, b):\n    return a @ b", "return a @ b → return turned(a @ b)"),
        ("def f(a, b):\n    return a - b", "return a - b → return a"),
        ("def f(a, b):\n    return a - b", "return a - b → return in_place('sub', a, b)"),
        ("def f(a):\n    return -a", "return -a → return a"),
        ("def f(a):\n    return a.T", "return a.T → return a"),
        ("def f(a):\n    return a.max(axis=0)", "return a.max(axis=0) → return a.min(axis=0)"),
        ("def f(a):\n    return a.max(axis=0)", "return a.max(axis=0) → return a.max(axis=1)"),
        ("def f(a):\n    return a.max(axis=0)", "return a.max(axis=0) → return a.max()"),
        ("def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s", "s += x → s = x"),
        (
            "def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s",
            "for x in a: → for x in a:",  # with `return s` at the end of the loop
        ),
        ("def f(a, m, n):\n    return a[m, n]", "return a[m, n] → return a[n, n]"),
        ("def f(a, m, n):\n    return a[m, n]", "return a[m, n] → return a[n, m]"),
        ("def f(a):\n    a[0] = 1\n    return a", "a[0] = 1 → a[0] += 1"),
        ("def f(a):\n    return range(len(a))", "return range(len(a)) → return range(len(a) - 1)"),
        ("def f(a):\n    return len(a)", "return len(a) → return first_seen(len(a))"),
        ("def f(a):\n    return a[1:]", "return a[1:] → return a[1 + 1:]"),
        ("def f(a):\n    return 2 * a", "return 2 * a → return 3 * a"),
        ("def f(a):\n    return 2 * a", "return 2 * a → return 2 * whole(a)"),
    ],
)
def test_a_mistake_is_among_the_mutants(source, change):
    assert change in [mutant.change for mutant in mutants(source)]


def test_every_mutant_differs_from_the_source_and_from_the_others():
    source = "def f(a, n):\n    if n > 1:\n        a = a * n\n    return a\n"
    sources = [mutant.source for mutant in mutants(source)]
    assert len(set(sources)) == len(sources) > 20
    assert source.strip() not in sources
    for text in sources:
        compile(text, "mutant", "exec")


def test_a_probe_tells_whether_it_changed_anything():
    probe, matrix = Probe(), np.arange(6.0).reshape(2, 3)
    assert probe.turned(matrix[0]) is not None and not probe.changed
    assert probe.turned(matrix).shape == (3, 2) and probe.changed
    probe = Probe()
    assert [probe.first_seen(size) for size in (3, 4)] == [3, 3] and probe.changed
    probe = Probe()
    assert probe.whole(2) == 2 and not probe.changed
    assert probe.whole(np.array([2.7]))[0] == 2 and probe.changed
    probe, copy = Probe(), matrix.copy()
    probe.in_place("add", copy, 1)
    assert np.array_equal(copy, matrix + 1) and probe.changed


def test_results_are_kept_by_size():
    calls = []
    kept = Probe().kept(lambda a, n: calls.append(n) or len(calls), None)
    assert [kept(np.zeros(2), 3), kept(np.ones(2), 3), kept(np.ones(2), 4)] == [1, 1, 2]
    probe = Probe()
    kept = probe.kept(lambda a, n: n, 1)
    assert [kept(np.zeros(2), 3), kept(np.zeros(2), 4)] == [3, 3] and probe.changed


def double(numbers):
    return numbers + numbers


@pytest.fixture
def exercise(monkeypatch):
    """An exercise whose only example, (2, 2), cannot tell a sum from a product."""
    exercise = Exercise("9.1", "Double", 1, "def double(numbers):\n    return ...\n", ("a", "b"))
    exercise.solution(double)
    exercise.check(lambda answer: same(answer(np.array([2.0, 2.0])), np.array([4.0, 4.0])))
    monkeypatch.setattr(trials, "find", lambda id: exercise)
    return exercise


PRODUCT = "double: return numbers + numbers → return numbers * numbers"


def test_a_hole_is_found(exercise):
    assert PRODUCT in trials.trial("9.1").holes


def test_a_hole_is_closed_by_another_example(exercise):
    exercise.check(lambda answer: same(answer(np.array([2.0, 3.0])), np.array([4.0, 6.0])))
    assert PRODUCT not in trials.trial("9.1").holes


def test_a_reason_explains_what_it_names_and_no_more(exercise):
    exercise.equivalent("both are four", PRODUCT, "double: * → nothing like this")
    result = trials.trial("9.1")
    assert PRODUCT not in result.holes and result.explained == 1
    assert result.holes  # others, such as the results kept between calls
    assert result.unneeded(exercise) == ["double: * → nothing like this"]


def test_what_the_others_are_told(exercise):
    told = trials.trial("9.1").told
    assert "double: return numbers + numbers → return numbers" in [
        n for ns in told.values() for n in ns
    ]


def test_the_command_names_an_unknown_exercise(capsys):
    assert trials.main(["77.7"]) == 2
    assert "There is no exercise 77.7." in capsys.readouterr().out
