"""The chart of curves and the words' scores, without a browser."""

import json
import re
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.widgets import Lines, WordScores, explore_lines, explore_scores, slider
from helpers.widgets.lines.widget import LARGEST, MOST_CURVES, MOST_POINTS, in_words
from helpers.widgets.scores.widget import MOST_WORDS
from helpers.widgets.shared.live import WIDGETS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
LEXICON = {"not": -0.5, "terrible": -2.0, "lovely": 1.5}

real = st.floats(-LARGEST, LARGEST)


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def sizes(D=1024):
    N = np.arange(1, 101)
    ones = np.ones(100)
    curves = {
        "dense": (D * N) ** 2.0 + D * N,
        "convolution": (3 * D**2 + D) * ones,
        "self-attention": 3 * (D**2 + D) * ones,
    }
    marks = {"the passage": ("x", 37), "a billion": ("y", 1e9)}
    return Lines(N, curves, "Weights of a layer", "N", "weights", log_y=True, marks=marks)


def lines(**changes):
    arguments = dict(x=[1, 2, 3], curves={"a": [1, 2, 4]}, title="T", x_label="x", y_label="y")
    return Lines(**(arguments | changes))


def bag(words):
    scores = [LEXICON.get(word, 0.0) for word in words]
    total = sum(scores) + 0.2
    return WordScores(words, scores, total, "positive" if total > 0 else "negative")


# --- numbers in words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"), (37, "37"), (3.14159, "3.14"), (-0.0123, "−0.0123"), (0.0001, "0.0001"),
        (1e-9, "10⁻⁹"), (-2.46e-7, "−2.5 × 10⁻⁷"), (999.4, "999"), (999.6, "1,000"),
        (37888, "37,888"), (999_999.6, "1 million"), (3_147_000, "3.1 million"),
        (1.4355e9, "1.4 billion"), (999.97e6, "1 billion"), (2e12, "2 trillion"),
        (1e18, "10¹⁸"), (-3.2e30, "−3.2 × 10³⁰"), (float("nan"), "no value"),
    ],
)  # fmt: skip
def test_numbers_as_people_read_them(number, words):
    assert in_words(number) == words


@given(real)
def test_words_are_near_the_number(number):
    words = in_words(number).replace("−", "-").replace(",", "")
    for name, power in (("million", 6), ("billion", 9), ("trillion", 12), ("quadrillion", 15)):
        words = words.replace(f" {name}", f"e{power}")
    words = re.sub("(^|-)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", r"\g<1>1 × 10\2", words).replace(" × 10", "e")
    words = words.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    assert float(words) == pytest.approx(number, rel=0.051)


# --- lines -----------------------------------------------------------------------------------


def test_the_chart_in_words():
    widget = explore_lines(sizes, slider("D", 16, 2048, 1024))
    assert repr(widget) == (
        "Lines: Weights of a layer; at N = 37: "
        "dense 1.4 billion, convolution 3.1 million, self-attention 3.1 million"
    )
    again = explore_lines(sizes, slider("D", 16, 2048, 1024))
    assert (repr(widget), widget.fallback()) == (repr(again), again.fallback())
    rows = re.findall("<tr>.*?</tr>", widget.fallback())
    assert len(rows) == 9
    assert rows[0].count("<th") == 4
    assert ">1<" in rows[1] and ">100<" in rows[8]


def test_the_chart_follows_the_slider():
    widget = explore_lines(sizes, slider("D", 16, 2048, 1024))
    ask(widget, D=16)
    assert widget.chart["at"][36] == "N = 37"
    assert widget.chart["values"][36] == "dense 351,056, convolution 784, self-attention 816"
    assert widget.chart["marks"][0]["label"] == "the passage"


