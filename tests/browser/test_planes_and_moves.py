"""The planes of a rotary encoding and the points that move, in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"

PLANES = """
import numpy as np
from helpers.widgets import Moves, Planes, explore_moves, explore_planes, slider, switches

def turn(numbers, degrees):
    pairs = np.reshape(numbers, (-1, 2)) @ [1, 1j] * np.exp(1j * np.radians(degrees))
    return np.stack([pairs.real, pairs.imag], axis=1).ravel()

def turned(by, both):
    if by == 7:
        raise ValueError("Seven is not allowed here.")
    query, key = [0, 1, 0, 2], [1, 0, 1, 0]
    angles = np.array([both, both / 10])
    return Planes(query, key, turn(query, angles + [by, by / 10]), turn(key, angles), note="D = 4.")

planes = explore_planes(turned, slider("by", 0, 90, 30), slider("both", 0, 90, 0))
planes
"""
MOVES = """
before = np.array([[-3.0, 0.0, 3.0, 0.2], [0.0, 1.0, -1.0, 1.1]])
parts = [before / 2, before / 2, [[0, 0, 9, 0], [0, 0, 0, 0.5]]]

def moved(heads):
    if not any(heads):
        raise ValueError("One head must stay on.")
    after = sum(part for part, on in zip(parts, heads) if on)
    return Moves(["the", "ham", "sandwich", "it"], before, after)

moves = explore_moves(moved, switches("heads", ["one", "two", "three"], [True, True, False]))
moves
"""
TEXT = (
    f"""
name = "{HOSTILE}"
explore_planes(Planes([1, 0], [1, 0], [0, 1], [1, 0], note=name))
""",
    """
explore_moves(lambda on: Moves([name] * 2, np.eye(2), -np.eye(2), name), switches("on", [name]))
""",
)
MANY = (
    "q = np.arange(1.0, 17)\nexplore_planes(Planes(q, q[::-1], q, q[::-1]))",
    """
