"""The grid of colored cells under a real JupyterLab: what is seen, hovered, clicked, and typed."""

import re
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

SET_UP = """
import numpy as np
from helpers.widgets import Page, explore_grid, slider

def encoding(D, N):
    if N == 7:
        raise ValueError("Seven is not allowed here.")
    rates = 10000.0 ** (-np.arange(0, D, 2) / D)
    angles = np.outer(rates, np.arange(N))
    Pi = np.stack([np.sin(angles), np.cos(angles)], 1).reshape(D, N)
    return [Page("Π", Pi, row_label="feature", column_label="position", note="Waves."),
            Page("ΠᵀΠ", Pi.T @ Pi, row_label="position", column_label="position")]

rng = np.random.default_rng(0)
hostile = ["<b>bold</b>", "<img src=x onerror=window.hacked=1>", "שלום", "x" * 500, "", "\\n"]
scores = rng.random((6, 6))
scores[1, 2] = np.nan
rows, columns = np.indices((4, 6))
X = rng.normal(size=(4, 6))
"""
CELLS = [
    SET_UP,
    "pi = explore_grid(encoding, slider('D', 2, 64, 64, step=2), slider('N', 1, 128, 128),"
    " cell=(4, 17)); pi",
    "pi",
    "text = explore_grid([Page(hostile[1], scores, hostile, hostile, hostile[0], hostile[1],"
    " signed=False, note=hostile[1]), Page('plain', scores, hostile, hostile)],"
    " cell=(1, 2)); text",
    "norm = explore_grid([Page('layer', X, groups=columns), Page('batch', X, groups=rows),"
    " Page('none', X)], cell=(1, 2)); norm",
    "one = explore_grid(Page('one', [[-3.0]])); one",
    "explore_grid(Page('nothing', np.full((2, 9), np.nan), columns=['a longer name'] * 9))",
    "explore_grid(Page('counts', [[3, 0, np.nan], [-12, 100, 1e6]], whole=True))",
    "1 + 1",
]
PI, AGAIN, TEXT, NORM, ONE, NOTHING, COUNTS = range(1, 8)
PIXELS = """(canvas, [rows, columns]) => {
    const g = canvas.getContext("2d"), grid = [];
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) grid.push([...g.getImageData(
        (c + 0.5) * canvas.width / columns, (r + 0.15) * canvas.height / rows, 1, 1).data]);
    return grid;
}"""


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook(CELLS)


def stage(widget):
    return widget.locator(".tn-grid-stage")


def heat(widget):
    return widget.locator(".tn-grid-heat")


def plain(text):
    """The text without the marks that keep a label's direction to itself."""
    return re.sub("[\u2068\u2069]", "", text)


def status(widget):
    return plain(widget.locator(".tn-status").text_content())


def active(widget):
    """What assistive technology calls the active cell."""
    name = stage(widget).get_attribute("aria-activedescendant")
    return plain(widget.locator(f"#{name}").get_attribute("aria-label"))


def over(widget, row, column, shape):
    """The middle of a cell, in the coordinates of the picture."""
    box = heat(widget).bounding_box()
    return {
        "x": (column + 0.5) * box["width"] / shape[1],
        "y": (row + 0.5) * box["height"] / shape[0],
    }


def assert_chosen(notebook, page, row, column, name="pi"):
    """Python knows what is chosen, a moment after the last key."""
    code, expected = f"print({name}.page, {name}.row, {name}.column)", f"{page} {row} {column}"
    assert notebook.soon(lambda: notebook.python(code), expected) == expected


def assert_status(notebook, widget, text):
    assert notebook.soon(lambda: status(widget), text) == text


def colors(widget, shape):
    return np.array(heat(widget).evaluate(PIXELS, shape), float)[:, :3].reshape(*shape, 3)


def numbers(notebook, expression):
    """An array of the notebook, flat."""
    return np.array([float(x) for x in notebook.python(f"print(*np.ravel({expression}))").split()])


