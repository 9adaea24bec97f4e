"""The words in another order, in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

from helpers.widgets.shared.text import short, visible

HOSTILE = "<img src=x onerror=document.title='broken'>"
TURNED = "\u202egnirts"  # its first letter turns the reading direction of what follows

# Output: which word it is, and its sign times one plus the share of its position.
ORDER = """
import numpy as np
from helpers.widgets import Ordered, explore_order, slider

words = "The woman ate the raccoon".split()
sign = np.array([1.0, -1, 1, -1, 1])

def outputs(order, share):
    order = list(order)
    return np.stack([np.arange(5.0)[order], sign[order] * (1 + share * np.arange(5))])

def compute(order, share):
    if order == (3, 4, 1, 2, 0):
        raise ValueError("Not this order.")
    reference = outputs(range(5), share)[:, order]
    return Ordered([words[i] for i in order], outputs(order, share), reference, "Which moved?")

explore_order(compute, words, slider("share", 0.0, 1.0, 0.0, label="share of Π"))
"""
TEXT = f"""
text = ["{HOSTILE}", "b", "{TURNED}", "Donaudampfschifffahrtsgesellschaft", *"efghijklmnop"]
numbers = np.random.default_rng(0).normal(size=(8, 16))
explore_order(lambda order: Ordered([text[i] for i in order], numbers, numbers[:, order],
                                    note=text[0]), text)
