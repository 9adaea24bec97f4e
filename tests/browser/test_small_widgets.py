"""The routing triangle, the soft dictionary and the shape stepper in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"

ROUTING = """
import numpy as np
from helpers.widgets.routing.widget import explore_routing

def route(values, weights):
    if weights[1] == 1:
        raise ValueError("v₂ alone is not allowed here.")
    return values @ weights

routing = explore_routing(route, [[1.0, 3.0, 2.0], [0.5, 1.0, 3.0]])
routing
"""
DICTIONARY = """
import numpy as np
from helpers.widgets.dictionary.widget import explore_dictionary

def look_up(query, keys, values, sharpness):
    powers = np.exp(sharpness * (keys.T @ query))
    weights = powers / powers.sum()
    return weights, values @ weights

keys = [[1.6, 0.3, -1.2], [0.2, 1.5, -0.9]]
explore_dictionary(look_up, keys, [21, 30, 3], ["warm", "hot", "freezing"])
"""
STEPPER = """
import numpy as np
from helpers.widgets.shared.live import slider
from helpers.widgets.products.widget import Product, step_through

def steps(N):
    X = np.arange(4.0 * N).reshape(4, N) / 10
    Omega, beta = np.arange(12.0).reshape(3, 4) / 4 - 1, np.array([[1.0], [2], [3]])
    Q = Omega @ X + beta
    powers = np.exp(Q - Q.max(0))
    return [
        Product("Q", "Q = β_q + Ω_q X", "Ω_q", Omega, "X", X, "Q", Q, "β_q", beta,
                left_shape="D_q × D", right_shape="D × N"),
        Product("softmax", "A = Softmax[Q]", "Q", Q, None, None, "A", powers / powers.sum(0)),
    ]

step_through(steps, slider("N", 2, 6, 3))
"""
LAYER = """
from helpers.widgets.products.widget import Operation

X, M = np.arange(6.0).reshape(2, 3), np.array([[0.5, -1.5, 0.25], [1, 0, -2]])
S = X + M
eye = np.eye(2)
step_through([
    Product("I", "X = I X", "I", eye, "X", X, "X", X),
    Operation("MhSa", "MhSa[X]", {"X": X}, "MhSa[X]", M, "all"),
    Operation("add", "X ← X + MhSa[X]", {"X": X, "MhSa[X]": M}, "X", S, "entry", shape="D × N"),
    Operation("norm", "X ← LayerNorm[X]", {"X": S}, "X", (S - S.mean(0)) / S.std(0), "column"),
    Operation("both", "LayerNorm[X + M]", {"X": X, "M": M}, "X", -S, "column"),
])
"""
WIDE = """
wide = np.ones((12, 12))
step_through([Operation("add", "2 = 1 + 1", {"a": wide, "b": wide}, "c", 2 * wide, "entry")])
"""
TEXT = (
    f"""
name = "{HOSTILE}"
eye = np.eye(2)
step_through([Product(name, name, name, eye, name, eye, name, eye, note=name)])
""",
    """
explore_dictionary(look_up, keys, [1, 2, 3], [name] * 3)
""",
    """
