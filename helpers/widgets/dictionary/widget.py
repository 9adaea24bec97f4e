"""A soft dictionary in the plane: every key answers the query, in proportion to its weight."""

import numpy as np
import traitlets

from helpers.widgets.shared.given import function, words_of
from helpers.widgets.shared.live import Live, module, slider, style, table
from helpers.widgets.shared.numbers import as_array, fixed, short, two, vector
from helpers.widgets.shared.text import sentence
from helpers.widgets.shared.text import short as short_text

__all__ = ["Dictionary", "explore_dictionary"]

DIRECTIONS = 360
LONGEST = 24  # letters of a name


def explore_dictionary(look_up, keys, values, labels, query=(1.0, 0.5)):
    """Keys as points of a plane and a query to drag; `look_up` recomputes weights and mixture.

    look_up: the notebook's function,
             look_up(query (2,), keys (2 × M), values (D × M), sharpness)
             -> (weights (M,), output (D,)).
    keys:    2 × M, one key a column.
    values:  D × M with D from 1 to 3, or M single numbers.
    labels:  M names of the entries.
    query:   where the query starts.
    Raises ValueError if a shape is wrong or look_up returns another one.
    Source: the second course, self-attention as a soft dictionary.
    """
    return Dictionary(look_up, keys, values, labels, query)


class Dictionary(Live):
    """The widget; `state` holds the query, the weights and the output computed from them.

    `winners` names, for every direction of the query (in DIRECTIONS equal steps from the first
    axis), the entry with the largest weight; it is empty if the query's length matters too.
    """

    _esm = module("shared/small", "dictionary/widget")
    _css = style("shared/small", "dictionary/widget")
    entries = traitlets.List().tag(sync=True)
    reach = traitlets.Float().tag(sync=True)
    winners = traitlets.List().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, look_up, keys, values, labels, query):
        function(look_up, "look_up")
        keys = as_array(keys, "The keys")
        values = np.atleast_2d(as_array(values, "The values"))
        names = [short_text(sentence(label), LONGEST) for label in words_of(labels, "labels")]
        size = len(names)
        if size == 0 or keys.shape != (2, size):
            raise ValueError(f"{size} labels need keys of shape (2, {size}); got {keys.shape}.")
        vector(keys.ravel(), keys.size, "The keys")
        if values.shape[1:] != (size,) or not 1 <= len(values) <= 3:
            raise ValueError(f"The values should be 1 to 3 numbers a label; got {values.shape}.")
        vector(values.ravel(), values.size, "The values")
        start = vector(query, 2, "The query")
        self._depth = len(values)
        # The plane reaches a bit beyond the farthest key, in halves.
        reach = float(np.ceil(2.4 * max(np.abs(keys).max(), np.abs(start).max(), 0.5)) / 2)

        def compute(sharpness, query=start):
            # The function gets copies: whatever it changes in place, the picture stays true.
            answer = look_up(query.copy(), keys.copy(), values.copy(), sharpness)
            if not isinstance(answer, tuple | list) or len(answer) != 2:
                raise TypeError("look_up should return weights and output, a tuple of two.")
            return query, vector(answer[0], size, "The weights"), answer[1]

        sharpness = slider("sharpness", 0.0, 8.0, 1.0, step=0.1)
        super().__init__(
            compute,
            [sharpness],
            entries=[
                {"name": name, "key": key, "value": value}
                for name, key, value in zip(names, keys.T.tolist(), values.T.tolist(), strict=True)
            ],
            reach=reach,
            winners=winners_by_direction(compute, reach),
            values={"query": start.tolist()},
        )

    def receive(self, result):
        query, weights, output = result
        depth = self._depth
        output = vector(output, depth, "The output")
        self.state = {
            "query": query.tolist(),
            "weights": weights.tolist(),
            "output": output.tolist(),
        }

    def _checked(self):
        query = vector(self.values.get("query"), 2, "The query")
        return {**super()._checked(), "query": np.clip(query, -self.reach, self.reach)}

    def describe(self):
        terms = " + ".join(
            f"{two(w)} × {entry['name']}"
            for w, entry in zip(self.state["weights"], self.entries, strict=True)
        )
        query, output = self.state["query"], self.state["output"]
        return f"Soft dictionary: query {short(query)} finds {terms} = {fixed(output)}"

    def fallback(self):
        rows = [
            [entry["name"], short(entry["key"]), short(entry["value"]), two(w)]
            for w, entry in zip(self.state["weights"], self.entries, strict=True)
        ]
        total = two(sum(self.state["weights"]))
        rows.append(["mixture", "", fixed(self.state["output"]), total])
        caption = f"A soft dictionary asked with the query {short(self.state['query'])}"
        return table(caption, ["entry", "key", "value", "weight"], rows)


def winners_by_direction(compute, reach):
    """Index of the largest weight for each direction; [] unless any length of query agrees."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    far, near = (
        [int(compute(1.0, radius * np.array([np.cos(a), np.sin(a)]))[1].argmax()) for a in angles]
        for radius in (reach, reach / 2)
    )
    return far if far == near else []
