import matplotlib.pyplot as plt
import pytest

from helpers.plots import figure


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
