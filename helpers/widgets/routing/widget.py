"""Three values routed to one output by weights: a point in a triangle, a point in a hull."""

import numpy as np
import traitlets

from helpers.widgets.shared.given import function
from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array, fixed, short, two, vector
from helpers.widgets.shared.text import name as name_of

__all__ = ["Routing", "explore_routing"]

EXAMPLES = {"output one": (0.1, 0.3, 0.6), "output two": (0.5, 0.2, 0.3)}  # the chapter's
NAMES = ("v₁", "v₂", "v₃")


def explore_routing(route, values, presets=EXAMPLES):
    """A triangle of weights next to the plane of values; `route` recomputes the output.

    route:   the notebook's function, route(values (2 × 3), weights (3,)) -> output (2,).
    values:  2 × 3, the three values as columns.
    presets: name -> three weights, a button each; the first is where the handle starts.
    Raises ValueError if a shape is wrong, or if preset weights are negative or do not sum to one.
    Source: the chapter, “The values, and their weighting”.
    """
    return Routing(route, values, presets)


class Routing(Live):
    """The widget; `state` holds the weights and the output that was computed from them."""

    _esm = module("shared/small", "routing/widget")
    _css = style("shared/small", "routing/widget")
    points = traitlets.List().tag(sync=True)
    presets = traitlets.List().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, route, values, presets):
        function(route, "route")
        values = as_array(values, "The values")
        if values.shape != (2, 3):
            raise ValueError(f"The values should be three columns (2 × 3); got {values.shape}.")
        vector(values.ravel(), 6, "The values")
        if not isinstance(presets, dict):
            raise ValueError("presets should be a dictionary of a name and three weights for each.")
        weights = {name: vector(w, 3, f"Preset “{name_of(name)}”") for name, w in presets.items()}
        for name, w in weights.items():
            if w.min() < 0 or abs(w.sum() - 1) > 1e-9:
                raise ValueError(
                    f"Preset “{name_of(name)}” should be three weights ≥ 0 that sum to one."
                )
        first = next(iter(weights.values()), np.full(3, 1 / 3))

        def compute(weights=first):
            # The function gets copies: whatever it changes in place, the picture stays true.
            return weights, route(values.copy(), weights.copy())

        super().__init__(
            compute,
            points=values.T.tolist(),
            presets=[[name_of(name), w.tolist()] for name, w in weights.items()],
            values={"weights": first.tolist()},
        )

    def receive(self, result):
        weights, output = result
        output = vector(output, 2, "The output")
        self.state = {"weights": weights.tolist(), "output": output.tolist()}

    def _checked(self):
        return {"weights": on_simplex(self.values.get("weights"))}

    def describe(self):
        total = " + ".join(
            f"{two(w)}·{v}" for w, v in zip(self.state["weights"], NAMES, strict=True)
        )
        return f"Routing: output = {total} = {fixed(self.state['output'])}"

    def fallback(self):
        rows = [
            [name, two(w), short(point)]
            for name, w, point in zip(NAMES, self.state["weights"], self.points, strict=True)
        ]
        rows.append(["output", "", fixed(self.state["output"])])
        return table("Three values routed to one output", ["", "weight", "vector"], rows)


def on_simplex(weights):
    """Three numbers as weights: cut to 0…1 and divided by their sum (equal if all are zero)."""
    weights = np.clip(vector(weights, 3, "The weights"), 0, 1)
    return weights / weights.sum() if weights.any() else np.full(3, 1 / 3)