explore_routing(route, [[1.0, 3.0, 2.0], [0.5, 1.0, 3.0]], {name: (1, 0, 0)})
""",
)


def center(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, knob, place):
    """Take the knob with the mouse to a place in the window, in several moves."""
    page.mouse.move(*center(knob))
    page.mouse.down()
    page.mouse.move(*place, steps=8)
    page.mouse.up()


def start_of(path):
    """Where an SVG path starts."""
    numbers = re.findall(r"-?[\d.]+", path.get_attribute("d"))
    return float(numbers[0]), float(numbers[1])


def test_routing(open_clean):
    notebook = open_clean([ROUTING, "routing"])
    page, widget, other = notebook.page, notebook.widget(0), notebook.widget(1)
    widget.scroll_into_view_if_needed()
    knob, corners = (
        widget.locator(".tn-small-knob"),
        widget.locator("svg").first.locator(".tn-route-mark"),
    )

    def says(text):
        expect(widget.locator(".tn-status")).to_have_text(text)

    says("output = 0.10·v₁ + 0.30·v₂ + 0.60·v₃ = (2.20, 2.15)")

    # By mouse, to a corner; beyond it, the weights stay in the triangle.
    drag(page, knob, center(corners.nth(2)))
    says("output = 0.00·v₁ + 0.00·v₂ + 1.00·v₃ = (2.00, 3.00)")
    x, y = center(corners.nth(2))
    drag(page, knob, (x + 40, y + 25))
    says("output = 0.00·v₁ + 0.00·v₂ + 1.00·v₃ = (2.00, 3.00)")
    # The output's arrow ends where the third value stands.
    tip = start_of(widget.locator(".tn-route-output .tn-small-head"))
    mark = start_of(widget.locator(".tn-small-plane > .tn-route-mark").nth(2))
    assert tip == pytest.approx((mark[0], mark[1] + 7))  # the diamond's path starts at its top

    # By keys, in hundredths; Shift goes five steps. Both views and Python follow.
    page.keyboard.press("ArrowLeft")
    says("output = 0.01·v₁ + 0.00·v₂ + 0.99·v₃ = (1.99, 2.98)")
    page.keyboard.press("Shift+ArrowUp")
    says("output = 0.00·v₁ + 0.10·v₂ + 0.90·v₃ = (2.10, 2.80)")
    expect(knob).to_have_attribute("aria-valuetext", "v₁ 0.00, v₂ 0.10, v₃ 0.90")
    expect(other.locator(".tn-status")).to_have_text(re.compile("0.90·v₃ = "))
    expect(other.locator(".tn-small-knob")).to_have_attribute(
        "transform", knob.get_attribute("transform")
    )

    # By preset.
    button = widget.get_by_role("button", name="output two")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    says("output = 0.50·v₁ + 0.20·v₂ + 0.30·v₃ = (1.70, 1.35)")
    expect(button).to_have_attribute("aria-pressed", "true")

    # An error of the notebook's function is one sentence; the picture stays until the next move.
    drag(page, knob, center(corners.nth(1)))
    problem = widget.get_by_role("alert")
    expect(problem).to_have_text("v₂ alone is not allowed here.")
    assert "(3.00, 1.00)" not in widget.locator(".tn-status").text_content()
    page.keyboard.press("ArrowDown")
    expect(problem).to_be_hidden()
    says("output = 0.01·v₁ + 0.98·v₂ + 0.01·v₃ = (2.97, 1.01)")
    assert notebook.accessibility_findings() == ""
    notebook.expect_keys_back(0)


def test_dictionary(open_clean):
    notebook = open_clean([DICTIONARY, "None"])
    page, widget = notebook.page, notebook.widget(0)
    widget.scroll_into_view_if_needed()
    knob, rows = widget.locator(".tn-small-knob"), widget.locator("tbody tr")

    def weights(*words):
        expect(rows.locator("td:nth-of-type(2)")).to_have_text(list(words))

    weights("0.64", "0.34", "0.02")
    expect(widget.locator(".tn-dict-won")).to_have_count(1)

    # Drag the query onto the key of "hot": it wins, in the table and on the plane.
    drag(page, knob, center(widget.locator(".tn-dict-dot").nth(1)))
    expect(knob).to_have_attribute("aria-valuetext", "(0.3, 1.5), hot wins")
    expect(rows.locator("td:first-of-type")).to_have_text(["0.78", "2.34", "−1.71"])
    weights("0.17", "0.81", "0.01")
    expect(widget.locator(".tn-dict-most th")).to_have_text(["hot → 30"])
    expect(widget.locator(".tn-status")).to_have_text(
        "0.17 × warm + 0.81 × hot + 0.01 × freezing = 28.08", use_inner_text=True
    )
    radii = [float(disk.get_attribute("r")) for disk in widget.locator(".tn-dict-disk").all()]
    assert radii[0] ** 2 / radii[1] ** 2 == pytest.approx(0.1713 / 0.8144, abs=0.01)

    page.keyboard.press("ArrowRight")
    expect(knob).to_have_attribute("aria-valuetext", "(0.34, 1.5), hot wins")
    page.keyboard.press("Shift+ArrowDown")
    expect(knob).to_have_attribute("aria-valuetext", "(0.34, 1.3), hot wins")

    # The slider, by keys that JupyterLab would like to have.
    sharpness = widget.get_by_label("sharpness")
    sharpness.focus()
    page.keyboard.press("End")
    weights("0.00", "1.00", "0.00")
    page.keyboard.press("Home")
    weights("0.33", "0.33", "0.33")
    expect(widget.locator(".tn-dict-most")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(widget.locator("output")).to_have_text("0.1")

    # Outside the plane the query stays at its edge.
    knob.focus()
    drag(page, knob, (center(knob)[0], widget.bounding_box()["y"] + 2))
    expect(knob).to_have_attribute("aria-valuetext", "(0.34, 2), hot wins")
    assert notebook.accessibility_findings() == ""
    notebook.expect_keys_back(0)


def test_stepper(open_clean):
    notebook = open_clean([STEPPER, "None"])
    page, widget = notebook.page, notebook.widget(0)
    widget.scroll_into_view_if_needed()
    grid = widget.get_by_role("grid")

    def result(i, j):
        return grid.get_by_role("row").nth(i).get_by_role("gridcell").nth(j)

    def says(text):
        expect(widget.locator(".tn-status")).to_have_text(text)

    def matrix(name):
        return widget.get_by_label(re.compile(f"^{name}, "))

    def lit(name):
        return matrix(name).evaluate(
            """matrix => [...matrix.children].flatMap((row, i) => [...row.children].flatMap(
                (cell, j) => cell.classList.contains("tn-product-lit") ? [`${i},${j}`] : []))"""
        )

    # Pointing at an entry lights up its row, its column and its bias, and nothing else.
    result(1, 2).hover()
    says("Q[1, 2] = 2.00 + 0.00·0.20 + 0.25·0.50 + 0.50·0.80 + 0.75·1.10 = 3.35")
    assert lit("Ω_q") == ["1,0", "1,1", "1,2", "1,3"]
    assert lit("X") == ["0,2", "1,2", "2,2", "3,2"]
    assert lit("β_q") == ["1,0"]
    assert lit("Q") == []
    expect(widget.locator(".tn-product-chosen")).to_have_attribute("aria-label", "Q[1, 2] = 3.35")
    # The entry stands where its row and its column cross, and the inner sizes are equally long.
    at = result(1, 2).bounding_box()
    column = matrix("X").locator(".tn-product-lit").first.bounding_box()
    row = matrix("Ω_q").locator(".tn-product-lit").first.bounding_box()
    assert (column["x"], row["y"]) == pytest.approx((at["x"], at["y"]))
    left, right = matrix("Ω_q").bounding_box(), matrix("X").bounding_box()
    assert left["width"] == pytest.approx(right["height"])

    # One tab stop, moved by the arrows; keys do not reach the notebook.
    expect(grid.locator("[tabindex='0']")).to_have_count(1)
    result(1, 2).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    says("Q[0, 0] = 1.00 + (−1.00)·0.00 + (−0.75)·0.30 + (−0.50)·0.60 + (−0.25)·0.90 = 0.25")
    for key in ("ArrowUp", "ArrowLeft", "b", "ArrowDown", "End"):
        page.keyboard.press(key)
    expect(result(1, 2)).to_be_focused()
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    assert page.evaluate(cells) == 2

    # The softmax competes within its column; the focus stays on the same entry.
    page.keyboard.press("]")
    expect(widget.get_by_role("button", name="softmax")).to_have_attribute("aria-pressed", "true")
    says("A[1, 2] = exp(3.35) / (exp(−0.25) + exp(3.35) + exp(6.95)) = 0.03")
    assert lit("Q") == lit("A") == ["0,2", "1,2", "2,2"]
    expect(result(1, 2)).to_be_focused()
    page.keyboard.press("]")  # there is no further step
    says("A[1, 2] = exp(3.35) / (exp(−0.25) + exp(3.35) + exp(6.95)) = 0.03")
    page.keyboard.press("[")
    expect(widget.get_by_role("button", name="Previous")).to_have_attribute("aria-disabled", "true")
    widget.get_by_role("button", name="Next").click()
    expect(widget.locator(".tn-product-equation")).to_have_text("A = Softmax[Q]")
    widget.get_by_role("button", name="Q", exact=True).click()

    # Another N: as many columns; the cursor stays inside.
    result(1, 2).focus()
    widget.get_by_label("N", exact=True).focus()
    page.keyboard.press("Home")
    expect(grid.get_by_role("row").first.get_by_role("gridcell")).to_have_count(2)
    says("Q[1, 1] = 2.00 + 0.00·0.10 + 0.25·0.30 + 0.50·0.50 + 0.75·0.70 = 2.85")
    assert notebook.accessibility_findings() == ""
    result(0, 0).focus()
    notebook.expect_keys_back(0)


def test_operations(open_clean):
    notebook = open_clean([STEPPER, LAYER, "None"])
    page, widget = notebook.page, notebook.widget(1)
    widget.scroll_into_view_if_needed()
    cells = widget.get_by_role("gridcell")

    def says(text):
        expect(widget.locator(".tn-status")).to_have_text(text)

    def lit():
        """For every matrix, from left to right, which entries light up, as "row,column"."""
        return widget.locator(".tn-product-matrix").evaluate_all(
            """matrices => matrices.map((matrix) =>
                [...matrix.children].flatMap((row, i) => [...row.children].flatMap((cell, j) =>
                    cell.classList.contains("tn-product-lit") ? [`${i},${j}`] : [])).join(" "))"""
        )

    def signs():
        return widget.locator(".tn-product-sign").all_text_contents()

    # From a product to an operation and on with one key; the focus stays on the same entry.
    cells.nth(1).focus()
    page.keyboard.press("]")
    says("MhSa[X][0, 1] = −1.50, made from every entry of X: all tokens")
    assert (lit(), signs()) == (["0,0 0,1 0,2 1,0 1,1 1,2", ""], ["→"])
    page.keyboard.press("]")
    says("X[0, 1] = 1.00 + (−1.50) = −0.50")
    assert (lit(), signs()) == (["0,1", "0,1", ""], ["+", "="])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    expect(cells.nth(5)).to_be_focused()
    says("X[1, 2] = 5.00 + (−2.00) = 3.00")
    assert lit() == ["1,2", "1,2", ""]
    assert notebook.accessibility_findings() == ""
    page.keyboard.press("]")
    says("X[1, 2] = 1.00, made from column 2 of X alone: one token")
    assert (lit(), signs()) == (["0,2 1,2", ""], ["→"])
    cells.nth(0).hover()
    assert lit() == ["0,0 1,0", ""]
    page.keyboard.press("]")  # two inputs whose sum it is not
    says("X[0, 0] = −0.50, made from column 0 of X and M alone: one token")
    assert (lit(), signs()) == (["0,0 1,0", "0,0 1,0", ""], ["+", "→"])

    # Back among products, a row and a column light up again.
    widget.get_by_role("button", name="I", exact=True).click()
    says("X[0, 0] = 1.00·0.00 + 0.00·3.00 = 0.00")
    assert lit() == ["0,0 1,0", "0,0 0,1", ""]
    cells.nth(0).focus()
    notebook.expect_keys_back(1)


def test_wide_operations_in_a_narrow_window(open_clean):
    notebook = open_clean([STEPPER, LAYER, WIDE], theme="dark", width=500)
    page, widget = notebook.page, notebook.widget(2)
    fits = "node => node.scrollWidth <= node.clientWidth"
    assert [notebook.widget(i).evaluate(fits) for i in range(3)] == [True] * 3
    # What the stage has no room for comes into view with the cursor.
    last = widget.get_by_role("gridcell").nth(11)
    widget.get_by_role("gridcell").first.focus()
    page.keyboard.press("End")
    expect(last).to_be_focused()
    box, stage = last.bounding_box(), widget.locator(".tn-product-stage").bounding_box()
    assert box["x"] + box["width"] <= stage["x"] + stage["width"] + 1
    assert notebook.accessibility_findings() == ""


def test_any_text_and_the_dark_theme(open_clean):
    notebook = open_clean([ROUTING, DICTIONARY, STEPPER, *TEXT], theme="dark", width=700)
    page = notebook.page
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(6)
    assert page.locator(".tn-widget img").count() == 0
    assert page.title() != "broken"
    expect(notebook.widget(3).locator(".tn-product-equation")).to_have_text(HOSTILE)
    expect(notebook.widget(4).locator("tbody th").first).to_have_text(f"{HOSTILE[:23]}… → 1")
    expect(notebook.widget(5).get_by_role("button")).to_have_text(f"{HOSTILE[:39]}…")
    assert notebook.accessibility_findings() == ""
    # In a narrow window nothing is cut off, even at the largest N.
    notebook.widget(2).get_by_label("N", exact=True).press("End")
    expect(notebook.widget(2).locator("[role=gridcell]")).to_have_count(18)
    for index in range(3):
        fits = "node => node.scrollWidth <= node.clientWidth"
        assert notebook.widget(index).evaluate(fits)
