"""The routing triangle, the soft dictionary and the shape stepper, without a browser."""

import json
import re
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.widgets import (
    Attention,
    Lines,
    Moves,
    Operation,
    Ordered,
    Page,
    Planes,
    Product,
    WordScores,
    explore,
    explore_dictionary,
    explore_grid,
    explore_lines,
    explore_moves,
    explore_order,
    explore_planes,
    explore_routing,
    explore_scores,
    slider,
    step_through,
)
from helpers.widgets.products.widget import MOST
from helpers.widgets.shared.numbers import as_array, short, two

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
VALUES = [[1.0, 3.0, 2.0], [0.5, 1.0, 3.0]]
KEYS = [[2.0, -1.0, 0.0], [0.0, 1.0, -1.5]]
QUESTION = count(1)

# Anything JSON can carry, and what Python's reader adds to it.
number = st.one_of(st.floats(), st.integers(-(10**400), 10**400))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), number, st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=6,
)
triple = st.lists(number, min_size=3, max_size=3)


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def route(values, weights):
    return values @ weights


def look_up(query, keys, values, sharpness):
    scores = sharpness * (keys.T @ query)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return weights, values @ weights


def softmax(scores):
    powers = np.exp(scores - scores.max(0))
    return powers / powers.sum(0)


# --- routing ---------------------------------------------------------------------------------


def test_routing_starts_at_the_first_preset():
    widget = explore_routing(route, VALUES)
    assert widget.state["weights"] == [0.1, 0.3, 0.6]
    np.testing.assert_allclose(widget.state["output"], [2.2, 2.15])
    assert repr(widget) == "Routing: output = 0.10·v₁ + 0.30·v₂ + 0.60·v₃ = (2.20, 2.15)"
    assert repr(widget) == repr(explore_routing(route, VALUES))
    assert widget.fallback() == explore_routing(route, VALUES).fallback()


@settings(max_examples=200, deadline=None)
@given(triple | anything)
def test_weights_stay_in_the_triangle_whatever_is_sent(sent):
    widget = explore_routing(route, VALUES)
    ask(widget, weights=sent)
    weights = np.array(widget.state["weights"])
    assert weights.shape == (3,)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(widget.state["output"], np.array(VALUES) @ weights)


@given(arrays(float, 3, elements=st.floats(0, 1)).filter(lambda w: w.sum() > 0.1))
def test_weights_in_the_triangle_are_taken_as_they_are(weights):
    weights /= weights.sum()
    widget = explore_routing(route, VALUES)
    ask(widget, weights=weights.tolist())
    np.testing.assert_allclose(widget.state["weights"], weights, atol=1e-12)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (lambda v, w: 1 / 0, "division by zero"),
        (lambda v, w: v.T, "The output should have the shape (2,); got (3, 2)."),
        (lambda v, w: [np.nan, 1], "The output should hold finite numbers; got [nan, 1.0]."),
    ],
)
def test_a_fault_in_route_is_one_sentence_and_the_picture_stays(fault, sentence):
    broken = []
    widget = explore_routing(lambda v, w: fault(v, w) if broken else v @ w, VALUES)
    before = dict(widget.state)
    broken.append(True)
    ask(widget, weights=[1, 0, 0])
    assert widget.problem == sentence
    assert widget.state == before
    broken.clear()
    ask(widget, weights=[1, 0, 0])
    assert widget.problem == ""
    assert widget.state["output"] == [1.0, 0.5]


def test_route_cannot_change_the_values_in_place():
    def greedy(values, weights):
        output = values @ weights
        values *= 0
        weights *= 0
        return output

    widget = explore_routing(greedy, VALUES)
    ask(widget, weights=[0, 1, 0])
    assert widget.state == {"weights": [0, 1, 0], "output": [3, 1]}


@pytest.mark.parametrize(
    ("values", "presets", "words"),
    [
        ([[1, 2], [3, 4]], {}, "three columns"),
        ([[1, 2, np.inf], [3, 4, 5]], {}, "finite"),
        (VALUES, {"two": (0.5, 0.5)}, "shape"),
        (VALUES, {"too much": (0.5, 0.5, 0.5)}, "too much"),
        (VALUES, {"below": (-0.5, 0.5, 1.0)}, "below"),
    ],
)
def test_routing_refuses_what_it_cannot_draw(values, presets, words):
    with pytest.raises(ValueError, match=words):
        explore_routing(route, values, presets)


