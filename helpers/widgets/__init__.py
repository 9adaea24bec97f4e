"""The widgets of the notebooks."""

from helpers.widgets.attention import Attention, explore, show
from helpers.widgets.dictionary import explore_dictionary
from helpers.widgets.lines import Lines, explore_lines
from helpers.widgets.live import slider
from helpers.widgets.products import Product, step_through
from helpers.widgets.routing import explore_routing
from helpers.widgets.scores import WordScores, explore_scores

__all__ = [
    "Attention",
    "Lines",
    "Product",
    "WordScores",
    "explore",
    "explore_dictionary",
    "explore_lines",
    "explore_routing",
    "explore_scores",
    "show",
    "slider",
    "step_through",
]
