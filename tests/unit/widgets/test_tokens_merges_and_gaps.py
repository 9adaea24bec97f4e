"""Text as tokens, merges of pairs, hidden words: three widgets without a browser."""

import json
import re
from collections import Counter
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.widgets import (
    Gaps,
    Merges,
    TokenRows,
    explore_gaps,
    explore_merges,
    explore_tokens,
    slider,
)
from helpers.widgets.gaps.widget import MOST_MASKED
from helpers.widgets.gaps.widget import MOST_WORDS as MOST_SHOWN
from helpers.widgets.merges.widget import MOST_PAIRS, MOST_ROWS, MOST_STEPS, MOST_WORDS
from helpers.widgets.shared.boxes import HUES, hues, token_text
from helpers.widgets.shared.live import WIDGETS
from helpers.widgets.tokens.widget import MOST_ROWS as MOST_WAYS
from helpers.widgets.tokens.widget import MOST_TOKENS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
DESSERT = "Crème brûlée, 12345 walking"
RHYME = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see see "
    "see was the bottom of the deep blue sea sea sea"
)
PIECES = "creme brule ##e , 123 ##45 walk ##ing".split()


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


# --- boxes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("sea", "sea"),
        (" sea", "␣sea"),
        ("  ", "␣␣"),
        ("a\n\tb", "a↵⇥b"),
        ("", "∅"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("\u0301", "U+0301"),
        ("a\u200b", "a⟨U+200B⟩"),
        ("e\u0301", "e\u0301"),
        ("\u202egnp", "\ufffdgnp"),
        ("so\ud800", "so?"),
        ("x" * 30, "x" * 23 + "…"),
        (b" sea", "␣sea"),
        ("è".encode(), "è"),
        (b"\xc3", "⟨C3⟩"),
        (b"\x00\n\x7f", "⟨00⟩↵⟨7F⟩"),
    ],
)
def test_what_is_written_in_a_box(token, text):
    assert token_text(token) == text


def test_up_to_ten_names_have_ten_colors():
    names = [f"kind {i}" for i in range(HUES)]
    assert sorted(hues(names).values()) == list(range(HUES))
    assert hues(["place"]) == {"place": hues(["place", "place"])["place"]}
    assert set(hues(map(str, range(99)))) == set(map(str, range(99)))


def contrast(one, other):
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_and_marks_are_readable_on_every_color(theme):
    def color(name, file):
        text = (WIDGETS / "shared" / file).read_text("utf-8")
        return re.findall(rf"--tn-{name}: (#\w{{6}});", text)[theme]

    for ink in ("ink", "muted"):
        for number in range(HUES):
            ground = color(f"hue-{number}", "boxes.css")
            assert contrast(color(ink, "common.css"), ground) >= 4.5


# --- tokens ----------------------------------------------------------------------------------


def rows(text, size=2):
    return TokenRows([
        ("bytes", [bytes([byte]) for byte in text.encode("utf-8", "replace")]),
        ("pieces", [text[i : i + size] for i in range(0, len(text), size)]),
        ("words", [(word, "name" if word.istitle() else None) for word in text.split()]),
    ])  # fmt: skip


def shown(widget, row):
    return [text for text, *_ in widget.state["rows"][row]["tokens"]]


def test_rows_in_words():
    widget = explore_tokens(rows, "Ada went", slider("size", 1, 9, 3))
    assert repr(widget) == (
        "Tokens of “Ada went”. bytes: 8 tokens, 4.00 a word; pieces: 3 tokens, 1.50 a word; "
        "words: 2 tokens, 1.00 a word"
    )
    assert repr(rows("Ada went")) == "Tokens. bytes: 8; pieces: 4; words: 2"
    assert shown(widget, 1) == ["Ada", "␣we", "nt"]
    row = '<tr><th scope="row">words</th><td>Ada (name) | went</td><td>2 tokens, 1.00 a word</td>'
    assert row in widget.fallback()
    assert widget.fallback() == explore_tokens(rows, "Ada went", slider("size", 1, 9, 3)).fallback()
    ask(widget, text=" Ada ", size=9)
    assert shown(widget, 1) == ["␣Ada␣"]  # as it was typed
    assert [row["share"] for row in widget.state["rows"]] == [1, 0.2, 0.2]


