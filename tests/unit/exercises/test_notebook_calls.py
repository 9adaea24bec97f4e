"""check, example, hint, solution and progress, as a learner calls them."""

import sys

import numpy as np
import pytest

import helpers.exercises as exercises
from helpers.exercises.engine.board import Board
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.hints import Hints

SOFTMAX = find("1.2")
RIGHT = SOFTMAX.answer
TOTAL = len(SOFTMAX.hints)


@pytest.fixture
def shown(monkeypatch, tmp_path):
    """The texts of what was displayed; with a board of its own."""
    texts = []
    monkeypatch.setenv("TRANSFORMER_NOTEBOOKS_PROGRESS", str(tmp_path / "board.json"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(exercises, "display", lambda box: texts.append(repr(box)))
    restart(monkeypatch)
    return texts


def restart(monkeypatch):
    """As in a new kernel."""
    monkeypatch.setattr(exercises, "board", Board())
    monkeypatch.setattr(exercises, "hints", Hints())
    monkeypatch.setattr(exercises, "examples", {})


class HostileText:
    def __repr__(self):
        raise SystemExit("no text for you")

    __str__ = __repr__


def one(scores):
    return 1


def two(scores):
    return 2


# -------------------------------------------------------------------------------------- how to call


@pytest.mark.parametrize("id", ["1.22", 1.22, None, HostileText(), "12", ""])
def test_an_unknown_id_is_answered_in_a_box(shown, id):
    for call in exercises.hint, exercises.solution, exercises.example, exercises.check:
        call(id, RIGHT) if call is exercises.check else call(id)
        assert shown[-1].startswith("There is no exercise")
        assert "The nearest are 1." in shown[-1] or "The nearest are " in shown[-1]
    assert len(shown) == 4


def test_a_number_does_for_an_id(shown):
    exercises.check(1.2, RIGHT)
    assert shown == ["✓ Passed: 1.2 A softmax for every column ★"]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("check", (), "check needs the number of an exercise first, as in check("),
        ("check", ("1.2",), 'check needs your answer, too: check("1.2", softmax_columns).'),
        ("check", (RIGHT,), 'the number of an exercise first: check("1.2", softmax_columns).'),
        ("check", (RIGHT, "1.2"), "the number of an exercise first: check("),
        ("check", (one,), "first, as in check("),
        ("hint", (), 'hint needs an exercise\'s number, as in hint("1.2").'),
        ("hint", (RIGHT,), 'hint needs an exercise\'s number: hint("1.2").'),
        ("hint", ("1.2", 9), f'1.2 has {TOTAL} hints; hint("1.2", {TOTAL}) shows all.'),
        ("hint", ("1.2", "2"), f"1.2 has {TOTAL} hints"),
        ("solution", (), 'solution needs an exercise\'s number, as in solution("1.2").'),
        ("example", (), 'example needs an exercise\'s number, as in example("1.2").'),
    ],
)
def test_a_call_that_lacks_something_gets_one_sentence(shown, name, arguments, sentence):
    getattr(exercises, name)(*arguments)
    (text,) = shown
    assert sentence in text and "\n" not in text
    assert not exercises.board.path.exists()


def test_a_check_inside_the_checked_function_is_refused(shown):
    streams = sys.stdout, sys.stderr

    def softmax_columns(scores):
        exercises.check("1.2", softmax_columns)
        return RIGHT(scores)

    exercises.check("1.2", softmax_columns)
    (text,) = shown
    assert "It calls check, which would call it again" in text
    assert (sys.stdout, sys.stderr) == streams


# ------------------------------------------------------------------------------------------ example


def test_example_gives_the_inputs_of_the_failed_call_each_time_anew(shown):
    def in_place(scores):
        scores -= scores.max(axis=0)
        return np.exp(scores)

    assert exercises.example("1.2") == ()
    assert 'run check("1.2", softmax_columns)' in shown.pop()
    exercises.check("1.2", in_place)
    assert 'softmax_columns(*example("1.2"))' in shown[-1]
    (first,) = exercises.example("1.2")
    before = first.copy()
    in_place(*exercises.example("1.2"))
    in_place(first)
    assert not np.array_equal(first, before)
    assert np.array_equal(exercises.example("1.2")[0], before)
    exercises.check("1.2", RIGHT)
    assert np.array_equal(exercises.example("1.2")[0], before)  # a cell that uses it still runs
    assert len(shown) == 2


