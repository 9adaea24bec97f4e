"""Text as tokens, merges of pairs and hidden words in a real JupyterLab."""

import re

from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"
FITS = "node => node.scrollWidth <= node.clientWidth"

TOKENS = """
from helpers.widgets import *

kinds = {"Ada": "person", "Lisbon": "place"}

def split(text, size):
    if size == 7:
        raise ValueError("Seven is not allowed here.")
    return TokenRows([
        ("bytes", [bytes([byte]) for byte in text.encode()]),
        ("pieces", [text[i : i + size] for i in range(0, len(text), size)]),
        ("tags", [(word, kinds.get(word)) for word in text.split()]),
    ])

explore_tokens(split, "Ada saw Lisboné", slider("size", 1, 8, 3))
"""
ANY_TOKENS = f"""
name = "{HOSTILE}"
explore_tokens(lambda text: TokenRows([(name, list(text)), (name, [(text, name), "\\u202egnp"])]),
               name + " x" * 300)
"""


def cells_of(notebook):
    return notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    )


def test_tokens(open_clean):
    notebook = open_clean([TOKENS, "None"])
    page, widget = notebook.page, notebook.widget(0)
    rows, status = widget.get_by_role("row"), widget.locator(".tn-status")
    box, linked = widget.get_by_label("Text", exact=True), widget.locator(".tn-tokens-linked")

    def row(index):
        return rows.nth(index).get_by_role("gridcell")

    expect(rows.get_by_role("rowheader")).to_have_text(
        ["bytes16 tokens, 5.33 a word", "pieces5 tokens, 1.67 a word", "tags3 tokens, 1.00 a word"]
    )
    expect(row(1)).to_have_text(["Ada", "␣sa", "w␣L", "isb", "oné"])
    expect(row(0).nth(15)).to_have_text("⟨A9⟩")
    expect(row(2)).to_have_text(["Adaperson", "saw", "Lisboné"])
    expect(status).to_have_text("bytes, token 1 of 16: A; pieces: Ada; tags: Ada (person)")

    # One tab stop; up and down stay with the same letters; keys do not reach the notebook.
    focusable = widget.locator("[role=grid] [tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    for key in ("End", "ArrowRight", "ArrowDown", "ArrowLeft", "b"):
        page.keyboard.press(key)
    expect(row(1).nth(3)).to_be_focused()
    expect(status).to_have_text("pieces, token 4 of 5: isb; bytes: i | s | b; tags: Lisboné")
    expect(linked).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(row(2).nth(2)).to_be_focused()
    for key in ("Home", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    expect(row(0).nth(0)).to_be_focused()
    expect(focusable).to_have_count(1)
    assert cells_of(notebook) == 2

    # The mouse points and chooses.
    row(1).nth(2).hover()
    expect(status).to_have_text(re.compile("^pieces, token 3 of 5: w␣L; bytes: w | ␣ | L;"))
    row(1).nth(1).click()
    expect(row(1).nth(1)).to_be_focused()

    # The slider cuts anew; a fault is a sentence.
    widget.get_by_label("size").press("End")
    expect(row(1)).to_have_text(["Ada␣saw␣", "Lisboné"])
    widget.get_by_label("size").press("ArrowLeft")
    expect(widget.get_by_role("alert")).to_have_text("Seven is not allowed here.")

    # Any text, the empty one too.
    box.fill("")
    expect(status).to_have_text("There are no tokens.")
    box.fill(HOSTILE)
    expect(row(0)).to_have_count(len(HOSTILE))
    expect(widget.locator("img")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
    row(0).nth(3).click()
    notebook.expect_keys_back(0)


def test_any_text_in_the_dark_and_in_a_narrow_window(open_clean):
    notebook = open_clean([TOKENS, ANY_TOKENS], theme="dark", width=500)
    page = notebook.page
    assert page.title() != "broken"
    assert page.locator(".tn-widget.tn-dark img").count() == 0
    long = notebook.widget(1)
    expect(long.get_by_role("gridcell")).to_have_count(202)
    expect(long.get_by_text("Shown: the first 200 of")).to_have_count(1)
    for index in range(2):
        assert notebook.widget(index).evaluate(FITS)
    assert notebook.accessibility_findings() == ""
    notebook.change_theme("light")
    assert notebook.accessibility_findings() == ""