def start(notebook):
    notebook.python("pi.page, pi.row, pi.column = 0, 4, 17")
    assert_status(notebook, notebook.widget(PI), "feature 4, position 17: −0.13")


def test_the_picture_shows_the_numbers(notebook):
    start(notebook)
    widget = notebook.widget(PI)
    Pi = numbers(notebook, "pi.pages[0].matrix").reshape(64, 128)
    seen = colors(widget, (64, 128))
    blue = seen[..., 2] - seen[..., 0]
    assert (np.diff(blue.ravel()[np.argsort(Pi.ravel())])[1:] >= -14).all()
    assert (blue[Pi > 0.1] > 10).all() and (blue[Pi < -0.1] < -10).all()
    assert widget.locator(".tn-grid-scale span").all_text_contents() == ["−1", "0", "1"]
    assert widget.locator(".tn-grid-note").text_content() == "Waves."


def test_of_many_labels_some_are_shown_and_the_chosen_one_always(notebook):
    start(notebook)
    widget = notebook.widget(PI)
    marked = widget.locator(".tn-grid-map .tn-on")
    expect(marked).to_have_text(["17", "4"])
    top, side = (
        widget.locator(f".tn-grid-{edge} span:not(.tn-on):visible").all_text_contents()
        for edge in ("top", "side")
    )
    assert top == [str(n) for n in range(0, 128, 10) if n != 20]
    assert side == [str(n) for n in range(0, 64, 5) if n != 5]
    boxes = [span.bounding_box() for span in widget.locator(".tn-grid-top span:visible").all()]
    boxes.sort(key=lambda box: box["x"])
    for before, after in pairwise(boxes):
        assert before["x"] + before["width"] < after["x"]


