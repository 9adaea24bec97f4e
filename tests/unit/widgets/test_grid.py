"""The grid of colored cells, without a browser."""

import json
import re
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from helpers.widgets import Page, explore_grid, slider
from helpers.widgets.grid.widget import LARGEST, MOST, scale
from helpers.widgets.shared.live import WIDGETS

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
QUESTION = count(1)
TABLE = [[0.5, -0.125, 2], [np.nan, 0, -1]]

anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(),
    st.lists(st.none() | st.text() | st.floats(), max_size=3),
    arrays(float, array_shapes(max_dims=3, max_side=3)),
)  # fmt: skip


def page(**changes):
    return Page(**(dict(name="T", matrix=TABLE, row_label="token", column_label="head") | changes))


def ask(widget, **values):
    """What a browser does: send the values and raise the question's number."""
    question = next(QUESTION)
    widget.set_state({"values": values, "asked": question})
    assert widget.answered == question


def encoding(D, N):
    Pi = np.sin(np.outer(np.arange(1, D + 1), np.arange(N)))
    return [
        Page("Π", Pi, row_label="feature", column_label="position"),
        Page("ΠᵀΠ", Pi.T @ Pi, row_label="position", column_label="position"),
    ]


def live(**chosen):
    return explore_grid(encoding, slider("D", 1, 64, 4), slider("N", 1, 128, 6), **chosen)


# --- words -----------------------------------------------------------------------------------


def test_the_grid_in_words():
    widget = explore_grid(page(), cell=(0, 1))
    assert repr(widget) == (
        "Grid: T: 2 × 3 (token × head), −1 to 2. Chosen: token 0, head 1: −0.13"
    )
    widget.row, widget.column = 1, 0
    assert repr(widget).endswith("Chosen: token 1, head 0: empty")


def test_several_pages_in_words():
    assert re.fullmatch(
        r"Grid: Π: 4 × 6 \(feature × position\), −0\.\d+ to 0\.\d+; "
        r"ΠᵀΠ: 6 × 6 \(position × position\), .+ to .+\. "
        r"Chosen in ΠᵀΠ: position 5, position 2: −?\d\.\d\d",
        repr(live(page=1, cell=(5, 2))),
    )
    assert repr(live(page=1)) == repr(live(page=1))


def test_labels_name_rows_and_columns():
    grid = page(rows=["the", "cat"], columns=np.array([10, 20, 30]))
    assert grid.cell(1, 2) == "token cat, head 30: −1.00"
    assert page(rows="x y".split()).columns == ["0", "1", "2"]


@pytest.mark.parametrize(("shape", "rows", "cut"), [((3, 4), 4, False), ((64, 128), 9, True)])
def test_the_static_table_is_small(shape, rows, cut):
    html = explore_grid(page(matrix=np.ones(shape))).fallback()
    assert html.count("<tr>") == rows
    assert html.count("<td>") == min(shape[0], 8) * min(shape[1], 8)
    assert ("shown: the first 8 × 8" in html) == cut
    assert html == explore_grid(page(matrix=np.ones(shape))).fallback()


def test_the_static_table_holds_what_the_cells_hold():
    html = explore_grid(page()).fallback()
    assert re.findall("<td>(.*?)</td>", html) == [
        "0.50", "−0.13", "2.00", "empty", "0.00", "−1.00",
    ]  # fmt: skip


def test_whole_numbers_have_no_decimals():
    counts = page(matrix=[[3, 0, np.nan], [-12, 100, 1e6]], whole=True)
    html = explore_grid(counts).fallback()
    assert re.findall("<td>(.*?)</td>", html) == ["3", "0", "empty", "−12", "100", "1000000"]
    assert counts.cell(0, 0) == "token 0, head 0: 3"
    assert counts.picture()["whole"] and not page().picture()["whole"]


def test_text_is_never_markup():
    widget = explore_grid(
        page(name=HOSTILE, rows=[HOSTILE] * 2, columns=[HOSTILE] * 3, row_label=HOSTILE,
             column_label=HOSTILE, note=HOSTILE)
    )  # fmt: skip
    bundle = widget._repr_mimebundle_()
    assert "<img" not in bundle["text/html"]
    assert bundle["text/plain"] == repr(widget)
    assert not re.search(r"\wHTML", str(widget._esm))


def test_letters_that_cannot_be_seen_or_sent_get_a_mark():
    grid = page(rows=["\ud800", "a\u202eb"], columns=["", " ", "\x00"])
    assert grid.rows == ["?", "a\ufffdb"]
    assert grid.columns == ["∅", "␣", "\ufffd"]
    repr(explore_grid(grid)).encode()


# --- what travels to the browser ---------------------------------------------------------------


