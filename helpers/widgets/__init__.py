"""The widgets of the notebooks."""

from helpers.widgets.alignment.widget import Alignment, explore_alignment
from helpers.widgets.attention.data import Attention
from helpers.widgets.attention.figure import show
from helpers.widgets.attention.widget import explore
from helpers.widgets.beams.widget import Beams, explore_beams
from helpers.widgets.choices.widget import Choices, explore_choices
from helpers.widgets.dictionary.widget import explore_dictionary
from helpers.widgets.gaps.widget import Gaps, explore_gaps
from helpers.widgets.grid.widget import Grid, Page, explore_grid
from helpers.widgets.lines.widget import Lines, explore_lines
from helpers.widgets.merges.widget import Merges, explore_merges
from helpers.widgets.moves.widget import Moves, explore_moves
from helpers.widgets.order.widget import Ordered, explore_order
from helpers.widgets.planes.widget import Planes, explore_planes
from helpers.widgets.products.widget import Operation, Product, step_through
from helpers.widgets.routing.widget import explore_routing
from helpers.widgets.scores.widget import WordScores, explore_scores
from helpers.widgets.shared.live import options, slider, switches
from helpers.widgets.tokens.widget import TokenRows, explore_tokens

__all__ = [
    "Alignment",
    "Attention",
    "Beams",
    "Choices",
    "Gaps",
    "Grid",
    "Lines",
    "Merges",
    "Moves",
    "Operation",
    "Ordered",
    "Page",
    "Planes",
    "Product",
    "TokenRows",
    "WordScores",
    "explore",
    "explore_alignment",
    "explore_beams",
    "explore_choices",
    "explore_dictionary",
    "explore_gaps",
    "explore_grid",
    "explore_lines",
    "explore_merges",
    "explore_moves",
    "explore_order",
    "explore_planes",
    "explore_routing",
    "explore_scores",
    "explore_tokens",
    "options",
    "show",
    "slider",
    "step_through",
    "switches",
]
