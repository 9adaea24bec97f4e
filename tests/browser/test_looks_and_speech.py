"""What fits, what is large enough to hit, what is spoken, and what forced colors leave visible."""

import pytest
from playwright.sync_api import expect

CELLS = [
    """
import numpy as np
from helpers.widgets import *

def steps(N):
    X = np.arange(4.0 * N).reshape(4, N) * 123.456 - 777
    scores = X / 99
    A = np.exp(scores - scores.max(0))
    A /= A.sum(0)
    return [Product("X", "X_q = I X", "I", np.eye(4), "X", X, "X_q", X),
            Product("softmax", "A = Softmax[S]", "S", scores, None, None, "A", A)]

step_through(steps, slider("N", 2, 6, 6))
""",
    """
q = np.arange(1.0, 9)
explore_planes(Planes(q, q[::-1], q, q[::-1]))
""",
    """
border = [[-3, 3, -3, 3], [-2, 2, 2, -2]]
words = ["Donaudampfschifffahrt", "Rindfleischetikettierung", "left", "right"]
explore_moves(Moves(words, np.array(border) / 100, -np.array(border) / 100))
""",
    """
explore_scores(lambda words: WordScores(words, [1.0, -2.0], 1, "praise"), "lovely terrible")
""",
    """
def look_up(query, keys, values, sharpness):
    powers = np.exp(sharpness * (keys.T @ query))
    return powers / powers.sum(), values @ powers / powers.sum()

explore_dictionary(look_up, [[0.02, 0], [0, 0.01]], [10, 20], ["a", "b"], (0.01, 0.01))
""",
    """
explore_routing(np.matmul, [[1000.0, 3000.0, 2000.0], [-5000.0, 1000.0, 3000.0]])
""",
    """
x = np.geomspace(1, 1e6, 50)
explore_lines(Lines(x, {"1.111": -x / 1e7, "w_q": x / 1e8}, "Minus", "D_q", "Ω_q", log_x=True))
""",
    """
explore_order(lambda order: Ordered(["abc"[i] for i in order], [order], [[0, 1, 2]]), list("abc"))
""",
    """
explore_tokens(lambda text: TokenRows([("a", list(text)), ("b", [(text, "kind")])]), "␣ W" * 9)
""",
    """
steps = [([["s", "e", "a"]] * 40, {("s", "e"): 40, ("e", "a"): 40}, ("s", "e")),
         ([["se", "a"]] * 40, {("se", "a"): 40}, None)]
explore_merges(lambda words: Merges(steps), "sea")
""",
    """
guesses = [("Donaudampfschifffahrt", 0.9, 0.001), ("b", 0.004, 0.5)]
explore_gaps(lambda words, masked: Gaps(words, masked, [guesses] * 3), "a b c", masked=range(3))
""",
    """
candidates = [("Donaudampfschifffahrt", 0.9, 0.001, 1), ("b", 0.004, 0.5, 0)]
explore_choices(lambda words: Choices(words, candidates), "a b c")
""",
    """
nodes = [(i - 1 if i else None, "Donaudampfschifffahrt", -1000, "kept") for i in range(9)]
explore_beams(lambda words: Beams(nodes), "Donaudampfschifffahrt")
""",
    """
long = ["Donaudampfschifffahrt", "a", "b"] * 5
explore_alignment(lambda text: Alignment(long, long[:4], np.full((15, 4), 1 / 15), [(14, 0)],
                                         [True, False, True, True]), "a")
""",
]  # fmt: skip

# Texts of drawings that reach beyond the drawing, which cuts them off.
CUT = """root => [...root.querySelectorAll("svg text")].filter((text) => {
    const svg = text.closest(".tn-widget svg:not(svg svg)");
    const [a, b] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
    return a.width && (a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1
        || a.bottom > b.bottom + 1);
}).map((text) => text.textContent)"""
TOO_SMALL = """root => [...root.querySelectorAll("button, input, [tabindex], [role=gridcell]")]
    .filter((node) => !node.closest("[hidden]"))
    .map((node) => [node.className?.baseVal ?? node.className, node.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < 23.9 || box.height < 23.9))
    .map(([name, box]) => `${name} ${box.width} ${box.height}`)"""