def test_one_token_has_one_color_and_one_kind_has_one():
    widget = explore_tokens(rows, "Eve Eve was Eve")
    tokens = widget.state["rows"][0]["tokens"]
    assert tokens[0][1] == tokens[4][1] == tokens[12][1]
    words = widget.state["rows"][2]["tokens"]
    assert [(kind, hue is None) for _, hue, kind, _ in words] == [
        ("name", False), ("name", False), ("", True), ("name", False),
    ]  # fmt: skip


def test_a_token_knows_which_letters_it_stands_for():
    widget = explore_tokens(
        lambda text: TokenRows([
            ("bytes", [bytes([byte]) for byte in text.encode()]),
            ("WordPiece", PIECES),
            ("marked", ["Crème_", "brûl", "ée,</w>", "▁12345", "Ġwalking"]),
            ("unknown", ["<cls>", "Crème", "<unk>", "12345", "walking", "<sep>"]),
        ]),
        DESSERT,
    )  # fmt: skip
    raw = DESSERT.encode()

    def letters(row):
        places = [token[3] for token in widget.state["rows"][row]["tokens"]]
        return [place and raw[slice(*place)].decode("utf-8", "replace") for place in places]

    assert letters(0)[:4] == ["C", "r", "\ufffd", "\ufffd"]
    assert letters(1) == ["Crème", "brûlé", "e", ",", "123", "45", "walk", "ing"]
    assert letters(2) == ["Crème", "brûl", "ée,", "12345", "walking"]
    assert letters(3) == [None, "Crème", None, "12345", "walking", None]


def test_rows_can_be_compared_by_place():
    translations = TokenRows(
        [("true", ["le", "bateau"]), ("written", [("le", "right"), ("train", "wrong"), "le"])],
        by="place",
    )
    widget = explore_tokens(lambda text: translations, "the train le")
    assert widget.state["by"] == "place"
    places = [[token[3] for token in row["tokens"]] for row in widget.state["rows"]]
    assert places == [[[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 3]]]
    assert repr(widget) == "Tokens of “the train le”. true: 2 tokens; written: 3 tokens"
    assert explore_tokens(rows, "a", slider("size", 1, 9, 3)).state["by"] == "letters"


def test_a_long_row_is_cut_and_says_so():
    widget = explore_tokens(rows, "lovely " * 200)
    assert len(shown(widget, 0)) == MOST_TOKENS
    first = widget.state["rows"][0]
    assert first["size"] == "1,400 tokens, 7.00 a word"
    assert first["note"] == "Shown: the first 200 of 1,400 tokens; the count counts all."
    assert widget.fallback().count("| …") == 3  # also where sixty tokens are too many to read
    assert all(len(line) < 900 for line in widget.fallback().split("</tr>"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=30), st.integers(1, 9)), min_size=1, max_size=4))
def test_any_text_is_shown(asked):
    widget = explore_tokens(rows, "a", slider("size", 1, 9, 3))
    for text, size in asked:
        ask(widget, text=text, size=size)
        assert widget.problem == ""
        sent = json.dumps(widget.state, ensure_ascii=False)
        sent.encode()
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", sent)
        for row in widget.state["rows"][:2]:  # bytes and pieces make up the text
            places = [place for *_, place in row["tokens"]]
            ends = [0, *(end for _, end in places)]
            assert [begin for begin, _ in places] == ends[:-1]
            assert ends[-1] == len(text.encode("utf-8", "surrogatepass"))
        repr(widget).encode()
        widget.fallback().encode()


def test_an_empty_text_is_a_text():
    widget = explore_tokens(rows, "")
    assert [row["size"] for row in widget.state["rows"]] == ["0 tokens"] * 3
    assert repr(widget) == "Tokens of “”. bytes: 0 tokens; pieces: 0 tokens; words: 0 tokens"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], f"There should be 1 to {MOST_WAYS} rows; got 0"),
        ([("a", ["b"])] * 9, "got 9"),
        ("ab", "The rows should be a list, not str"),
        ({"a": ["b"]}, "The rows should be a list, not dict"),
        ([("a", "b", "c")], "Each row should be a pair of a name and a list of tokens"),
        ([("a", "text")], "The tokens of row “a” should be a list, not str"),
        ([("a", 3)], "The tokens of row “a” should be a list, not int"),
        ([("a", [3])], "A token should be a text, or bytes, or a pair .* got a int"),
        ([("a", [("b", "c", "d")])], "got a tuple"),
        ([("a", [(3, "kind")])], "got a int"),
    ],
)
def test_rows_that_cannot_be_drawn(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        TokenRows(given)


def test_rows_are_compared_in_one_of_two_ways():
    for by in ("words", None, 3):
        with pytest.raises(ValueError, match=r'Rows are compared by "letters" or by "place"\.'):
            TokenRows([("a", ["b"])], by=by)


def test_a_fault_in_the_function_is_one_sentence_and_the_picture_stays():
    def split(text, size):
        if size == 7:
            raise ValueError("Seven is not allowed here.")
        return rows(text, size) if size < 9 else [text]

    widget = explore_tokens(split, "sea", slider("size", 1, 9, 3))
    before = dict(widget.state)
    for size, problem in (
        (7, "Seven is not allowed here."),
        (9, "The function must return TokenRows, not list."),
    ):
        ask(widget, text="other", size=size)
        assert (widget.problem, widget.state) == (problem, before)
    ask(widget, text="other", size=5)
    assert (widget.problem, shown(widget, 1)) == ("", ["other"])


# --- merges ----------------------------------------------------------------------------------


def merged(word, pair):
    """The word after the merge, from left to right: a second way to say it."""
    left = re.escape("\0".join(pair))
    found = re.sub(f"(?<![^\0]){left}(?![^\0])", "".join(pair), "\0".join(word))
    return found.split("\0")


def learn(words, most=22):
    steps, words = [], [[*word, "_"] for word in words]
    for number in range(most + 1):
        counts = Counter(pair for word in words for pair in pairwise(word))
        end = number == most or not counts
        pair = None if end else min(counts, key=lambda pair: (-counts[pair], pair))
        steps.append((words, counts, pair))
        if end:
            break
        words = [merged(word, pair) for word in words]
    return Merges(steps)


def spelled(widget, step):
    tokens = [text for text, _ in widget.state["tokens"]]
    return ["".join(tokens[i] for i in word) for word in widget.state["steps"][step]["words"]]


def test_the_rhyme_in_words():
    widget = explore_merges(learn, RHYME)
    assert repr(widget) == (
        "Merges: 22 merges, from 19 distinct tokens, 140 in all to 29 distinct tokens, 61 in all; "
        "after 0 of 22 merges: 19 distinct tokens, 140 in all; next s + e → se, 13 times"
    )
    widget.step = 1
    assert repr(widget).endswith("20 distinct tokens, 127 in all; next e + _ → e_, 12 times")
    widget.step = 2
    assert repr(widget).endswith("next a + _ → a_, 7 times; 1 other pair as often")
    widget.step = 99
    assert (widget.step, widget.state["steps"][22]["next"]) == (22, None)
    assert repr(widget).endswith("29 distinct tokens, 61 in all; nothing more is merged")
    row = '<tr><th scope="row">1</th><td>20</td><td>127</td><td>e + _ → e_, 12 times</td></tr>'
    assert row in widget.fallback()
    assert widget.fallback() == explore_merges(learn, RHYME).fallback()


def test_each_step_holds_the_pairs_the_tokens_and_what_was_made():
    widget = explore_merges(learn, RHYME)
    tokens = [text for text, _ in widget.state["tokens"]]
    first, second, *_ = widget.state["steps"]
    pairs = [(tokens[left] + tokens[right], count) for left, right, count in first["pairs"]]
    assert pairs[:5] == [("se", 13), ("e_", 12), ("ee", 8), ("a_", 7), ("ea", 6)]
    assert (len(pairs), first["morePairs"], first["next"], first["made"]) == (10, 38, 0, None)
    assert tokens[second["made"]] == "se"
    common = [(tokens[token], count) for token, count in second["tokens"]]
    assert common[:3] == [("_", 33), ("e", 15), ("se", 13)]
    for number, step in enumerate(widget.state["steps"]):
        assert spelled(widget, number) == [f"{word}_" for word in RHYME.split()]
        assert sum(count for _, count in step["tokens"]) == step["length"]
        assert len(step["tokens"]) + step["moreTokens"] == step["distinct"]


def test_the_pair_that_is_merged_is_among_those_shown():
    words = [list("abcdefghijklmnopqrst")]
    counts = {pair: 2 for pair in pairwise(words[0])}
    after = [["ab", *words[0][2:]]]
    steps = [(words, counts, ("q", "r")), (after, {}, None)]
    widget = explore_merges(lambda words: Merges(steps), "a")
    step = widget.state["steps"][0]
    assert (step["next"], len(step["pairs"])) == (0, MOST_PAIRS)  # first of its equals
    counts[("q", "r")] = 1
    widget = explore_merges(lambda words: Merges(steps), "a")
    step = widget.state["steps"][0]
    assert (step["next"], len(step["pairs"])) == (MOST_PAIRS, MOST_PAIRS + 1)
    assert widget.state["steps"][1]["pairs"] == []


def test_counts_of_zero_and_of_numpy_are_counts():
    counts = {("a", "b"): np.int64(1), ("b", "c"): 0}
    widget = explore_merges(lambda words: Merges([([["a", "b"]], counts, None)]), "a")
    assert widget.state["steps"][0]["pairs"] == [[0, 1, 1]]
    json.dumps(widget.state)


def test_a_long_text_is_cut_and_says_so_in_merges():
    widget = explore_merges(lambda words: learn(words, 150), " ".join(map(str, range(1000, 1150))))
    assert len(widget.state["steps"]) == MOST_STEPS + 1
    assert len(widget.state["steps"][0]["words"]) == MOST_WORDS
    assert widget.state["note"] == (
        "Shown: the first 80 of 150 words and the first 100 of 150 merges; the counts count all."
    )
    assert f"(the first {MOST_ROWS} steps of 151)" in widget.fallback()
    assert repr(widget).startswith("Merges: 150 merges")


events = st.one_of(st.integers(-3, 40), st.text(alphabet="abc \u0301$<", max_size=30))


@settings(max_examples=60, deadline=None)
@given(st.lists(events, max_size=6))
def test_any_steps_and_texts_in_any_order(asked):
    widget = explore_merges(learn, "aaa aab")
    text = "aaa aab"
    for event in asked:
        if isinstance(event, int):
            widget.set_state({"step": event})
        else:
            ask(widget, words=event)
            text = event if event.split() else text
            assert widget.problem == ("" if event.split() else "Type at least one word.")
        assert 0 <= widget.step < len(widget.state["steps"])
        assert widget.result.steps[0].text == [f"{word}_" for word in text.split()]
        assert f"after {widget.step} of {len(widget.result.steps) - 1} merges" in repr(widget)
        (repr(widget) + widget.fallback()).encode()
        json.dumps(widget.state, ensure_ascii=False).encode()


WORDS, COUNTS = [["a", "b"]], {("a", "b"): 1}


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ([], "There should be at least one step"),
        ("ab", "The steps should be a list, not str"),
        ([(WORDS, COUNTS)], "Step 0 should be a triple of words, counts and a pair"),
        ([("ab", COUNTS, None)], "The words of step 0 should be a list, not str"),
        ([(["ab"], COUNTS, None)], "Each word of step 0 should be a list, not str"),
        ([([[3]], COUNTS, None)], "Step 0 should have texts as tokens, not int"),
        ([([], COUNTS, None)], "Step 0 has no tokens"),
        ([([[]], COUNTS, None)], "Step 0 has no tokens"),
        ([(WORDS, [1], None)], "Step 0 should have its counts in a dictionary"),
        ([(WORDS, {"ab": 1}, None)], r"Step 0 should have pairs \(left, right\) of tokens"),
        ([(WORDS, {("a", "b"): 0.5}, None)], "Step 0 should have counts that are whole numbers"),
        ([(WORDS, {("a", "b"): -1}, None)], "whole numbers, 0 or more"),
        ([(WORDS, {("a", "b"): True}, None)], "whole numbers, 0 or more"),
        ([(WORDS, COUNTS, ("b", "a"))], r"Step 0 merges b \+ a, which is not among its counts"),
        ([(WORDS, COUNTS, None)] * 2, "Step 0 should have a pair to merge: only the last"),
        (
            [(WORDS, COUNTS, ("a", "b")), ([["b", "a"]], {}, None)],
            "Step 1 does not spell the text of step 0",
        ),
    ],
)
def test_merges_that_cannot_be_drawn(steps, sentence):
    with pytest.raises(ValueError, match=sentence):
        Merges(steps)


