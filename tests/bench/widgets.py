"""A slider's round trip, and a notebook's first widget, in Chromium under a real JupyterLab.

The measurements are test functions, so that pytest gives them the browser tests' fixtures; they
assert nothing, and are collected by `measure` alone.
"""

import pytest

from helpers.notebooks import notebook_paths, read
from tests.bench.report import median, percentile_95, table

__all__ = ["measure"]

pytest_plugins = ["tests.browser.conftest"]

PRESSES, WARM_UP = 30, 3
REPEATS = 5
TRIP, FIRST = "round trip", "first widget"

OURS = """
import numpy as np

from helpers.blocks.matrix_form import softmax_columns
from helpers.widgets import Attention, explore, slider

scores = np.random.default_rng(0).normal(size=({tokens}, {tokens}))
words = [f"w{{n}}" for n in range({tokens})]


def attention(sharpness):
    return Attention(softmax_columns(sharpness * scores), words)


explore(attention, slider("sharpness", 0.0, 5.0, 1.0, step=0.05))
"""
PEER = """
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import interact

from helpers.blocks.matrix_form import softmax_columns

scores = np.random.default_rng(0).normal(size=({tokens}, {tokens}))


def draw(sharpness=1.0):
    plt.imshow(softmax_columns(sharpness * scores))
    plt.show()


interact(draw, sharpness=(0.0, 5.0, 0.05));
"""

# The clock starts when the key goes down and stops at the first frame that shows other pixels. The
# picture is drawn very small, so that looking at it costs next to nothing.
WATCH = """(output) => {
    const small = new OffscreenCanvas(48, 48).getContext("2d", { willReadFrequently: true });
    const pixels = () => {
        const picture = output.querySelector("canvas, img");
        if (!picture || picture.complete === false) return null;  // on its way
        small.clearRect(0, 0, 48, 48);
        small.drawImage(picture, 0, 0, 48, 48);
        return small.getImageData(0, 0, 48, 48).data.join();
    };
    const before = pixels();
    window.trip = new Promise((resolve, reject) => {
        window.addEventListener("keydown", () => {
            const start = performance.now();
            const look = () => {
                const now = pixels(), time = performance.now() - start;
                if (now !== null && now !== before) resolve(time);
                else if (time > 10_000) reject(new Error("The slider changed nothing."));
                else requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
        }, { capture: true, once: true });
    });
}"""

LOAD = "(notebook) => window.jupyterapp.shell.currentWidget.context.model.fromJSON(notebook)"

# Restarting also ends what still runs of the notebook, which would burden the next measurement.
RUN_TO_FIRST_WIDGET = """async (selector) => {
    const { commands, shell } = window.jupyterapp;
    const kernel = shell.currentWidget.sessionContext.session.kernel;
    await commands.execute("notebook:clear-all-cell-outputs");
    await kernel.restart();
    await kernel.requestKernelInfo();  // its answer says that the kernel is ready
    const start = performance.now();
    commands.execute("notebook:run-all-cells");
    while (!document.querySelector(selector)?.offsetHeight)
        await new Promise(requestAnimationFrame);
    const time = performance.now() - start;
    await kernel.restart();
    return time / 1000;
}"""


@pytest.mark.parametrize("tokens", (16, 64, 128))
def test_round_trip(tokens, open_notebook, record_property):
    notebook = open_notebook([OURS.format(tokens=tokens), PEER.format(tokens=tokens)])
    handles = "input[type=range]", ".noUi-handle"
    trips = [], []
    for _ in range(WARM_UP + PRESSES):
        for index, handle in enumerate(handles):
            trips[index].append(press(notebook, index, handle))
    ours, peer = (samples[WARM_UP:] for samples in trips)
    row = [
        tokens,
        *(f"{f(x):.0f} ms" for x in (ours, peer) for f in (median, percentile_95)),
        f"{median(ours) / median(peer):.2f}",
    ]
    record_property(TRIP, row)
    record_property("Chromium", notebook.page.context.browser.version)


def press(notebook, index, handle):
    """Milliseconds from a key pressed on the slider of a cell to the first changed pixel."""
    output = notebook.cell(index).locator(".jp-OutputArea").first
    output.locator(handle).focus()
    output.evaluate(WATCH)
    notebook.page.keyboard.press("ArrowRight")
    trip = notebook.page.evaluate("() => window.trip")
    notebook.page.wait_for_timeout(100)  # let the page come to rest
    return trip


@pytest.mark.parametrize("path", notebook_paths(), ids=lambda path: path.stem)
def test_first_widget(path, open_notebook, record_property):
    notebooks = open_notebook([""]), open_notebook([PEER.format(tokens=64)])
    # Into the open page, for opening the file would first run all of it.
    notebooks[0].page.evaluate(LOAD, read(path))
    pictures = ".tn-widget", ".widget-output img"
    times = [], []
    for _ in range(REPEATS):
        for samples, notebook, picture in zip(times, notebooks, pictures, strict=True):
            notebook.page.bring_to_front()
            samples.append(notebook.page.evaluate(RUN_TO_FIRST_WIDGET, picture))
    ours, peer = map(median, times)
    record_property(FIRST, [path.stem, f"{ours:.1f} s", f"{peer:.1f} s", f"{ours / peer:.2f}"])


class Found:
    """A plugin of pytest that keeps what was recorded, and why something was skipped."""

    def __init__(self):
        self.properties, self.skipped = [], ""

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.properties += report.user_properties
        if report.skipped:
            self.skipped = report.longrepr[2].removeprefix("Skipped: ")

    def rows(self, name):
        return [value for key, value in self.properties if key == name]


def measure():
    """The section on widgets in a browser, as Markdown; one line where there is no browser.

    Raises SystemExit if a measurement failed.
    """
    found = Found()
    if pytest.main([__file__, "--quiet", "--no-header"], plugins=[found]):
        raise SystemExit("A measurement in the browser failed: see above.")
    title = "## Widgets in a browser"
    if found.skipped:
        return f"{title}\n\nNot measured. {found.skipped}"
    return "\n\n".join(
        [
            f"{title}\n\nChromium {found.rows('Chromium')[0]}, headless, under JupyterLab.",
            f"From a key pressed on a slider to the first frame with other pixels, in {PRESSES} "
            "presses: our live attention widget, and `interact` with an inline figure (a bare "
            "`imshow`, without labels) of the same matrix, in one notebook. The budget for 64 "
            "tokens is 50 ms.",
            table(
                ["tokens", "ours", "p95", "`interact`", "p95", "ours ÷ `interact`"],
                found.rows(TRIP),
            ),
            "From *Run All Cells* on a fresh kernel to the first widget on the screen, imports "
            "included; beside it a notebook that holds nothing but the `interact` above.",
            table(
                ["notebook", "first widget", "`interact`", "notebook ÷ `interact`"],
                found.rows(FIRST),
            ),
        ]
    )