# --- dictionary ------------------------------------------------------------------------------


def dictionary(**changes):
    arguments = dict(keys=KEYS, values=[21, 12, 3], labels=["warm", "cool", "freezing"])
    return explore_dictionary(look_up, **(arguments | changes))


def test_the_dictionary_in_words():
    widget = dictionary(query=(0.0, 0.0))
    assert repr(widget) == (
        "Soft dictionary: query (0, 0) finds 0.33 × warm + 0.33 × cool + 0.33 × freezing = 12.00"
    )
    assert widget.fallback() == dictionary(query=(0.0, 0.0)).fallback()


@settings(max_examples=200, deadline=None)
@given(st.lists(number, min_size=2, max_size=2) | anything, number | anything)
def test_query_and_sharpness_stay_in_range_whatever_is_sent(query, sharpness):
    widget = dictionary()
    ask(widget, query=query, sharpness=sharpness)
    assert np.abs(widget.state["query"]).max() <= widget.reach
    weights = np.array(widget.state["weights"])
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(widget.state["output"], np.array([[21, 12, 3]]) @ weights)


def test_sharpness_goes_from_the_average_to_the_best_key():
    widget = dictionary()
    ask(widget, query=[1, 0.5], sharpness=0)
    np.testing.assert_allclose(widget.state["weights"], 1 / 3)
    ask(widget, query=[1, 0.5], sharpness=100)  # beyond the slider: held at 8
    assert widget.state["weights"][0] > 0.999
    np.testing.assert_allclose(
        widget.state["weights"], look_up(np.array([1, 0.5]), np.array(KEYS), np.eye(3), 8)[0]
    )


def test_winners_are_the_keys_that_win_there():
    widget = dictionary()
    assert len(widget.winners) == 360
    for degrees in (0, 135, 270, 300):
        direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        assert widget.winners[degrees] == int(np.argmax(np.array(KEYS).T @ direction))


def test_no_winners_where_the_length_of_the_query_matters():
    def nearest(query, keys, values, sharpness):
        distance = ((keys - query[:, None]) ** 2).sum(0)
        weights = softmax(-sharpness * distance)
        return weights, values @ weights

    # Two keys in one direction: which is nearer depends on how far the query goes.
    widget = explore_dictionary(nearest, [[0.2, 2.0], [0, 0]], [1, 2], ["near", "far"])
    assert widget.winners == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_values_of_several_numbers(depth):
    widget = dictionary(values=np.ones((depth, 3)))
    np.testing.assert_allclose(widget.state["output"], np.ones(depth))
    assert [entry["value"] for entry in widget.entries] == [[1.0] * depth] * 3


def test_a_fault_in_look_up_is_one_sentence_and_the_picture_stays():
    broken = []

    def sometimes(*arguments):
        weights, output = look_up(*arguments)
        return (weights[:2], output) if broken else (weights, output)

    widget = explore_dictionary(sometimes, KEYS, [1, 2, 3], list("abc"))
    before = dict(widget.state)
    broken.append(True)
    ask(widget, query=[1, 1], sharpness=1)
    assert widget.problem == "The weights should have the shape (3,); got (2,)."
    assert widget.state == before


@pytest.mark.parametrize(
    "changes",
    [
        dict(labels=[]),
        dict(labels=["only one"]),
        dict(keys=[[1, 2, 3]]),
        dict(values=[1, 2]),
        dict(values=np.ones((4, 3))),
        dict(values=[1, 2, np.nan]),
        dict(query=(1, 2, 3)),
    ],
)
def test_the_dictionary_refuses_what_it_cannot_draw(changes):
    with pytest.raises(ValueError, match=r"label|shape|finite"):
        dictionary(**changes)


# --- shape stepper ---------------------------------------------------------------------------


def product(**changes):
    left, right, plus = np.ones((2, 4)), np.arange(12.0).reshape(4, 3), np.array([[0.5], [-1]])
    arguments = dict(
        name="Q", equation="Q = β_q + Ω_q X", left_name="Ω_q", left=left, right_name="X",
        right=right, result_name="Q", result=left @ right + plus, plus_name="β_q", plus=plus,
        left_shape="D_q × D", right_shape="D × N",
    )  # fmt: skip
    return Product(**(arguments | changes))


