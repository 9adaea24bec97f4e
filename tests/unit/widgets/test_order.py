"""The words of a sentence in another order, without a browser."""

import re
from itertools import count, permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.blocks.matrix_form import self_attention
from helpers.widgets import Ordered, explore_order, slider
from helpers.widgets.order.widget import MOST_NUMBERS, MOST_WORDS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
WORDS = "The woman ate the raccoon".split()
N, D = len(WORDS), 3
RNG = np.random.default_rng(1)
X, PI = RNG.normal(size=(D, N)), RNG.normal(size=(D, N))
HEAD = [RNG.normal(size=shape) / 2 for shape in [(D, D), (D, 1)] * 3]

ORDERS = [list(order) for order in permutations(range(N))]
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=N) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def attention(order, share=0.0):
    original, _ = self_attention(X + share * PI, *HEAD)
    outputs, _ = self_attention(X[:, order] + share * PI, *HEAD)
    return Ordered([WORDS[i] for i in order], outputs, original[:, order])


def woman_and_raccoon(share=0.0):
    widget = explore_order(attention, WORDS, slider("share", 0.0, 1.0, share))
    ask(widget, order=[0, 4, 2, 3, 1], share=share)
    return widget


@given(st.permutations(range(N)))
def test_without_positions_no_output_changes_in_any_order(order):
    widget = explore_order(attention, WORDS)
    ask(widget, order=order)
    assert widget.problem == ""
    assert widget.state["order"] == order
    assert [tile["text"] for tile in widget.state["tiles"]] == [WORDS[i] for i in order]
    assert all(tile["same"] for tile in widget.state["tiles"])
    assert widget.state["summary"] == "all 5 outputs unchanged; their mean unchanged"


def test_with_positions_the_outputs_change_and_the_slider_moves_them():
    widget = woman_and_raccoon(share=1.0)
    now, _ = self_attention(X[:, [0, 4, 2, 3, 1]] + PI, *HEAD)
    then = self_attention(X + PI, *HEAD)[0][:, [0, 4, 2, 3, 1]]
    moved = [f"moved by {distance:.2f}" for distance in np.linalg.norm(now - then, axis=0)]
    assert [tile["moved"] for tile in widget.state["tiles"]] == moved
    mean = np.linalg.norm(now.mean(1) - then.mean(1))
    assert widget.state["mean"]["moved"] == f"moved by {mean:.2f}"
    assert widget.state["summary"] == f"all 5 outputs moved; their mean moved by {mean:.2f}"
    ask(widget, order=[0, 4, 2, 3, 1], share=0)
    assert widget.state["summary"] == "all 5 outputs unchanged; their mean unchanged"


def test_the_text_says_what_the_picture_shows():
    widget = woman_and_raccoon()
    assert repr(widget) == (
        "Words in another order: The raccoon ate the woman (0 4 2 3 1); "
        "all 5 outputs unchanged; their mean unchanged"
    )
    assert widget.fallback() == woman_and_raccoon().fallback()
    row = '<tr><th scope="row">raccoon</th><td>1</td><td>4</td><td>unchanged</td></tr>'
    assert row in widget.fallback()
    far = woman_and_raccoon(1.0)
    cells = re.findall(r"<td>([^<]*)</td></tr>", far.fallback())
    assert [f"moved by {cell}" for cell in cells] == [
        tile["moved"] for tile in (*far.state["tiles"], far.state["mean"])
    ]


def test_bars_and_marks_share_one_scale():
    ordered = Ordered(["a", "b"], [[1, -4], [0, 2]], [[1, 2], [0, -2]])
    widget = explore_order(lambda order: ordered, ["a", "b"])
    first, second = widget.state["tiles"]
    assert (first["bars"], first["marks"], first["moved"]) == ([0.25, 0], [0.25, 0], "unchanged")
    assert (second["bars"], second["marks"]) == ([-1, 0.5], [0.5, -0.5])
    assert second["moved"] == f"moved by {np.hypot(6, 4):.2f}"
    assert widget.state["mean"]["bars"] == [-1.5 / 4, 1 / 4]
    assert widget.state["summary"].startswith("1 of 2 outputs moved; their mean moved by ")


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (0, "unchanged"),
        (0.9e-9, "unchanged"),
        (1.1e-9, "moved by < 0.01"),
        (0.0049, "moved by < 0.01"),
        (0.006, "moved by 0.01"),
        (12, "moved by 12.00"),
    ],
)
def test_how_far_in_words(by, words):
    ordered = Ordered(["a", "b"], [[by, 0]], [[0, 0]])
    widget = explore_order(lambda order: ordered, ["a", "b"])
    assert widget.state["tiles"][0]["moved"] == words
    assert widget.state["tiles"][0]["same"] == (words == "unchanged")