def numbers(widget, index=0):
    picture = widget.pictures[index]
    return np.frombuffer(picture["numbers"], "<f4").reshape(picture["shape"])


def test_numbers_travel_as_float32_row_after_row():
    widget = explore_grid(page())
    np.testing.assert_array_equal(numbers(widget), np.float32(TABLE))
    assert widget.pictures[0]["groups"] == b""


def test_groups_travel_as_numbers_from_zero():
    widget = explore_grid(page(groups=[[7, -2, 7], [-2, -2, 10**12]]))
    got = np.frombuffer(widget.pictures[0]["groups"], "<u2")
    assert got.tolist() == [1, 0, 1, 0, 0, 2]
    most = page(matrix=np.zeros((MOST, MOST)), groups=np.arange(MOST**2).reshape(MOST, MOST))
    assert np.frombuffer(most.picture()["groups"], "<u2")[-1] == MOST**2 - 1


@pytest.mark.parametrize(
    ("matrix", "signed", "top", "ends"),
    [
        ([[0.5, -0.993]], True, 1, ["−1", "1"]),
        ([[1 + 1e-12, -0.2]], True, 1, ["−1", "1"]),
        ([[31.7, 2]], False, 32, ["0", "32"]),
        ([[0.00123]], False, 0.0013, ["0", "0.0013"]),
        ([[0, 0]], True, 1, ["−1", "1"]),
        ([[np.nan]], False, 1, ["0", "1"]),
        ([[1e-310]], True, 1, ["−1", "1"]),
        ([[LARGEST]], True, LARGEST, ["−10²⁰", "10²⁰"]),
    ],
)
def test_colors_end_at_a_round_number(matrix, signed, top, ends):
    picture = page(matrix=matrix, signed=signed).picture()
    assert picture["top"] == pytest.approx(top)
    assert picture["ends"] == ends


@given(st.floats(1e-29, LARGEST))
def test_colors_reach_every_number_and_little_further(number):
    assert number * (1 - 1e-5) <= scale(np.array([[number, -number / 2]])) <= 1.11 * number


@settings(max_examples=200, deadline=None)
@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=9),
           elements=st.floats(-LARGEST, LARGEST) | st.just(np.nan)),
)  # fmt: skip
def test_any_numbers_can_be_drawn(matrix):
    widget = explore_grid(page(matrix=matrix))
    data = {k: v for k, v in widget.pictures[0].items() if not isinstance(v, bytes)}
    json.dumps(data, allow_nan=False)
    assert np.isfinite(numbers(widget)[~np.isnan(matrix)]).all()
    repr(widget), widget.fallback()


def test_tensors_on_any_device_with_a_gradient_in_bfloat16_and_truth_values():
    tensor = torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True)
    assert page(matrix=tensor, groups=torch.ones(2, 3)).matrix.sum() == 6
    assert page(matrix=np.ones((2, 3), bool), signed=False).matrix.sum() == 6


def test_a_page_is_a_copy():
    matrix = np.ones((2, 3))
    grid = page(matrix=matrix)
    matrix[:] = 5
    assert grid.matrix.max() == 1


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(matrix=[1, 2, 3]), r"should be R × C; its shape is \(3,\)"),
        (dict(matrix=np.ones((2, 2, 2))), r"its shape is \(2, 2, 2\)"),
        (dict(matrix=np.ones((0, 3))), r"its shape is \(0, 3\)"),
        (dict(matrix=np.ones((129, 3))), r"1 to 128 rows and columns; its shape is \(129, 3\)"),
        (dict(matrix=np.ones((3, 129))), r"1 to 128 rows and columns"),
        (dict(matrix="abc"), "the matrix should be an array of numbers"),
        (dict(matrix=[[1, 2], [3]]), "the matrix should be an array of numbers"),
        (dict(matrix=[[1, np.inf, 0]] * 2), r"finite numbers .*at \(0, 1\) there is inf"),
        (dict(matrix=[[1, -1e21, 0]] * 2), r"at \(0, 1\) there is -1e\+21"),
        (dict(matrix=[[10**400]]), "array of numbers"),
        (dict(signed=False), "not signed should be at least 0; one is −1"),
        (dict(whole=True), "not all numbers are whole; one is 0.5"),
        (dict(matrix=[[1, -2.25, 0]] * 2, whole=True), "one is −2.25"),
        (dict(rows=["a"]), "2 rows need 2 labels; got 1"),
        (dict(rows=3), "rows should be a list of texts"),
        (dict(columns="abc"), "columns should be a list of texts, not one text"),
        (dict(columns=[1, 2]), "3 columns need 3 labels; got 2"),
        (dict(groups=[[1, 2], [3, 4]]), "groups should be 2 × 3 whole numbers"),
        (dict(groups=[[1, 2, 0.5]] * 2), "groups should be 2 × 3 whole numbers"),
        (dict(groups=[[1, 2, np.nan]] * 2), "groups should be 2 × 3 whole numbers"),
        (dict(groups="abc"), "groups should be an array of numbers"),
    ],
)  # fmt: skip
def test_a_page_refuses_what_it_cannot_draw(changes, words):
    with pytest.raises(ValueError, match=f"^Page “T”: .*{words}") as caught:
        page(**changes)
    assert "\n" not in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["matrix", "rows", "columns", "groups"]), anything)