def test_places_lie_where_the_numbers_are():
    chart = explore_lines(
        lines(x=[1, 10, 1000], curves={"a": [0, 30, 100], "b": [None, 50, np.nan]}, log_x=True)
    ).chart
    assert chart["x"] == pytest.approx([0, 1 / 3, 1], abs=1e-4)
    assert chart["curves"][0]["y"] == [0, 0.3, 1]
    assert chart["curves"][1]["y"] == [None, 0.5, None]
    assert chart["values"][0] == "a 0, b no value"
    assert chart["ticks"]["x"] == [
        (0, "1"), (pytest.approx(1 / 3, abs=1e-4), "10"),
        (pytest.approx(2 / 3, abs=1e-4), "100"), (1, "1 thousand"),
    ]  # fmt: skip
    assert [words for _, words in chart["ticks"]["y"]] == ["0", "20", "40", "60", "80", "100"]


@pytest.mark.parametrize(
    ("y", "log", "words"),
    [
        ([0, 1, 1.3e9], False, ["0", "0.5 billion", "1.0 billion", "1.5 billion"]),
        ([-0.2, 0.1, 0.4], False, ["−0.2", "0", "0.2", "0.4"]),
        ([5, 5, 5], False, ["2", "4", "6", "8"]),
        ([0, 12_000, 19_000], False, ["0", "5,000", "10,000", "15,000", "20,000"]),
        ([2, 4, 30], True, ["2", "5", "10", "20", "50"]),
        ([700, 2e6, 3e6], True, ["100", "1 thousand", "10 thousand", "100 thousand", "1 million",
                                 "10 million"]),
        ([np.nan] * 3, True, ["1", "2", "5", "10"]),
    ],
)  # fmt: skip
def test_the_y_axis_ends_at_round_numbers(y, log, words):
    ticks = explore_lines(lines(curves={"a": y}, log_y=log)).chart["ticks"]["y"]
    assert [text for _, text in ticks] == words
    assert (ticks[0][0], ticks[-1][0]) == (0, 1)


def test_a_given_range_stays_while_the_slider_moves():
    widget = explore_lines(
        lambda k: lines(curves={"a": [0, k, 50 * k]}, y_range=(0, 10)), slider("k", 1, 9, 1)
    )
    before = widget.chart["ticks"]["y"]
    ask(widget, k=9)
    assert widget.chart["ticks"]["y"] == before
    assert widget.chart["curves"][0]["y"] == [0, 0.9, 9]  # far outside, yet upwards


def test_the_crosshair_starts_at_the_mark_or_in_the_middle():
    assert sizes().start == 36
    assert lines(x=range(9), curves={"a": range(9)}).start == 4


@settings(max_examples=200, deadline=None)
@given(st.data(), st.booleans(), st.booleans())
def test_any_numbers_can_be_drawn(data, log_x, log_y):
    def number(log):
        return st.floats(1 / LARGEST, LARGEST) if log else real

    x = sorted(data.draw(st.sets(number(log_x), min_size=2, max_size=20)))
    y = data.draw(st.lists(number(log_y) | st.just(np.nan), min_size=len(x), max_size=len(x)))
    marks = {"m": ("y", data.draw(number(log_y))), "n": ("x", data.draw(number(log_x)))}
    widget = explore_lines(lines(x=x, curves={"a": y}, log_x=log_x, log_y=log_y, marks=marks))
    chart = json.loads(json.dumps(widget.chart, allow_nan=False))
    for where in (*chart["x"], *chart["curves"][0]["y"], *(m["place"] for m in chart["marks"])):
        assert where is None or -1e-4 <= where <= 1 + 1e-4
    for ticks in chart["ticks"].values():
        places = [place for place, _ in ticks]
        assert places == sorted(places)
        assert len(ticks) <= 12
    assert len(chart["ticks"]["y"]) >= 2
    assert widget.fallback().count("<tr>") <= 9


def test_tensors_and_whole_numbers_are_drawn_too():
    chart = explore_lines(
        lines(x=torch.arange(3), curves={"a": torch.tensor([0.0, 1, 2], requires_grad=True)})
    ).chart
    assert chart["curves"][0]["y"] == [0, 0.5, 1]


