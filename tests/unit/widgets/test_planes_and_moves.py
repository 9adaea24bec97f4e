"""The planes of a rotary encoding, the points that move, and the switches, without a browser."""

import re
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.widgets import Moves, Planes, explore_moves, explore_planes, slider, switches

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)

real = st.floats(-1e6, 1e6)
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def turn(numbers, degrees):
    """Each pair of numbers turned counterclockwise by its angle."""
    pairs = np.reshape(numbers, (-1, 2)) @ [1, 1j]
    turned = pairs * np.exp(1j * np.radians(degrees))
    return np.stack([turned.real, turned.imag], axis=1).ravel()


def planes(query_turns=(30, 90), key_turns=(10, 350), **changes):
    query, key = [1.0, 0.0, 0.0, 2.0], [0.5, 0.5, 1.0, 0.0]
    arguments = dict(
        query=query,
        key=key,
        turned_query=turn(query, query_turns),
        turned_key=turn(key, key_turns),
    )
    return Planes(**(arguments | changes))


def moves(**changes):
    before = [[0.0, 2.0, 4.0], [0.0, 1.0, 0.0]]
    after = [[0.0, 2.0, 1.0], [0.5, 1.0, 4.0]]
    return Moves(**(dict(labels=["a", "ham", "sandwich"], before=before, after=after) | changes))


# --- planes ----------------------------------------------------------------------------------


def test_planes_in_words():
    widget = explore_planes(planes())
    assert repr(widget) == (
        "Planes of a rotary encoding: q·k = 0.50 before, −1.33 after; "
        "plane 0: query turned by 30°, key by 10°, share of the dot product 0.64; "
        "plane 1: query turned by 90°, key by 350°, share of the dot product −1.97"
    )
    assert [plane["share"] for plane in widget.picture["planes"]] == ["+0.64", "−1.97"]
    assert widget.picture["rows"] == [
        ["0", "(1.00, 0.00)", "30°", "(0.87, 0.50)", "(0.50, 0.50)", "10°", "(0.41, 0.58)",
         "0.50", "0.64"],
        ["1", "(0.00, 2.00)", "90°", "(−2.00, 0.00)", "(1.00, 0.00)", "350°", "(0.98, −0.17)",
         "0.00", "−1.97"],
    ]  # fmt: skip
    assert all(f"<td>{cell}</td>" in widget.fallback() for cell in widget.picture["rows"][1][1:])
    assert widget.fallback() == explore_planes(planes()).fallback()


@given(
    arrays(float, (2, 6), elements=st.floats(-9, 9)),
    arrays(int, (2, 3), elements=st.integers(0, 359)),
)
def test_turns_and_shares_are_what_was_done(pairs, degrees):
    query, key = pairs
    got = Planes(query, key, turn(query, degrees[0]), turn(key, degrees[1]))
    long = np.hypot(*pairs.reshape(2, 3, 2).transpose(2, 0, 1)) > 1e-3
    np.testing.assert_allclose(got.turns[long], degrees[long], atol=0.051)
    assert ((got.turns >= 0) & (got.turns < 360)).all()
    assert got.before.sum() == pytest.approx(query @ key)
    assert got.after.sum() == pytest.approx(turn(query, degrees[0]) @ turn(key, degrees[1]))


@pytest.mark.parametrize(
    ("degrees", "words"),
    [(0, "0°"), (-0.01, "0°"), (0.04, "0°"), (0.57, "0.6°"), (5, "5°"), (9.97, "10°"),
     (34.4, "34°"), (-34, "326°"), (359.94, "360°"), (725, "5°")],
)  # fmt: skip
def test_angles_as_people_read_them(degrees, words):
    got = Planes([3, 4], [1, 0], turn([3, 4], degrees), [1, 0])
    assert got.words(0).startswith(f"plane 0: query turned by {words}, key by 0°, ")


def test_all_planes_have_one_scale_which_stays():
    def turned(degrees):
        return planes(key_turns=(degrees, 2 * degrees))

    widget = explore_planes(turned, slider("degrees", 0, 90, 10))
    assert widget.picture["planes"][1]["query"] == [0, 1]  # the longest arrow ends at the circle
    assert widget.picture["planes"][0]["key"] == [0.25, 0.25]
    ask(widget, degrees=90)
    assert widget.picture["planes"][0]["key"] == [0.25, 0.25]
    np.testing.assert_allclose(widget.picture["planes"][0]["turnedKey"], [-0.25, 0.25])
    assert widget.picture["planes"][0]["turns"] == [30, 90]


