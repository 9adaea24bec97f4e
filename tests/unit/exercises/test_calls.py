"""What a verdict shows of the call it is about, and what an answer leaves behind: nothing."""

import builtins
import math
import re
import sys
import threading
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from helpers.exercises.engine.box import verdict_box
from helpers.exercises.engine.calls import Calls, copied
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.judge import judge
from helpers.exercises.engine.memory import LimitedMemory
from helpers.exercises.shared.compare import same

SOFTMAX = find("1.2")
STUB = "def double(x):\n    return ...\n"


def exercise(check, stub=STUB, seconds=5.0):
    """An exercise with this check."""
    made = Exercise("1.2", "Double", 1, stub, ("First?", "Then?"), seconds=seconds)
    made.check(check)
    return made


def text(exercise, verdict):
    return repr(verdict_box(exercise, verdict, "Stuck?"))


def over_rows(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


# ------------------------------------------------------------------------------------------ inputs


def test_the_box_shows_the_inputs_and_how_to_try_them_again():
    verdict = judge(SOFTMAX, over_rows)
    (scores,) = verdict.call.example
    shown = text(SOFTMAX, verdict)
    assert 'softmax_columns(*example("1.2"))' in shown
    assert f"scores:\n{np.array2string(scores, precision=4, suppress_small=True)}" in shown
    assert "inputs" not in text(SOFTMAX, judge(SOFTMAX, SOFTMAX.answer))


def test_inputs_are_as_they_were_before_the_call_and_shared_ones_stay_shared():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 2))
    weight = torch.ones(2, requires_grad=True)
    before, state = x.copy(), rng.bit_generator.state

    def check(answer):
        answer(x, x, {"a": [weight]}, rng, abs)
        raise Wrong("No.")

    def spoils(a, b, c, rng, function):
        a[:] = 0
        rng.random()
        c["a"].clear()

    one, same_one, tree, generator, function = judge(exercise(check), spoils).call.example
    assert one is same_one and np.array_equal(one, before) and not np.array_equal(x, before)
    assert tree["a"][0].requires_grad and torch.equal(tree["a"][0], weight)
    assert generator.bit_generator.state == state and function is abs


def test_the_call_is_the_one_whose_result_was_refused():
    def check(answer):
        first, second = answer(np.array([1.0])), answer(np.array([2.0]))
        same(first, [2.0], "the first")
        same(second, [4.0], "the second")
        answer(np.array([3.0]))
        raise Wrong("Neither.")

    for answer, given in (
        (lambda x: x + 1 - (x == 1), 1),
        (lambda x: x + 1, 2),
        (lambda x: 2 * x, 3),
    ):
        assert judge(exercise(check), answer).call.example == (given,)


def test_a_call_that_raises_or_never_ends_shows_its_inputs():
    def check(answer):
        for n in 1, 2, 3:
            answer(n)

    def fails(x):
        return 1 / (x - 2)

    def loops(x):
        while x == 3:
            pass

    assert judge(exercise(check), fails).call.example == (2,)
    verdict = judge(exercise(check), loops, seconds=0.3)
    assert verdict.call.example == (3,)
    assert "2 calls finished soon, and the next one was stopped" in verdict.sentence
    assert "x:\n3" in text(exercise(check), verdict)


def test_an_answer_that_is_only_slow_is_not_told_of_an_endless_loop():
    def check(answer):
        for n in range(1000):
            answer(n)

    def slow(x):
        return sum(range(300_000))

    sentence = judge(exercise(check), slow, seconds=0.5).sentence
    assert re.search(
        r"0\.5 seconds, the limit for all examples together\. (One call|\d+ calls) took most of "
        r"that time: what is computed again and again\?$",
        sentence,
    )