def test_the_largest_chart_fits():
    x = np.arange(MOST_POINTS)
    widget = explore_lines(lines(x=x, curves={str(i): x * i for i in range(MOST_CURVES)}))
    assert len(widget.chart["at"]) == MOST_POINTS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(x=[1]), "2 to 500 numbers; got 1"),
        (dict(x=range(501)), "got 501"),
        (dict(x=[1, 3, 2]), "larger than the one before"),
        (dict(x=[1, 2, np.nan]), "larger than the one before"),
        (dict(x=[[1, 2, 3]]), r"row of numbers; its shape is \(1, 3\)"),
        (dict(x="abc"), "row of numbers"),
        (dict(curves={}), "1 to 6 curves"),
        (dict(curves=[1, 2, 3]), "dictionary"),
        (dict(curves={str(i): [1, 2, 3] for i in range(7)}), "1 to 6 curves"),
        (dict(curves={"short": [1, 2]}), "“short” should have 3 numbers, one an x; got 2"),
        (dict(curves={"far": [1, 2, np.inf]}), "“far” should hold finite numbers"),
        (dict(curves={"far": [1, 2, 10**400]}), "“far” should be a row of numbers"),
        (dict(curves={"odd": [1, 2, {}]}), "“odd” should be a row of numbers"),
        (dict(log_y=True, curves={"a": [1, 0, 2]}), "logarithmic y axis .* one is 0"),
        (dict(log_x=True, x=[-3, 1, 2]), "logarithmic x axis .* one is −3"),
        (dict(log_y=True, marks={"m": ("y", -1)}), "logarithmic y axis"),
        (dict(marks={"m": 37}), "Mark “m”"),
        (dict(marks={"m": ("z", 37)}), "Mark “m”"),
        (dict(marks={"m": ("x", np.inf)}), "Mark “m”"),
        (dict(y_range=(2, 1)), "lowest and the highest"),
        (dict(y_range=(1, 1)), "lowest and the highest"),
        (dict(y_range=(0, np.nan)), "lowest and the highest"),
        (dict(y_range=(0, 1), log_y=True), "both above zero"),
        (dict(y_range=5), "y_range should be a row"),
    ],
)  # fmt: skip
def test_lines_refuse_what_they_cannot_draw(changes, words):
    with pytest.raises(ValueError, match=words) as caught:
        lines(**changes)
    assert "\n" not in str(caught.value)


def test_a_fault_in_the_function_is_one_sentence_and_the_picture_stays():
    widget = explore_lines(
        lambda k: lines(curves={"a": [1, 2, 3 - k]}, log_y=True), slider("k", 0, 9, 0)
    )
    before = dict(widget.chart)
    ask(widget, k=4)
    assert widget.problem == "A logarithmic y axis needs numbers above zero; one is −1."
    assert widget.chart == before
    ask(widget, k=1)
    assert widget.problem == ""
    assert widget.chart != before


# --- scores ----------------------------------------------------------------------------------


def test_scores_in_words():
    widget = explore_scores(bag, "not a terrible place")
    assert repr(widget) == (
        "Word scores: not −0.50, a 0.00, terrible −2.00, place 0.00; "
        "words −2.50 + bias 0.20 = total −2.30: negative"
    )
    again = explore_scores(bag, "not a terrible place")
    assert (repr(widget), widget.fallback()) == (repr(again), again.fallback())
    assert [word["bar"] for word in widget.state["words"]] == [-0.25, 0, -1, 0]
    ask(widget, words="lovely")
    assert widget.state["words"] == [{"text": "lovely", "bar": 1.0, "score": "+1.50"}]
    assert widget.state["summary"] == "words 1.50 + bias 0.20 = total 1.70: positive"