def test_arrow_keys_move_the_cell_and_jupyterlab_does_not_get_them(notebook):
    start(notebook)
    widget, page = notebook.widget(PI), notebook.page
    stage(widget).focus()
    cells, at = page.locator(".jp-Notebook .jp-Cell").count(), notebook.active_cell()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "b", "a", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    assert_chosen(notebook, 0, 6, 18)
    assert active(widget).startswith("feature 6, position 18: ")
    for key, chosen in (
        ("Home", (0, 6, 0)), ("ArrowLeft", (0, 6, 0)), ("End", (0, 6, 127)), ("]", (1, 6, 127)),
        ("PageDown", (1, 6, 127)), ("PageUp", (0, 6, 127)), ("PageDown", (1, 6, 127)),
        ("ArrowUp", (1, 5, 127)), ("[", (0, 5, 127)), ("[", (0, 5, 127)),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert_chosen(notebook, *chosen)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert notebook.active_cell() == at


def test_from_a_taller_page_to_a_flatter_one_the_cell_stays_within(notebook):
    start(notebook)
    widget = notebook.widget(PI)
    notebook.python("pi.page, pi.row = 1, 100")
    assert_chosen(notebook, 1, 100, 17)
    stage(widget).press("[")
    assert_chosen(notebook, 0, 63, 17)
    assert active(widget).startswith("feature 63, position 17: ")


def test_a_widget_is_few_stops_of_the_tab_key_and_escape_leaves_it(notebook):
    widget, page = notebook.widget(PI), notebook.page
    widget.get_by_role("button", name="Table").focus()
    page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("role") == "grid"
    assert page.locator(":focus").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    assert not widget.evaluate("e => e.contains(document.activeElement)")
    stage(widget).focus()
    notebook.expect_keys_back(PI)


def test_pages_are_buttons(notebook):
    start(notebook)
    widget, tabs = notebook.widget(PI), notebook.widget(PI).get_by_role("group", name="Page")
    expect(tabs.get_by_role("button")).to_have_text(["Π", "ΠᵀΠ"])
    tabs.get_by_role("button", name="ΠᵀΠ").click()
    assert_chosen(notebook, 1, 4, 17)
    for view in (PI, AGAIN):
        pressed = notebook.widget(view).locator(".tn-grid-tabs [aria-pressed=true]")
        expect(pressed).to_have_text("ΠᵀΠ")
    assert status(widget).startswith("position 4, position 17: ")
    assert stage(widget).get_attribute("aria-label") == "ΠᵀΠ: 128 rows, 128 columns"
    assert widget.locator(".tn-grid-scale span").last.text_content() == "32"
    expect(notebook.widget(ONE).get_by_role("group", name="Page")).to_be_hidden()


def test_hovering_shows_and_clicking_chooses_in_all_views(notebook):
    start(notebook)
    first, second = notebook.widget(PI), notebook.widget(AGAIN)
    first.scroll_into_view_if_needed()
    title = first.locator(".tn-grid-title")
    heat(first).hover(position=over(first, 40, 90, (64, 128)))
    assert status(first).startswith("feature 40, position 90: ")
    expect(title).to_have_text("position 90")
    expect(first.locator(".tn-grid-hovered")).to_be_visible()
    assert status(second).startswith("feature 4, position 17: ")
    assert_chosen(notebook, 0, 4, 17)
    notebook.page.mouse.move(1, 1)
    assert status(first).startswith("feature 4, position 17: ")
    expect(first.locator(".tn-grid-hovered")).to_be_hidden()
    heat(first).click(position=over(first, 40, 90, (64, 128)))
    assert_chosen(notebook, 0, 40, 90)
    assert_status(notebook, second, status(first))
    assert active(second).startswith("feature 40, position 90: ")


def test_bars_show_the_chosen_column(notebook):
    widget = notebook.widget(PI)
    notebook.python("pi.page, pi.row, pi.column = 0, 4, 100")
    assert notebook.soon(widget.locator(".tn-grid-title").text_content, "position 100")
    column = numbers(notebook, "pi.pages[0].matrix[:, 100]")
    bars = widget.locator(".tn-grid-beside canvas")
    # Where each row's pixels are strongly colored, in shares of the width.
    reach = bars.evaluate(
        """(canvas, rows) => {
            const g = canvas.getContext("2d"), found = [];
            for (let r = 0; r < rows; r++) {
                const y = Math.floor((r + 0.5) * canvas.height / rows);
                const { data } = g.getImageData(0, y, canvas.width, 1);
                const on = [...Array(canvas.width).keys()].filter((x) =>
                    data[4 * x + 3] && Math.abs(data[4 * x] - data[4 * x + 2]) > 100);
                found.push(on.length ? [on[0], on.at(-1)] : null);
            }
            return found;
        }""",
        64,
    )
    middle = bars.evaluate("canvas => canvas.width") / 2
    for value, ends in zip(column, reach, strict=True):
        length = 0 if ends is None else max(ends, key=lambda x: abs(x - middle)) - middle
        assert length / 52 == pytest.approx(value, abs=0.06)


def test_python_can_set_what_is_chosen(notebook):
    notebook.python("pi.page, pi.row, pi.column = 1, 3, 3")
    for view in (PI, AGAIN):
        assert_status(notebook, notebook.widget(view), "position 3, position 3: 32.00")


def test_the_table_holds_the_same_numbers(notebook):
    notebook.python("norm.page = 0")
    widget = notebook.widget(NORM)
    widget.get_by_role("button", name="Table").click()
    table = widget.get_by_role("table")
    expected = notebook.python("print(*[norm.pages[0].cell(r, c).split(': ')[1]"
                               " for r in range(4) for c in range(6)])").split()  # fmt: skip
    assert table.locator("td").all_text_contents() == expected
    assert table.locator("tbody th[scope=row]").all_text_contents() == list("0123")
    assert table.locator("thead th").all_text_contents() == ["row ↓ column →", *"012345"]
    assert stage(widget).get_attribute("role") == "group"
    widget.get_by_role("button", name="Grid").click()
    expect(widget.get_by_role("table")).to_have_count(0)


def outlined(widget):
    """Where the outlined cells end, in cells (left, top, right, bottom), and how many edges."""
    path = widget.locator(".tn-grid-group path").last.get_attribute("d")
    box, xs, ys = heat(widget).bounding_box(), [], []
    edges = re.findall(r"M(\d+) (\d+)([HV])(\d+)", path)
    for x, y, way, to in edges:
        xs += [int(x), int(to) if way == "H" else int(x)]
        ys += [int(y), int(to) if way == "V" else int(y)]
    x, y = np.array(xs) / box["width"] * 6, np.array(ys) / box["height"] * 4
    return [round(end) for end in (x.min(), y.min(), x.max(), y.max())], len(edges)


def test_cells_that_belong_together_are_outlined(notebook):
    widget = notebook.widget(NORM)
    notebook.python("norm.page, norm.row, norm.column = 0, 1, 2")
    mean, deviation = numbers(notebook, "[X[:, 2].mean(), X[:, 2].std()]")
    told = f" · outlined: 4 cells, mean {mean:.2f}, standard deviation {deviation:.2f}"
    assert notebook.soon(lambda: status(widget).endswith(told.replace("-", "−")), True)
    assert outlined(widget) == ([2, 0, 3, 4], 2 + 2 * 4)
    expect(widget.locator(".tn-grid-column")).to_be_hidden()
    stage(widget).press("ArrowRight")
    column = ([3, 0, 4, 4], 2 + 2 * 4)
    assert notebook.soon(lambda: outlined(widget), column) == column
    stage(widget).press("]")
    row = ([0, 1, 6, 2], 2 * 6 + 2)
    assert notebook.soon(lambda: outlined(widget), row) == row
    assert "outlined: 6 cells" in status(widget)
    stage(widget).press("]")
    assert notebook.soon(lambda: "outlined" in status(widget), False) is False
    expect(widget.locator(".tn-grid-column")).to_be_visible()


def test_hostile_labels_stay_text_and_empty_cells_are_told(notebook):
    widget, output = notebook.widget(TEXT), notebook.cell(TEXT).locator(".jp-Cell-outputArea")
    for view in ("Table", "Grid"):
        widget.get_by_role("button", name=view).click()
        assert output.locator("img, script, b").count() == 0
        assert "<b>bold</b>" in widget.text_content()
    assert notebook.page.evaluate("window.hacked") is None
    assert status(widget) == (
        "<b>bold</b> <img src=x onerror=window.hacked=1>, "
        "<img src=x onerror=window.hacked=1> שלום: empty"
    )
    assert active(widget) == status(widget)
    side = widget.locator(".tn-grid-side span:not(.tn-on)")
    assert side.nth(3).bounding_box()["width"] <= 120
    assert side.nth(3).get_attribute("title") == "x" * 500
    assert widget.get_by_role("group", name="Page").bounding_box()["width"] < 400

    stage(widget).press("]")
    assert_chosen(notebook, 1, 1, 2, name="text")
    expect(widget.locator(".tn-grid-swatch")).to_be_visible()
    shades = """(canvas, [row, column]) => {
        const w = canvas.width / 6, h = canvas.height / 6, g = canvas.getContext("2d");
        const image = g.getImageData(column * w + 2, row * h + 2, w - 5, 4);
        return new Set(new Uint32Array(image.data.buffer)).size;
    }"""
    assert heat(widget).evaluate(shades, [0, 0]) == 1
    assert heat(widget).evaluate(shades, [1, 2]) > 1  # hatched, not only of another color
    notebook.python("text.page = 0")


def test_one_cell_and_nothing_but_empty_cells(notebook):
    widget = notebook.widget(ONE)
    assert status(widget) == "row 0, column 0: −3.00"
    stage(widget).focus()
    for key in ("ArrowDown", "ArrowRight", "]", "PageDown", "End"):
        notebook.page.keyboard.press(key)
    assert_chosen(notebook, 0, 0, 0, name="one")
    ring, sides = widget.locator(".tn-grid-cell"), widget.locator(".tn-grid-side")
    beside = ring.bounding_box()["x"] - sides.bounding_box()["x"] - sides.bounding_box()["width"]
    assert beside >= 4  # the whole ring is seen

    nothing = notebook.widget(NOTHING)
    assert status(nothing) == "row 0, column a longer name: empty"
    expect(nothing.locator(".tn-grid-beside canvas")).to_have_count(0)
    assert stage(nothing).evaluate("e => e.scrollWidth <= e.clientWidth")


def test_whole_numbers_have_no_decimals(notebook):
    widget = notebook.widget(COUNTS)
    said = []
    for key in ("End", "Home", "ArrowRight", "ArrowDown"):
        stage(widget).press(key)
        notebook.python("pass")
        said.append(status(widget))
    assert said == [
        "row 0, column 2: empty",
        "row 0, column 0: 3",
        "row 0, column 1: 0",
        "row 1, column 1: 100",
    ]
    widget.get_by_role("button", name="Table").click()
    expect(widget.locator("td")).to_have_text(["3", "0", "", "−12", "100", "1000000"])
    widget.get_by_role("button", name="Grid").click()


def test_sliders_recompute_in_python_and_what_is_chosen_stays_within(notebook):
    notebook.python("pi.page, pi.row, pi.column = 1, 100, 100")
    widget, page = notebook.widget(PI), notebook.page
    N = widget.get_by_label("N", exact=True)
    N.fill("40")
    assert_chosen(notebook, 1, 39, 39)
    for view in (PI, AGAIN):
        assert_status(notebook, notebook.widget(view), "position 39, position 39: 32.00")
    assert stage(widget).get_attribute("aria-colcount") == "40"
    N.focus()
    page.keyboard.press("Home")  # one position
    assert_status(notebook, widget, "position 0, position 0: 32.00")
    N.fill("7")
    problem = widget.get_by_role("alert")
    expect(problem).to_have_text("Seven is not allowed here.")
    assert_status(notebook, widget, "position 0, position 0: 32.00")  # the last picture stays
    N.fill("128")
    expect(problem).to_be_hidden()


def test_narrow_and_wide_pages(notebook):
    page, size = notebook.page, notebook.page.viewport_size
    notebook.python("pi.page, pi.row, pi.column = 0, 4, 17")
    for width in (500, 1600):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(300)
        for index in (PI, TEXT, NORM, ONE, NOTHING, COUNTS):
            root = notebook.widget(index)
            assert root.evaluate("e => e.scrollWidth <= e.clientWidth"), (width, index)
            assert root.bounding_box()["width"] < width
        stage(notebook.widget(PI)).press("End")
        box = stage(notebook.widget(PI)).bounding_box()
        ring = notebook.widget(PI).locator(".tn-grid-cell").bounding_box()
        bars = notebook.widget(PI).locator(".tn-grid-beside").bounding_box()
        labels = notebook.widget(PI).locator(".tn-grid-side").bounding_box()
        assert ring["x"] + ring["width"] <= bars["x"]  # scrolled into sight
        assert abs(labels["x"] - box["x"]) < 2  # and the labels still stand at the edge
        stage(notebook.widget(PI)).press("Home")
        ring = notebook.widget(PI).locator(".tn-grid-cell").bounding_box()
        assert ring["x"] >= labels["x"] + labels["width"]
    page.set_viewport_size(size)


def test_accessibility_in_every_view_and_theme(notebook):
    for theme in ("light", "dark"):
        notebook.change_theme(theme)
        shape = (64, 128)
        zero = numbers(notebook, "np.abs(pi.pages[0].matrix)").reshape(shape) < 0.02

        def zero_is_like_the_page(theme=theme, zero=zero, shape=shape):
            bright = colors(notebook.widget(PI), shape)[zero].mean() > 128
            return bright == (theme == "light")

        notebook.python("pi.page = 0")
        assert notebook.soon(zero_is_like_the_page, True)
        for view in ("Table", "Grid"):
            for index in (TEXT, NORM, ONE, PI):
                notebook.widget(index).get_by_role("button", name=view).click()
            assert not notebook.accessibility_findings(), (theme, view)
    notebook.change_theme("light")


def test_nothing_was_fetched_from_elsewhere_and_no_error_was_logged(notebook):
    assert notebook.outside == []
    assert notebook.errors == []
