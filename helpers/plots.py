"""One palette, one way to show a figure, and the few static figures used more than once."""

import io
from html import escape

import matplotlib
from cycler import cycler
from IPython.display import display

__all__ = ["COLORS", "CURVES", "INK", "figure", "style"]

# Text and axes. Figures have no ground of their own, so this ink has to read on white and on the
# #111 of JupyterLab's dark theme. Those differ by 18.9 to 1: no ink can stand apart from both by
# more than the root of it, 4.35 to 1, and this one does by 4.3.
INK = "#747a80"

# After Okabe and Ito's palette, told apart by people with any kind of color vision; each at least
# 3:1 on both grounds.
COLORS = {
    "blue": "#0072B2",
    "orange": "#D55E00",
    "green": "#009E73",
    "purple": "#AA4499",
    "gold": "#B8860B",
    "gray": INK,
}
DASHES = ["-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)), (0, (2, 1))]

# name -> how to draw a curve of that color: ax.plot(x, y, **CURVES["blue"]). Each has its own line,
# since color alone does not tell curves apart for everybody.
CURVES = {
    name: {"color": color, "linestyle": dashes}
    for (name, color), dashes in zip(COLORS.items(), DASHES, strict=True)
}


def style():
    """Set the collection's look for matplotlib; called once when this module is imported.

    Curves that are given neither color nor line get those of `CURVES`, one after the other.
    """
    matplotlib.rcParams.update(
        {
            "axes.edgecolor": INK,
            "axes.facecolor": "none",
            "axes.labelcolor": INK,
            "axes.prop_cycle": cycler(color=COLORS.values()) + cycler(linestyle=DASHES),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": 11,
            "figure.constrained_layout.use": True,
            "figure.dpi": 110,
            "figure.facecolor": "none",
            "figure.figsize": (6.4, 3.2),
            "font.size": 10,
            "grid.alpha": 0.25,
            "grid.color": INK,
            "legend.frameon": False,
            "lines.linewidth": 1.7,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
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
        words = f"<em>{escape(self._description)}</em>"
        caption = f"<p class='mathjax_ignore tex2jax_ignore' style='max-width: 45em'>{words}</p>"
        display({"text/html": caption, "text/plain": self._description}, raw=True)


def figure(fig, description):
    """Turn a matplotlib figure into a picture with its description, as a cell's last line.

    The picture has no ground of its own: it lies on the page, light or dark.

    fig: a matplotlib Figure; it is closed, so that the notebook does not show it twice.
    description: one or two sentences that say what the picture shows, in words.
    Raises ValueError without a description.
    """
    if not description.strip():
        raise ValueError("A figure needs a description, for readers who cannot see it.")
    import matplotlib.pyplot as plt

    png = io.BytesIO()
    fig.savefig(png, format="png", facecolor="none")
    plt.close(fig)
    return Figure(png.getvalue(), description)
