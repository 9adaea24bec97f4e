"""Two rows of words and the links between them, without a browser."""

import json
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.widgets import Alignment, explore_alignment, options, slider
from helpers.widgets.alignment.widget import MOST_WORDS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
SOURCE, TARGET = "the red car".split(), "la macchina rossa".split()
WEIGHTS = [[0.8, 0.1, 0.05], [0.05, 0.05, 0.9], [0.15, 0.8, 0.004]]
PAIRS = [(0, 0), (1, 2), (2, 1)]


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def align(text, sharpness=1):
    words = text.split()
    if len(words) > 5:
        raise ValueError("Five words are enough.")
    return Alignment(words, words, sharpness * np.eye(len(words)))


def test_in_words():
    alignment = Alignment(SOURCE, TARGET, WEIGHTS, PAIRS, [True, None, False])
    assert repr(alignment) == (
        "Alignment of “the red car” and “la macchina rossa”: 3 source words, 3 target words; "
        "3 of 3 target words look most where a true link leads; wrong: “rossa”"
    )
    assert alignment.says("target", 0) == (
        "target word 1 of 3, “la”: looks at “the” 0.80, “car” 0.15, “red” 0.05; "
        "truly linked to “the”"
    )
    assert alignment.says("target", 2) == (
        "target word 3 of 3, “rossa”, a wrong word: looks at “red” 0.90, “the” 0.05; "
        "0.05 elsewhere; truly linked to “red”"
    )
    assert alignment.says("source", 2) == (
        "source word 3 of 3, “car”: is looked at by “macchina” 0.80, “la” 0.15; "
        "truly linked to “macchina”"
    )


def test_without_pairs_and_judgements_nothing_is_said_of_them():
    alignment = Alignment(["a"], ["b"], [[1]])
    assert repr(alignment) == "Alignment of “a” and “b”: 1 source word, 1 target word"
    assert alignment.says("target", 0) == "target word 1 of 1, “b”: looks at “a” 1.00"
    blind = Alignment(["a"], ["b"], [[0]], right=[True])
    assert blind.says("target", 0) == (
        "target word 1 of 1, “b”: looks at no word shown; 1.00 elsewhere"
    )
    assert blind.summary().endswith("; no word is known to be wrong")


def test_who_looks_where_the_pairs_say():
    weights = [[0.6, 0.1, 0.5], [0.4, 0.9, 0.5]]
    alignment = Alignment([*"ab"], [*"cde"], weights, [(0, 0), (1, 0), (0, 1), (1, 2)])
    # The first looks most at one of its two words; the last has a tie, and the first word has it.
    assert alignment.agreeing() == ([0, 1, 2], [0])
    # One that looks at nothing looks nowhere.
    assert Alignment(["a", "b"], ["c"], [[0], [0]], [(0, 0)]).agreeing() == ([0], [])


def test_what_is_drawn():
    widget = explore_alignment(
        lambda text: Alignment(SOURCE, TARGET, WEIGHTS, [*PAIRS, (2, 2)], [True, True, False], "A"),
        "x",
    )
    links = {(s, t): rest for s, t, *rest in widget.state["links"]}
    assert links[0, 0] == [0.8, "0.80", True]
    assert links[0, 1] == [0.1, "0.10", False]
    assert links[2, 2] == [0.004, "< 0.01", True]  # faint, but true
    assert len(links) == 9
    assert widget.state["wrong"] == [2] and widget.state["pairs"] and widget.state["note"] == "A"
    assert '<tr><th scope="row">rossa</th><td>red 0.90, the 0.05</td><td>red, car</td>' in (
        widget.fallback()
    )
    assert "<td>no</td>" in widget.fallback() and "<td>yes</td>" in widget.fallback()


