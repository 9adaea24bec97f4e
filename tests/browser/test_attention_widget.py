"""The attention widget under a real JupyterLab: what is seen, hovered, clicked, and typed."""

import re

import nbformat
import numpy as np
import pytest

from helpers.widgets import Attention, explore
from helpers.widgets.attention.data import two_decimals

SET_UP = """
import numpy as np
from helpers.widgets import Attention, explore, slider

rng = np.random.default_rng(0)

def softmax_columns(scores):
    weights = np.exp(scores - scores.max(-2, keepdims=True))
    return weights / weights.sum(-2, keepdims=True)

def live(words, sharpness):
    if sharpness > 4:
        raise ValueError("Too sharp for this test.")
    lengths = np.array([len(word) for word in words])
    return Attention(softmax_columns(sharpness * np.equal.outer(lengths, lengths)), words)

def tokens(n, letter):
    return [f"{letter}{i}" for i in range(n)]

hostile = ["<b>bold</b>", "<img src=x onerror=window.hacked=1>", "שלום", "x" * 500, "", "\\n"]
hostile.append("👩‍👧")
mask = np.tril(np.ones((7, 7), bool), -1)
Q, K, V = rng.normal(size=(2, 4)), rng.normal(size=(2, 6)), rng.normal(size=(3, 6))
"""
CELLS = [
    SET_UP,
    "A = softmax_columns(2 * rng.normal(size=(6, 12, 9, 9)))\n"
    "heads = explore(Attention(A, tokens(9, 't')), layer=3, head=1, query=4); heads",
    "heads",
    "masked = explore(Attention(softmax_columns(np.where(mask, -np.inf, 1.0 * mask.T)), hostile,"
    " mask=mask), query=2); masked",
    "one = explore(Attention([[1.0]], ['alone'])); one",
    "vectors = explore(Attention(softmax_columns(K.T @ Q), tokens(6, 'k'), tokens(4, 'q'),"
    " queries=Q, keys=K, values=V), query=1); vectors",
    "A = softmax_columns(rng.normal(size=(200, 200)) + 4 * np.eye(200, k=-150))\n"
    "many = explore(Attention(A, tokens(200, 't'))); many",
    "moving = explore(live, slider('sharpness', 0.0, 5.0, 1.0), text='a bb cc ddd'); moving",
]
HEADS, AGAIN, MASKED, ONE, VECTORS, MANY, LIVE = range(1, 8)
PIXELS = """(canvas, [columns, rows]) => {
    const g = canvas.getContext("2d"), grid = [];
    for (let k = 0; k < rows; k++) for (let q = 0; q < columns; q++) grid.push([...g.getImageData(
        (q + 0.3) * canvas.width / columns, (k + 0.3) * canvas.height / rows, 1, 1).data]);
    return grid;
}"""


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook(CELLS)


def stage(widget):
    return widget.locator(".tn-stage")


def status(widget):
    text = widget.locator(".tn-status").text_content()
    return re.sub("[\u2068\u2069]", "", text)  # the marks that keep a token's direction to itself


def active(widget):
    """What assistive technology calls the active cell."""
    name = stage(widget).get_attribute("aria-activedescendant")
    return widget.locator(f"#{name}").get_attribute("aria-label")


def heat(widget):
    return widget.locator(".tn-body > canvas").first


def over(widget, key, query, shape):
    """The middle of a cell, in the coordinates of the heat map."""
    box = heat(widget).bounding_box()
    return {
        "x": (query + 0.5) * box["width"] / shape[1],
        "y": (key + 0.5) * box["height"] / shape[0],
    }


def assert_chosen(notebook, layer, head, key, query, name="heads"):
    """Python knows what is chosen, a moment after the last key."""
    code = f"print({name}.layer, {name}.head, {name}.key, {name}.query)"
    expected = f"{layer} {head} {key} {query}"
    assert notebook.soon(lambda: notebook.python(code), expected) == expected


def assert_status(notebook, index, text):
    """The line under the controls starts with this text, a moment after what changed it."""
    widget = notebook.widget(index)
    assert notebook.soon(lambda: status(widget)[: len(text)], text) == text


def darkness(widget, n_keys, n_queries):
    pixels = np.array(heat(widget).evaluate(PIXELS, [n_queries, n_keys]), float)
    return 255 - pixels[:, :3].mean(1).reshape(n_keys, n_queries)