def softmax_step(scores, result):
    return Product("softmax", "A = Softmax[S]", "S", scores, None, None, "A", result)


def test_a_step_names_its_sizes():
    picture = product().picture()
    shapes = {part: picture[part]["shape"] for part in ("left", "right", "result", "plus")}
    assert shapes == {
        "left": "D_q × D", "right": "D × N", "result": "D_q × N", "plus": "D_q × 1",
    }  # fmt: skip
    assert product().sizes() == "(2 × 1) + (2 × 4) · (4 × 3) → 2 × 3"
    widget = step_through([product()])
    assert (
        repr(widget)
        == "Matrix products, step by step:\nQ = β_q + Ω_q X: (2 × 1) + (2 × 4) · (4 × 3) → 2 × 3"
    )


@given(st.integers(0, 1), st.integers(0, 2), st.floats(0.01, 1e6) | st.just(float("nan")))
def test_a_wrong_product_cannot_be_shown(i, j, error):
    result = product().result.copy()
    result[i, j] += error
    with pytest.raises(ValueError, match="Step “Q”"):
        product(result=result)


@given(st.integers(1, MOST), st.integers(1, MOST), st.integers(1, MOST), st.booleans())
def test_right_products_are_shown_in_float32_too(rows, inner, columns, half):
    rng = np.random.default_rng(rows + inner + columns)
    kind = np.float32 if half else np.float64
    left = rng.normal(size=(rows, inner)).astype(kind)
    right = rng.normal(size=(inner, columns)).astype(kind)
    step = product(left=left, right=right, result=left @ right, plus=None, plus_name=None)
    assert np.array(step.picture()["result"]["rows"]).shape == (rows, columns)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(right=np.ones((3, 3))), "Ω_q has 4 columns, but X has 3 rows"),
        (dict(result=np.ones((3, 2))), r"Q has the shape \(3, 2\)"),
        (dict(plus=np.ones((1, 3))), "β_q should be a column of 2 rows"),
        (dict(plus=None), "Q is not Ω_q times X"),
        (dict(left=np.ones((2, MOST + 1))), f"1 to {MOST} rows and columns"),
        (dict(left=np.ones(4)), "should be a matrix"),
        (dict(left=np.full((2, 4), -np.inf)), "Ω_q should hold finite numbers"),
        (dict(left_shape="D_q × N"), "D_q × N and D × N do not fit"),
    ],
)
def test_a_step_that_is_not_what_it_says_is_refused_by_name(changes, words):
    with pytest.raises(ValueError, match=f"^Step “Q”: .*{words}"):
        product(**changes)


def test_softmax_by_columns_and_no_other():
    scores = np.array([[1.0, -np.inf, 0.5], [2.0, 0.0, 0.5]])
    picture = softmax_step(scores, softmax(scores)).picture()
    assert picture["left"]["rows"][0][1] is None
    assert picture["right"] is None
    with pytest.raises(ValueError, match="A is not the softmax of each column"):
        softmax_step(scores.T, softmax(scores.T.T).T)
    with pytest.raises(ValueError, match="softmax"):  # a column masked throughout
        softmax_step(np.full((2, 2), -np.inf), np.zeros((2, 2)))


def test_the_steps_follow_the_sliders():
    def steps(N):
        X = np.ones((2, N))
        return [Product("X", "X = I X", "I", np.eye(2), "X", X, "X", X)]

    widget = step_through(steps, slider("N", 2, 6, 3))
    assert len(widget.steps[0]["result"]["rows"][0]) == 3
    ask(widget, N=5)
    assert len(widget.steps[0]["result"]["rows"][0]) == 5
    ask(widget, N=50)
    assert len(widget.steps[0]["result"]["rows"][0]) == 6


def test_a_wrong_step_is_one_sentence_and_the_picture_stays():
    def steps(N):
        return [product(result=product().result + (N > 3))]

    widget = step_through(steps, slider("N", 2, 6, 3))
    before, words = list(widget.steps), repr(widget)
    ask(widget, N=4)
    assert widget.problem == "Step “Q”: Q is not Ω_q times X plus β_q."
    assert (widget.steps, repr(widget)) == (before, words)


@pytest.mark.parametrize("nothing", [[], ["Q"], [product(), None]])
def test_the_stepper_needs_products(nothing):
    with pytest.raises(ValueError, match="list of at least one Product"):
        step_through(nothing)


