"""Source and target words with the links between them, in a real JupyterLab."""

import re

from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"
FITS = "node => node.scrollWidth <= node.clientWidth"

ALIGNMENT = """
import numpy as np
from helpers.widgets import *

WORDS = {"the": "la", "red": "rossa", "car": "macchina", "stopped": "frenava"}

def align(text, language, sharpness):
    source = text.split()
    if len(source) == 5:
        raise ValueError("Five words are too many.")
    order = sorted(range(len(source)), key=lambda s: (source[s] == "red") * 1.5 + s)
    pairs = [(s, t) for t, s in enumerate(order)] if language == "Italian" else []
    scores = np.zeros((len(source), len(source)))
    for s, t in pairs:
        scores[s, t] = sharpness
    target = [WORDS.get(source[s], "?") for s in order]
    weights = np.exp(scores) / np.exp(scores).sum(0)
    return Alignment(source, target, weights, pairs, [word != "?" for word in target], "A note.")

explore_alignment(align, "the red car stopped", options("language", ["Italian", "none"]),
                  slider("sharpness", 0, 9, 3))
"""
LONG = f"""
words = ["{HOSTILE}", "\\u202egnp", "שלום", *(f"word{{i}}" for i in range(40))]
explore_alignment(lambda text: Alignment(words, words[::-1], np.eye(43)[::-1] * 0.5,
                                         [(i, i) for i in range(43)], [False] * 43), words[0])
"""
EMPTY = """
explore_alignment(lambda text: Alignment([*text], [], np.zeros((len(text), 0))), "ab")
"""


def cells_of(notebook):
    return notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    )