@settings(max_examples=200, deadline=None)
@given(anything | st.lists(st.integers(-1, N), min_size=N, max_size=N))
def test_whatever_is_sent_the_last_good_order_is_kept(sent):
    widget = explore_order(attention, WORDS)
    ask(widget, order=[4, 3, 2, 1, 0])
    before = dict(widget.state)
    ask(widget, order=sent)
    if sent in ORDERS and all(type(i) is int for i in sent):  # 1.0 and True equal 1
        assert (widget.problem, widget.state["order"]) == ("", sent)
    else:
        assert widget.problem == "The order should hold each number from 0 to 4 once."
        assert widget.state == before
        assert widget.values["order"] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    "sent",
    [
        [0, 1, 2, 3],
        [0, 1, 2, 3, 3],
        [0, 1, 2, 3, 5],
        [-1, 0, 1, 2, 3],
        [0, True, 2, 3, 4],
        [0.0, 1.0, 2.0, 3.0, 4.0],
        "01234",
        None,
    ],
)
def test_what_is_no_order_is_refused(sent):
    widget = woman_and_raccoon()
    ask(widget, order=sent, share=1.0)
    assert widget.problem == "The order should hold each number from 0 to 4 once."
    assert widget.state["order"] == [0, 4, 2, 3, 1]
    ask(widget, order=widget.values["order"], share=1.0)  # the next move starts from the last one
    assert widget.problem == ""
    assert widget.state["summary"].startswith("all 5 outputs moved")


def test_a_fault_in_the_function_is_one_sentence_and_the_picture_stays():
    def only_forward(order):
        if order[0] > order[-1]:
            raise ValueError("Not backward.\nSecond line.")
        return attention(order)

    widget = explore_order(only_forward, WORDS)
    before, words = dict(widget.state), repr(widget)
    ask(widget, order=[4, 3, 2, 1, 0])
    assert widget.problem == "Not backward."
    assert (widget.state, repr(widget)) == (before, words)


def test_words_in_another_order_than_asked_for_are_a_fault():
    def inverse(order):
        return Ordered([WORDS[i] for i in np.argsort(order)], np.ones((1, N)), np.ones((1, N)))

    widget = explore_order(inverse, WORDS)
    ask(widget, order=[1, 2, 0, 3, 4])
    assert widget.problem == (
        "The words should stand in the order asked for, woman ate The the raccoon; "
        "got ate The woman the raccoon."
    )
    with pytest.raises(TypeError, match="must return Ordered, not list"):
        explore_order(lambda order: [], WORDS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (dict(words="ab"), "not one text"),
        (dict(words=["a"]), f"2 to {MOST_WORDS} words; got 1"),
        (dict(words=["a"] * (MOST_WORDS + 1)), f"2 to {MOST_WORDS} words; got 17"),
        (dict(outputs=[1, 2]), r"The outputs should have 1 to 8 rows .*\(2,\)"),
        (dict(outputs=np.ones((2, 3))), r"2 columns, one a word; got the shape \(2, 3\)"),
        (dict(outputs=np.ones((MOST_NUMBERS + 1, 2))), r"The outputs .*\(9, 2\)"),
        (dict(outputs=np.ones((0, 2))), r"The outputs .*\(0, 2\)"),
        (dict(outputs=[[1, np.nan]]), "The outputs should hold finite numbers"),
        (dict(reference=[[1, np.inf]]), "The reference should hold finite numbers"),
        (dict(reference=np.ones((2, 2))), r"one shape; got \(1, 2\) and \(2, 2\)"),
    ],
)
def test_ordered_refuses_what_cannot_be_drawn(changes, sentence):
    arguments = dict(words=["a", "b"], outputs=[[1, 2]], reference=[[1, 2]])
    assert repr(Ordered(**arguments)).startswith("Ordered: a b; all 2 outputs unchanged")
    with pytest.raises(ValueError, match=sentence):
        Ordered(**(arguments | changes))


@pytest.mark.parametrize("words", ["two words", ["one"], list("abcdefghijklmnopq")])
def test_a_sentence_has_2_to_16_words(words):
    with pytest.raises(ValueError, match="words"):
        explore_order(attention, words)


def test_the_largest_sentence_and_zeros_alone_can_be_drawn():
    words = [str(n) for n in range(MOST_WORDS)]
    zeros = torch.zeros(MOST_NUMBERS, MOST_WORDS, dtype=torch.bfloat16, requires_grad=True)
    widget = explore_order(lambda order: Ordered([words[i] for i in order], zeros, zeros), words)
    assert widget.state["tiles"][-1]["bars"] == [0] * MOST_NUMBERS
    assert [tile["text"] for tile in widget.state["tiles"]] == words


def test_text_is_never_markup():
    ordered = Ordered([HOSTILE, "\n"], [[1, 2]], [[1, 2]], note=HOSTILE)
    widget = explore_order(lambda order: ordered, [HOSTILE, "\n"])
    bundle = widget._repr_mimebundle_()
    assert "<img" not in bundle["text/html"]
    assert bundle["text/plain"] == repr(widget)
    assert widget.state["tiles"][0]["text"].startswith("<img src=x")
    assert widget.state["tiles"][1]["text"] == "↵"
    assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin
