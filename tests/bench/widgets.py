"""A slider's round trip in Chromium under a real JupyterLab.

The measurements are test functions, so that pytest gives them the browser tests' fixtures; they
assert nothing, and are collected by `measure` alone.
"""

import pytest

from tests.bench.report import median, percentile_95, table

__all__ = ["measure"]

pytest_plugins = ["tests.browser.conftest"]

PRESSES, WARM_UP = 20, 3
TRIP = "round trip"

PICTURES = {  # title -> the numbers of a picture, as Python, and our widget of `numbers`
    **{
        f"attention, {tokens} tokens": (
            f"softmax_columns(value * random[:{tokens}, :{tokens}])",
            f"explore(lambda value: Attention(numbers(value), words[:{tokens}]), control)",
        )
        for tokens in (16, 64, 128)
    },
    "grid, two pages, the shown one 64 × 128": (
        "sinusoidal(64, 128, 1000 * value)",
        "explore_grid(lambda value: [Page('Π', Pi := numbers(value)), Page('ΠᵀΠ', Pi.T @ Pi)], "
        "control)",
    ),
    "order, 16 words": (
        "random[:8, :16] + value * random[8:16, :16]",
        "explore_order(lambda order, value: Ordered(words[:16], numbers(value), random[:8, :16]), "
        "words[:16], control)",
    ),
    "planes, 8 of them": (
        "rotary(random[:16, :2], value * np.array([1, 2]), 100.0)",
        "explore_planes(lambda value: Planes(*random[:16, :2].T, *numbers(value).T), control)",
    ),
    "moves, 16 words": (
        "random[:2, :16] + value * random[2:4, :16]",
        "explore_moves(lambda value: Moves(words[:16], random[:2, :16], numbers(value)), control)",
    ),
}
GIVEN = """
import numpy as np

from helpers.blocks.matrix_form import softmax_columns
from helpers.blocks.positional_encoding import rotary, sinusoidal

random = np.random.default_rng(0).normal(size=(128, 128))
words = [f"w{{n}}" for n in range(128)]


def numbers(value):
    return {numbers}
"""
OURS = """
from helpers.widgets import *

control = slider("value", 0.0, 5.0, 1.0, step=0.05)
{ours}
"""
PEER = """
import matplotlib.pyplot as plt
from ipywidgets import interact


def draw(value=1.0):
    plt.imshow(numbers(value))
    plt.show()


interact(draw, value=(0.0, 5.0, 0.05));
"""

# The clock starts when the key goes down and stops at the first frame that shows other pixels, or
# other shapes where the picture is drawn as SVG. Pixels are drawn very small, so that looking at
# them costs next to nothing.
WATCH = """(output) => {
    const small = new OffscreenCanvas(48, 48).getContext("2d", { willReadFrequently: true });
    const pixels = () => {
        const drawing = [...output.querySelectorAll(".tn-widget svg")];
        const picture = output.querySelector("canvas, img");
        if (!picture && drawing.length) return drawing.map((part) => part.outerHTML).join();
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


@pytest.mark.parametrize("title", PICTURES)
def test_round_trip(title, open_notebook, record_property):
    notebook = open_notebook(cells(title))
    handles = "input[type=range]", ".noUi-handle"
    trips = [], []
    for _ in range(WARM_UP + PRESSES):
        for index, handle in enumerate(handles):
            trips[index].append(press(notebook, index, handle))
    ours, peer = (samples[WARM_UP:] for samples in trips)
    row = [
        title,
        *(f"{f(x):.0f} ms" for x in (ours, peer) for f in (median, percentile_95)),
        f"{median(ours) / median(peer):.2f}",
    ]
    record_property(TRIP, row)
    record_property("Chromium", notebook.page.context.browser.version)


def cells(title):
    """The two cells of a picture: our widget, and `interact`."""
    numbers, ours = PICTURES[title]
    given = GIVEN.format(numbers=numbers)
    return given + OURS.format(ours=ours), given + PEER


def press(notebook, index, handle):
    """Milliseconds from a key pressed on the slider of a cell to the first changed pixel."""
    output = notebook.cell(index).locator(".jp-OutputArea").first
    output.locator(handle).focus()
    output.evaluate(WATCH)
    notebook.page.keyboard.press("ArrowRight")
    trip = notebook.page.evaluate("() => window.trip")
    notebook.page.wait_for_timeout(100)  # let the page come to rest
    return trip


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
            "presses: our live widgets, and `interact` with an inline figure (a bare `imshow`, "
            "without labels) of the same numbers, in one notebook. The budget for attention with "
            "64 tokens is 50 ms.",
            table(
                ["widget", "ours", "p95", "`interact`", "p95", "ours ÷ `interact`"],
                found.rows(TRIP),
            ),
        ]
    )