def test_no_arrow_is_an_arrow_too():
    got = explore_planes(Planes(*np.zeros((4, 2)))).picture["planes"][0]
    assert (got["query"], got["turns"], got["share"]) == ([0, 0], [0, 0], "0.00")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(query=[1, 2, 3]), "an even number of numbers, 2 to 16; got 3"),
        (dict(query=[]), "got 0"),
        (dict(query=np.ones(18)), "got 18"),
        (dict(key=[1, 2]), r"The key should have the shape \(4,\); got \(2,\)"),
        (dict(turned_key=np.ones((2, 2))), r"The turned key should have the shape \(4,\)"),
        (dict(turned_query=[1, 0, 0, np.nan]), "The turned query should hold finite numbers"),
        (dict(key=[1, 0, 2e6, 0]), "between minus and plus one million"),
        (
            dict(turned_query=[1, 0, 0, 2.1]),
            "Turning keeps lengths, but in plane 1 the query has length 2.00 before and 2.10 after",
        ),
        (dict(turned_key=[0.5, 0.5, 0, 0]), "in plane 1 the key has length 1.00 before and 0.00"),
    ],
)
def test_planes_refuse_what_they_cannot_draw(changes, words):
    with pytest.raises(ValueError, match=words):
        planes(**changes)


# --- moves -----------------------------------------------------------------------------------


def test_moves_in_words():
    widget = explore_moves(moves())
    assert repr(widget) == "Moves: 3 points, by 1.83 on average; “sandwich” most, by 5.00"
    assert repr(moves(after=moves().before)) == "Moves: 3 points, none moved"
    assert [point["words"] for point in widget.picture["points"]] == [
        "“a” moved by 0.50",
        "“ham” moved by 0.00",
        "“sandwich” moved by 5.00, out of the picture",
    ]
    assert widget.picture["rows"] == [
        ["sandwich", "5.00", "(4.00, 0.00)", "(1.00, 4.00)"],
        ["a", "0.50", "(0.00, 0.00)", "(0.00, 0.50)"],
        ["ham", "0.00", "(2.00, 1.00)", "(2.00, 1.00)"],
    ]
    assert widget.picture["start"] == 2
    cells = re.findall(r"(\w+)</th><td>([^<]+)", widget.fallback())
    assert cells == [("sandwich", "5.00"), ("a", "0.50"), ("ham", "0.00")]


def test_the_fallback_has_twelve_rows_at_most():
    before = np.zeros((2, 30))
    widget = explore_moves(Moves(range(30), before, before + np.arange(30)))
    assert "(the first 12 of 30)" in widget.fallback()
    first = re.findall(r'row">(\d+)<', widget.fallback())
    assert first == [str(n) for n in range(29, 17, -1)]


def test_equally_far_words_keep_their_order_whatever_the_last_digits():
    after = np.array([[1.0, 1 + 1e-12, 1 - 1e-12], [0.0, 0.0, 0.0]])
    assert [row[0] for row in moves(before=np.zeros((2, 3)), after=after).rows()] == [
        "a", "ham", "sandwich",
    ]  # fmt: skip


@given(arrays(float, (2, 3), elements=real), arrays(float, (2, 3), elements=real))
@example(np.zeros((2, 3)), np.ones((2, 3)))
@example(np.full((2, 3), 1e5) + 1e-10 * np.arange(3), np.zeros((2, 3)))
def test_the_frame_holds_what_was_before_and_stands_still(before, after):
    got = moves(before=before, after=after)
    size = got.high - got.low
    assert size[0] == pytest.approx(1.5 * size[1], rel=1e-6)  # one scale for both axes
    assert size.min() > 0.01
    for place in before.T:
        assert got.inside(place)
        assert (np.abs(2 * (place - got.low) / size - 1) < 0.7).all()  # room around
    still = moves(before=before, after=before)
    assert (still.low.tolist(), still.high.tolist()) == (got.low.tolist(), got.high.tolist())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(labels="a ham sandwich"), "not one text"),
        (dict(labels=[]), "1 to 64 labels; got 0"),
        (dict(labels=["a"] * 65), "1 to 64 labels; got 65"),
        (dict(labels=["a", "b"]), r"before should hold two numbers .*\(2 × 2\); got \(2, 3\)"),
        (dict(after=np.ones((3, 2))), r"after should hold two numbers .*; got \(3, 2\)"),
        (dict(before=[[0, 1, np.nan], [0, 0, 0]]), "before should hold finite numbers"),
        (dict(after=[[0, 1, -np.inf], [0, 0, 0]]), "after should hold finite numbers"),
        (dict(after=[[0, 1, 2e6], [0, 0, 0]]), "none beyond a million"),
    ],
)
def test_moves_refuse_what_they_cannot_draw(changes, words):
    with pytest.raises(ValueError, match=words):
        moves(**changes)