def test_of_matrices_in_lists_and_dicts_the_box_shows_the_shapes():
    def check(answer):
        answer([{"Omega": np.ones((9, 5)), "scale": np.array([2.0])}, torch.ones(2, 1)])
        raise Wrong("No.")

    shown = text(exercise(check), judge(exercise(check), lambda x: x))
    assert "x:\n[{'Omega': an array of 9 × 5, 'scale': [2.]}, an array of 2 × 1]\n" in shown


@pytest.mark.parametrize(
    "inputs", [(np.ones(10**6),), ([torch.ones(10**6)],), ((x for x in ()),), ([[0] * 10**6],)]
)
def test_inputs_that_are_large_or_cannot_be_copied_are_left_out(inputs):
    def check(answer):
        answer(*inputs)
        raise Wrong("No.")

    verdict = judge(exercise(check), lambda x: x)
    assert verdict.call.example is None
    assert "inputs" not in text(exercise(check), verdict)


def test_copies_are_not_counted_where_a_check_measures_memory():
    tracemalloc.start()
    try:
        assert copied((np.ones(3),)) is None
    finally:
        tracemalloc.stop()


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return self.doubled(x)

    def doubled(self, x):
        return self.factor * x


def test_of_a_class_the_constructors_and_the_methods_inputs_are_shown():
    def check(answer):
        answer(3).apply(np.array([1.0, 2.0]))
        raise Wrong("No.")

    stub = "class Scaled:\n    def apply(self, x):\n        return ...\n"
    verdict = judge(exercise(check, stub), Scaled)
    made, given = verdict.call.example
    assert made == (3,) and np.array_equal(given[0], [1, 2])
    shown = text(exercise(check, stub), verdict)
    assert 'made, given = example("1.2"); Scaled(*made).apply(*given)' in shown
    assert "factor:\n3" in shown and "x:\n[1. 2.]" in shown


# ------------------------------------------------------------------------------------------ prints


def test_what_the_refused_call_prints_is_shown_below_its_inputs(capsys):
    def check(answer):
        answer(1)
        same(answer(2), 5, "the result")

    def chatty(x):
        print("got", x, "</pre><b>")
        print("\x1b[31mcareful\x1b[0m\r\x07", file=sys.stderr)
        sys.stdout.writelines(["one\n", "two\n"])
        return 2 * x

    verdict = judge(exercise(check), chatty)
    shown = text(exercise(check), verdict)
    assert "It printed:\ngot 2 </pre><b>\ncareful\n\none\ntwo\nStuck?" in shown
    html = verdict_box(exercise(check), verdict, "")._repr_mimebundle_()["text/html"]
    assert "got 2 &lt;/pre&gt;&lt;b&gt;" in html and "</pre><b>" not in html
    assert capsys.readouterr() == ("", "")


def test_of_much_that_is_printed_the_end_is_shown():
    def talks(scores):
        for i in range(100_000):
            print("line", i)
        return scores

    shown = text(SOFTMAX, judge(SOFTMAX, talks))
    assert "…\nline 99980\n" in shown and "line 99999\n" in shown and "line 99979" not in shown


def test_prints_are_shown_of_answers_that_pass_or_are_not_finished():
    def half_way(scores):
        print("so far")
        return ...

    def whole(scores):
        print("done")
        return SOFTMAX.answer(scores)

    for answer, mark, words in (
        (half_way, "○", "It printed:\nso far"),
        (whole, "✓", "It printed:\ndone"),
    ):
        shown = text(SOFTMAX, judge(SOFTMAX, answer))
        assert shown.startswith(mark) and words in shown and "inputs" not in shown


# ----------------------------------------------------------------------------------------- figures


def test_figures_of_the_last_call_alone_are_kept_and_none_is_left_open():
    plt.close("all")
    mine = plt.figure()

    def plots(scores):
        axes = plt.figure().add_subplot()
        axes.set_title(str(scores.shape), loc="center")
        return SOFTMAX.answer(scores)

    try:
        verdict = judge(SOFTMAX, plots)
        assert verdict.passed
        (figure,) = verdict.call.displayed
        assert figure.axes[0].get_title() == "(3, 7)"
        assert plt.get_fignums() == [mine.number]
    finally:
        plt.close("all")


