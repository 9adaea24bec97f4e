"""What holds for every kind of widget in a real JupyterLab."""

import pytest
from playwright.sync_api import expect

from helpers.widgets.shared.live import module
from helpers.widgets.shared.numbers import short, two

SET_UP = """
import numpy as np
from helpers.widgets import *

def product(N):
    X = np.arange(2.0 * N).reshape(2, N) + N
    return [Product("X", "X = I X", "I", np.eye(2), "X", X, "X", X)]

def look_up(query, keys, values, sharpness):
    powers = np.exp(sharpness * (keys.T @ query))
    return powers / powers.sum(), values @ powers / powers.sum()

def turned(degrees):
    x, y = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return Planes([1, 0], [0, 1], [x, y], [0, 1])

def moved(on):
    return Moves(['a', 'b'], np.eye(2), np.eye(2) * on)

def guess(words, masked):
    return Gaps(words, masked, [[('a', 0.5, 0.4)]] * len(masked))

def learn(words):
    ab, ba = ('a', 'b'), ('b', 'a')
    steps = [([['a', 'b', 'a']], {ab: 2, ba: 1}, ab), ([['ab', 'a']], {('ab', 'a'): 1}, None)]
    return Merges(steps[-len(words):])

def align(text):
    return Alignment([*text], [*text], np.eye(len(text)))

shown = """
# Kind -> what makes it, what takes the keys, and two keys of which each changes the status.
KINDS = {
    "attention": (
        "explore(Attention(np.eye(3), list('abc')))",
        *(".tn-stage", "ArrowRight", "ArrowRight"),
    ),
    "routing": (
        "explore_routing(lambda values, weights: values @ weights, [[1, 3, 2], [0, 1, 3]])",
        *(".tn-small-knob", "ArrowLeft", "ArrowUp"),
    ),
    "dictionary": (
        "explore_dictionary(look_up, [[2, 0], [0, 1]], [10, 20], ['a', 'b'])",
        *(".tn-small-knob", "ArrowLeft", "ArrowUp"),
    ),
    "products": (
        "step_through(product, slider('N', 2, 6, 3))",
        *("input", "End", "Home"),
    ),
    "grid": (
        "explore_grid(lambda N: Page('squares', np.arange(N)[None] ** 2), slider('N', 1, 9, 4))",
        *(".tn-grid-stage", "End", "ArrowLeft"),
    ),
    "lines": (
        "explore_lines(lambda a: Lines([1, 2], {'y': [a, 2 * a]}, 'Lines', 'x', 'y'),"
        " slider('a', 1, 9, 3))",
        *("input", "End", "Home"),
    ),
    "planes": (
        "explore_planes(turned, slider('degrees', 0, 90, 30))",
        *("input", "End", "Home"),
    ),
    "moves": (
        "explore_moves(moved, switches('on', ['a', 'b']))",
        *("input", " ", " "),
    ),
    "order": (
        "explore_order(lambda order: Ordered(['abc'[i] for i in order], [order], [order]),"
        " ['a', 'b', 'c'])",
        *("[role=option][tabindex='0']", "]", "]"),
    ),
    "scores": (
        "explore_scores(lambda words: WordScores(words, [1] * len(words), 1, ''), 'lovely')",
        *("input", "a", "b"),
    ),
    "beams": (
        "explore_beams(lambda words: Beams([(None, word, -1, 'kept') for word in words]), 'a')",
        *("input", "b", "c"),
    ),
    "choices": (
        "explore_choices(lambda words: Choices(words, [(str(len(words)), 1, 1, 1)]), 'two words')",
        *("[role=option]", "Enter", " "),
    ),
    "gaps": (
        "explore_gaps(guess, 'two words')",
        *("[role=toolbar] [tabindex='0']", "Enter", " "),
    ),
    "merges": (
        "explore_merges(learn, 'two words')",
        *("[role=option][tabindex='0']", "]", "["),
    ),
    "alignment": (
        "explore_alignment(align, 'sea')",
        *("input", "a", "b"),
    ),
    "tokens": (
        "explore_tokens(lambda text: TokenRows([('characters', list(text))]), 'sea')",
        *("input", "a", "b"),
    ),
}


@pytest.mark.parametrize(("source", "part", "first", "second"), KINDS.values(), ids=KINDS)
def test_two_views_agree_also_after_scrolling_away(open_clean, source, part, first, second):
    cells = [SET_UP + source, "display(shown)\nshown", *["#\n" * 120] * 4]
    notebook = open_clean(cells, windowing="full")
    views = [notebook.widget(1, view) for view in (0, 1)]

    def picture(view=0):
        return views[view].locator(".tn-status").all_text_contents()

    def assert_both_show_another_picture_than(before):
        assert notebook.soon(lambda: before != picture() == picture(1), True)

    def press(key):
        # JupyterLab hides and shows cells as it measures them, and what is hidden takes no focus:
        # the key is sent where the focus is, so it waits until that is here.
        target = views[0].locator(part).first
        focused = "node => { node.focus(); return document.activeElement === node; }"
        assert notebook.soon(lambda: target.evaluate(focused), True)
        notebook.page.keyboard.press(key)

    notebook.scroll(0)
    expect(views[0]).to_be_in_viewport()
    for view in views:  # a picture that has just been put on the page may still be empty
        expect(view.locator(".tn-status").first).not_to_be_empty()
    start = picture()
    press(first)
    assert_both_show_another_picture_than(start)

    # JupyterLab takes what is scrolled away off the page, but for the active cell; it comes back
    # as it was, and alive.
    changed = picture()
    notebook.activate(len(cells) - 1)
    notebook.scroll(100_000)
    expect(views[0]).to_be_hidden()
    notebook.scroll(0)
    expect(views[0]).to_be_in_viewport()
    assert [picture(), picture(1)] == [changed, changed]
    press(second)
    assert_both_show_another_picture_than(changed)


def test_numbers_read_the_same_in_python_and_in_the_browser(browser):
    numbers = [eighth / 8 for eighth in range(-40, 41)]
    numbers += [0.005, -0.004, 1.005, 0.1 + 0.2, 99.995, 1234567.5, 1e6, -1e20]
    page = browser.new_page()
    words = "numbers.map((x) => [two(x), short(x)])"
    source = f"(numbers) => {{ {module('shared/small')}; return {words}; }}"
    assert page.evaluate(source, numbers) == [[two(x), short([x])] for x in numbers]
    page.close()