# --- switches --------------------------------------------------------------------------------


def switched(heads):
    assert all(isinstance(on, bool) for on in heads)
    after = np.zeros((2, 3)) + sum(heads)
    return moves(before=np.zeros((2, 3)), after=after, note=str(heads))


def test_switches_hand_over_a_tuple():
    widget = explore_moves(switched, switches("heads", ["one", "two"]))
    assert widget.picture["note"] == "(True, True)"
    ask(widget, heads=[False, True])
    assert widget.picture["note"] == "(False, True)"
    assert switches("heads_on", ["a", "b"], np.array([0, 1])) == dict(
        kind="switches", name="heads_on", label="heads on", labels=["a", "b"], value=(False, True)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.booleans(), max_size=3) | anything)
def test_only_truth_values_reach_the_function_whatever_is_sent(sent):
    widget = explore_moves(switched, switches("heads", ["one", "two"], [True, False]))
    ask(widget, heads=sent)
    if isinstance(sent, list) and len(sent) == 2 and all(isinstance(on, bool) for on in sent):
        assert widget.picture["note"] == str(tuple(sent))
        assert widget.problem == ""
    else:
        assert widget.picture["note"] == "(True, False)"
        assert widget.problem.startswith("heads should be ")


@pytest.mark.parametrize(("labels", "on"), [([], None), (["a"], [True, False]), (["a", "b"], [1])])
def test_switches_need_a_label_each(labels, on):
    with pytest.raises(ValueError, match=r"label|truth values"):
        switches("heads", labels, on)


# --- what holds for both ---------------------------------------------------------------------


def test_another_result_is_refused_by_name():
    with pytest.raises(TypeError, match="must return Planes, not Moves"):
        explore_planes(moves())
    with pytest.raises(TypeError, match="must return Moves, not Planes"):
        explore_moves(planes())


def test_a_fault_is_one_sentence_and_the_picture_stays():
    def turned(degrees):
        return planes(key_turns=(degrees,) if degrees < 9 else (1, 2), turned_query=np.ones(4))

    with pytest.raises(ValueError, match="plane 0"):
        explore_planes(turned, slider("degrees", 0, 9, 9))

    def moved(x):
        return moves(after=np.full((2, 3), x if x < 5 else np.inf))

    widget = explore_moves(moved, slider("x", 0, 9, 1))
    before, words = dict(widget.picture), repr(widget)
    ask(widget, x=7)
    assert widget.problem == "after should hold finite numbers, none beyond a million."
    assert (widget.picture, repr(widget)) == (before, words)
    ask(widget, x=2)
    assert widget.problem == ""
    assert widget.picture["points"][0]["after"] == [2, 2]


@pytest.mark.parametrize(
    "widget",
    [
        explore_planes(planes(note=HOSTILE)),
        explore_moves(moves(labels=[HOSTILE] * 3, note=HOSTILE)),
        explore_moves(lambda x: moves(labels=[HOSTILE] * 3), switches("x", [HOSTILE])),
    ],
)
def test_text_is_never_markup(widget):
    bundle = widget._repr_mimebundle_()
    assert "<img" not in bundle["text/html"]
    assert bundle["text/html"].startswith('<table class="mathjax_ignore tex2jax_ignore">')
    assert bundle["text/plain"] == repr(widget)
    assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin


def test_tensors_are_welcome_with_a_gradient_in_bfloat16():
    def tensor(numbers):
        return torch.tensor(np.asarray(numbers), dtype=torch.bfloat16, requires_grad=True)

    numbers = np.linspace(-1, 2, 16)
    turned = turn(numbers, np.arange(8) * 40)
    got = Planes(tensor(numbers), tensor(numbers), tensor(turned), tensor(turned))
    assert got.after.sum() == pytest.approx(got.before.sum(), rel=0.02)
    moved = Moves(["a", "b"], tensor(np.eye(2)), tensor(np.zeros((2, 2))))
    assert moved.moved.tolist() == [1, 1]