@pytest.mark.parametrize("width", [560, 900])
def test_nothing_is_cut_and_everything_can_be_hit(open_clean, width):
    notebook = open_clean(CELLS, width=width)
    for index in range(len(CELLS)):
        widget = notebook.widget(index)
        widget.scroll_into_view_if_needed()
        if index != 6:  # the chart of lines lets its words stand out of its drawing, not cut off
            assert (index, widget.evaluate(CUT)) == (index, [])
        assert (index, widget.evaluate(TOO_SMALL)) == (index, [])
        assert widget.evaluate("node => node.scrollWidth <= node.clientWidth")
    cut = """nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1)
        .map((node) => node.textContent)"""
    assert notebook.widget(0).locator(".tn-product-cell").evaluate_all(cut) == []
    beside = """nodes => nodes.filter((node) => node.getBoundingClientRect().left
        < node.closest(".tn-widget").getBoundingClientRect().left).length"""
    assert notebook.widget(6).locator("svg text").evaluate_all(beside) == 0

    # Four planes stand in one row, or two and two.
    tops = [p.bounding_box()["y"] for p in notebook.widget(1).get_by_role("option").all()]
    assert [tops.count(top) for top in sorted(set(tops))] == ([4] if width == 900 else [2, 2])
    # What follows the underscore is set as a subscript, in text and in drawings.
    expect(notebook.widget(0).locator(".tn-product-equation sub")).to_have_text("q")
    lowered = notebook.widget(6).locator(".tn-lines-chart .tn-small-sub")
    assert sorted(lowered.all_text_contents()) == ["q", "q", "q"]
    expect(notebook.widget(6).locator(".tn-status sub").first).to_have_text("q")


def test_steps_and_places_are_spoken(open_clean):
    notebook = open_clean(CELLS)
    steps, lines = notebook.widget(0), notebook.widget(6)
    steps.get_by_role("button", name="Next").click()
    expect(steps.get_by_role("status").filter(has_text="step 2 of 2")).to_have_text(
        "step 2 of 2, softmax: A = Softmax[S]"
    )
    knob = lines.get_by_role("slider")
    knob.focus()
    notebook.page.keyboard.press("Home")
    expect(knob).to_have_attribute("aria-valuetext", "D_q = 1: 1.111 −10⁻⁷, w_q 10⁻⁸")
    dictionary, routing = (notebook.widget(i).locator(".tn-small-knob") for i in (4, 5))
    expect(dictionary).to_have_attribute("aria-valuetext", "(0.01, 0.01), a wins")
    expect(routing).to_have_attribute("aria-valuetext", "v₁ 0.10, v₂ 0.30, v₃ 0.60")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colors_keep_bars_ramps_and_what_is_chosen(open_clean, scheme):
    notebook = open_clean(CELLS)
    notebook.page.emulate_media(forced_colors="active", color_scheme=scheme)

    def grounds(index, part):
        return (
            notebook.widget(index)
            .locator(part)
            .evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)")
        )

    unseen = """bars => bars.filter((bar) => {
        const color = (node) => getComputedStyle(node).backgroundColor;
        let under = bar.parentNode;
        while (color(under) === "rgba(0, 0, 0, 0)") under = under.parentNode;
        return color(under) === color(bar);
    }).length"""
    bars = {3: ".tn-scores-bar", 4: ".tn-dict-bar", 8: ".tn-tokens-bar", 10: ".tn-bars-bar"}
    for index, part in bars.items():
        assert notebook.widget(index).locator(part).evaluate_all(unseen) == 0
    assert len(set(grounds(0, ".tn-product-cell"))) > 5
    chosen = notebook.widget(0).locator(".tn-product-chosen")
    assert chosen.evaluate("node => getComputedStyle(node).boxShadow") != "none"
    for index in (1, 3, 7, 9, 11, 12):
        outlines = """options => options.map((option) =>
            [option.getAttribute("aria-selected"), getComputedStyle(option).outlineStyle].join())"""
        options = notebook.widget(index).locator("[role=option], [role=treeitem]")
        assert set(options.evaluate_all(outlines)) == {"true,solid", "false,none"}
    strokes = """options => options.map((option) => [option.getAttribute("aria-selected"),
        getComputedStyle(option.querySelector(".tn-moves-before")).stroke])"""
    strokes = notebook.widget(2).get_by_role("option").evaluate_all(strokes)
    looks = {
        chosen: {stroke for c, stroke in strokes if c == chosen} for chosen in "true false".split()
    }
    assert len(looks["true"]) == 1 and not looks["true"] & looks["false"]
    pressed = notebook.widget(5).get_by_role("button", pressed=True)
    other = notebook.widget(5).get_by_role("button", pressed=False).first
    look = "node => getComputedStyle(node).backgroundColor"
    assert pressed.evaluate(look) != other.evaluate(look)
    assert notebook.accessibility_findings() == ""
