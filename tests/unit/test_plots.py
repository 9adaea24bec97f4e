import io

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers.plots import COLORS, CURVES, INK, figure
from helpers.training import History
from helpers.widgets import Attention, show

GROUNDS = "#ffffff", "#111111"  # of JupyterLab's pages, light and dark


def luminance(color):
    """Relative luminance as the accessibility guidelines (WCAG) define it."""
    s = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(color, ground):
    low, high = sorted((luminance(color), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
def test_every_ink_reads_on_light_and_dark_pages(ground):
    # One ink for both grounds can have the root of their own contrast, and not the usual 4.5.
    best = contrast(*GROUNDS) ** 0.5
    assert contrast(INK, ground) > 0.98 * best > 4.25
    assert {name: round(contrast(color, ground), 1) for name, color in COLORS.items()
            if contrast(color, ground) < 3} == {}  # fmt: skip


def drawn(picture):
    """The picture's pixels, from 0 to 1: height × width × red, green, blue, opacity."""
    shown = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("helpers.plots.display", lambda data, **_: shown.update(data))
        picture._ipython_display_()
    return plt.imread(io.BytesIO(shown["image/png"]))


def curve():
    fig, ax = plt.subplots()
    ax.plot([0, 1], label="one")
    ax.plot([1, 0], label="two")
    ax.set(title="Title", xlabel="x", ylabel="y")
    ax.legend()
    return figure(fig, "Two lines.")


def history():
    return History(3, [3.0, 2.0, 1.0], [0.1] * 3, [1.0] * 3, [(3, 1.5)], 3).figure("Loss")


@pytest.mark.parametrize(
    "made", [curve, history, lambda: show(Attention(np.eye(2), ["a", "b"]))],
    ids=["curve", "history", "attention"],
)  # fmt: skip
def test_a_figure_lies_on_the_page_and_all_its_words_are_in_the_ink(made):
    pixels = drawn(made())
    assert (pixels[[0, -1]][..., 3] == 0).all()  # no sheet of its own, up to the edge
    assert pixels[..., 3].mean() < 0.5  # nor one behind axes or legend
    inks = pixels[pixels[..., 3] == 1][:, :3]
    assert np.isclose(inks, matplotlib.colors.to_rgb(INK), atol=0.01).all(axis=1).sum() > 50
    # Text in the usual black would be unreadable on a dark page.
    assert not (inks.max(axis=1) < 0.1).any()


def test_curves_differ_by_more_than_their_color():
    fig, ax = plt.subplots()
    lines = [ax.plot([0, i])[0] for i in range(6)]
    looks = [(line.get_color(), line._unscaled_dash_pattern) for line in lines]
    assert [color for color, _ in looks] == list(COLORS.values())
    assert len({str(dashes) for _, dashes in looks}) == 6
    (named,) = ax.plot([0, 1], **CURVES["green"])
    assert (named.get_color(), named._unscaled_dash_pattern) == looks[2]
    plt.close(fig)


def test_a_figure_needs_a_description():
    with pytest.raises(ValueError, match="needs a description"):
        figure(plt.figure(), " ")


def test_a_figure_is_shown_once_with_its_description(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "helpers.plots.display",
        lambda data, metadata=None, raw=False: shown.append((data, metadata)),
    )
    fig, _ = plt.subplots()
    figure(fig, "A line <rises>.")._ipython_display_()
    assert not plt.fignum_exists(fig.number)
    (picture, metadata), (caption, _) = shown
    assert (
        picture["image/png"].startswith(b"\x89PNG") and picture["text/plain"] == "A line <rises>."
    )
    assert metadata["image/png"]["alt"] == "A line <rises>."
    assert "&lt;rises&gt;" in caption["text/html"]