def numbers(notebook, expression):
    """An array of the notebook, flat."""
    return [float(x) for x in notebook.python(f"print(*np.ravel({expression}))").split()]


def test_the_picture_shows_the_weights(notebook):
    widget = notebook.widget(HEADS)
    weights = np.reshape(numbers(notebook, "heads.attention.weights[3, 1]"), (9, 9))
    seen = darkness(widget, 9, 9)
    seen[:, 4] = weights[:, 4] = 0  # numbers are written over the chosen column
    assert (np.diff(seen.ravel()[np.argsort(weights.ravel())]) >= -1).all()
    labels = widget.locator(".tn-side span").all_text_contents()
    assert labels == [f"t{i}" for i in range(9)]
    assert widget.locator(".tn-top span").all_text_contents() == labels


def test_arrow_keys_move_key_and_query_and_jupyterlab_does_not_get_them(notebook):
    widget, page = notebook.widget(HEADS), notebook.page
    notebook.python("heads.layer, heads.head, heads.query, heads.key = 3, 1, 4, 4")
    stage(widget).focus()
    cells, at = notebook.page.locator(".jp-Notebook .jp-Cell").count(), notebook.active_cell()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "b", "a", "]", "PageDown"):
        page.keyboard.press(key)
    assert active(widget).startswith("key t6, query t5: ")
    assert_chosen(notebook, 4, 2, 6, 5)
    for key in ("Home", "[", "PageUp", "ArrowUp", "ArrowLeft"):  # the last one is at the border
        page.keyboard.press(key)
    assert_chosen(notebook, 3, 1, 5, 0)
    page.keyboard.press("End")
    assert_chosen(notebook, 3, 1, 5, 8)
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert notebook.active_cell() == at


def test_escape_gives_the_keyboard_back_to_the_notebook(notebook):
    for control in (stage(notebook.widget(HEADS)), notebook.widget(LIVE).locator("input").first):
        control.focus()
        notebook.page.keyboard.press("Escape")
        before = notebook.active_cell()
        notebook.page.keyboard.press("ArrowUp")
        assert notebook.active_cell() == before - 1


def test_a_widget_is_few_stops_of_the_tab_key(notebook):
    widget, page = notebook.widget(HEADS), notebook.page
    widget.get_by_role("button", name="Table").focus()
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-pressed") == "true" and focused.get_attribute("data-head")
    page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("role") == "grid"
    assert page.locator(":focus").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    assert not widget.evaluate("e => e.contains(document.activeElement)")


def test_heads_are_buttons_with_names_and_arrow_keys(notebook):
    widget, page = notebook.widget(HEADS), notebook.page
    notebook.python("heads.query, heads.key = 0, 0")
    assert widget.locator("button[data-head]").count() == 72
    widget.get_by_role("button", name="layer 2, head 7", exact=True).click()
    assert_chosen(notebook, 2, 7, 0, 0)
    assert widget.locator("button[data-head][aria-pressed=true]").count() == 1
    for key in ("ArrowRight", "ArrowDown", "b"):
        page.keyboard.press(key)
    assert_chosen(notebook, 3, 8, 0, 0)
    assert page.locator(":focus").get_attribute("aria-label") == "layer 3, head 8"
    shadow = page.locator(":focus").evaluate("e => getComputedStyle(e).boxShadow")
    assert shadow != "none"  # a ring, not a color, marks the chosen one


def test_hovering_shows_and_clicking_chooses_in_all_views(notebook):
    first, second = notebook.widget(HEADS), notebook.widget(AGAIN)
    notebook.python("heads.layer = heads.head = heads.query = heads.key = 0")
    first.scroll_into_view_if_needed()
    heat(first).hover(position=over(first, 7, 3, (9, 9)))
    assert status(first).startswith("query 't3': ")
    assert status(second).startswith("query 't0': ")
    assert_chosen(notebook, 0, 0, 0, 0)
    notebook.page.mouse.move(1, 1)
    assert status(first).startswith("query 't0': ")
    heat(first).click(position=over(first, 7, 3, (9, 9)))
    assert_chosen(notebook, 0, 0, 7, 3)
    assert status(second) == status(first) and active(second).startswith("key t7, query t3")
    first.locator("[data-query='6']").click()
    assert_chosen(notebook, 0, 0, 7, 6)