# ---------------------------------------------------------------------------------- what is undone


def test_an_answer_that_is_stopped_leaves_no_limit_of_memory():
    def check(answer):
        for n in range(1000):
            answer(n)

    before = LimitedMemory._inside
    sentence = judge(exercise(check), lambda x: sum(range(300_000)), seconds=0.3).sentence
    assert "did not finish" in sentence and LimitedMemory._inside == before


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (np, "exp"),
        (np.linalg, "norm"),
        (torch, "softmax"),
        (torch.Tensor, "__add__"),
        (torch.nn.functional, "softmax"),
        (math, "exp"),
        (builtins, "sum"),
    ],
)
def test_functions_that_an_answer_replaces_are_put_back(owner, name, monkeypatch):
    before = getattr(owner, name)
    monkeypatch.setattr(owner, name, before)  # put back, too, if this test fails

    def patches(scores):
        setattr(owner, name, lambda *inputs, **options: 0)
        return scores

    assert judge(SOFTMAX, patches).state == "wrong"
    assert getattr(owner, name) is before


@pytest.mark.parametrize("raised", [10**9, 20_000])
def test_a_raised_recursion_limit_ends_in_time_and_is_lowered_again(raised):
    before, setter = sys.getrecursionlimit(), sys.setrecursionlimit

    def recurses(scores):
        sys.setrecursionlimit(raised)

        def deeper():
            return [deeper()]

        return deeper()

    assert "It stopped with RecursionError" in judge(SOFTMAX, recurses, seconds=60).sentence
    assert sys.getrecursionlimit() == before and sys.setrecursionlimit is setter


# ----------------------------------------------------------------------------------------- imports

SLOW = "import time\nfor _ in range(20): time.sleep(0.05)\nwhole = True\n"


def test_an_import_is_never_stopped_half_way_and_its_time_does_not_count(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)

    def imports(scores):
        import slow_to_import

        assert slow_to_import.whole
        return SOFTMAX.answer(scores)

    def imports_and_loops(scores):
        imports(scores)
        while True:
            pass

    try:
        assert "did not finish" in judge(SOFTMAX, imports_and_loops, seconds=0.3).sentence
        assert sys.modules["slow_to_import"].whole
        del sys.modules["slow_to_import"]
        verdict = judge(SOFTMAX, imports, seconds=0.5)
        assert verdict.passed, verdict.sentence
    finally:
        sys.modules.pop("slow_to_import", None)


def test_a_module_that_never_ends_is_stopped_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "never_imported.py").write_text("while True:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("helpers.exercises.engine.limits.IMPORTS", 0.3)

    def imports(scores):
        import never_imported

        return never_imported

    threads = set(threading.enumerate())
    assert "did not finish" in judge(SOFTMAX, imports, seconds=0.2).sentence
    assert set(threading.enumerate()) <= threads


def test_where_a_check_makes_many_calls_the_one_that_is_wrong_is_shown():
    exercise = find("5.8")
    for change, step in (({0: 3.0}, 0), ({7: 0.5}, 7), ({13: 9.0}, 13)):

        def learning_rate(step, steps, warm_up, peak, change=change):
            return change.get(step, exercise.answer(step, steps, warm_up, peak))

        assert judge(exercise, learning_rate).call.example[0] == step


def test_texts_in_a_result_are_not_padded_to_the_longest():
    texts = ["x" * 10**5, *["y"] * 10**3]  # an array of them would take 400 MB
    calls = Calls(None, lambda: texts)
    calls.watched()
    tracemalloc.start()
    try:
        assert calls.about(list(texts)) is calls.last
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_a_result_that_holds_itself_is_no_trap():
    rows = []
    rows += [rows, rows]  # as an array, 2^64 entries
    calls = Calls(None, lambda: rows)
    calls.watched()
    assert calls.about([[1.0], [2.0]]) is calls.last
