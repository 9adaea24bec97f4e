"""Controls and the conversation with the page: what every live widget shares."""

import ast
from decimal import Decimal

import numpy as np
import pytest
import traitlets
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.notebooks import notebook_paths, read
from helpers.widgets import Attention, explore, options, slider, switches
from helpers.widgets.shared.live import Live, on_step, text_box


class Shown(Live):
    """The smallest live widget: it shows what the function was called with."""

    state = traitlets.List().tag(sync=True)

    def receive(self, result):
        self.state = [result]

    def describe(self):
        return str(self.state)

    def fallback(self):
        return ""


def shown(*controls):
    return Shown(lambda **values: list(values.values()), controls)


def from_page(widget, monkeypatch, **state):
    """What the page hears back, one trait a name, when it sends this state."""
    heard = {}

    def hear(message, buffers=None):
        if message["method"] == "update":
            heard.update(message["state"])
            for path, buffer in zip(message["buffer_paths"], buffers, strict=True):
                heard[path[0]] = buffer

    with monkeypatch.context() as patch:
        patch.setattr(widget, "_send", hear)
        widget.set_state(state)
    return heard


# Sliders


decimals = st.integers(0, 6)


@st.composite
def sliders(draw):
    """Sliders with the numbers that an author might write."""
    unit = Decimal(1).scaleb(-draw(decimals))
    low = draw(st.integers(-1000, 1000)) * unit
    step = draw(st.integers(1, 500)) * unit
    steps = draw(st.integers(1, 500))
    at = draw(st.integers(0, steps))
    plain = draw(st.sampled_from([float, int] if unit == 1 else [float]))
    low, high, value, step = map(plain, (low, low + steps * step, low + at * step, step))
    return slider("x", low, high, value, step=step), steps


@settings(max_examples=300, deadline=None)
@given(sliders(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_slider_lands_on_its_steps_and_comes_back_to_its_start(made, anywhere):
    control, steps = made
    low, step, digits = control["min"], control["step"], control["digits"]
    every = [on_step(control, low + i * step) for i in range(steps + 1)]
    assert every[0] == low and every[-1] == control["max"]
    assert control["value"] in every
    assert all(type(x) is (int if control["whole"] else float) for x in every)
    # What is written is what is sent, and no two steps are written alike.
    words = [f"{x:.{digits}f}" for x in every]
    assert [float(word) for word in words] == every
    assert len(set(words)) == steps + 1
    nearest = on_step(control, anywhere)
    assert nearest in every
    closest = min(abs(min(max(anywhere, low), control["max"]) - x) for x in every)
    assert abs(min(max(anywhere, low), control["max"]) - nearest) <= closest + 1e-9


@pytest.mark.parametrize(
    ("low", "high", "value", "step", "digits"),
    [
        (0.1, 10.0, 3.0, 0.1, 1),
        (0.0, 20.0, 8.0, 0.2, 1),
        (0.0, 1.0, 0.5, 0.01, 2),
        (-4.0, 4.0, 0.0, 0.1, 1),
        (0.0, 0.001, 0.001, 0.00001, 5),
        (0.0, 200.0, 4.0, 2.0, 0),
        (0.25, 2.0, 1.0, 0.05, 2),
        (2, 20000, 100, 1, 0),
        (np.int64(1), np.int64(5), 2, 1, 0),
        (np.float32(0.1), np.float32(0.3), 0.2, 0.002, 3),
    ],
)
def test_a_slider_without_a_step_gets_a_round_one(low, high, value, step, digits):
    control = slider("x", low, high, value)
    assert (control["step"], control["digits"]) == (step, digits)


def test_a_step_of_a_half_between_whole_numbers_makes_no_whole_numbers():
    control = slider("x", 0, 9, 5, step=0.5)
    assert not control["whole"]
    assert on_step(control, 5.5) == 5.5
    assert on_step(control, -0.1) == 0 and not np.signbit(on_step(control, -0.1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5, 1, 3), "low should be below high; got 5 and 1"),
        ((1, 1, 1), "low should be below high"),
        ((0, 9, 10), "10 is not between 0 and 9"),
        ((0, 9, -1), "-1 is not between 0 and 9"),
        ((0.1, 10.0, 2.971), "value should be a whole number of steps above low; 2.971 is not 0.1"),
        ((0.0, np.pi, 0.0), "high should be at most 10⁹, with at most 6 decimals"),
        ((0.0, 3.14159, 0.0), "high should be a whole number of steps above low"),
        ((0, 9, 1, None, 0), "step should be above 0; got 0"),
        ((0, 9, 1, None, -1), "step should be above 0; got -1"),
        ((0, 9, 4, None, 2), "high should be a whole number of steps above low; 9 is not 0"),
        ((0, float("inf"), 4), "high should be at most"),
        ((float("nan"), 9, 4), "low should be at most"),
        ((0, 10**10, 4), "high should be at most"),
        (("0", 9, 4), "low should be a number; got '0'"),
        ((0, None, 4), "high should be a number; got None"),
        ((0, 9, True), "value should be a number; got True"),
        ((0, 9, 1, None, "big"), "step should be a number; got 'big'"),
        ((0, 9, 1j), "value should be a number"),
    ],
)
def test_an_impossible_slider_is_refused_in_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=r"^Slider “x”: ") as error:
        slider("x", *arguments)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "two words", "1st", 3, None])