def test_a_learner_who_returns_something_else_gets_one_sentence():
    widget = explore_merges(lambda words: learn(words) if len(words) < 3 else words, "sea see")
    before, widget.step = dict(widget.state), 2
    ask(widget, words="sea see sea")
    assert widget.problem == "The function must return Merges, not list."
    assert (widget.state, widget.step) == (before, 2)


# --- gaps ------------------------------------------------------------------------------------


def guess(words, masked, sureness=0.5):
    return Gaps(
        words,
        masked,
        [
            [(words[place], sureness, 0.25), ("peanut", (1 - sureness) / 4, None)]
            for place in masked
        ],
    )


def station(**given):
    return explore_gaps(guess, "The train pulled into the station", **given)


def test_gaps_in_words():
    widget = station(masked=(5, 1))
    assert repr(widget) == (
        "Gaps in “The train pulled into the station”: for “train” it guesses “train”, 0.50; "
        "for “station” it guesses “station”, 0.50"
    )
    assert repr(station()) == "Gaps in “The train pulled into the station”: No word is hidden."
    row = (
        '<tr><th scope="row">place 1, hidden “train”</th>'
        "<td>peanut</td><td>0.12</td><td>–</td></tr>"
    )
    assert row.replace("0.12", "0.13") in widget.fallback()
    assert widget.fallback() == station(masked=(1, 5)).fallback()