def test_the_stub_gives_an_example_to_begin_with(shown):
    exercises.check("1.2", lambda scores: ...)
    (scores,) = exercises.example("1.2")
    assert scores.ndim == 2


# -------------------------------------------------------------------------------------------- hints


def count():
    """How many hints the last call showed."""
    return exercises.board.of("1.2")["hints"]


def test_the_first_hint_is_given_at_once_and_the_next_after_another_try(shown):
    exercises.hint("1.2")
    exercises.hint("1.2")
    assert shown[0] == shown[1] and shown[0].startswith(f"Hint 1 of {TOTAL}: 1.2")
    assert SOFTMAX.hints[0].replace("`", "") in shown[0] and count() == 1
    assert (
        'After a different answer, hint("1.2") adds the next one; hint("1.2", 2) does so now.'
        in shown[0]
    )
    exercises.check("1.2", one)
    assert 'hint("1.2") gives you the next hint' in shown[-1]
    exercises.hint("1.2")
    assert shown[-1].startswith(f"Hints 1 to 2 of {TOTAL}") and count() == 2
    for hint in SOFTMAX.hints[:2]:
        assert hint.replace("`", "") in shown[-1]


def test_the_same_answer_again_is_no_new_try(shown):
    exercises.check("1.2", one)
    exercises.hint("1.2")
    for _ in range(3):
        exercises.check("1.2", one)
        assert 'hint("1.2") shows the hints so far, hint("1.2", 2) the next one, too' in shown[-1]
        exercises.hint("1.2")
        assert count() == 1
    exercises.check("1.2", two)
    exercises.hint("1.2")
    assert count() == 2


def test_running_a_notebook_again_in_a_new_kernel_gives_nothing_away(shown, monkeypatch):
    for _ in range(3):
        exercises.check("1.2", one)
        exercises.hint("1.2")
        assert count() == 1
        restart(monkeypatch)


def test_hints_come_by_number_too_and_the_last_box_names_the_solution(shown):
    exercises.hint("1.2", TOTAL)
    assert shown[-1].startswith(f"Hints 1 to {TOTAL} of {TOTAL}") and 'solution("1.2")' in shown[-1]
    exercises.hint("1.2", 1)
    assert shown[-1] == shown[-2]
    exercises.check("1.2", one)
    assert 'hint("1.2") shows the hints again' in shown[-1]
    exercises.solution("1.2")
    assert "def softmax_columns(scores):" in shown[-1] and "@" not in shown[-1]


# -------------------------------------------------------------------------------- board and grading


def test_the_board_remembers_what_was_passed(shown):
    exercises.progress()
    assert shown[-1].startswith("Your board: 0 of ")
    assert "○ 1.2 ★" in shown[-1]
    exercises.check("1.2", lambda scores: ...)
    exercises.hint("1.2")
    exercises.progress()
    assert "○ 1.2 ★" in shown[-1]
    exercises.check("1.2", one)
    exercises.progress()
    assert "✗ 1.2 ★" in shown[-1]
    exercises.check("1.2", RIGHT)
    exercises.check("1.2", one)
    exercises.board = Board()  # another kernel
    exercises.progress()
    assert "✓ 1.2 ★" in shown[-1] and "Your board: 1 of " in shown[-1]


def test_progress_needs_no_number(shown):
    exercises.progress("01")
    assert shown == [
        "progress needs no number, it shows the exercises of all notebooks: progress()."
    ]


def test_only_under_nbgrader_check_raises_and_the_board_is_left_alone(shown, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    for answer, words in ((lambda s: ..., "Not attempted yet"), (one, "single number")):
        with pytest.raises(AssertionError, match=words):
            exercises.check("1.2", answer)
    with pytest.raises(AssertionError, match=r"no exercise '1\.79'"):
        exercises.check("1.79", RIGHT)
    with pytest.raises(AssertionError, match="needs your answer"):
        exercises.check("1.2")
    exercises.check("1.2", RIGHT)
    assert not exercises.board.path.exists()