@pytest.mark.parametrize(
    ("scores", "total", "summary"),
    [
        ([1.5, -1], 0.5, "words 0.50 = total 0.50: so"),
        ([0.1, 0.2], 0.3, "words 0.30 = total 0.30: so"),
        ([1, 1], -1, "words 2.00 − bias 3.00 = total −1.00: so"),
        (torch.ones(2), torch.tensor(2.0), "words 2.00 = total 2.00: so"),
    ],
)
def test_the_total_is_words_and_bias(scores, total, summary):
    assert WordScores(["a", "b"], scores, total, "so").summary() == summary


def test_small_scores_have_small_bars():
    shown = explore_scores(lambda words: WordScores(words, [0.01], 0.01, ""), "a").state["words"]
    assert shown == [{"text": "a", "bar": 0.01, "score": "+0.01"}]


def test_a_long_text_is_cut_and_says_so():
    widget = explore_scores(bag, "lovely " * 300)
    assert len(widget.state["words"]) == MOST_WORDS
    assert widget.state["note"] == "Shown: the first 80 of 300 words; the total counts all."
    assert "total 450.20" in widget.state["summary"]
    assert "80 of 300" in widget.fallback()
    assert repr(widget).count("lovely") == MOST_WORDS
    ask(widget, words="x" * 10**6)
    assert len(widget.state["words"][0]["text"]) == 24


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.none(), st.integers(), st.lists(st.text())))
def test_any_text_is_an_answer_or_one_sentence(text):
    widget = explore_scores(bag, "lovely")
    ask(widget, words=text)
    assert "\n" not in widget.problem
    if isinstance(text, str) and text.split():
        assert widget.problem == ""
        assert len(widget.state["words"]) == min(len(text[:2000].split()), MOST_WORDS)


def test_letters_that_cannot_be_seen_or_sent_get_a_mark():
    result = WordScores(["a\u202eb", "\ud800", "\x00"], [0, 0, 0], 0, "so\ud800")
    assert result.words == ["a\ufffdb", "?", "\ufffd"]
    repr(result).encode()


def test_no_word_is_one_sentence_and_the_picture_stays():
    widget = explore_scores(bag, "lovely")
    before = dict(widget.state)
    ask(widget, words="   ")
    assert (widget.problem, widget.state) == ("Type at least one word.", before)


@pytest.mark.parametrize(
    ("words", "scores", "total", "sentence"),
    [
        ("not good", [1, 2], 3, "use text.split"),
        ([], [], 0, "at least one word"),
        (["a"], [1, 2], 3, r"shape \(1,\); got \(2,\)"),
        (["a"], [np.nan], 3, "The scores of the words should hold finite numbers"),
        (["a"], [1], np.inf, "The total should hold finite numbers"),
        (["a"], [1], [1, 2], "The total should have the shape"),
    ],
)
def test_scores_refuse_what_they_cannot_draw(words, scores, total, sentence):
    with pytest.raises(ValueError, match=sentence):
        WordScores(words, scores, total, "")


# --- both ------------------------------------------------------------------------------------


@pytest.mark.parametrize("explore", [explore_lines, lambda f: explore_scores(f, "a")])
def test_the_function_must_return_what_can_be_drawn(explore):
    with pytest.raises(TypeError, match=r"The function must return \w+, not int\."):
        explore(lambda *words, **values: 3)


def luminance(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", ["", ".tn-dark "])
def test_names_are_readable_in_their_colors(theme):
    common = (WIDGETS / "shared/common.css").read_text()
    panels = re.findall("--tn-panel: (#[0-9a-f]{6})", common)
    panel = luminance(panels[bool(theme)])
    sheet = (WIDGETS / "lines/widget.css").read_text()
    colors = re.findall(rf"^{re.escape(theme)}\.tn-lines-\d {{ color: (#\w{{6}})", sheet, re.M)
    assert len(set(colors)) == MOST_CURVES
    for color in colors:
        low, high = sorted((panel, luminance(color)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, color