"""
TWO = """
explore_order(lambda order: Ordered(["ba"[-i] for i in order], [[1, 1]], [[1, 1]]), ["b", "a"])
"""
UNCHANGED = "all 5 outputs unchanged; their mean unchanged"
FITS = "node => node.scrollWidth <= node.clientWidth"


class Tiles:
    """The widget in the output of a cell, and what it should show."""

    def __init__(self, notebook, index=0):
        self.page, self.widget = notebook.page, notebook.widget(index)
        self.widget.scroll_into_view_if_needed()
        self.options = self.widget.get_by_role("option")
        self.focusable = self.widget.locator("[role=option][tabindex='0']")

    def show(self, words):
        names = self.widget.locator(".tn-order-word > span")
        expect(names).to_have_text([*words.split(), "mean of all"])

    def say(self, status, summary):
        expect(self.widget.locator(".tn-status")).to_have_text([status, summary])

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, name):
        self.widget.get_by_role("button", name=name).click()

    def box(self, index):
        """Where a tile stands; the last one, the mean, stands where it stands."""
        return self.options.nth(index).bounding_box()

    def share(self, key):
        self.widget.get_by_label("share of Π").press(key)


def test_keys(open_clean):
    notebook = open_clean([ORDER, "None"])
    tiles = Tiles(notebook)
    tiles.say("“The”, position 0, was 0: output unchanged", UNCHANGED)
    expect(tiles.widget.locator(".tn-order-note").first).to_have_text("Which moved?")

    # One tab stop; arrows choose, [ and ] and Shift with arrows move, as far as there are places.
    expect(tiles.focusable).to_have_count(1)
    tiles.focusable.focus()
    tiles.press("ArrowRight", "]")
    tiles.show("The ate woman the raccoon")
    tiles.say("“woman”, position 2, was 1: output unchanged", UNCHANGED)
    expect(tiles.options.nth(2)).to_be_focused()
    expect(tiles.options.nth(2)).to_have_attribute("aria-selected", "true")
    tiles.press("Shift+ArrowRight", "]", "]")
    tiles.show("The ate the raccoon woman")
    tiles.press("ArrowLeft", "Shift+ArrowLeft", "[", "b")
    tiles.show("The raccoon ate the woman")
    tiles.say("“raccoon”, position 1, was 4: output unchanged", UNCHANGED)
    expect(tiles.widget.locator(".tn-order-word sub")).to_have_text(list("04231"))
    expect(tiles.widget.locator(".tn-order-same")).to_have_count(6)

    # With positions, the outputs of the two words that changed places move.
    tiles.share("End")
    tiles.say(
        "“raccoon”, position 1, was 4: output moved by 3.00",
        "2 of 5 outputs moved; their mean moved by 1.20",
    )
    expect(tiles.widget.locator(".tn-order-moved")).to_have_text([
        "unchanged ✓", "moved by 3.00", "unchanged ✓", "unchanged ✓", "moved by 3.00",
        "moved by 1.20",
    ])  # fmt: skip
    # raccoon: 4 and 2 now, 4 and 5 before; the largest number of the picture is 5.
    heights = (
        tiles.options.nth(1)
        .locator("rect")
        .evaluate_all("bars => bars.map((bar) => Number(bar.getAttribute('height')))")
    )
    assert [height / heights[0] for height in heights] == pytest.approx([1, 2 / 4])
    marks = (
        tiles.options.nth(1)
        .locator(".tn-order-mark")
        .evaluate_all("marks => marks.map((mark) => mark.getBBox().y)")
    )
    top = tiles.options.nth(1).locator("rect").first.evaluate("bar => bar.getBBox().y")
    assert marks == pytest.approx([top, top - heights[0] / 4])

    # The mean can be chosen, and has no other place to go.
    tiles.focusable.focus()
    tiles.press("End", "ArrowRight", "]", "[")
    tiles.show("The raccoon ate the woman")
    tiles.say(
        "mean of all outputs: moved by 1.20", "2 of 5 outputs moved; their mean moved by 1.20"
    )
    assert notebook.accessibility_findings() == ""
    tiles.press("Home", "ArrowLeft", "[")
    expect(tiles.options.nth(0)).to_be_focused()
    tiles.press("]")
    tiles.show("raccoon The ate the woman")
    tiles.press("[", "[")
    tiles.show("The raccoon ate the woman")
    tiles.say(
        "“The”, position 0, was 0: output unchanged",
        "2 of 5 outputs moved; their mean moved by 1.20",
    )
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    assert notebook.page.evaluate(cells) == 2
    notebook.expect_keys_back(0)


def test_drag(open_clean):
    notebook = open_clean([ORDER, "None"])
    mouse, tiles = notebook.page.mouse, Tiles(notebook)

    def take(index):
        still = "tiles => tiles.every((tile) => !tile.getAnimations().length)"
        assert notebook.soon(lambda: tiles.options.evaluate_all(still), True)
        box = tiles.box(index)
        mouse.move(box["x"] + 20, box["y"] + 30)
        mouse.down()

    def carry(index, dx=40, dy=50):
        box = tiles.box(index)
        mouse.move(box["x"] + dx, box["y"] + dy, steps=8)

    # On its way the tile stays under the pointer, and takes the place that is under it.
    places = [tiles.box(index)["x"] for index in range(5)]
    take(4)
    carry(1)
    tiles.show("The raccoon woman ate the")
    tiles.say("“raccoon”, position 1, was 4: output unchanged", UNCHANGED)
    carried = tiles.widget.locator(".tn-order-held")
    expect(carried).to_have_count(1)
    assert carried.bounding_box()["x"] == pytest.approx(places[1] + 40 - 20, abs=1.5)
    mouse.move(places[1] + 60, tiles.box(0)["y"] + 50)  # within one place: nothing new is asked
    assert carried.bounding_box()["x"] == pytest.approx(places[1] + 60 - 20, abs=1.5)
    mouse.up()
    expect(carried).to_have_count(0)
    expect(tiles.options.nth(1)).to_be_focused()
    assert notebook.soon(lambda: tiles.box(1)["x"], places[1]) == places[1]

    # Outside, nothing changes; on the mean, the word goes to the end of the sentence.
    take(0)
    carry(0, dy=-20)
    carry(4, dy=-20)
    tiles.show("The raccoon woman ate the")
    carry(5)
    tiles.show("raccoon woman ate the The")
    mouse.up()
    take(5)  # the mean is chosen, but not taken
    carry(0)
    mouse.up()
    tiles.say("mean of all outputs: unchanged", UNCHANGED)
    tiles.show("raccoon woman ate the The")

    # An order that the function refuses: one sentence, and the picture stays until the next one.
    take(1)
    mouse.up()
    tiles.press("ArrowRight", "ArrowRight", "[")
    tiles.show("raccoon woman the ate The")
    tiles.press("[")
    tiles.show("raccoon the woman ate The")
    tiles.press("[")
    problem = tiles.widget.get_by_role("alert")
    expect(problem).to_have_text("Not this order.")
    tiles.show("raccoon the woman ate The")
    tiles.click("Reset")
    tiles.show("The woman ate the raccoon")
    expect(problem).to_be_hidden()


def test_a_second_finger_leaves_the_tile_to_the_first(open_clean):
    tiles = Tiles(open_clean([ORDER, "None"]))
    session = tiles.page.context.new_cdp_session(tiles.page)

    def touch(kind, *places):
        points = [{"id": i, "x": place["x"] + 20, "y": place["y"] + 30} for i, place in places]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    first, second, third = (tiles.box(index) for index in range(3))
    held = tiles.widget.locator(".tn-order-held")
    touch("touchStart", (0, first))
    touch("touchMove", (0, second))
    touch("touchStart", (0, second), (1, third))
    touch("touchMove", (0, second), (1, first))
    tiles.show("woman The ate the raccoon")
    expect(held).to_have_attribute("data-token", "0")
    assert held.bounding_box()["x"] == pytest.approx(second["x"], abs=1.5)
    touch("touchEnd")
    expect(held).to_have_count(0)


def test_buttons(open_clean):
    notebook = open_clean([ORDER, ORDER, TWO])
    first, second = Tiles(notebook, 0), Tiles(notebook, 1)

    def glides():
        return notebook.page.evaluate("() => window.glides")

    notebook.page.evaluate(
        """() => {
            const animate = Element.prototype.animate;
            window.glides = 0;
            Element.prototype.animate = function (...how) {
                window.glides += 1;
                return animate.apply(this, how);
            };
        }"""
    )
    first.click("Reverse")
    first.show("raccoon the ate woman The")
    assert glides() == 4  # "ate" and the mean stay where they are
    notebook.page.emulate_media(reduced_motion="reduce")
    first.click("Reset")
    first.show("The woman ate the raccoon")
    assert glides() == 4

    # Every widget shuffles in the same ways, and never into the order that stands already.
    orders = []
    for tiles in (first, second):
        for _ in range(3):
            tiles.click("Reset")
            tiles.show("The woman ate the raccoon")
            tiles.click("Shuffle")
            shown = tiles.widget.locator(".tn-order-word sub")
            original = list("01234")
            assert notebook.soon(lambda s=shown, o=original: s.all_text_contents() != o, True)
            orders.append(shown.all_text_contents())
    assert orders[:3] == orders[3:]
    assert all(sorted(order) == list("01234") for order in orders)
    two = Tiles(notebook, 2)
    for words in ("a b", "b a") * 4:
        two.click("Shuffle")
        two.show(words)


def test_any_text_and_the_dark_theme_in_a_narrow_window(open_clean):
    notebook = open_clean([ORDER, TEXT], theme="dark", width=500)
    page, tiles = notebook.page, Tiles(notebook, 1)
    expect(page.locator(".tn-widget.tn-dark")).to_have_count(2)
    assert page.locator(".tn-widget img").count() == 0
    assert page.title() != "broken"
    words = [HOSTILE, "b", TURNED, "Donaudampfschifffahrtsgesellschaft", *"efghijklmnop"]
    expect(tiles.widget.locator(".tn-order-word > span")).to_have_text(
        [*(short(visible(word), 24) for word in words), "mean of all"]
    )
    expect(tiles.widget.locator(".tn-order-note").first).to_have_text(HOSTILE)
    sizes = [(tiles.box(index)["width"], tiles.box(index)["height"]) for index in range(17)]
    assert len(set(sizes)) == 1  # or tiles would flee from the one that is dragged
    for index in range(2):
        assert notebook.widget(index).evaluate(FITS)
    assert tiles.options.evaluate_all(f"tiles => tiles.every({FITS})")
    assert notebook.accessibility_findings() == ""

    # Dragged into another row.
    tiles.options.nth(1).hover()
    page.mouse.down()
    box = tiles.box(8)
    page.mouse.move(box["x"] + 30, box["y"] + 30, steps=8)
    page.mouse.up()
    expect(tiles.widget.locator(".tn-status").first).to_have_text(
        re.compile("^“b”, position 8, was 1: output moved by")
    )
    notebook.change_theme("light")
    assert notebook.accessibility_findings() == ""
