"""The widgets of the notebooks."""

from helpers.widgets.attention import Attention, explore, show
from helpers.widgets.dictionary import explore_dictionary
from helpers.widgets.live import slider
from helpers.widgets.products import Product, step_through
from helpers.widgets.routing import explore_routing

__all__ = [
    "Attention",
    "Product",
    "explore",
    "explore_dictionary",
    "explore_routing",
    "show",
    "slider",
    "step_through",
]
