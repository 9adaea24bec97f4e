"""The next word and the tree of a beam search in a real JupyterLab."""

from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=document.title='broken'>"
FITS = "node => node.scrollWidth <= node.clientWidth"

CHOICES = """
from helpers.widgets import Choices, explore_choices, slider

def choose(words, k):
    if words[-1:] == ["<end>"]:
        raise ValueError("The review is finished.")
    follow = ["good", "fine", "<end>"] if "was" in words else ["was", "tasted", "looked"]
    chosen = [1.0, 0, 0] if k == 1 else [0.6, 0.3, 0.1]
    return Choices(words, list(zip(follow, [0.6, 0.3, 0.1], [0.5, 0.5, 0], chosen)))

explore_choices(choose, "the food", slider("k", 1, 3, 3))
"""
ANY_CHOICES = f"""
name = "{HOSTILE}"
explore_choices(lambda words: Choices(words, [(name, 1, None, 0), ("\\u202ea", 0, None, 1)] * 8),
                name + " x" * 99)
"""

BEAMS = """
from helpers.widgets import Beams, explore_beams, slider

def search(words, width):
    if not words:
        raise ValueError("Type at least one word.")
    kept = ["kept" if rank < width else "dropped" for rank in range(3)]
    nodes = [(None, word, -rank - 1, kept[rank]) for rank, word in enumerate("abc")]
    ends = [(i, "<end>", -2.5 - i, "finished") for i, node in enumerate(nodes) if node[3] == "kept"]
    return Beams([*nodes, *ends, (0, words[-1], -4, "dropped")])

explore_beams(search, "the food was", slider("width", 1, 3, 2))
"""
ANY_BEAMS = f"""
name = "{HOSTILE}"
nodes = [(i - 1 if i else None, name, -i, "kept") for i in range(9)]
explore_beams(lambda words: Beams(nodes), name)
"""