def test_python_can_set_what_is_chosen(notebook):
    notebook.python("heads.layer, heads.head, heads.query, heads.key = 5, 11, 2, 8")
    sentence = notebook.python("print(heads.attention.sentence(2, 5, 11))")
    for view in (HEADS, AGAIN):
        assert_status(notebook, view, sentence)
        assert active(notebook.widget(view)).startswith("key t8, query t2")


def test_the_table_holds_the_same_numbers(notebook):
    widget = notebook.widget(AGAIN)
    widget.get_by_role("button", name="Table").click()
    weights = numbers(notebook, "heads.attention.weights[heads.layer, heads.head]")
    table = widget.get_by_role("table")
    expected = [two_decimals(weight) for weight in weights]
    assert table.locator("td").all_text_contents() == expected
    assert table.locator("tbody th[scope=row]").all_text_contents() == [f"t{i}" for i in range(9)]
    widget.get_by_role("button", name="layer 0, head 0", exact=True).click()
    weights = numbers(notebook, "heads.attention.weights[0, 0]")
    assert table.locator("td").all_text_contents() == [two_decimals(w) for w in weights]
    assert notebook.widget(HEADS).locator("table").count() == 0  # a view is chosen view by view
    widget.get_by_role("button", name="Matrix").click()


def test_arcs_grow_with_the_weights(notebook):
    widget = notebook.widget(HEADS)
    notebook.python("heads.layer, heads.head, heads.query, heads.key = 1, 1, 5, 0")
    widget.get_by_role("button", name="Arcs").click()
    weights = numbers(notebook, "heads.attention.weights[1, 1, :, 5]")
    assert widget.locator(".tn-numbers span").all_text_contents() == [
        two_decimals(weight) for weight in weights
    ]
    widths = widget.locator("path").evaluate_all("p => p.map(x => +x.getAttribute('stroke-width'))")
    assert np.allclose(np.sort(widths), 0.4 + 9 * np.sort(weights), atol=1e-4)
    stage(widget).focus()
    notebook.page.keyboard.press("ArrowRight")
    assert_chosen(notebook, 1, 1, 0, 6)
    widget.locator("[data-query='2']").hover()
    assert status(widget).startswith("query 't2': ")
    widget.get_by_role("button", name="Matrix").click()


def test_hostile_tokens_stay_text_and_masked_cells_are_told(notebook):
    widget, output = notebook.widget(MASKED), notebook.cell(MASKED).locator(".jp-Cell-outputArea")
    for view in ("Arcs", "Table", "Matrix"):
        widget.get_by_role("button", name=view).click()
        assert output.locator("img, script, b").count() == 0
        assert "<b>bold</b>" in widget.text_content()
    assert notebook.page.evaluate("window.hacked") is None
    assert widget.locator(".tn-side span").nth(3).bounding_box()["width"] < 150
    assert widget.locator(".tn-side span").nth(3).get_attribute("title") == "x" * 500
    assert status(widget).endswith("4 masked") and "query 'שלום'" in status(widget)
    heat(widget).scroll_into_view_if_needed()
    colors = """(canvas, [key, query]) => {
        const w = canvas.width / 7, h = canvas.height / 7, g = canvas.getContext("2d");
        const image = g.getImageData(query * w + 2, key * h + 2, w - 5, h - 5);
        return new Set(new Uint32Array(image.data.buffer)).size;
    }"""
    assert heat(widget).evaluate(colors, [1, 6]) == 1
    assert heat(widget).evaluate(colors, [6, 1]) > 1  # hatched, not only of another color
    widget.get_by_role("button", name="Table").click()
    assert widget.locator("td", has_text="masked").count() == 21
    widget.get_by_role("button", name="Matrix").click()


def test_one_token(notebook):
    widget = notebook.widget(ONE)
    assert status(widget) == "query 'alone': alone 1.00"
    assert widget.locator("button[data-head]").count() == 0
    stage(widget).focus()
    for key in ("ArrowDown", "ArrowRight", "]", "PageDown", "End"):
        notebook.page.keyboard.press(key)
    assert_chosen(notebook, 0, 0, 0, 0, name="one")


