"""Text as tokens, merges of pairs, hidden words: three widgets without a browser."""

import json
import re
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.widgets import TokenRows, explore_tokens, slider
from helpers.widgets.shared.boxes import HUES, hues, token_text
from helpers.widgets.shared.live import WIDGETS
from helpers.widgets.tokens.widget import MOST_ROWS, MOST_TOKENS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
DESSERT = "Crème brûlée, 12345 walking"
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
        "Tokens of “Ada went”: bytes 8 tokens, 4.00 a word, pieces 3 tokens, 1.50 a word, "
        "words 2 tokens, 1.00 a word"
    )
    assert repr(rows("Ada went")) == "Tokens: bytes 8, pieces 4, words 2"
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
    assert repr(widget) == "Tokens of “”: bytes 0 tokens, pieces 0 tokens, words 0 tokens"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], f"There should be 1 to {MOST_ROWS} rows; got 0"),
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


def test_text_is_never_markup():
    made = [explore_tokens(lambda text: TokenRows([(HOSTILE, [(text, text)])]), HOSTILE)]
    for widget in made:
        bundle = widget._repr_mimebundle_()
        assert "<img" not in bundle["text/html"]
        assert bundle["text/plain"] == repr(widget)
        assert not re.search(r"\wHTML", str(widget._esm))  # innerHTML and its kin