def test_controls_and_what_the_function_raises():
    widget = explore_alignment(align, "a b", slider("sharpness", 0.0, 1.0, 1.0, step=0.5))
    assert widget.state["says"]["target"][1] == "target word 2 of 2, “b”: looks at “b” 1.00"
    ask(widget, text="c d e", sharpness=0.5)
    assert widget.state["source"] == ["c", "d", "e"]
    assert widget.state["says"]["target"][2].endswith("“e” 0.50; 0.50 elsewhere")
    ask(widget, text="a b c d e f", sharpness=0.5)
    assert widget.problem == "Five words are enough."
    assert widget.state["source"] == ["c", "d", "e"]  # as it was
    with pytest.raises(ValueError, match="Five words"):
        explore_alignment(align, "a b c d e f")
    with pytest.raises(TypeError, match="must return an Alignment, not list"):
        explore_alignment(lambda text: [], "a")
    with pytest.raises(TypeError, match="should be a function, not Alignment"):
        explore_alignment(align("a"), "a")
    chosen = []
    widget = explore_alignment(
        lambda text, head: chosen.append(head) or align(text), "a", options("head", ["one", "two"])
    )
    ask(widget, text="a", head="two")
    assert chosen == ["one", "two"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (dict(weights=np.transpose(WEIGHTS)[:2]), r"\(source words, target words\) = \(3, 3\)"),
        (dict(weights=[[0.9, 0, 0]] * 3), "target word 0 sum to 2.70"),
        (dict(weights=-np.eye(3)), "not negative"),
        (dict(weights=np.full((3, 3), np.nan)), "finite"),
        (dict(pairs=[(0, 3)]), "counted from 0"),
        (dict(pairs=[(-1, 0)]), "counted from 0"),
        (dict(pairs=[0, 1]), "A pair should be"),
        (dict(right=[True]), "3 target words; got 1"),
        (dict(right=[1, 0, 1]), "True, False or None"),
        (dict(source="the red car"), "text.split()"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, says):
    whole = dict(source=SOURCE, target=TARGET, weights=WEIGHTS, pairs=PAIRS)
    with pytest.raises(ValueError, match=says):
        Alignment(**whole | given)


def test_tensors_and_low_precision():
    scores = torch.randn(40, 7, generator=torch.manual_seed(0), requires_grad=True)
    weights = scores.softmax(0).bfloat16()
    alignment = Alignment(map(str, range(40)), list("abcdefg"), weights, [(3, 4)])
    assert alignment.weights.dtype == np.float64 and alignment.weights.shape == (40, 7)
    right = Alignment(["a"], ["b", "c"], [[1, 1]], right=torch.tensor([True, False]))
    assert right.wrong() == [1]


@pytest.mark.parametrize(("source", "target"), [([], []), (["a"], []), ([], ["a"])])
def test_a_row_may_be_empty(source, target):
    widget = explore_alignment(
        lambda text: Alignment(source, target, np.zeros((len(source), len(target)))), "x"
    )
    assert widget.state["summary"] == "There are no words to link."
    assert "There are no words to link." in widget.fallback()


def test_many_words_and_hostile_ones():
    many = [HOSTILE + "x" * 99] * (MOST_WORDS + 9)
    weights = np.full((len(many), 2), 1 / len(many))
    alignment = Alignment(many, [HOSTILE, "\u202egnp"], weights, [(MOST_WORDS + 1, 0)], [False] * 2)
    widget = explore_alignment(lambda text: alignment, HOSTILE)
    assert len(widget.state["source"]) == len(widget.state["says"]["source"]) == MOST_WORDS
    assert all(s < MOST_WORDS for s, *_ in widget.state["links"])
    assert widget.state["note"] == f"Shown: the first {MOST_WORDS} of {len(many)} source words."
    assert "<img" not in widget.fallback() and "\u202e" not in repr(widget)
    assert len(json.dumps(widget.state)) < 30_000


@settings(max_examples=60, deadline=None)
@given(
    scores=arrays(
        float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-9, 9)
    ),
    seen=st.floats(0, 1),
)
def test_what_is_said_adds_up(scores, seen):
    weights = seen * np.exp(scores) / np.exp(scores).sum(0)
    source, target = (
        [f"{name}{i}" for i in range(n)] for name, n in zip("st", weights.shape, strict=True)
    )
    alignment = Alignment(source, target, weights)
    for t in range(len(target)):
        named = alignment.strongest(t)
        rounded = [round(w, 4) for _, w in named]
        assert rounded == sorted(weights[:, t].round(4), reverse=True)[: len(named)]
        assert all(weights[s, t] == w >= 0.01 for s, w in named)
        assert ("elsewhere" in alignment.says("target", t)) == (1 - weights[:, t].sum() >= 0.01)
    drawn = {(s, t) for s, t, _ in alignment.links()}
    assert drawn == {(s, t) for s, t in np.ndindex(weights.shape) if weights[s, t] >= 0.01}