def addition(**changes):
    X, M = np.arange(6.0).reshape(2, 3), np.ones((2, 3)) / 4
    arguments = dict(
        name="attention", equation="X ← X + MhSa[X]", inputs={"X": X, "MhSa[X]": M},
        result_name="X", result=X + M, reach="entry", shape="D × N",
    )  # fmt: skip
    return Operation(**(arguments | changes))


def test_an_operation_says_what_it_depends_on():
    picture = addition(note="residual").picture()
    assert [(part["name"], part["shape"]) for part in picture["inputs"]] == [
        ("X", "D × N"), ("MhSa[X]", "D × N"),
    ]  # fmt: skip
    assert picture["result"]["rows"] == [[0.25, 1.25, 2.25], [3.25, 4.25, 5.25]]
    assert (picture["reach"], picture["note"]) == ("entry", "residual")
    assert addition().sizes() == "(2 × 3) + (2 × 3) → 2 × 3, each entry from its own place"
    norm = addition(name="norm", equation="LayerNorm", inputs={"X": np.ones((2, 3))},
                    reach="column")  # fmt: skip
    widget = step_through([product(), addition(), norm])
    assert repr(widget).splitlines() == [
        "Operations, step by step:",
        f"Q = β_q + Ω_q X: {product().sizes()}",
        "X ← X + MhSa[X]: (2 × 3) + (2 × 3) → 2 × 3, each entry from its own place",
        "LayerNorm: (2 × 3) → 2 × 3, each column from its own column",
    ]
    assert "<td>(2 × 3) → 2 × 3, each column from its own column</td>" in widget.fallback()


@given(st.integers(0, 1), st.integers(0, 2), st.floats(0.01, 1e6) | st.just(float("nan")))
def test_a_wrong_sum_cannot_be_shown(i, j, error):
    result = addition().result.copy()
    result[i, j] += error
    with pytest.raises(ValueError, match="Step “attention”"):
        addition(result=result)


def test_only_additions_are_checked():
    other = np.zeros((2, 3))
    assert addition(result=other, reach="all").picture()["reach"] == "all"
    one = addition(result=other, inputs={"X": np.ones((2, 3))})
    assert one.picture()["result"]["rows"] == other.tolist()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(result=np.ones((2, 3))), r"X is not X plus MhSa\[X\]"),
        (dict(result=np.ones((3, 2))), r"X has the shape \(3, 2\), but X has \(2, 3\)"),
        (dict(result=np.full((2, 3), np.nan)), "X should hold finite numbers"),
        (dict(inputs={"M": np.full((2, 3), -np.inf)}), "M should hold finite numbers"),
        (dict(inputs={"M": np.ones((2, MOST + 1))}), f"M should be a matrix of 1 to {MOST} rows"),
        (dict(inputs={}), "one or two matrices"),
        (dict(inputs=np.ones((2, 3))), "one or two matrices"),
        (dict(inputs=dict.fromkeys("abc", np.ones((2, 3)))), "one or two matrices"),
        (dict(reach="row"), "“entry”, “column” or “all”, not “row”"),
    ],
)
def test_an_operation_that_is_not_what_it_says_is_refused_by_name(changes, words):
    with pytest.raises(ValueError, match=f"^Step “attention”: .*{words}"):
        addition(**changes)


@pytest.mark.parametrize("step", [product, addition])
def test_a_step_equals_itself_alone(step):
    one = step()
    assert one == one
    assert one != step()


# --- what holds for all -----------------------------------------------------------------------


def hostile_widgets():
    return [
        explore_routing(route, VALUES, {HOSTILE: (1, 0, 0)}),
        dictionary(labels=[HOSTILE] * 3),
        step_through([product(name=HOSTILE, equation=HOSTILE, note=HOSTILE, left_name=HOSTILE)]),
        step_through([addition(name=HOSTILE, equation=HOSTILE, note=HOSTILE, shape=HOSTILE)]),
        explore_lines(Lines([1, 2], {HOSTILE: [1, 2]}, HOSTILE, HOSTILE, HOSTILE, note=HOSTILE)),
        explore_scores(lambda words: WordScores(words, [0.0], 0.0, HOSTILE), HOSTILE.split()[0]),
    ]


