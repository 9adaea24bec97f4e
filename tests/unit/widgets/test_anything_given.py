"""Whatever is given to a widget: it is shown, sent and told in words, or refused in a sentence."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from helpers.exercises.engine.box import STYLE
from helpers.widgets import (
    Alignment,
    Beams,
    Choices,
    Gaps,
    Lines,
    Merges,
    Moves,
    Operation,
    Ordered,
    Planes,
    Product,
    TokenRows,
    WordScores,
    explore_alignment,
    explore_beams,
    explore_choices,
    explore_dictionary,
    explore_gaps,
    explore_lines,
    explore_merges,
    explore_moves,
    explore_order,
    explore_planes,
    explore_routing,
    explore_scores,
    explore_tokens,
    slider,
    step_through,
    switches,
)
from helpers.widgets.shared.live import WIDGETS, Live
from helpers.widgets.shared.text import name, sentence, visible

ODD = [
    None, True, 0, -1, 1.5, np.nan, np.inf, 10**400, 1j, "", "a", "so\ud800", "x" * 5000, b"b",
    [], {}, set(), [None], [[]], [1, "a"], [[1, 2], [3]], ["a", "b"], [np.nan, 1], [1e308, 1e308],
    [[1e308, -1e308]] * 2, np.array(3.0), np.zeros(0), np.zeros((2, 0)), np.ones((2, 2, 2)),
    np.array(["a"]), np.array([1j]), np.array([{}]), {"a": 1}, {1: [1, 2]}, {"a": None}, object(),
    lambda *args, **kwargs: None, range(3), np.ones((2, 3)), [[1, 2], [3, 4]],
]  # fmt: skip
EYE = np.eye(2)
VALUES = [[1.0, 3.0, 2.0], [0.5, 1.0, 3.0]]
LINES, MOVES = Lines([1, 2], {"a": [1, 2]}, "", "", ""), Moves(["a", "b"], EYE, -EYE)
PLANES = Planes([1, 0], [1, 0], [0, 1], [1, 0])
STEPS = [Operation("n", "e", {"a": EYE}, "R", EYE, "all")]


def mix(query, keys, values, sharpness):
    weights = np.ones(keys.shape[1]) / keys.shape[1]
    return weights, values @ weights


def score(words):
    return WordScores(words, [1] * len(words), 1, "")


def cut(text):
    words = [(word, word) for word in text.split()]
    return TokenRows([("characters", list(text)), ("words", words)])


def align(text):
    words = text.split()
    return Alignment(words, words, np.eye(len(words)))


def search(words):
    return Beams([(None, word, -1, "kept") for word in [*words, "b"][-9:]])


def choose(words):
    return Choices(words, [("b", 0.5, None, 1)])


def guess(words, masked):
    return Gaps(words, masked, [[(words[place], 0.5, None)] for place in masked])


def unmerged(words):
    return Merges([([list(word) for word in words], {(word, word): 1 for word in words}, None)])


def in_order(order):
    return Ordered([["a", "b"][i] for i in order], [[1, 2]], [[1, 2]])


# What makes a widget -> arguments with which it does.
MAKERS = [
    (
        lambda **given: explore_lines(Lines(**given)),
        dict(x=[1, 2], curves={"a": [1, 2]}, title="t", x_label="x", y_label="y", log_x=False,
             log_y=False, marks={"m": ("x", 1)}, y_range=(0, 3), note=""),
    ),
    (
        lambda **given: explore_scores(lambda words: WordScores(**given), "a"),
        dict(words=["a"], scores=[1], total=1, verdict="v"),
    ),
    (
        lambda **given: explore_moves(Moves(**given)),
        dict(labels=["a", "b"], before=EYE, after=EYE, note=""),
    ),
    (
        lambda **given: explore_planes(Planes(**given)),
        dict(query=[1, 0], key=[1, 0], turned_query=[0, 1], turned_key=[1, 0], note=""),
    ),
    (
        lambda **given: explore_order(lambda order: Ordered(**given), ["a", "b"]),
        dict(words=["a", "b"], outputs=[[1, 2]], reference=[[1, 2]], note=""),
    ),
    (
        lambda **given: step_through([Product(**given)]),
        dict(name="n", equation="e", left_name="l", left=EYE, right_name="r", right=EYE,
             result_name="R", result=EYE, plus_name="p", plus=np.zeros((2, 1)), note="",
             left_shape="D × N", right_shape="N × M"),
    ),
    (
        lambda **given: step_through([Operation(**given)]),
        dict(name="n", equation="e", inputs={"a": EYE}, result_name="R", result=EYE, reach="all",
             note="", shape="D × N"),
    ),
    (explore_routing, dict(route=np.matmul, values=VALUES, presets={"a": (1, 0, 0)})),
    (lambda answer: explore_routing(lambda v, w: answer, VALUES), dict(answer=[1, 2])),
    (
        explore_dictionary,
        dict(look_up=mix, keys=[[1, 2], [0, 1]], values=[1, 2], labels=["a", "b"], query=(1, 0.5)),
    ),
    (
        lambda answer: explore_dictionary(lambda *asked: answer, EYE, [1, 2], ["a", "b"]),
        dict(answer=([0.5, 0.5], [1])),
    ),
    (
        lambda **given: explore_tokens(lambda text: TokenRows(**given), "a"),
        dict(rows=[("name", ["a", b"b", ("c", "kind")])]),
    ),
    (
        lambda **given: explore_alignment(lambda text: Alignment(**given), "a"),
        dict(source=["a", "b"], target=["c", "d"], weights=EYE, pairs=[(0, 1)],
             right=[True, False], note=""),
    ),
    (
        lambda pair: explore_alignment(lambda text: Alignment(["a"], ["b"], [[1]], [pair]), "a"),
        dict(pair=(0, 0)),
    ),
    (
        lambda **given: explore_beams(lambda words: Beams(**given), "a"),
        dict(nodes=[(None, "a", -1, "kept"), (0, "b", -2, "finished")]),
    ),
    (
        lambda **given: explore_beams(lambda words: Beams([tuple(given.values())]), "a"),
        dict(parent=None, token="a", log=-1, state="kept"),
    ),
    (
        lambda **given: explore_choices(lambda words: Choices(**given), "a"),
        dict(words=["a"], candidates=[("a", 0.5, 0.4, 1), ("b", 0.1, None, 0)]),
    ),
    (
        lambda **given: explore_choices(lambda words: Choices(words, [tuple(given.values())]), "a"),
        dict(word="a", model=0.5, truth=0.4, chosen=1),
    ),
    (
        lambda **given: explore_gaps(lambda words, masked: Gaps(**given), "a", masked=(0,)),
        dict(words=["a"], masked=(0,), guesses=[[("a", 0.5, 0.4), ("b", 0.1, None)]]),
    ),
    (
        lambda **given: explore_gaps(
            lambda words, masked: Gaps(words, masked, [[tuple(given.values())]]), "a", masked=(0,)
        ),
        dict(word="a", model=0.5, truth=0.4),
    ),
    (
        lambda **given: explore_merges(lambda words: Merges(**given), "a"),
        dict(steps=[([["a", "b"]], {("a", "b"): 1}, ("a", "b")), ([["ab"]], {}, None)]),
    ),
    (
        lambda **given: explore_merges(lambda words: Merges([tuple(given.values())]), "a"),
        dict(words=[["a", "b"]], counts={("a", "b"): 1}, pair=("a", "b")),
    ),
    (lambda token: explore_tokens(lambda text: TokenRows([(token, [token])]), "a"), dict(token="")),
    (explore_scores, dict(function=score, text="a b")),
    (explore_beams, dict(search=search, text="a b")),
    (explore_choices, dict(choose=choose, text="a b")),
    (explore_gaps, dict(guess=guess, text="a b", masked=(1,))),
    (explore_merges, dict(learn=unmerged, text="a b")),
    (explore_tokens, dict(split=cut, text="a b")),
    (explore_alignment, dict(function=align, text="a b")),
    (explore_lines, dict(lines=LINES)),
    (explore_moves, dict(moves=MOVES)),
    (explore_planes, dict(planes=PLANES)),
    (step_through, dict(steps=STEPS)),
    (lambda compute: explore_order(compute, ["a", "b"]), dict(compute=in_order)),
    (lambda words: explore_order(lambda order: in_order((0, 1)), words), dict(words=["a", "b"])),
    (lambda control: explore_lines(lambda k: LINES, control), dict(control=slider("k", 0, 1, 0))),
    (
        lambda control: explore_order(lambda order, k: in_order(order), ["a", "b"], control),
        dict(control=slider("k", 0, 1, 0)),
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("make", "given", "argument"),
    [(make, given, argument) for make, given in MAKERS for argument in given],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_anything_is_shown_or_refused_in_one_sentence(make, given, argument):
    make(**given)
    for odd in ODD:
        try:
            widget = make(**given | {argument: odd})
        except (TypeError, ValueError) as refused:
            words = str(refused)
            assert words.endswith(".") and "\n" not in words and len(words) < 300, (odd, words)
        else:
            state = {key: widget.get_state()[key] for key in widget.keys if key[0] != "_"}
            json.dumps(state, allow_nan=False, ensure_ascii=False).encode()
            (repr(widget) + widget.fallback()).encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\ufeff", "U+FEFF"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("\u05d0\u200f", "\u05d0⟨U+200F⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("0.5\u00a0nats", "0.5\u00a0nats"),
        ("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",) * 2,  # shapes the letters
        ("👩\u200d💻",) * 2,  # joins two pictures to one
    ],
)
def test_letters_without_width_are_made_visible(text, shown):
    assert visible(text) == sentence(text) == shown


def test_names_and_sentences_have_an_end():
    assert len(name("x" * 5000)) == 40
    assert len(sentence("x" * 5000)) == 400


@pytest.mark.parametrize(
    "widget",
    [
        lambda long: explore_lines(
            Lines([1, 2], {long: [1, 2]}, "", long, long, marks={long: ("x", 1)})
        ),
        lambda long: explore_dictionary(mix, EYE, [1, 2], [long, "b"]),
        lambda long: explore_routing(np.matmul, VALUES, {long: (1, 0, 0)}),
        lambda long: explore_scores(score, long),
        lambda long: explore_beams(search, long),
        lambda long: explore_choices(choose, long),
        lambda long: explore_gaps(guess, long, masked=(0,)),
        lambda long: explore_merges(unmerged, long),
        lambda long: explore_merges(
            lambda words: Merges([([[long, "b"]], {(long, "b"): 1}, (long, "b"))]), long
        ),
        lambda long: explore_tokens(lambda text: TokenRows([(long, [long, (long, long)])]), long),
        lambda long: explore_alignment(
            lambda text: Alignment([long, "b"], ["a", long], EYE, right=[True, False]), long
        ),
        lambda long: explore_moves(Moves([long, "b"], EYE, EYE)),
        lambda long: explore_order(
            lambda order: Ordered([[long, "b"][i] for i in order], [[1, 2]], [[1, 2]]), [long, "b"]
        ),
        lambda long: step_through([Product(long, "", long, EYE, long, EYE, long, EYE)]),
        lambda long: step_through([Operation(long, "", {long: EYE}, long, EYE, "all")]),
    ],
)  # fmt: skip
def test_very_long_names_are_shortened_for_eye_and_ear(widget):
    widget = widget("m" * 300)
    sent = {key: widget.get_state()[key] for key in widget.keys if key not in ("_esm", "values")}
    sent["controls"] = []  # a text box keeps what was typed
    assert "m" * 20 in json.dumps(sent)
    for shown in (json.dumps(sent), repr(widget), widget.fallback()):
        assert "m" * 41 not in shown


def test_curves_whose_names_begin_alike_stay_two():
    long = "m" * 300
    widget = explore_lines(Lines([1, 2], {long: [1, 2], long + "y": [2, 3]}, "", "", ""))
    assert len(widget.chart["curves"]) == 2


OURS = [kind for kind in Live.__subclasses__() if kind.__module__.startswith("helpers.")]


@pytest.mark.parametrize("widget", OURS, ids=lambda kind: kind.__name__)
def test_what_a_script_is_joined_from_declares_every_name_once(widget):
    names = re.findall(r"^(?:const|let|function|class) (\w+)", str(widget._esm), re.M)
    assert len(names) > 10 and len(names) == len(set(names))


def test_no_two_things_on_a_page_style_the_same_class():
    def classes(text):
        return set(re.findall(r"\.(tn-[\w-]+)", text))

    sheets = {file: classes(file.read_text("utf-8")) for file in WIDGETS.glob("*/widget.css")}
    everybody = set().union(*(classes(file.read_text()) for file in WIDGETS.glob("shared/*.css")))
    sheets["message boxes"] = classes(STYLE)
    styled = Counter(name for names in sheets.values() for name in names - everybody)
    assert {name: times for name, times in styled.items() if times > 1} == {}
    assert not sheets["message boxes"] & everybody


def turned(k):
    return Planes([1, 0], [1, 0], [0, 1] if k else [1, 0], [1, 0])


# What makes a widget that asks Python, and values that it can answer.
ASKING = [
    (lambda: explore_lines(lambda k: LINES, slider("k", 0, 1, 0)), dict(k=1)),
    (lambda: explore_scores(score, "a b"), dict(words="c")),
    (lambda: explore_tokens(cut, "a b"), dict(text="c")),
    (lambda: explore_alignment(align, "a b"), dict(text="c")),
    (lambda: explore_beams(search, "a b"), dict(words="c")),
    (lambda: explore_choices(choose, "a b"), dict(words="c")),
    (lambda: explore_merges(unmerged, "a b"), dict(words="c")),
    (lambda: explore_gaps(guess, "a b"), dict(words="c d", masked=[1])),
    (lambda: explore_moves(lambda on: MOVES, switches("on", ["a", "b"])), dict(on=[True, False])),
    (lambda: explore_planes(turned, slider("k", 0, 1, 0)), dict(k=1)),
    (lambda: explore_order(in_order, ["a", "b"]), dict(order=[1, 0])),
    (lambda: step_through(lambda k: STEPS, slider("k", 0, 1, 0)), dict(k=1)),
    (lambda: explore_routing(np.matmul, VALUES), dict(weights=[0, 1, 0])),
    (
        lambda: explore_dictionary(mix, EYE, [1, 2], ["a", "b"]),
        dict(query=[0.5, 0.5], sharpness=2.0),
    ),
]
sent = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(10**400), 10**400) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("make", "good"), ASKING, ids=lambda value: "-".join(value) if isinstance(value, dict) else ""
)
@settings(max_examples=40, deadline=None)
@given_any(data=st.data())
def test_after_any_messages_a_good_one_is_answered(make, good, data):
    widget = make()
    messages = data.draw(st.lists(st.fixed_dictionaries({name: sent for name in good}), max_size=4))
    for number, values in enumerate([*messages, good], 1):
        widget.set_state({"values": values, "asked": number})
        assert widget.answered == number and "\n" not in widget.problem
        (repr(widget) + widget.fallback() + widget.problem).encode()
    assert widget.problem == ""
