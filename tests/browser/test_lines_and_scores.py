"""The chart of curves and the words' scores in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"

SIZES = """
import numpy as np
from helpers.widgets import Lines, WordScores, explore_lines, explore_scores, slider

def sizes(D):
    if D == 7:
        raise ValueError("Seven is not allowed here.")
    N = np.arange(1, 101)
    ones = np.ones(100)
    curves = {"dense": (D * N) ** 2.0 + D * N, "convolution": (3 * D**2 + D) * ones,
              "self-attention": 3 * (D**2 + D) * ones}
    return Lines(N, curves, "Weights of a layer", "N", "weights", log_y=True, y_range=(10, 1e12),
                 marks={"the passage": ("x", 37), "a billion": ("y", 1e9)}, note="Per layer.")

chart = explore_lines(sizes, slider("D", 4, 2048, 1024))
chart
"""
BAG = """
lexicon = {"not": -0.5, "terrible": -2.0, "lovely": 1.5}

def bag(words):
    scores = [lexicon.get(word, 0.0) for word in words]
    total = sum(scores) + 0.2
    return WordScores(words, scores, total, "positive" if total > 0 else "negative")

explore_scores(bag, "This restaurant was not too terrible")
"""
GAPS = """
x = np.geomspace(1, 1e6, 500)
curves = {name: np.sin(np.log(x) + i) for i, name in enumerate("abcdef")}
curves["c"][200:300] = np.nan
explore_lines(Lines(x, curves, "Six", "tokens", "accuracy", log_x=True))
"""
AT_THE_TOP = """
equal = {name: [0, 1] for name in ("one", "two", "three")}
explore_lines(Lines([1, 2], equal, "Equal", "x", "y", y_range=(0, 1)))
"""
OF_ONE = f"""
from helpers.widgets import Lines, explore_lines, options

def of(kind):
    if kind == "none":
        raise ValueError("There is nothing to show.")
    return Lines([1, 2], {{kind: [1, 2]}}, kind, "x", "y")

shown = explore_lines(of, options("kind", ["prose", "none", "{HOSTILE}"], label="kind of text"))
shown
"""
TEXT = (
    f"""
name = "{HOSTILE}"
explore_lines(Lines([1, 2], {{name: [1, 2], "b": [2, 1]}}, name, name, name, note=name,
                    marks={{name: ("x", 1.5)}}))
""",
    """
def ones(words):
    return WordScores(words, [1.0] * len(words), 1.0, name)

