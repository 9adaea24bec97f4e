"""What a live widget says when Python is busy, gone, or was never there; saving and reopening."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from playwright.sync_api import expect

from helpers.widgets.shared.live import module, on_step
from tests.unit.widgets.test_controls import sliders

SET_UP = """
import os, time
import numpy as np
from helpers.widgets import *

calls = []

def squares(N):
    calls.append(N)
    return Page('squares', np.arange(N)[None] ** 2)

def weights(words, sharpness):
    return Attention(np.ones((len(words), len(words))), words)
"""
CELLS = [
    SET_UP,
    "grid = explore_grid(squares, slider('N', 1, 9, 4)); grid",
    "text = explore(weights, slider('sharpness', 0.0, 2.0, 1.0), text='a b'); text",
    "explore(Attention(np.eye(2), ['a', 'b']))",
    "1 + 1",
]
GRID, TEXT, STILL, PLAIN = range(1, 5)
BUSY = "Waiting for Python, which is busy."
UNSURE = "Waiting for Python. If no answer comes, run this cell again."
GONE = "Python no longer answers here: run this cell again."


@pytest.fixture
def notebook(open_notebook):
    return open_notebook(CELLS)


def note(widget):
    return widget.locator(".tn-waiting")


def columns(widget):
    return widget.locator(".tn-grid-stage").get_attribute("aria-colcount")


def opacity(widget):
    return float(widget.locator(".tn-grid-stage").evaluate("e => getComputedStyle(e).opacity"))


def start(notebook, code):
    """Let the kernel run this, and go on without waiting for it."""
    notebook.page.evaluate(
        """(code) => {
            window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
                .requestExecute({ code });
        }""",
        code,
    )


def session(notebook, action):
    notebook.page.evaluate(f"() => window.jupyterapp.shell.currentWidget.sessionContext.{action}")


def rerun(notebook, *indexes):
    """Run these cells one after another."""
    for index in indexes:
        notebook.activate(index)
        notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")


def test_a_quick_answer_comes_without_a_word(notebook):
    widget = notebook.widget(GRID)
    notebook.page.evaluate(
        """() => {
            window.words = [];
            const watch = ([{ target }]) => window.words.push(target.textContent);
            for (const line of document.querySelectorAll(".tn-waiting"))
                new MutationObserver(watch).observe(line, { childList: true });
        }"""
    )
    for _ in range(4):
        widget.locator("input").press("ArrowRight")
    assert notebook.soon(lambda: columns(widget), "8") == "8"
    assert notebook.page.evaluate("() => window.words") == []


def test_a_fast_hand_gets_the_newest_answer_and_builds_no_queue(notebook):
    widget = notebook.widget(GRID)
    widget.locator("input").evaluate(
        """(input) => {
            for (let i = 0; i <= 80; i++) {
                input.value = 1 + (i % 9);
                input.dispatchEvent(new Event("input"));
            }
        }"""
    )
    assert notebook.soon(lambda: columns(widget), "9") == "9"
    assert int(notebook.python("print(len(calls))")) < 10


def test_while_a_cell_runs_the_picture_is_dimmed_and_the_line_says_why(notebook, lab):
    widget = notebook.widget(GRID)
    start(notebook, "while not os.path.exists('go on'): time.sleep(0.05)")
    widget.locator("input").press("End")
    expect(note(widget)).to_have_text(BUSY)
    assert opacity(widget) < 0.5
    assert columns(widget) == "4"  # what is dimmed is the old picture
    assert widget.locator("output").text_content() == "9"
    (lab[1] / "go on").touch()
    expect(note(widget)).to_be_empty()
    assert (columns(widget), opacity(widget)) == ("9", 1)


def test_an_interrupt_leaves_an_answer(notebook):
    widget = notebook.widget(GRID)
    start(notebook, "time.sleep(60)")
    widget.locator("input").press("End")
    expect(note(widget)).to_have_text(BUSY)
    session(notebook, "session.kernel.interrupt()")
    expect(note(widget)).to_be_empty()
    assert (columns(widget), opacity(widget)) == ("9", 1)


def test_after_a_restart_the_cell_must_be_run_again(notebook):
    widget = notebook.widget(GRID)
    session(notebook, "session.kernel.restart()")
    expect(note(widget)).to_have_text(GONE)
    expect(note(notebook.widget(TEXT))).to_have_text(GONE)
    expect(note(notebook.widget(STILL))).to_be_empty()  # it needs no Python
    assert opacity(widget) == 1  # the picture still belongs to the slider
    widget.locator("input").press("End")
    assert notebook.soon(lambda: opacity(widget) < 0.5, True)
    rerun(notebook, 0, GRID)
    expect(note(widget)).to_be_empty()
    widget.locator("input").press("End")
    assert notebook.soon(lambda: columns(widget), "9") == "9"


@pytest.mark.parametrize("ending", ["shutdown()", ""])
def test_after_a_shutdown_or_a_crash_the_next_question_is_told(notebook, ending):
    widget = notebook.widget(GRID)
    if ending:
        session(notebook, ending)
    else:
        start(notebook, "os._exit(1)")
        # JupyterLab says so and starts another kernel.
        notebook.page.get_by_role("button", name="Ok").evaluate("button => button.click()")
    widget.locator("input").press("End")
    # JupyterLab does not always tell a widget of a crash.
    expect(note(widget)).to_have_text(GONE if ending else re.compile(f"{GONE}|{UNSURE}"))
    assert opacity(widget) < 0.5


def test_half_a_character_is_sent_as_one_that_can_travel(notebook):
    widget = notebook.widget(TEXT)
    box, status = widget.locator("input[type=text]"), widget.locator(".tn-status")
    for text, shown in (("a \ud83d", "\ufffd"), ("a \udcff", "\ufffd"), ("a 🥪", "🥪"), ("c", "c")):
        box.evaluate(
            """(box, text) => {
                box.value = JSON.parse(text);
                box.dispatchEvent(new Event("input"));
            }""",
            json.dumps(text),
        )
        assert notebook.soon(lambda shown=shown: shown in status.text_content(), True), text
        expect(note(widget)).to_be_empty()


def test_ctrl_and_s_saves_from_everywhere(notebook, lab):
    page = notebook.page
    path = page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    places = [
        notebook.widget(GRID).locator("input"),
        notebook.widget(TEXT).locator("input[type=text]"),
        notebook.widget(GRID).locator(".tn-grid-stage"),
        notebook.widget(STILL).get_by_role("button", name="Table"),
    ]
    for number, place in enumerate(places):
        page.evaluate(
            "n => window.jupyterapp.shell.currentWidget.context.model.setMetadata('n', n)", number
        )
        place.focus()

        def saved(words=f'"n": {number}'):
            page.keyboard.press("Control+s")  # not heard while the last one is still being served
            return words in (lab[1] / path).read_text()

        assert notebook.soon(saved, True)
        page.keyboard.press("b")  # which would insert a cell
        place.evaluate(  # and at once after a Control+s, as on a machine that is late
            """(place) => {
                const press = (key, keyCode, ctrlKey) => place.dispatchEvent(new KeyboardEvent(
                    "keydown", { key, keyCode, ctrlKey, bubbles: true, cancelable: true }));
                press("s", 83, true);
                press("b", 66, false);
            }"""
        )
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)


def test_a_saved_notebook_opened_again_shows_its_widgets(open_notebook, lab):
    first = open_notebook(CELLS)
    first.widget(GRID).locator("input").press("End")
    assert first.soon(lambda: columns(first.widget(GRID)), "9")
    first.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    dirty = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
    assert first.soon(lambda: first.page.evaluate(dirty), False) is False
    path = lab[1] / first.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    session(first, "shutdown()")

    # On a busy machine JupyterLab may say that all widgets are there before it has read those of
    # the notebook, and then needs another try.
    for _ in range(4):
        again = open_notebook(path, run=False)
        widget = again.widget(GRID)
        lost = again.cell(GRID).get_by_text("Error displaying widget")
        expect(widget.locator(".tn-grid-heat").or_(lost)).to_be_visible()
        if not lost.count():
            break
    expect(again.widget(STILL).locator("canvas").first).to_be_visible()
    assert (columns(widget), widget.locator("output").text_content()) == ("9", "9")
    expect(note(widget)).to_have_text(GONE)
    expect(note(again.widget(STILL))).to_be_empty()
    assert "Error displaying widget" not in again.page.locator(".jp-Notebook").text_content()
    assert (again.errors, again.outside) == ([], [])
    again.run()
    expect(note(widget)).to_be_empty()


def test_a_slider_steps_the_same_in_python_and_in_the_browser(browser):
    page = browser.new_page()
    source = f"""([control, wanted]) => {{
        {module()}
        const input = el("input", {{ type: "range", min: control.min, max: control.max,
            step: control.step }});
        input.value = control.value;
        const start = onStep(control, Number(input.value));
        const walk = [];
        for (let i = 0; i < 3; i++) {{ input.stepUp(); walk.push(onStep(control, input.value)); }}
        for (let i = 0; i < 3; i++) {{ input.stepDown(); walk.push(onStep(control, input.value)); }}
        return [start, walk, wanted.map((x) => onStep(control, x))];
    }}"""

    @settings(max_examples=150, deadline=None, suppress_health_check=HealthCheck)
    @given(sliders())
    def same(made):
        control, steps = made
        low, step = control["min"], control["step"]
        wanted = [low + step * i / 3 for i in range(-2, min(3 * steps, 300) + 2)]
        start, walk, got = page.evaluate(source, [control, wanted])
        assert start == control["value"]
        assert got == [on_step(control, x) for x in wanted]
        at = round((control["value"] - low) / step)
        up = [min(at + i, steps) for i in (1, 2, 3)]
        ways = up + [max(up[-1] - i, 0) for i in (1, 2, 3)]
        assert walk == [on_step(control, low + i * step) for i in ways]

    same()
    page.close()