def test_the_bars_share_one_round_end():
    def card(*guesses):
        gaps = Gaps(["a"], (0,), [guesses])
        return explore_gaps(lambda words, masked: gaps, "a", masked=(0,)).state

    state = card(("a", 0.04, 0.2), ("b", 0.01, 0))
    assert (state["full"], state["truths"]) == ("0.25", True)
    first, second = state["gaps"][0]["guesses"]
    assert (first["bar"], first["mark"], first["right"]) == (0.16, 0.8, True)
    assert (second["bar"], second["mark"], second["truth"]) == (0.04, 0, "0.00")
    state = card(("b", 0.004, None))
    assert (state["full"], state["truths"], state["gaps"][0]["missed"]) == ("0.10", False, True)
    assert state["gaps"][0]["guesses"][0]["model"] == "< 0.01"
    assert card(("b", 1 + 1e-6, 1))["full"] == "1.00"  # as float32 adds


def test_hiding_and_showing_words():
    widget = explore_gaps(guess, "a b c d e", slider("sureness", 0.0, 1.0, 0.5))
    ask(widget, words="a b c d e", masked=[3, 0], sureness=1)
    assert (widget.state["masked"], widget.values["masked"]) == ([0, 3], [0, 3])
    assert widget.state["summary"] == "for “a” it guesses “a”, 1.00; for “d” it guesses “d”, 1.00"
    ask(widget, words="a b", masked=[0, 3], sureness=1)  # one of the places is gone
    assert (widget.problem, widget.state["masked"]) == ("", [0])
    ask(widget, words="a b c d", masked=[], sureness=0)
    assert (widget.state["masked"], widget.state["gaps"]) == ([], [])
    assert widget.state["summary"] == "No word is hidden."


def test_without_a_gap_the_model_is_not_asked():
    asked = []

    def noting(words, masked):
        asked.append(masked)
        return guess(words, masked)

    widget = explore_gaps(noting, "a b")
    ask(widget, words="a b", masked=[1])
    assert asked == [(1,)]
    assert all(type(place) is int for place in asked[0])


def test_a_long_sentence_is_cut_and_says_so():
    widget = explore_gaps(guess, "lovely " * 300, masked=(99,))
    assert len(widget.state["words"]) == MOST_SHOWN
    assert widget.state["note"] == "Shown: the first 80 of 300 words."
    assert widget.state["masked"] == [99]


