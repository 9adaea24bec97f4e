"""One palette, one way to show a figure, and the few static figures used more than once."""

import io
from html import escape

import matplotlib
from cycler import cycler
from IPython.display import display

__all__ = ["COLORS", "figure", "style"]

# Okabe and Ito's palette, told apart by people with any kind of color vision.
COLORS = {
    "blue": "#0072B2",
    "orange": "#D55E00",
    "green": "#009E73",
    "purple": "#AA4499",
    "gold": "#B8860B",
    "gray": "#5F6B76",
}


def style():
    """Set the collection's look for matplotlib; called once when this module is imported."""
    matplotlib.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=COLORS.values()),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": 11,
            "figure.dpi": 110,
            "figure.figsize": (6.4, 3.2),
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "legend.frameon": False,
        }
    )


style()


class Figure:
    """A finished picture with the sentence that describes it to whoever cannot see it.

    The sentence is shown as a caption: JupyterLab gives images no alternative text of their own.
    """

    def __init__(self, png, description):
        self._png, self._description = png, description

    def __repr__(self):
        return self._description

    def _ipython_display_(self):
        display(
            {"image/png": self._png, "text/plain": self._description},
            metadata={"image/png": {"alt": self._description}},
            raw=True,
        )
        caption = f"<p style='max-width: 45em'><em>{escape(self._description)}</em></p>"
        display({"text/html": caption, "text/plain": self._description}, raw=True)


def figure(fig, description):
    """Turn a matplotlib figure into a picture with its description, as a cell's last line.

    fig: a matplotlib Figure; it is closed, so that the notebook does not show it twice.
    description: one or two sentences that say what the picture shows, in words.
    Raises ValueError without a description.
    """
    if not description.strip():
        raise ValueError("A figure needs a description, for readers who cannot see it.")
    import matplotlib.pyplot as plt

    png = io.BytesIO()
    fig.savefig(png, format="png", facecolor="white")
    plt.close(fig)
    return Figure(png.getvalue(), description)
