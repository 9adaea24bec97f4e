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
BY_PLACE = """
explore_tokens(lambda text: TokenRows([("true", ["le", "bateau"]),
    ("written", [("le", "right"), ("train", "wrong"), ("le", "wrong")])], by="place"), "train le")
"""

MERGES = """
from collections import Counter
from itertools import pairwise
from helpers.widgets import Merges, explore_merges

def learn(words):
    if len(words) > 9:
        raise ValueError("Nine words are enough.")
    words, steps = [[*word, "_"] for word in words], []
    for number in range(4):
        counts = Counter(pair for word in words for pair in pairwise(word))
        pair = min(counts, key=lambda pair: (-counts[pair], pair)) if number < 3 else None
        steps.append((words, counts, pair))
        if pair:
            words = [" ".join(word).replace(" ".join(pair), "".join(pair)).split()
                     for word in words]
    return Merges(steps)

explore_merges(learn, "sea sea see the sea")
"""
ANY_MERGES = f"""
name = "{HOSTILE}"
steps = [([[name, "\\u202ea"] * 3] * 99, {{(name, "a"): 10**9}}, None)]
explore_merges(lambda words: Merges(steps), name)
"""

GAPS = """
from helpers.widgets import Gaps, explore_gaps, slider

def guess(words, masked, sureness):
    if len(masked) == 3:
        raise ValueError("Three gaps are too many.")
    return Gaps(words, masked, [
        [(words[place] if place else "Das", sureness / 8, 0.5), ("peanut", 0.001, 0)]
        for place in masked
    ])

explore_gaps(guess, "The train pulled into the station", slider("sureness", 1, 8, 4), masked=(1,))
"""
ANY_GAPS = f"""
name = "{HOSTILE}"
explore_gaps(lambda words, masked: Gaps(words, masked, [[(name, 1, None), ("\\u202ea", 0, None)]]),
             name + " x" * 99, masked=(0,))
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

    widget.get_by_label("size").press("ArrowLeft")
    expect(row(1)).to_have_text(["Ada␣sa", "w␣Lisb", "oné"])

    # Any text, also one of which a row has no tokens, and the empty one.
    box.fill("  ")
    expect(status).to_have_text("pieces, token 1 of 1: ␣␣; bytes: ␣ | ␣")
    row(0).nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(row(1).nth(0)).to_be_focused()
    box.fill("")
    expect(status).to_have_text("There are no tokens.")
    box.fill(HOSTILE)
    expect(row(0)).to_have_count(len(HOSTILE))
    expect(widget.locator("img")).to_have_count(0)
    assert notebook.accessibility_findings() == ""
    row(0).nth(3).click()
    notebook.expect_keys_back(0)


def test_rows_compared_by_place(open_clean):
    notebook = open_clean([TOKENS, BY_PLACE])
    widget = notebook.widget(1)
    status, linked = widget.locator(".tn-status"), widget.locator(".tn-tokens-linked")
    written = widget.get_by_role("row").nth(1).get_by_role("gridcell")
    expect(widget.get_by_role("rowheader")).to_have_text(["true2 tokens", "written3 tokens"])
    expect(widget.get_by_text("What stands at the same place is framed.")).to_have_count(1)
    written.nth(1).click()
    expect(status).to_have_text("written, token 2 of 3: train (wrong); true: bateau")
    expect(linked).to_have_text(["bateau"])
    written.nth(1).press("ArrowRight")
    expect(status).to_have_text("written, token 3 of 3: le (wrong)")
    expect(linked).to_have_count(0)
    expect(notebook.widget(0).get_by_text("for the same letters is framed")).to_have_count(1)


def test_any_text_in_the_dark_and_in_a_narrow_window(open_clean):
    notebook = open_clean(
        [TOKENS, ANY_TOKENS, MERGES, ANY_MERGES, GAPS, ANY_GAPS], theme="dark", width=500
    )
    page = notebook.page
    assert page.title() != "broken"
    assert page.locator(".tn-widget.tn-dark img").count() == 0
    long = notebook.widget(1)
    expect(long.get_by_role("gridcell")).to_have_count(202)
    expect(long.get_by_text("Shown: the first 200 of")).to_have_count(1)
    expect(notebook.widget(3).get_by_text("Shown: the first 80 of 99 words")).to_have_count(1)
    expect(notebook.widget(5).get_by_text("Shown: the first 80 of 102 words")).to_have_count(1)
    for index in range(6):
        assert notebook.widget(index).evaluate(FITS)
    assert notebook.accessibility_findings() == ""
    notebook.change_theme("light")
    assert notebook.accessibility_findings() == ""


def test_merges(open_clean):
    notebook = open_clean([MERGES, "None"])
    page, widget = notebook.page, notebook.widget(0)
    says, pair = widget.locator(".tn-status").first, widget.locator(".tn-status").last
    words = widget.locator(".tn-merges-text > .tn-merges-word")
    framed, options = widget.locator(".tn-merges-framed"), widget.get_by_role("option")
    step = widget.get_by_role("slider", name="merges")

    # The pair that is merged next is chosen, and framed where it stands.
    expect(words).to_have_text(["sea_", "sea_", "see_", "the_", "sea_"])
    expect(words.first.locator(".tn-token")).to_have_text(["s", "e", "a", "_"])
    expect(says).to_have_text(
        "after 0 of 3 merges: 6 distinct tokens, 20 in all; next s + e → se, 4 times"
    )
    expect(pair).to_have_text("pair s + e, 4 times, merged next")
    expect(framed).to_have_text(["se"] * 4)
    expect(options).to_have_count(7)
    expect(widget.locator(".tn-merges-tokens .tn-token").first).to_have_text("e6")

    # One tab stop for the pairs; another pair shows its own places; keys stay in the widget.
    focusable = widget.locator("[role=option][tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    for key in ("End", "ArrowUp", "b"):
        page.keyboard.press(key)
    expect(options.nth(5)).to_be_focused()
    expect(pair).to_have_text("pair h + e, 1 time")
    expect(framed).to_have_text(["he"])
    for key in ("]", "]"):
        page.keyboard.press(key)
    expect(says).to_have_text(
        "after 2 of 3 merges: 6 distinct tokens, 13 in all; next se + a_ → sea_, 3 times"
    )
    expect(focusable).to_be_focused()
    expect(step).to_have_attribute("aria-valuetext", "2 of 3")
    expect(words.first.locator(".tn-token")).to_have_text(["se", "a_"])
    expect(widget.locator(".tn-merges-text .tn-merges-made")).to_have_text(["a_"] * 3)
    for key in ("]", "]", "]"):
        page.keyboard.press(key)
    expect(says).to_have_text(re.compile("^after 3 of 3 merges: .+; nothing more is merged$"))
    expect(widget.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    assert cells_of(notebook) == 2

    # Buttons, slider, a click on a curve, the mouse over a pair.
    widget.get_by_role("button", name="Previous").click()
    expect(says).to_have_text(re.compile("^after 2 of 3"))
    step.press("Home")
    expect(says).to_have_text(re.compile("^after 0 of 3"))
    curve = widget.locator(".tn-merges-curve svg").first
    curve.click(position={"x": curve.bounding_box()["width"] / 3, "y": 5})
    expect(says).to_have_text(re.compile("^after 1 of 3"))
    options.nth(1).hover()
    expect(pair).to_have_text("pair se + a, 3 times")
    says.hover()
    expect(pair).to_have_text("pair a + _, 3 times, merged next")

    # Another text; none and too many words are sentences, and the picture stays.
    box = widget.get_by_label("Words", exact=True)
    box.fill("aaa [b]")
    expect(words).to_have_text(["aaa_", "[b]_"])
    box.fill("")
    expect(widget.get_by_role("alert")).to_have_text("Type at least one word.")
    box.fill("a " * 10)
    expect(widget.get_by_role("alert")).to_have_text("Nine words are enough.")
    expect(words).to_have_text(["aaa_", "[b]_"])
    box.fill(HOSTILE)
    expect(words).to_have_text(["<img_", "src=x_", "onerror=document.title='broken'>_"])
    assert notebook.accessibility_findings() == ""
    focusable.focus()
    notebook.expect_keys_back(0)


def test_gaps(open_clean):
    notebook = open_clean([GAPS, "None"])
    page, widget = notebook.page, notebook.widget(0)
    says, summary = widget.locator(".tn-status").first, widget.locator(".tn-status").last
    words, cards = widget.get_by_role("toolbar").get_by_role("button"), widget.get_by_role("group")
    problem = widget.get_by_role("alert")

    expect(words).to_have_text(["The", "<mask>train", "pulled", "into", "the", "station"])
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(words.nth(1)).to_have_accessible_name("train, hidden")
    expect(summary).to_have_text("for “train” it guesses “train”, 0.50")
    expect(cards).to_have_count(1)
    expect(cards.locator(".tn-gaps-title")).to_have_text("place 1, hidden “train”")
    expect(cards.locator(".tn-spoken")).to_have_text([
        "train, the hidden word: model 0.50, true 0.50", "peanut: model < 0.01, true 0.00",
    ])  # fmt: skip
    expect(widget.locator(".tn-bars-key")).to_contain_text("a full bar is 0.50")
    expect(widget.locator(".tn-bars-bar")).to_have_count(3)  # nothing has no bar

    # One tab stop for the words; Enter and the space bar hide, again they show.
    focusable = widget.get_by_role("toolbar").locator("[tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    expect(says).to_have_text("word 1 of 6, “The”: click, Enter or the space bar hides it")
    page.keyboard.press("Enter")
    expect(summary).to_have_text(
        "for “The” it guesses “Das”, 0.50; for “train” it guesses “train”, 0.50"
    )
    expect(words.first).to_be_focused()
    expect(says).to_have_text("word 1 of 6, “The”, hidden: click, Enter or the space bar shows it")
    expect(cards.first).to_contain_text("The hidden word is not among these.")
    for key in ("End", "ArrowRight", "b", " "):
        page.keyboard.press(key)
    expect(problem).to_have_text("Three gaps are too many.")
    expect(cards).to_have_count(2)
    page.keyboard.press(" ")
    expect(problem).to_be_hidden()
    for key in ("Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(summary).to_have_text("for “The” it guesses “Das”, 0.50")
    assert cells_of(notebook) == 2

    # The mouse, the slider, another sentence.
    words.nth(2).click()
    expect(cards.locator(".tn-gaps-title")).to_have_text(
        ["place 0, hidden “The”", "place 2, hidden “pulled”"]
    )
    widget.get_by_label("sureness").press("End")
    expect(summary).to_have_text(re.compile("“Das”, 1.00; .* “pulled”, 1.00$"))
    box = widget.get_by_label("Words", exact=True)
    box.fill("A bus")
    expect(words).to_have_text(["<mask>A", "bus"])
    box.fill(HOSTILE)
    expect(words).to_have_text(["<mask><img", "src=x", "<mask>onerror=document.title=…"])
    assert notebook.accessibility_findings() == ""
    widget.get_by_role("button", name="Show all words").click()
    expect(summary).to_have_text("No word is hidden.")
    expect(cards).to_have_count(0)
    focusable.focus()
    notebook.expect_keys_back(0)