@pytest.mark.parametrize("widget", hostile_widgets(), ids=lambda w: type(w).__name__)
def test_text_is_never_markup(widget):
    bundle = widget._repr_mimebundle_()
    assert "<img" not in bundle["text/html"]
    assert bundle["text/html"].startswith('<table class="mathjax_ignore tex2jax_ignore">')
    assert bundle["text/plain"] == repr(widget)
    assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin


def faulty(text):
    """A widget that shows the text as a problem."""

    def compute(k):
        if k:
            raise ValueError(text)
        return Lines([1, 2], {"a": [1, 2]}, "", "", "")

    widget = explore_lines(compute, slider("k", 0, 1, 0, label=text))
    ask(widget, k=1)
    assert widget.problem
    return widget


@pytest.mark.parametrize(
    "widget",
    [
        lambda text: explore(Attention([[1]], ["a"], note=text)),
        lambda text: explore_dictionary(look_up, KEYS, [1, 2, 3], [text] * 3),
        lambda text: explore_grid(Page("a", [[1]], note=text)),
        lambda text: explore_lines(
            Lines([1, 2], {text: [1, 2]}, text, text, text, marks={text: ("x", 1)}, note=text)
        ),
        lambda text: explore_moves(Moves(["a"], [[0], [0]], [[1], [1]], note=text)),
        lambda text: explore_order(
            lambda order: Ordered(["a", "b"], [[1, 2]], [[1, 2]], note=text), ["a", "b"]
        ),
        lambda text: explore_planes(Planes([1, 0], [1, 0], [0, 1], [1, 0], note=text)),
        lambda text: explore_routing(route, VALUES, {text: (1, 0, 0)}),
        lambda text: explore_scores(lambda words: WordScores(words, [0], 0, text), "a"),
        lambda text: step_through(
            [product(name=text, equation=text, note=text, left_name=text, result_name=text)]
        ),
        lambda text: step_through(
            [Operation(text, text, {text: np.eye(2)}, text, np.eye(2), "all", text, text)]
        ),
        faulty,
    ],
)
def test_a_lone_surrogate_gets_a_mark_so_that_every_text_can_be_sent(widget):
    widget = widget("so\ud800")
    state = json.dumps(widget.get_state(), ensure_ascii=False, default=str)
    assert "so?" in state
    state.encode()
    bundle = widget._repr_mimebundle_()
    (bundle["text/plain"] + bundle["text/html"]).encode()


@pytest.mark.parametrize(
    ("number", "words", "brief"),
    [
        (0.125, "0.13", "0.13"),
        (-0.125, "−0.13", "−0.13"),
        (0.375, "0.38", "0.38"),
        (1.005, "1.00", "1"),  # the float lies below the half
        (-0.001, "0.00", "0"),
        (100, "100.00", "100"),
        (1234567.5, "1234567.50", "1234567.5"),
        (np.inf, "Infinity", "Infinity"),
    ],
)
def test_numbers_in_words(number, words, brief):
    assert (two(number), short([number])) == (words, brief)


@given(st.floats(-1e300, 1e300))
def test_two_decimals_are_the_nearest(number):
    assert float(two(number).replace("−", "-")) == pytest.approx(number, rel=1e-15, abs=0.0050001)
    assert two(-number).strip("−") == two(number).strip("−")


def tensor(numbers):
    return torch.tensor(numbers, dtype=torch.bfloat16, requires_grad=True)


def test_an_array_is_a_copy():
    given = np.ones(3)
    as_array(given)[:] = 0
    assert given.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "widget",
    [
        lambda eye: Attention(eye, ["a", "b"], mask=eye, queries=eye, keys=eye, values=eye),
        lambda eye: explore_routing(lambda v, w: tensor([1.0, 2.0]), tensor(VALUES)),
        lambda eye: explore_dictionary(
            lambda q, k, v, s: (eye[0], eye[:, 0]), eye, eye, list("ab")
        ),
        lambda eye: Product("I", "I = I I", "I", eye, "I", eye, "I", eye),
        lambda eye: Operation("I", "I = I", {"I": eye}, "I", eye, "all"),
        lambda eye: Ordered(["a", "b"], eye, eye),
        lambda eye: Lines(eye[1], {"a": eye[0]}, "", "", "", y_range=eye[1]),
        lambda eye: WordScores(["a", "b"], eye[0], eye[0, 0], ""),
    ],
)
def test_tensors_are_welcome_on_any_device_with_a_gradient_in_bfloat16(widget):
    widget(tensor([[1.0, 0.0], [0.0, 1.0]]))