def test_choices(open_clean):
    notebook = open_clean([CHOICES, "None"])
    page, widget = notebook.page, notebook.widget(0)
    says, summary = widget.locator(".tn-status").first, widget.locator(".tn-status").last
    options, text = widget.get_by_role("option"), widget.locator(".tn-choices-text")
    box, problem = widget.get_by_label("Words", exact=True), widget.get_by_role("alert")

    expect(text).to_have_text("the food ___")
    expect(options.locator(".tn-bars-word")).to_have_text(["was", "tasted", "looked"])
    expect(says).to_have_text("“was”: model 0.60, true 0.50, chosen 0.60; click or Enter adds it")
    expect(summary).to_have_text(
        "drawn from 3 of these 3, most often “was”, 0.60; all other words: model 0.00, chosen 0.00"
    )
    expect(widget.locator(".tn-bars-bar")).to_have_count(8)  # looked cannot stand there

    # One tab stop; arrows choose, Enter and the space bar add, keys stay in the widget.
    focusable = widget.locator("[role=option][tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    for key in ("ArrowDown", "b"):
        page.keyboard.press(key)
    expect(says).to_contain_text("“tasted”: model 0.30")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(text).to_have_text("the food was ___")
    expect(box).to_have_value("the food was")
    expect(options.first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press(" ")
    expect(problem).to_have_text("The review is finished.")
    expect(text).to_have_text("the food was ___")
    widget.get_by_role("button", name="Take back").click()
    expect(problem).to_be_hidden()
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    assert page.evaluate(cells) == 2

    # What is cut says so, and is never drawn; the mouse adds too.
    widget.get_by_label("k", exact=True).press("Home")
    expect(options.nth(1)).to_have_accessible_name("fine: model 0.30, true 0.50, cut")
    expect(widget.locator(".tn-choices-cut")).to_have_count(2)
    draw = widget.get_by_role("button", name="Draw a word")
    for written in ("good", "good good"):
        draw.click()
        expect(text).to_have_text(f"the food was {written} ___")
    options.nth(1).click()
    expect(text).to_have_text("the food was good good fine ___")
    for _ in range(9):
        widget.get_by_role("button", name="Take back").click()
    expect(text).to_have_text("___")
    box.fill(HOSTILE)
    expect(text).to_have_text("<img src=x onerror=document.title=… ___")
    assert notebook.accessibility_findings() == ""
    focusable.focus()
    notebook.expect_keys_back(0)


def test_any_text_in_the_dark_and_in_a_narrow_window(open_clean):
    cells = [CHOICES, ANY_CHOICES, BEAMS, ANY_BEAMS]
    notebook = open_clean(cells, theme="dark", width=500)
    page = notebook.page
    assert page.title() != "broken"
    assert page.locator(".tn-widget.tn-dark img").count() == 0
    for index in range(len(cells)):
        assert notebook.widget(index).evaluate(FITS)
    assert notebook.accessibility_findings() == ""
    notebook.change_theme("light")
    assert notebook.accessibility_findings() == ""


def test_beams(open_clean):
    notebook = open_clean([BEAMS, "None"])
    page, widget = notebook.page, notebook.widget(0)
    says, summary = widget.locator(".tn-status").first, widget.locator(".tn-status").last
    nodes, way = widget.get_by_role("treeitem"), widget.locator(".tn-beams-node.tn-beams-way")
    box, problem = widget.get_by_label("Words", exact=True), widget.get_by_role("alert")

    # The best of what is finished or goes on is chosen, and the way to it.
    expect(nodes).to_have_text(
        ["a−1.00", "b−2.00", "c−3.00 ✕", "<end>−2.50 ■", "<end>−3.50 ■", "was−4.00 ✕"]
    )
    expect(says).to_have_text("“a <end>”: log probability −2.50, finished")
    expect(summary).to_have_text(
        "2 finished; the best so far: “a <end>”: log probability −2.50, finished"
    )
    expect(way).to_have_text(["a−1.00", "<end>−2.50 ■"])
    expect(widget.locator(".tn-beams-root")).to_have_text("was")

    # One tab stop; left and right along the tree, up and down in a column; keys stay inside.
    focusable = widget.locator("[role=tree] [tabindex='0']")
    expect(focusable).to_have_count(1)
    focusable.focus()
    for key, name in (
        ("ArrowDown", "“a was”: log probability −4.00, left behind"),
        ("ArrowDown", "“b <end>”: log probability −3.50, finished"),
        ("ArrowDown", "“b <end>”: log probability −3.50, finished"),
        ("ArrowLeft", "“b”: log probability −2.00, kept"),
        ("End", "“c”: log probability −3.00, left behind"),
        ("ArrowRight", "“c”: log probability −3.00, left behind"),
        ("Home", "“a”: log probability −1.00, kept"),
        ("ArrowLeft", "“a”: log probability −1.00, kept"),
        ("b", "“a”: log probability −1.00, kept"),
    ):
        page.keyboard.press(key)
        expect(says).to_have_text(name)
    expect(nodes.first).to_be_focused()
    nodes.nth(4).hover()
    expect(way).to_have_text(["b−2.00", "<end>−3.50 ■"])
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    assert page.evaluate(cells) == 2

    # Nothing covers anything; the slider; a sentence for no word.
    boxes = [node.bounding_box() for node in nodes.all()]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            beside = abs(one["x"] - other["x"]) >= one["width"]
            assert beside or abs(one["y"] - other["y"]) >= one["height"]
    widget.get_by_label("width").press("Home")
    expect(nodes).to_have_text(["a−1.00", "b−2.00 ✕", "c−3.00 ✕", "<end>−2.50 ■", "was−4.00 ✕"])
    box.fill("")
    expect(problem).to_have_text("Type at least one word.")
    box.fill(HOSTILE)
    expect(nodes.last).to_contain_text("onerror=document.title=…")
    assert notebook.accessibility_findings() == ""
    focusable.focus()
    notebook.expect_keys_back(0)