places = st.lists(st.integers(-1, 6) | st.booleans() | st.floats() | st.text(max_size=2))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.text(alphabet="ab \u200b<$", max_size=12), places), max_size=5))
def test_any_words_and_places_in_any_order(asked):
    widget = explore_gaps(guess, "a b c", masked=(1,))
    for words, masked in asked:
        before = dict(widget.state)
        ask(widget, words=words, masked=masked)
        good = all(type(place) is int and place >= 0 for place in masked)
        shown = sorted(place for place in masked if good and place < len(words.split()))
        good = good and len(set(masked)) == len(masked) and len(shown) <= MOST_MASKED
        if good and words.split():
            assert (widget.problem, widget.state["masked"]) == ("", shown)
            assert len(widget.state["gaps"]) == len(shown)
        else:
            assert widget.problem and widget.state == before
        (repr(widget) + widget.fallback()).encode()
        json.dumps(widget.state, allow_nan=False).encode()


GUESS = [("a", 0.5, None)]


@pytest.mark.parametrize(
    ("words", "masked", "guesses", "sentence"),
    [
        ("a b", (), [], "words should be a list of words, not one text"),
        (["a"], (1,), [GUESS], "The masked places should be different whole numbers from 0 to 0"),
        (["a"], (0, 0), [GUESS] * 2, "different whole numbers from 0 to 0"),
        (["a"], (-1,), [GUESS], "different whole numbers"),
        (["a"], (True,), [GUESS], "different whole numbers"),
        (["a"], 0, [GUESS], "The masked places should be a list, not int"),
        (["a"], (0,), [], "There should be guesses for 1 masked places; got 0"),
        (["a"], (0,), [[]], "There should be 1 to 8 guesses for a place; got 0"),
        (["a"], (0,), [GUESS * 9], "got 9"),
        (["a"], (0,), [["a"]], "A guess should be a triple of a word, its probability and"),
        (["a"], (0,), [[("a", 0.5)]], "A guess should be a triple"),
        (["a"], (0,), [[("a", 1.1, None)]], "A probability should be from 0 to 1; got 1.1"),
        (["a"], (0,), [[("a", 0.5, -0.1)]], "A probability should be from 0 to 1; got -0.1"),
        (["a"], (0,), [[("a", np.nan, None)]], "A probability should hold finite numbers"),
        (["a"], (0,), [[("a", "x", None)]], "A probability should be numbers"),
    ],
)
def test_gaps_that_cannot_be_drawn(words, masked, guesses, sentence):
    with pytest.raises(ValueError, match=sentence):
        Gaps(words, masked, guesses)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda words, masked: guess([*words, "x"], masked), "for the places [0] of 2 words; got"),
        (lambda words, masked: guess(words, (1,)), "got [1] of 2."),
        (lambda words, masked: guess, "The function must return Gaps, not function."),
    ],
)
def test_the_answer_is_for_what_was_asked(answer, sentence):
    widget = explore_gaps(answer, "a b")
    before = dict(widget.state)
    ask(widget, words="a b", masked=[0])
    assert sentence in widget.problem and widget.state == before


def test_at_most_six_words_are_hidden():
    widget = explore_gaps(guess, "a b c d e f g", masked=(0,))
    ask(widget, words="a b c d e f g", masked=list(range(7)))
    assert widget.problem == "At most 6 words can be hidden at once."
    assert widget.state["masked"] == [0]
    ask(widget, words="a b c d e f", masked=list(range(7)))
    assert (widget.problem, len(widget.state["masked"])) == ("", 6)
    with pytest.raises(ValueError, match="different whole numbers from 0 to 6"):
        explore_gaps(guess, "a b c d e f g", masked=(7,))


# --- all -------------------------------------------------------------------------------------


def test_text_is_never_markup():
    made = [
        explore_tokens(lambda text: TokenRows([(HOSTILE, [(text, text)])]), HOSTILE),
        explore_merges(lambda words: Merges([([[HOSTILE]], {(HOSTILE, "a"): 1}, None)]), HOSTILE),
        explore_gaps(
            lambda words, masked: Gaps(words, masked, [[(HOSTILE, 1, None)]]), HOSTILE, masked=(0,)
        ),
    ]
    for widget in made:
        bundle = widget._repr_mimebundle_()
        assert "<img" not in bundle["text/html"]
        assert bundle["text/plain"] == repr(widget)
        assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin
