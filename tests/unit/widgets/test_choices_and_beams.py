"""The next word and the tree of a beam search, without a browser."""

import json
import re
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.widgets import Beams, Choices, explore_beams, explore_choices, slider
from helpers.widgets.beams.widget import MOST_NODES, MOST_ROWS
from helpers.widgets.choices.widget import LAST_WORDS, MOST_CANDIDATES

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
VOCABULARY = ["good", "bad", "warm", "cold", "."]
MODEL, TRUTH = [0.4, 0.25, 0.2, 0.1, 0.05], [0.5, 0.2, 0.2, 0.1, 0.0]


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


# --- choices ---------------------------------------------------------------------------------


def choose(words, k=5):
    kept = np.array(MODEL) * (np.arange(5) < k)
    return Choices(words, list(zip(VOCABULARY, MODEL, TRUTH, kept / kept.sum(), strict=True))[:4])


def test_choices_in_words():
    widget = explore_choices(choose, "the food was", slider("k", 1, 5, 2))
    assert repr(widget) == (
        "Choices for “the food was ___”: drawn from 2 of these 4, most often “good”, 0.62; "
        "all other words: model 0.05, chosen 0.00"
    )
    row = '<tr><th scope="row">warm</th><td>0.20</td><td>0.20</td><td>cut</td></tr>'
    assert row in widget.fallback()
    again = explore_choices(choose, "the food was", slider("k", 1, 5, 2))
    assert widget.fallback() == again.fallback()
    assert repr(choose(list("abcdefghijklmnop"))).startswith("Choices for “… e f g h i j k l m n o")
    assert LAST_WORDS == 12


def test_bars_share_one_round_end_and_what_is_cut_has_none():
    widget = explore_choices(choose, "the food was", slider("k", 1, 5, 2))
    assert widget.state["full"] == "1.00"
    first, *_, last = widget.state["candidates"]
    assert (first["model"], first["truth"]) == ([0.4, "0.40"], [0.5, "0.50"])
    assert first["chosen"] == [pytest.approx(0.4 / 0.65), "0.62"]
    assert (last["chosen"], last["share"]) == ([0, "cut"], 0)
    ask(widget, words="the food was", k=5)
    assert [one["chosen"][1] for one in widget.state["candidates"]][-1] == "0.10"
    assert widget.state["full"] == "0.50"


def test_a_text_may_be_empty_and_a_truth_unknown():
    widget = explore_choices(
        lambda words: Choices(words, [("It", 1, None, 0), (HOSTILE, 0, None, 0)]), ""
    )
    assert widget.state["beginning"] == "___"
    assert widget.state["summary"].startswith("drawn from none of these 2; all other words: model")
    assert widget.state["candidates"][0]["truth"] is None
    assert "<img" not in widget.fallback()
    assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.integers(-2, 9)), max_size=5))
def test_any_text_and_any_cut(asked):
    widget = explore_choices(choose, "the food was", slider("k", 1, 5, 2))
    for words, k in asked:
        ask(widget, words=words, k=k)
        assert (widget.problem, len(widget.choices.words)) == ("", len(words.split()))
        left = [one["share"] for one in widget.state["candidates"] if one["share"]]
        assert len(left) == min(max(k, 1), 4)
        json.dumps(widget.state, allow_nan=False).encode()
        (repr(widget) + widget.fallback()).encode()


def test_a_finished_text_is_one_sentence_and_the_picture_stays():
    def until_the_end(words):
        if "." in words:
            raise ValueError("The review is finished.")
        return choose(words) if len(words) < 5 else words

    widget = explore_choices(until_the_end, "the food")
    before = dict(widget.state)
    ask(widget, words="the food .")
    assert (widget.problem, widget.state) == ("The review is finished.", before)
    ask(widget, words="a b c d e")
    assert widget.problem == "The function must return Choices, not list."


@pytest.mark.parametrize(
    ("words", "candidates", "sentence"),
    [
        ("a b", [("a", 1, 1, 1)], "words should be a list of words, not one text"),
        ([], [], f"There should be 1 to {MOST_CANDIDATES} candidates; got 0"),
        ([], [("a", 0, 0, 0)] * 17, "got 17"),
        ([], "a", "The candidates should be a list, not str"),
        ([], [("a", 1, 1)], "A candidate should be a word and three probabilities"),
        ([], [("a", 1.2, 1, 1)], "A probability should be from 0 to 1; got 1.2"),
        ([], [("a", 1, -1, 1)], "got -1"),
        ([], [("a", 1, 1, None)], "A probability should"),
    ],
)
def test_choices_that_cannot_be_drawn(words, candidates, sentence):
    with pytest.raises(ValueError, match=sentence):
        Choices(words, candidates)


# --- beams -----------------------------------------------------------------------------------