rng = np.random.default_rng(0)
places = rng.normal(size=(2, 64))
explore_moves(Moves([f"word{n}" for n in range(64)], places, 0.6 * places))
""",
)


def count_cells(page):
    return page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")


def numbers(node, name="d"):
    return [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", node.get_attribute(name))]


def tip(arrow):
    """Where an arrow ends, in the units of its drawing."""
    return numbers(arrow.locator(".tn-small-head"))[:2]


def test_planes(open_clean):
    notebook = open_clean([PLANES, "planes"])
    page, widget, other = notebook.page, notebook.widget(0), notebook.widget(1)
    widget.scroll_into_view_if_needed()
    options = widget.get_by_role("option")
    total, status = widget.locator(".tn-status").all()

    expect(total).to_have_text("q·k = 0.00 before, −0.60 after")
    expect(status).to_have_text(
        "plane 0: query turned by 30°, key by 0°, share of the dot product −0.50"
    )
    expect(widget.locator(".tn-planes-share")).to_have_text(["share −0.50", "share −0.10"])
    expect(widget.locator(".tn-small-note")).to_have_text("D = 4.")

    # The arrows stand where the numbers say: half as long as the longest, turned by 30°.
    first = options.first
    query = first.locator(".tn-small-arrow.tn-planes-query:not(.tn-planes-before)")
    assert tip(query) == pytest.approx([-17.5, -30.31], abs=0.01)
    before = first.locator(".tn-planes-query.tn-planes-before")
    assert tip(before) == pytest.approx([0, -35], abs=0.01)
    ends = numbers(first.locator(".tn-planes-arc"))
    assert ends[:2] == pytest.approx([0, -22])
    assert ends[-2:] == pytest.approx([-11, -19.05], abs=0.01)

    # One tab stop, moved by the arrows; keys do not reach the notebook; the mouse chooses too.
    expect(widget.locator("[role=option][tabindex='0']")).to_have_count(1)
    first.focus()
    page.keyboard.press("ArrowRight")
    says = "plane 1: query turned by 3°, key by 0°, share of the dot product −0.10"
    expect(status).to_have_text(says)
    for key in ("ArrowRight", "b", "Home", "ArrowLeft", "End"):
        page.keyboard.press(key)
    expect(options.nth(1)).to_be_focused()
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    expect(options.nth(1)).to_have_accessible_name(says)
    assert count_cells(page) == 2
    first.hover()
    expect(status).to_have_text(re.compile("^plane 0: "))
    options.nth(1).click()
    expect(options.nth(1)).to_be_focused()

    # Both moved: arrows turn, the share stays. The other view follows, and keeps its own plane.
    widget.get_by_label("both").press("End")
    expect(status).to_have_text(
        "plane 1: query turned by 12°, key by 9°, share of the dot product −0.10"
    )
    expect(total).to_have_text("q·k = 0.00 before, −0.60 after")
    expect(other.locator(".tn-status").nth(1)).to_have_text(
        "plane 0: query turned by 120°, key by 90°, share of the dot product −0.50"
    )
    assert tip(query) == pytest.approx([-30.31, 17.5], abs=0.01)

    # An error is one sentence, and the picture stays.
    by = widget.get_by_label("by", exact=True)
    by.press("Home")
    expect(total).to_have_text("q·k = 0.00 before, 0.00 after")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("alert")).to_have_text("Seven is not allowed here.")
    page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("alert")).to_be_hidden()

    # The numbers as a table.
    button = widget.get_by_role("button", name="Table")
    expect(widget.get_by_role("table")).to_be_hidden()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(widget.locator("tbody tr").first.locator("th, td")).to_have_text(
        ["0", "(0.00, 1.00)", "98°", "(−0.99, −0.14)", "(1.00, 0.00)", "90°", "(0.00, 1.00)",
         "0.00", "−0.14"]
    )  # fmt: skip
    assert notebook.accessibility_findings() == ""
    button.click()
    expect(widget.get_by_role("table")).to_be_hidden()
    options.nth(1).focus()
    notebook.expect_keys_back(0)


def test_moves(open_clean):
    notebook = open_clean([PLANES, MOVES, "moves", "None"])
    page, widget, other = notebook.page, notebook.widget(1), notebook.widget(2)
    widget.scroll_into_view_if_needed()
    options = widget.get_by_role("option")
    one, two, three = widget.get_by_role("checkbox").all()

    def says(text, view=widget):
        expect(view.locator(".tn-status")).to_have_text(text)

    # All where they were: no arrow, and every word beside its mark.
    says("“the” moved by 0.00")
    labels = widget.locator(".tn-small-label")
    expect(labels).to_have_text(["the", "ham", "sandwich", "it"])
    expect(widget.locator("[role=option] .tn-small-shaft[d]")).to_have_count(0)
    boxes = [label.bounding_box() for label in labels.all()]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + 14 <= b["y"] or b["y"] + 14 <= a["y"]

    # A head goes off, by a key: everything halfway to the middle, in both views; the frame stays.
    axes = widget.locator(".tn-small-axes").inner_html()
    expect(one).to_be_checked()
    two.focus()
    page.keyboard.press("Space")
    says("“the” moved by 1.50")
    says("“the” moved by 1.50", other)
    expect(other.get_by_role("checkbox").nth(1)).not_to_be_checked()
    assert widget.locator(".tn-small-axes").inner_html() == axes
    was, now = options.first.locator(".tn-moves-before"), options.first.locator(".tn-moves-after")
    middle = numbers(widget.locator(".tn-small-zero").first)[0]
    places = [float(mark.get_attribute("cx")) - middle for mark in (was, now)]
    assert places[1] == pytest.approx(places[0] / 2)
    end = tip(options.first.locator(".tn-small-arrow"))
    assert end[0] == pytest.approx(places[1] + middle - 5, abs=0.1)

    # Keys that JupyterLab would like to have stay with the switch.
    for key in ("ArrowDown", "b"):
        page.keyboard.press(key)
    expect(two).to_be_focused()
    assert (count_cells(page), notebook.active_cell()) == (4, 1)

    # One tab stop, in the order of the points.
    expect(widget.locator("[role=option][tabindex='0']")).to_have_count(1)
    options.first.focus()
    for key, words in (
        ("ArrowRight", "“ham” moved by 0.50"), ("End", "“it” moved by 0.56"),
        ("ArrowRight", "“it” moved by 0.56"), ("ArrowUp", "“sandwich” moved by 1.58"),
    ):  # fmt: skip
        page.keyboard.press(key)
        says(words)
    expect(options.nth(2)).to_be_focused()
    expect(options.nth(2)).to_have_accessible_name("“sandwich” moved by 1.58")
    expect(widget.locator(".tn-moves-chosen")).to_have_text("sandwich")

    # Another view flips a switch: the focus stays on the point. Beyond the frame its arrow ends
    # at the edge, dashed, without a filled mark.
    other.get_by_role("checkbox").nth(2).evaluate("node => node.click()")
    says("“sandwich” moved by 7.52, out of the picture")
    expect(three).to_be_checked()
    expect(options.nth(2)).to_be_focused()
    expect(options.nth(2).locator(".tn-moves-after")).to_have_count(0)
    beyond = options.nth(2).locator(".tn-moves-beyond")
    right = max(numbers(widget.locator(".tn-small-plane"), "viewBox")) - 10
    assert tip(beyond)[0] == pytest.approx(right)
    expect(widget.locator(".tn-small-caption")).to_have_text(re.compile("Dashed arrows"))
    assert widget.locator(".tn-small-axes").inner_html() == axes

    # By mouse: the nearest mark, old or new; a click takes the keys.
    options.nth(1).locator(".tn-moves-after").hover()
    says("“ham” moved by 0.50")
    options.first.locator(".tn-moves-before").hover()
    says("“the” moved by 1.50")
    options.nth(1).locator(".tn-moves-before").click()
    expect(options.nth(1)).to_be_focused()

    # What the function refuses is one sentence.
    three.click()
    one.click()
    expect(widget.get_by_role("alert")).to_have_text("One head must stay on.")
    one.click()
    expect(widget.get_by_role("alert")).to_be_hidden()

    # The words as a table, those that moved farthest first.
    widget.get_by_role("button", name="Table").click()
    expect(widget.locator("tbody th")).to_have_text(["sandwich", "the", "it", "ham"])
    assert notebook.accessibility_findings() == ""
    options.first.focus()
    notebook.expect_keys_back(1)


def test_any_text_and_the_dark_theme(open_clean):
    notebook = open_clean([PLANES, MOVES, *TEXT, *MANY], theme="dark", width=500)
    page = notebook.page
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(6)
    assert page.locator(".tn-widget img").count() == 0
    assert page.title() != "broken"
    expect(notebook.widget(2).locator(".tn-small-note")).to_have_text(HOSTILE)
    hostile = notebook.widget(3)
    expect(hostile.locator(".tn-small-note")).to_have_text(HOSTILE)
    expect(hostile.get_by_role("checkbox")).to_have_accessible_name(HOSTILE)
    expect(hostile.get_by_role("option").first).to_have_accessible_name(re.compile("<img src=x"))

    # Of 64 crowded words some are hidden until they are chosen.
    many = notebook.widget(5)
    crowded = many.locator(".tn-moves-crowded")
    assert 0 < crowded.count() < 64
    expect(crowded.first).to_be_hidden()
    many.get_by_role("option", name=f"“{crowded.first.text_content()}”").focus()
    expect(crowded.first).to_be_visible()
    assert notebook.accessibility_findings() == ""

    # In a narrow window nothing is cut off, also with the table open, which scrolls on its own.
    for index in (0, 1, 4, 5):
        notebook.widget(index).get_by_role("button", name="Table").click()
    fits = "node => node.scrollWidth <= node.clientWidth"
    for index in range(6):
        assert notebook.widget(index).evaluate(fits)
    expect(notebook.widget(4).get_by_role("option")).to_have_count(8)
    assert notebook.widget(4).locator(".tn-small-numbers").evaluate(f"node => !({fits})(node)")

    # The width follows the window, and the open page changes its theme.
    drawing = many.locator(".tn-small-plane")
    before = drawing.bounding_box()["width"]
    page.set_viewport_size({"width": 1100, "height": 1000})
    assert notebook.soon(lambda: drawing.bounding_box()["width"] > before + 200, True)
    notebook.change_theme("light")
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