def test_vectors_of_the_query_under_the_hand_and_the_output(notebook):
    widget = notebook.widget(VECTORS)
    assert stage(widget).get_attribute("aria-rowcount") == "6"
    assert stage(widget).get_attribute("aria-colcount") == "4"
    heat(widget).hover(position=over(widget, 0, 3, (6, 4)))
    table = widget.locator(".tn-vectors table")
    assert "query ‘q3’" in table.locator("caption").text_content()

    def shown(row):
        return [float(x.replace("−", "-")) for x in row.locator("span").all_text_contents()]

    assert np.allclose(shown(table.locator(".tn-query")), numbers(notebook, "Q[:, 3]"), atol=0.0051)
    output = numbers(notebook, "V @ softmax_columns(K.T @ Q)[:, 3]")
    assert np.allclose(shown(table.locator("tfoot tr")), output, atol=0.0051)
    cells = table.locator("tbody tr").nth(2).locator("td")
    score = float(cells.nth(1).text_content().replace("−", "-"))
    assert np.isclose(score, numbers(notebook, "K[:, 2] @ Q[:, 3]")[0], atol=0.0051)
    weight = numbers(notebook, "vectors.attention.weights[0, 0, 2, 3]")[0]
    assert cells.nth(2).text_content() == two_decimals(weight)


def test_more_than_128_tokens_are_cut_said_and_reached(notebook):
    widget, page = notebook.widget(MANY), notebook.page
    note = widget.locator(".tn-note").text_content()
    assert note == "Shown: the first 128 of 200 keys and the first 128 of 200 queries."
    # The status line tells of all keys, as Python does; the chosen one is among the drawn ones.
    sentence = notebook.python("print(many.attention.sentence(0))")
    assert "t150 " in sentence
    assert_status(notebook, MANY, sentence)
    key = notebook.python("print(many.key)")
    assert int(key) < 128 and widget.locator(".tn-side .tn-on").text_content() == f"t{key}"
    stage(widget).focus()
    page.keyboard.press("End")
    assert_chosen(notebook, 0, 0, key, 127, name="many")
    box, cell = stage(widget).bounding_box(), widget.locator(".tn-cell").bounding_box()
    assert cell["x"] + cell["width"] <= box["x"] + box["width"]  # scrolled into sight
    labels = widget.locator(".tn-side").bounding_box()
    assert abs(labels["x"] - box["x"]) < 2  # and the keys' names still stand at the edge


def test_controls_recompute_in_python(notebook):
    widget, page = notebook.widget(LIVE), notebook.page
    widget.get_by_role("textbox").fill("bb bb a")
    assert_status(notebook, LIVE, "query 'bb': bb 0.42, bb 0.42, a 0.16")
    assert widget.locator(".tn-side span").all_text_contents() == ["bb", "bb", "a"]
    slider = widget.get_by_role("slider")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert_status(notebook, LIVE, "query 'bb': bb 0.43, bb 0.43, a 0.14")
    slider.fill("4.5")
    problem = widget.get_by_role("alert")
    problem.wait_for()
    assert problem.text_content() == "Too sharp for this test."
    assert_status(notebook, LIVE, "query 'bb': bb 0.43, bb 0.43, a 0.14")  # the last picture stays
    slider.fill("0")
    problem.wait_for(state="hidden")
    assert_status(notebook, LIVE, "query 'bb': bb 0.33, bb 0.33, a 0.33")


def test_another_head_is_spoken_once(notebook):
    widget = notebook.widget(HEADS)
    spoken = widget.locator(".tn-spoken[role=status]")

    def starts_with(start):
        words = notebook.soon(
            lambda: re.sub("[\u2068\u2069]", "", spoken.text_content())[: len(start)], start
        )
        assert words == start

    notebook.python("heads.layer, heads.head, heads.query, heads.key = 0, 0, 2, 3")
    starts_with("layer 0, head 0: query")
    stage(widget).press("]")
    starts_with("layer 0, head 1: query")
    stage(widget).press("ArrowRight")
    starts_with("query 't3'")
    stage(widget).press("PageDown")
    starts_with("layer 1, head 1: query")


