"""The widgets of the notebooks."""

from helpers.widgets.attention import Attention, explore, show
from helpers.widgets.dictionary import explore_dictionary
from helpers.widgets.grid import Grid, Page, explore_grid
from helpers.widgets.lines import Lines, explore_lines
from helpers.widgets.live import slider, switches
from helpers.widgets.moves import Moves, explore_moves
from helpers.widgets.order import Ordered, explore_order
from helpers.widgets.planes import Planes, explore_planes
from helpers.widgets.products import Operation, Product, step_through
from helpers.widgets.routing import explore_routing
from helpers.widgets.scores import WordScores, explore_scores

__all__ = [
    "Attention",
    "Grid",
    "Lines",
    "Moves",
    "Operation",
    "Ordered",
    "Page",
    "Planes",
    "Product",
    "WordScores",
    "explore",
    "explore_dictionary",
    "explore_grid",
    "explore_lines",
    "explore_moves",
    "explore_order",
    "explore_planes",
    "explore_routing",
    "explore_scores",
    "show",
    "slider",
    "step_through",
    "switches",
]
