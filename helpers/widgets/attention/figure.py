"""One head as a static figure."""

import numpy as np

from helpers.widgets.attention.data import MOST_TOKENS, SMALL, two_decimals
from helpers.widgets.shared.text import short

__all__ = ["show"]


def show(attention, layer=0, head=0):
    """A static figure of one head: keys down, queries across, masked cells hatched.

    Raises IndexError if there is no such layer or head.
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm
    from matplotlib.figure import Figure

    from helpers.plots import figure

    n_layers, n_heads, n_keys, n_queries = attention.weights.shape
    if not (0 <= layer < n_layers and 0 <= head < n_heads):
        raise IndexError(f"There is no layer {layer}, head {head}: they are numbered from 0.")
    keys, queries = min(n_keys, MOST_TOKENS), min(n_queries, MOST_TOKENS)
    weights = attention.weights[layer, head, :keys, :queries]

    fig = Figure(layout="constrained")
    fig.set_size_inches(min(2.2 + 0.36 * queries, 12), min(1.6 + 0.3 * keys, 12))
    axes = fig.add_subplot()
    # The square root lets small weights show; 0 to 1 makes equal colors mean equal weights.
    image = axes.pcolormesh(
        weights,
        cmap=LinearSegmentedColormap.from_list("attention", ["#f3f7fc", "#5b94d6", "#0b3a75"]),
        norm=PowerNorm(0.5, 0, max(1.0, weights.max())),
        edgecolor="white",
        linewidth=0.8 if max(keys, queries) <= 64 else 0,
    )
    for key, query in zip(*np.nonzero(attention.mask[:keys, :queries]), strict=True):
        axes.fill_between(
            [query, query + 1], key, key + 1, facecolor="none", edgecolor="#7b8794", hatch="////"
        )
    if max(keys, queries) <= SMALL:
        for key, query in zip(*np.nonzero(~attention.mask), strict=True):
            weight = weights[key, query]
            axes.text(
                query + 0.5,
                key + 0.5,
                two_decimals(weight),
                ha="center",
                va="center",
                fontsize=8,
                color="white" if weight > 0.25 else "#1f2933",
            )
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("queries →", loc="left", labelpad=8)
    axes.set_ylabel("← keys", loc="top", labelpad=8)
    tokens = [_label(token) for token in attention.query_tokens[:queries]]
    axes.set_xticks(np.arange(queries) + 0.5, tokens, rotation=90, fontsize=9)
    tokens = [_label(token) for token in attention.key_tokens[:keys]]
    axes.set_yticks(np.arange(keys) + 0.5, tokens, fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    fig.colorbar(image, ax=axes, label="weight", ticks=[0, 0.1, 0.25, 0.5, 1], shrink=0.8)
    axes.set_title(attention.title(layer, head).partition(":")[0], loc="left", pad=12)
    return figure(fig, attention.describe(layer, head))


def _label(token):
    """A short text that matplotlib does not take for a formula."""
    return short(token, 16).replace("$", r"\$")