def test_alignment(open_clean):
    notebook = open_clean([ALIGNMENT, "None"])
    page, widget = notebook.page, notebook.widget(0)
    says, words = widget.locator(".tn-status"), widget.get_by_role("gridcell")
    drawn = widget.locator(".tn-align-links")
    weights, known = drawn.locator(".tn-align-weight"), drawn.locator(".tn-align-known")
    numbers = widget.locator(".tn-align-word small")
    whole = (
        "4 source words, 4 target words; 4 of 4 target words look most where a true link leads; "
        "no word is known to be wrong"
    )

    # At first all links; what is true is dashed, what is strong is thick.
    expect(words.locator("span")).to_have_text(
        ["the", "red", "car", "stopped", "la", "macchina", "rossa", "frenava"]
    )
    expect(says).to_have_text(whole)
    expect(weights).to_have_count(16)
    expect(known).to_have_count(4)
    dashes = "nodes => nodes.map((node) => getComputedStyle(node).strokeDasharray !== 'none')"
    assert set(known.evaluate_all(dashes)) == {True}
    assert set(weights.evaluate_all(dashes)) == {False}

    def look(source, target, name):
        link = drawn.locator(f".tn-align-weight[data-source='{source}'][data-target='{target}']")
        return float(
            link.evaluate("(node, name) => getComputedStyle(node)[name]", name).strip("px")
        )

    for name in ("strokeWidth", "strokeOpacity"):
        assert look(1, 2, name) > 2 * look(1, 1, name)
    # A link ends in the middle of its two words, though they cross.
    ends = """node => {
        const middle = (box) => box.left + box.width / 2;
        const svg = node.ownerSVGElement.getBoundingClientRect();
        return [0, node.getTotalLength()].map((at) => node.getPointAtLength(at).x + svg.left);
    }"""
    link = drawn.locator(".tn-align-weight[data-source='1'][data-target='2']")
    boxes = [words.nth(i).bounding_box() for i in (1, 6)]
    middles = [box["x"] + box["width"] / 2 for box in boxes]
    assert all(abs(a - b) < 1 for a, b in zip(link.evaluate(ends), middles, strict=True))

    # One tab stop; a word's links stand out, with their weights; keys do not reach the notebook.
    focusable = widget.locator("[role=grid] [tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    expect(says).to_have_text(
        "target word 1 of 4, “la”: looks at “the” 0.87, “red” 0.04, “car” 0.04; "
        "truly linked to “the”"
    )
    expect(numbers).to_have_text(["0.87", "0.04", "0.04", "0.04", "", "", "", ""])
    expect(drawn.locator(".tn-align-way")).to_have_count(5)
    for key in ("ArrowRight", "b", "ArrowUp"):
        page.keyboard.press(key)
    # Up goes to the word at which “macchina” looks most.
    expect(words.nth(2)).to_be_focused()
    expect(says).to_have_text(re.compile("^source word 3 of 4, “car”: is looked at by “macchina”"))
    expect(numbers).to_have_text(["", "", "", "", "0.04", "0.87", "0.04", "0.04"])
    for key in ("ArrowUp", "Home", "ArrowLeft", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(words.nth(6)).to_be_focused()  # from “red” to “rossa”
    page.keyboard.press("End")
    expect(words.nth(7)).to_be_focused()
    expect(focusable).to_have_count(1)
    assert cells_of(notebook) == 2

    # The mouse points; away from the words, what has the focus is shown, and without one all.
    words.nth(0).hover()
    expect(says).to_have_text(re.compile("^source word 1 of 4"))
    widget.get_by_label("Text", exact=True).hover()
    expect(says).to_have_text(re.compile("^target word 4 of 4"))
    widget.get_by_label("Text", exact=True).focus()
    expect(says).to_have_text(whole)
    words.nth(5).click()
    expect(words.nth(5)).to_be_focused()

    # Controls; the focus stays where it is; what cannot be answered is a sentence.
    widget.get_by_label("language").select_option("none")
    expect(known).to_have_count(0)
    expect(says).to_have_text(
        "target word 2 of 4, “macchina”: looks at “the” 0.25, “red” 0.25, “car” 0.25"
    )
    expect(words.nth(5)).to_be_focused()
    expect(widget.locator(".tn-align-key")).not_to_contain_text("true")
    widget.get_by_label("language").select_option("Italian")
    widget.get_by_label("sharpness").press("End")
    expect(weights).to_have_count(4)  # the others are too weak
    box = widget.get_by_label("Text", exact=True)
    box.fill("the blue car")
    expect(says).to_have_text(re.compile("look most where a true link leads; wrong: “\\?”$"))
    expect(words.nth(4)).to_have_accessible_name("?, a wrong word")
    expect(widget.locator(".tn-align-wrong")).to_have_count(1)
    box.fill("one two three four five")
    expect(widget.get_by_role("alert")).to_have_text("Five words are too many.")
    expect(words).to_have_count(6)
    box.fill("")
    expect(says).to_have_text("There are no words to link.")
    box.fill(HOSTILE)
    expect(words).to_have_count(6)
    expect(widget.locator("img")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
    focusable.focus()
    notebook.expect_keys_back(0)


def test_many_words_in_the_dark_and_in_a_narrow_window(open_clean):
    notebook = open_clean([ALIGNMENT, LONG, EMPTY], theme="dark", width=500)
    page, long = notebook.page, notebook.widget(1)
    assert page.title() != "broken"
    assert page.locator(".tn-widget.tn-dark img").count() == 0
    for index in range(3):
        assert notebook.widget(index).evaluate(FITS)
    expect(notebook.widget(2).locator(".tn-status")).to_have_text("There are no words to link.")
    assert notebook.accessibility_findings() == ""

    # The row scrolls to the word that has the keys, which its name does not cover.
    words = long.get_by_role("gridcell")
    words.first.focus()
    page.keyboard.press("End")
    expect(words.nth(42)).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("Home")
    covered = """word => {
        const { left, top, width, height } = word.firstChild.getBoundingClientRect();
        return document.elementFromPoint(left + 3, top + height / 2) !== word.firstChild;
    }"""
    assert not words.first.evaluate(covered)
    notebook.change_theme("light")
    assert notebook.accessibility_findings() == ""


def test_forced_colors_and_reduced_motion(open_clean):
    notebook = open_clean([ALIGNMENT])
    page, widget = notebook.page, notebook.widget(0)
    look = "(node, name) => getComputedStyle(node)[name]"
    link = widget.locator(".tn-align-links .tn-align-weight").first
    try:
        page.emulate_media(forced_colors="active", color_scheme="dark", reduced_motion="reduce")
        assert link.evaluate(look, "stroke") == "rgb(255, 255, 255)"
        assert link.evaluate(look, "transitionDuration") in ("0s", "") or (
            link.evaluate(look, "transitionProperty") == "none"
        )
        word = widget.get_by_role("gridcell").first
        word.focus()
        assert word.locator("span").evaluate(look, "outlineStyle") == "solid"
        assert notebook.accessibility_findings() == ""
    finally:
        page.emulate_media(
            forced_colors="none", color_scheme="light", reduced_motion="no-preference"
        )