def test_anything_is_a_page_or_one_sentence(name, value):
    try:
        widget = explore_grid(page(**{name: value}))
    except ValueError as error:
        assert re.fullmatch("Page “T”: .*", str(error))
    else:
        repr(widget).encode(), widget.fallback()


@pytest.mark.parametrize(
    ("pages", "error", "words"),
    [
        (3, TypeError, "must return a Page or a list of Pages, not int"),
        ([page(), np.ones(3)], TypeError, "not ndarray"),
        (lambda: TABLE, TypeError, "not list"),
        ([], ValueError, "1 to 8 pages; got 0"),
        ([page()] * 9, ValueError, "1 to 8 pages; got 9"),
    ],
)
def test_the_grid_needs_pages(pages, error, words):
    with pytest.raises(error, match=words):
        explore_grid(pages)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (dict(page=1), "There is no page 1"),
        (dict(cell=(2, 0)), "There is no row 2"),
        (dict(cell=(0, 3)), "There is no column 3"),
        (dict(cell=(0, -1)), "There is no column -1"),
    ],
)
def test_what_is_chosen_at_first_must_exist(chosen, words):
    with pytest.raises(IndexError, match=words):
        explore_grid(page(), **chosen)


# --- what is chosen, and the sliders -----------------------------------------------------------


def chosen(widget):
    return widget.page, widget.row, widget.column


def test_the_grid_follows_the_sliders_and_what_is_chosen_stays_within():
    widget = live(page=1, cell=(5, 4))
    ask(widget, D=64, N=128)
    assert [picture["shape"] for picture in widget.pictures] == [[64, 128], [128, 128]]
    assert chosen(widget) == (1, 5, 4)
    ask(widget, D=64, N=3)
    assert chosen(widget) == (1, 2, 2)
    ask(widget, D=-5, N=10**9)
    assert widget.pictures[0]["shape"] == [1, 128]


def test_fewer_pages_leave_one_that_exists():
    widget = explore_grid(lambda k: [page(matrix=np.ones((k, k)))] * k, slider("k", 1, 8, 8),
                          page=7, cell=(7, 7))  # fmt: skip
    ask(widget, k=3)
    assert chosen(widget) == (2, 2, 2)
    repr(widget), widget.fallback()


def test_another_page_moves_the_cell_within_it():
    widget = explore_grid([page(matrix=np.ones((9, 9))), page()], cell=(8, 8))
    widget.page = 1
    assert chosen(widget) == (1, 1, 2)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["page", "row", "column"]), st.integers(-200, 200)),
        max_size=6,
    )
)
def test_whatever_the_browser_sends_a_cell_is_chosen(messages):
    widget = live()
    for message in messages:
        widget.set_state(message)
        shape = widget.pages[widget.page].matrix.shape
        assert 0 <= widget.row < shape[0] and 0 <= widget.column < shape[1]
        repr(widget), widget.fallback()


def test_a_fault_in_the_function_is_one_sentence_and_the_picture_stays():
    widget = explore_grid(lambda k: page(signed=k > 0), slider("k", 0, 2, 1))
    before = list(widget.pictures)
    ask(widget, k=0)
    assert widget.problem == (
        "Page “T”: numbers that are not signed should be at least 0; one is −1."
    )
    assert widget.pictures == before
    ask(widget, k=2)
    assert widget.problem == ""


# --- colors ------------------------------------------------------------------------------------


def luminance(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", ["", ".tn-dark"])
def test_without_hue_the_signs_differ_in_lightness(theme):
    sheet = (WIDGETS / "grid/widget.css").read_text()
    block = re.search(re.escape(f".tn-grid{theme} {{") + "(.*?)}", sheet, re.S).group(1)
    zero, plus, minus = (
        luminance(re.search(rf"--tn-grid-{name}: (#\w{{6}})", block).group(1))
        for name in ("zero", "plus", "minus")
    )
    # From zero, both lead away from the page, and above zero half as far again as below it.
    assert (plus - zero) * (minus - zero) > 0
    assert abs(plus - zero) > abs(minus - zero) + 0.1