def test_a_control_needs_the_name_of_a_parameter(name):
    for make, rest in ((slider, (0, 9, 1)), (switches, (["a"],)), (options, (["a", "b"],))):
        with pytest.raises(ValueError, match="name of a parameter"):
            make(name, *rest)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("abc",), "list of texts; got 'abc'"),
        (([],), "list of texts"),
        ((7,), "list of texts; got 7"),
        ((["a", "b"], True), "on should be one truth value a label; got True"),
        ((["a", "b"], [True]), "should be 2 truth values; got 1"),
    ],
)
def test_wrong_switches_are_refused(arguments, words):
    with pytest.raises(ValueError) as error:
        switches("on", *arguments)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("abc",), "list of texts; got 'abc'"),
        ((7,), "list of texts; got 7"),
        ((["a"],), "at least two different texts"),
        ((["a", "b", "a"],), "at least two different texts"),
        ((["a", "b"], "c"), "kind should be one of 2: a, b."),
        ((["a", "b"], 1), "kind should be one of 2: a, b."),
    ],
)
def test_wrong_options_are_refused(arguments, words):
    with pytest.raises(ValueError) as error:
        options("kind", *arguments)
    assert words in str(error.value)


def test_the_function_gets_the_label_of_what_was_chosen():
    widget = shown(options("kind", ["prose", "code", 3], "code", label="kind of text"))
    assert (widget.state, widget.controls[0]["label"]) == ([["code"]], "kind of text")
    widget.set_state({"values": {"kind": "3"}, "asked": 1})
    assert (widget.state, widget.problem) == ([["3"]], "")
    widget.set_state({"values": {"kind": "verse"}, "asked": 2})
    assert (widget.state, widget.problem) == (
        [["3"]], "kind of text should be one of 3: prose, code, 3.",
    )  # fmt: skip
    assert options("kind", ["prose", "code"])["value"] == "prose"


def test_a_text_box_takes_one_text_and_makes_it_one_that_can_travel():
    with pytest.raises(ValueError, match="one text, not a list"):
        text_box(["a", "b"])
    assert text_box("half a face: \ud83d")["value"] == "half a face: ?"


@pytest.mark.parametrize(
    ("controls", "words"),
    [([3], "slider"), ([{"low": 3}], "slider"), ([slider("a", 0, 9, 1)] * 2, "Two controls")],
)
def test_controls_that_are_none_are_refused(controls, words):
    with pytest.raises(ValueError, match=words):
        Shown(lambda **values: values, controls)


def test_controls_without_a_function_are_refused():
    with pytest.raises(ValueError, match="Controls need a function"):
        explore(Attention(np.eye(2), list("ab")), slider("x", 0, 9, 1))


@pytest.mark.parametrize("path", notebook_paths(), ids=lambda path: path.stem)
def test_the_sliders_of_the_notebooks_are_possible_ones(path):
    cells = (cell.source for cell in read(path).cells if cell.cell_type == "code")
    calls = [
        ast.unparse(node)
        for source in cells
        if "slider(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "slider"
    ]
    for call in calls:
        control = eval(call, {"slider": slider})
        assert on_step(control, control["value"]) == control["value"]


# The conversation with the page


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([0])
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["x", "on", "of", "words", "other"]), ANYTHING))
def test_whatever_the_page_sends_is_answered_and_the_next_thing_too(values):
    assume(not any(isinstance(value, str) and value.isdigit() for value in values.values()))
    some = switches("on", ["a", "b"]), options("of", ["c", "d"])
    widget = shown(slider("x", 0.0, 1.0, 0.5), *some, text_box("hi"))
    widget.set_state({"values": values, "asked": 1})
    assert widget.answered == 1
    good = {"x": 0.25, "on": [False, True], "of": "d", "words": "ho"}
    widget.set_state({"values": good, "asked": 2})
    assert (widget.answered, widget.problem) == (2, "")
    assert widget.state == [[0.25, (False, True), "d", "ho"]]


def test_after_a_clamp_both_sides_agree(monkeypatch):
    widget = shown(slider("x", 0.0, 1.0, 0.5), switches("on", ["a"]), text_box("hi"))
    sent = {"x": 7, "on": [False], "words": "a" * 3000, "other": 1}
    heard = from_page(widget, monkeypatch, values=sent, asked=1)
    assert heard["values"]["x"] == widget.values["x"] == 1
    assert heard["values"]["words"] == widget.values["words"] == "a" * 2000
    assert heard["answered"] == 1
    # What needs no change is not sent back.
    heard = from_page(widget, monkeypatch, values=widget.values | {"x": 0.3}, asked=2)
    assert "values" not in heard and heard["answered"] == 2


def test_the_page_cannot_change_what_only_python_sets(monkeypatch):
    widget = shown(slider("x", 0.0, 1.0, 0.5))
    kept = {name: getattr(widget, name) for name in ("controls", "problem", "state", "answered")}
    forged = {"controls": [], "problem": "forged", "state": ["forged"], "answered": 9, "none": 1}
    assert from_page(widget, monkeypatch, **forged) == kept
    assert {name: getattr(widget, name) for name in kept} == kept


def test_a_choice_out_of_range_is_undone_also_where_nothing_changes_in_python(monkeypatch):
    widget = explore(Attention(np.eye(3), list("abc")), query=2)
    assert from_page(widget, monkeypatch, query=99) == {"query": 2}
    assert from_page(widget, monkeypatch, query=1) == {}
    weights = widget.weights
    assert from_page(widget, monkeypatch, weights=memoryview(b"")) == {"weights": weights}


@pytest.mark.parametrize("error", [SystemExit, MemoryError, RecursionError, KeyboardInterrupt])
def test_any_error_is_answered(error):
    calls = []

    def compute(x):
        calls.append(x)
        if len(calls) == 2:
            raise error
        return x

    widget = Shown(compute, [slider("x", 0, 9, 1)])
    widget.set_state({"values": {"x": 2}, "asked": 1})
    assert widget.answered == 1 and widget.problem and widget.state == [1]
    widget.set_state({"values": {"x": 3}, "asked": 2})
    assert (widget.answered, widget.problem, widget.state) == (2, "", [3])