explore_scores(ones, name + " lovely" * 99)
""",
)


def numbers(path):
    return [float(x) for x in re.findall(r"-?[\d.]+", path.get_attribute("d"))]


def test_lines(open_clean):
    notebook = open_clean([SIZES, "chart"])
    page, widget, other = notebook.page, notebook.widget(0), notebook.widget(1)
    widget.scroll_into_view_if_needed()
    picture, knob = widget.locator(".tn-lines-chart"), widget.locator(".tn-lines-chart [tabindex]")

    def says(text):
        expect(widget.locator(".tn-status")).to_have_text(text)

    # The crosshair starts at the mark; the names stand at the ends of their curves.
    says("N = 37: dense 1.4 billion, convolution 3.1 million, self-attention 3.1 million")
    expect(picture.locator(".tn-lines-curve text")).to_have_text(
        ["dense", "convolution", "self-attention"]
    )
    expect(widget.locator(".tn-lines-legend")).to_be_hidden()
    rows = [
        float(name.get_attribute("y")) for name in picture.locator(".tn-lines-curve text").all()
    ]
    assert rows[0] < rows[1] <= rows[2] - 15  # two equal curves, two readable names
    expect(picture.locator(".tn-small-label")).to_have_text(["the passage", "a billion"])
    mark = numbers(picture.locator(".tn-lines-mark").first)[0]
    assert numbers(picture.locator(".tn-lines-hair"))[0] == pytest.approx(mark)

    # One tab stop, moved by the arrows; keys do not reach the notebook.
    expect(knob).to_have_count(1)
    knob.focus()
    for key, n in (
        ("ArrowRight", 38), ("ArrowUp", 39), ("Shift+ArrowLeft", 34), ("PageUp", 44),
        ("PageDown", 34), ("End", 100), ("ArrowRight", 100), ("Home", 1), ("ArrowLeft", 1),
        ("b", 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(knob).to_have_attribute("aria-valuetext", re.compile(f"^N = {n}: dense .+, conv"))
    says("N = 1: dense 1 million, convolution 3.1 million, self-attention 3.1 million")
    assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == 2

    # By mouse, over the middle of the axis and beyond its end.
    box = picture.bounding_box()
    left, right = numbers(picture.locator(".tn-lines-axes path").first)[::2]
    middle = box["x"] + (left + right) / 2
    page.mouse.move(middle, box["y"] + 150)
    says(re.compile("^N = (50|51): "))
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 150)
    says(re.compile("^N = 100: "))

    # The slider, in both views: the curve moves, the axis stays, so does the crosshair.
    page.keyboard.press("Home")
    ticks = picture.locator(".tn-lines-axes text").all_text_contents()
    line = picture.locator(".tn-lines-0 .tn-lines-line").first
    before = line.get_attribute("d")
    widget.get_by_label("D", exact=True).focus()
    page.keyboard.press("Home")
    says("N = 1: dense 20, convolution 52, self-attention 60")
    expect(other.locator(".tn-status")).to_have_text(re.compile(r"^N = 37: dense 22,052, "))
    assert line.get_attribute("d") != before
    assert picture.locator(".tn-lines-axes text").all_text_contents() == ticks
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("alert")).to_have_text("Seven is not allowed here.")
    page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("alert")).to_be_hidden()
    says("N = 1: dense 72, convolution 200, self-attention 216")

    knob.press("End")
    says(re.compile("^N = 100: "))
    assert notebook.accessibility_findings() == ""
    notebook.expect_keys_back(0)


def test_options(open_clean):
    notebook = open_clean([OF_ONE, "shown"])
    page, views = notebook.page, [notebook.widget(0), notebook.widget(1)]
    lists = [view.get_by_label("kind of text", exact=True) for view in views]

    def both_show(title):
        for view, chosen in zip(views, lists, strict=True):
            expect(view.locator(".tn-lines-title")).to_have_text(title)
            expect(chosen).to_have_value(title)

    both_show("prose")
    lists[0].focus()
    for key in ("b", "End"):
        page.keyboard.press(key)
    both_show(HOSTILE)
    page.keyboard.press("ArrowUp")
    expect(views[1].get_by_role("alert")).to_have_text("There is nothing to show.")
    expect(views[1].locator(".tn-lines-title")).to_have_text(HOSTILE)
    lists[1].select_option("prose")
    both_show("prose")
    assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == 2
    assert notebook.accessibility_findings() == ""


def test_scores(open_clean):
    notebook = open_clean([SIZES, BAG, "None"])
    page, widget = notebook.page, notebook.widget(1)
    widget.scroll_into_view_if_needed()
    words, box = widget.get_by_role("option"), widget.get_by_label("Words", exact=True)
    summary = widget.locator(".tn-scores-summary .tn-status")

    def says(text):
        expect(widget.locator(".tn-status").first).to_have_text(text)

    expect(widget.locator(".tn-scores-text")).to_have_text(
        ["This", "restaurant", "was", "not", "too", "terrible"]
    )
    expect(summary).to_have_text("words −2.50 + bias 0.20 = total −2.30: negative")
    says("word 6 of 6, “terrible”, adds −2.00")  # the strongest, until one is chosen
    bars = widget.locator(".tn-scores-below .tn-scores-bar")
    heights = [bar.bounding_box()["height"] for bar in bars.all()]
    assert heights[0] == pytest.approx(heights[1] / 4)
    expect(widget.locator(".tn-scores-above .tn-scores-bar")).to_have_count(0)

    # One tab stop, moved by the arrows; the mouse chooses too.
    expect(widget.locator("[role=option][tabindex='0']")).to_have_count(1)
    words.nth(5).focus()
    page.keyboard.press("ArrowLeft")
    says("word 5 of 6, “too”, adds 0.00")
    for key in ("Home", "ArrowLeft", "ArrowRight", "b"):
        page.keyboard.press(key)
    says("word 2 of 6, “restaurant”, adds 0.00")
    words.nth(3).click()
    expect(words.nth(3)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(words.nth(4)).to_be_focused()
    expect(words.nth(4)).to_have_attribute("aria-selected", "true")
    assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == 3

    # Another sentence: praise stands up; an empty one is a sentence and changes nothing.
    box.fill("lovely place")
    expect(summary).to_have_text("words 1.50 + bias 0.20 = total 1.70: positive")
    says("word 1 of 2, “lovely”, adds +1.50")
    expect(widget.locator(".tn-scores-above .tn-scores-bar")).to_have_count(1)
    expect(bars).to_have_count(0)
    box.fill(" ")
    expect(widget.get_by_role("alert")).to_have_text("Type at least one word.")
    expect(words).to_have_count(2)
    box.fill(f"lovely {HOSTILE}")
    expect(words.nth(2).locator(".tn-scores-text")).to_have_text("src=x")
    expect(widget.locator("img")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
    words.nth(0).focus()
    notebook.expect_keys_back(1)


def test_any_text_and_the_dark_theme(open_clean):
    notebook = open_clean([SIZES, BAG, GAPS, *TEXT, AT_THE_TOP], theme="dark", width=700)
    page = notebook.page
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(6)
    assert page.locator(".tn-widget img").count() == 0
    assert page.title() != "broken"

    # Six curves; a gap leaves two pieces, and the crosshair says that there is no value.
    six = notebook.widget(2)
    lines = six.locator(".tn-lines-chart .tn-lines-line")
    expect(lines).to_have_count(6)
    assert [line.get_attribute("d").count("M") for line in lines.all()] == [1, 1, 2, 1, 1, 1]
    expect(six.locator(".tn-status")).to_have_text(re.compile("c no value"))
    looks = six.locator(".tn-lines-chart .tn-lines-line").evaluate_all(
        """nodes => nodes.map((node) => getComputedStyle(node))
            .map(({ stroke, strokeDasharray }) => [stroke, strokeDasharray])"""
    )
    assert len({color for color, _ in looks}) == len({dash for _, dash in looks}) == 6

    # Names of curves that end together, at the top, stand one below the other.
    names = notebook.widget(5).locator(".tn-lines-curve text")
    expect(names).to_have_text(["one", "two", "three"])
    places = [float(name.get_attribute("y")) for name in names.all()]
    assert places[0] > 20
    assert min(places[1] - places[0], places[2] - places[1]) > 15

    # A name too long for the margin goes to a legend above.
    long = notebook.widget(3)
    expect(long.locator(".tn-lines-title")).to_have_text(HOSTILE)
    expect(long.locator(".tn-lines-legend > span > span")).to_have_text([f"{HOSTILE[:39]}…", "b"])
    expect(long.locator(".tn-lines-curve text")).to_have_count(0)
    expect(notebook.widget(4).get_by_role("option")).to_have_count(80)
    expect(notebook.widget(4).locator(".tn-scores-note")).to_have_text(re.compile("80 of 102"))
    assert notebook.accessibility_findings() == ""

    # The width follows the window, and in a narrow one nothing is cut off.
    before = six.locator(".tn-lines-chart").bounding_box()["width"]
    page.set_viewport_size({"width": 1000, "height": 1000})
    grown = six.locator(".tn-lines-chart").bounding_box
    assert notebook.soon(lambda: grown()["width"] > before + 200, True)
    page.set_viewport_size({"width": 700, "height": 1000})
    assert notebook.soon(lambda: grown()["width"] == before, True)
    for index in range(3):
        fits = "node => node.scrollWidth <= node.clientWidth"
        assert notebook.widget(index).evaluate(fits)

    # The open page changes its theme, and the widgets with it.
    notebook.change_theme("light")
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