def test_narrow_and_wide_pages(notebook):
    page, size = notebook.page, notebook.page.viewport_size
    for width in (500, 1600):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(300)
        for index in (HEADS, MASKED, VECTORS, MANY, LIVE):
            root = notebook.widget(index)
            assert root.evaluate("e => e.scrollWidth <= e.clientWidth"), (width, index)
            assert root.bounding_box()["width"] < width
    page.set_viewport_size(size)


def test_numbers_of_narrow_columns_stand_beside_the_matrix(notebook):
    root = notebook.widget(MANY)
    root.get_by_role("button", name="Matrix").click()
    boxes = stage(root).bounding_box(), root.locator(".tn-strip").bounding_box()
    ends = [box["x"] + box["width"] for box in boxes]
    assert abs(ends[0] - ends[1]) < 20  # in sight at the edge, however far the matrix is scrolled
    assert root.locator(".tn-body .tn-strip").count() == 0
    assert root.locator(".tn-name").text_content() == notebook.python("print(f't{many.query}')")
    assert notebook.widget(VECTORS).locator(".tn-name").is_hidden()


def test_accessibility_in_every_view_and_theme(notebook):
    for view in ("Arcs", "Table", "Matrix"):
        for index in (HEADS, MASKED, VECTORS):
            notebook.widget(index).get_by_role("button", name=view).click()
        assert not notebook.accessibility_findings(), view
    light = darkness(notebook.widget(HEADS), 9, 9)
    notebook.change_theme("dark")

    def brighter_is_more():  # on a dark page
        dark = darkness(notebook.widget(HEADS), 9, 9)
        return bool(np.corrcoef(light.ravel(), dark.ravel())[0, 1] < 0)

    assert notebook.soon(brighter_is_more, True)
    for view in ("Arcs", "Table", "Matrix"):
        for index in (HEADS, MASKED, VECTORS):
            notebook.widget(index).get_by_role("button", name=view).click()
        assert not notebook.accessibility_findings(), view


def test_nothing_was_fetched_from_elsewhere_and_no_error_was_logged(notebook):
    assert notebook.outside == []
    assert notebook.errors == []


def test_scrolled_away_and_back_on_a_sharp_screen(open_notebook):
    cells = CELLS[:2] + ["1 + 1\n" * 30] * 30
    notebook = open_notebook(cells, windowing="full", scale=2)
    scroll = """(y) => { document.querySelector(".jp-WindowedPanel-outer").scrollTop = y; }"""
    notebook.page.evaluate(scroll, 0)
    widget = notebook.widget(HEADS)
    before = darkness(widget, 9, 9)
    assert heat(widget).evaluate("e => e.width / e.clientWidth") == 2
    for _ in range(2):
        notebook.page.evaluate(scroll, 1_000_000)
        notebook.page.wait_for_timeout(400)
        notebook.page.evaluate(scroll, 0)
        widget.wait_for()
        notebook.page.wait_for_timeout(400)
        assert (darkness(widget, 9, 9) == before).all()
    stage(widget).focus()
    notebook.page.keyboard.press("Home")
    key = notebook.python("print(heads.key)")
    assert_chosen(notebook, 3, 1, key, 0)
    assert notebook.errors == []


def test_vectors_of_more_numbers_than_a_function_takes_arguments(open_clean):
    vectors = "queries=np.ones((2000, 128)), keys=np.ones((2000, 1)), values=[[1.0]]"
    source = f"explore(Attention(np.ones((1, 128)), ['k'], tokens(128, 'q'), {vectors}))"
    notebook = open_clean([SET_UP, source])
    score = notebook.widget(1).locator(".tn-vectors tbody td").nth(1)
    assert notebook.soon(score.text_content, "2000.00") == "2000.00"


def test_without_a_kernel_a_reader_sees_the_table(open_notebook):
    bundle = explore(Attention(np.eye(2), ["<b>bold</b>", "ball"]))._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", bundle, execution_count=1)
    cell = nbformat.v4.new_code_cell("widget", outputs=[output], execution_count=1)
    notebook = open_notebook([cell], run=False)
    table = notebook.cell(0).locator(".jp-RenderedHTML table")
    table.wait_for()
    assert table.locator("td").all_text_contents() == ["1.00", "0.00", "0.00", "1.00"]
    assert table.locator("b").count() == 0 and "<b>bold</b>" in table.text_content()