TREE = [
    (None, "a", -1.0, "kept"),
    (None, "b", -0.5, "kept"),
    (None, "c", -3.0, "dropped"),
    (1, "d", -2.0, "kept"),
    (1, "<end>", -1.75, "finished"),
    (0, "<end>", -2.5, "finished"),
]


def tree(nodes=TREE, text="the food was"):
    return explore_beams(lambda words: Beams(nodes), text)


def test_beams_in_words():
    widget = tree()
    assert repr(widget) == (
        "Beams: 6 beginnings, 2 finished; "
        "the best so far: “b <end>”: log probability −1.75, finished"
    )
    row = '<tr><th scope="row">b d</th><td>−2.00</td><td>kept</td></tr>'
    assert row in widget.fallback()
    assert widget.fallback() == tree().fallback()
    assert repr(Beams(TREE[:3])) == (
        "Beams: 3 beginnings, none finished; the best so far: “b”: log probability −0.50, kept"
    )
    assert "the best so far: “c”: log probability −3.00, left behind" in repr(Beams([TREE[2]]))
    long = [(None if n == 0 else n - 1, str(n), -n, "kept") for n in range(100)]
    assert Beams(long).says(99).startswith("“… 92 93 94 95 96 97 98 99”")
    assert f"Beginnings (the first {MOST_ROWS} of 100)" in tree(long).fallback()


def test_better_beginnings_stand_above_and_nothing_covers_anything():
    widget = tree()
    places = [node["place"] for node in widget.state["nodes"]]
    # b with its two ends, then a with its one, then c; each amid what follows it.
    assert places == [[1, 2], [1, 0.5], [1, 3], [2, 1], [2, 0], [2, 2]]
    assert widget.state["root"] == ["was", 0, 1.75]
    assert tree(text="").state["root"][0] == "start"
    assert widget.state["best"] == 4


@st.composite
def trees(draw):
    nodes = []
    for number in range(draw(st.integers(1, 25))):
        kept = [i for i, node in enumerate(nodes) if node[3] == "kept"]
        parent = draw(st.sampled_from([None, *kept]))
        state = draw(st.sampled_from(["kept", "dropped", "finished"]))
        nodes.append((parent, str(number), draw(st.floats(-1e3, 0)), state))
    return nodes


@settings(max_examples=60, deadline=None)
@given(trees(), st.text(max_size=9))
def test_any_tree_is_drawn(nodes, text):
    widget = tree(nodes, text)
    places = {tuple(node["place"]) for node in widget.state["nodes"]}
    assert len(places) == len(nodes)
    by_column = {}
    for column, row in sorted(places):
        by_column.setdefault(column, []).append(row)
    for rows in by_column.values():
        assert all(after - before >= 1 for before, after in pairwise(rows))
    for node, drawn in zip(nodes, widget.state["nodes"], strict=True):
        before = 0 if node[0] is None else widget.state["nodes"][node[0]]["place"][0]
        assert drawn["place"][0] == before + 1
    parents = {node[0] for node in nodes}
    ends = [node[2] for n, node in enumerate(nodes) if n not in parents and node[3] != "dropped"]
    if ends:
        assert nodes[widget.state["best"]][2] == max(ends)
    json.dumps(widget.state, allow_nan=False).encode()
    (repr(widget) + widget.fallback()).encode()


def test_text_of_a_tree_is_never_markup():
    widget = tree([(None, HOSTILE, -1, "kept")], HOSTILE)
    assert "<img" not in widget.fallback()
    assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        ([], f"There should be 1 to {MOST_NODES} nodes; got 0"),
        ("a", "The nodes should be a list, not str"),
        ([(None, "a", -1)], "Node 0 should be a parent, a token, a log probability and a state"),
        ([(0, "a", -1, "kept")], "The parent of node 0 should be an earlier node, or None"),
        ([(True, "a", -1, "kept")], "The parent of node 0 should be an earlier node"),
        ([(None, "a", np.inf, "kept")], "The log probability of node 0 should hold finite"),
        ([(None, "a", -1, "lost")], "The state of node 0 should be kept, dropped or finished"),
        ([(None, "a", -1, ["kept"])], "The state of node 0 should be kept"),
        (
            [(None, "a", -1, "dropped"), (0, "b", -2, "kept")],
            "Node 1 continues node 0, which is left behind",
        ),
    ],
)
def test_trees_that_cannot_be_drawn(nodes, sentence):
    with pytest.raises(ValueError, match=sentence):
        Beams(nodes)


def test_a_fault_in_the_search_is_one_sentence_and_the_picture_stays():
    widget = explore_beams(lambda words: Beams(TREE) if len(words) < 4 else TREE, "the food was")
    before = dict(widget.state)
    ask(widget, words="the food was so")
    assert widget.problem == "The function must return Beams, not list."
    assert widget.state == before
