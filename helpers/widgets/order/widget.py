"""The words of a sentence in another order: which outputs follow their words, and which change."""

import numpy as np
import traitlets

from helpers.widgets.shared.given import function, words_of
from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import LARGEST, as_array, two
from helpers.widgets.shared.text import sentence, short, visible

__all__ = ["Order", "Ordered", "explore_order"]

MOST_WORDS = 16
MOST_NUMBERS = 8  # in one output: more bars do not fit on a tile
SAME = 1e-9  # outputs nearer than this differ by rounding alone


class Ordered:
    """A sentence in some order, and what became of its outputs: what `explore_order` draws.

    words:     the N words in their present order, 2 to 16.
    outputs:   k × N, k from 1 to 8, the outputs of the tokens in their present order.
    reference: k × N, the outputs that the same tokens had when the sentence stood in its original
               order. Its columns are in the present order too, so column n of both is one token.
    note:      one sentence shown under the picture.
    `moved` (N,) is how far each output lies from its reference, `mean_moved` the same for the mean
    of all outputs, both as Euclidean distances; up to 1e-9 they count as unchanged.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, words, outputs, reference, note=""):
        self.words = _words(words)
        self.outputs = _matrix("The outputs", outputs, len(self.words))
        self.reference = _matrix("The reference", reference, len(self.words))
        if self.outputs.shape != self.reference.shape:
            raise ValueError(
                f"Outputs and reference should have one shape; got {self.outputs.shape} "
                f"and {self.reference.shape}."
            )
        self.note = sentence(note)
        self.moved = np.linalg.norm(self.outputs - self.reference, axis=0)
        self.mean, self.mean_reference = self.outputs.mean(axis=1), self.reference.mean(axis=1)
        self.mean_moved = float(np.linalg.norm(self.mean - self.mean_reference))

    def summary(self):
        """What became of the outputs: "3 of 7 outputs moved; their mean moved by 0.12"."""
        count, moved = len(self.words), int((self.moved > SAME).sum())
        outputs = f"{moved} of {count} outputs moved"
        if moved in {0, count}:
            outputs = f"all {count} outputs {'moved' if moved else 'unchanged'}"
        return f"{outputs}; their mean {in_words(self.mean_moved)}"

    def __repr__(self):
        return f"Ordered: {' '.join(self.words)}; {self.summary()}"


class Order(Live):
    """The widget that `explore_order` returns; `state` holds the order, the tiles, the mean."""

    _esm = module("order/widget")
    _css = style("order/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, compute, words, sliders):
        function(compute, "compute")
        self._words = _words(words)
        start = range(len(self._words))

        def in_order(order=tuple(start), **values):
            return order, compute(order, **values)

        super().__init__(in_order, sliders, values={"order": list(start)})

    def receive(self, result):
        order, ordered = result
        if not isinstance(ordered, Ordered):
            raise TypeError(f"The function must return Ordered, not {type(ordered).__name__}.")
        if ordered.words != (expected := [self._words[i] for i in order]):
            raise ValueError(
                f"The words should stand in the order asked for, {_brief(expected)}; "
                f"got {_brief(ordered.words)}."
            )
        self.ordered = ordered
        # A full bar is the largest number of the picture.
        full = max(np.abs(ordered.outputs).max(), np.abs(ordered.reference).max()) or 1.0

        def tile(text, numbers, reference, moved):
            return {
                "text": short(text, 24),
                "bars": (numbers / full).tolist(),
                "marks": (reference / full).tolist(),
                "same": bool(moved <= SAME),
                "moved": in_words(moved),
            }

        columns = zip(
            ordered.words, ordered.outputs.T, ordered.reference.T, ordered.moved, strict=True
        )
        self.state = {
            "order": list(order),
            "tiles": [tile(*column) for column in columns],
            "mean": tile("mean of all", ordered.mean, ordered.mean_reference, ordered.mean_moved),
            "summary": ordered.summary(),
            "note": ordered.note,
        }

    def _checked(self):
        order, last = self.values.get("order"), len(self._words) - 1
        whole = isinstance(order, list) and all(type(i) is int for i in order)
        if not whole or sorted(order) != list(range(last + 1)):
            self.values = self.values | {"order": self.state["order"]}  # the last good one
            raise ValueError(f"The order should hold each number from 0 to {last} once.")
        return super()._checked() | {"order": tuple(order)}

    def describe(self):
        words = " ".join(tile["text"] for tile in self.state["tiles"])
        order = " ".join(map(str, self.state["order"]))
        return f"Words in another order: {words} ({order}); {self.state['summary']}"

    def fallback(self):
        places = [*enumerate(self.state["order"]), ("", "")]
        rows = [
            [tile["text"], *place, tile["moved"].removeprefix("moved by ")]
            for tile, place in zip([*self.state["tiles"], self.state["mean"]], places, strict=True)
        ]
        caption = " ".join(filter(None, ("Words and their outputs.", self.state["note"])))
        return table(caption, ["word", "position", "original position", "moved by"], rows)


def explore_order(compute, words, *sliders):
    """Tiles of words to put in another order, each with its token's output beneath.

    compute: the notebook's function, compute(order, **values) -> Ordered, with one value a slider;
             `order` is a tuple: the present position p holds the word words[order[p]].
    words:   the N words in their original order, 2 to 16.
    sliders: from `slider(name, low, high, value)`.
    What the function raises at first is raised; ValueError if the words it returns do not stand in
    the order asked for.
    Source: the chapter, “Positional encoding”.
    """
    return Order(compute, words, sliders)


def in_words(moved):
    """How far an output moved: "unchanged", or "moved by 0.37"."""
    if moved <= SAME:
        return "unchanged"
    return f"moved by {two(moved)}" if moved >= 0.005 else "moved by < 0.01"


def _brief(words):
    return short(" ".join(words), 100)


def _words(words):
    words = [visible(word) for word in words_of(words, "words")]
    if not 2 <= len(words) <= MOST_WORDS:
        raise ValueError(f"There should be 2 to {MOST_WORDS} words; got {len(words)}.")
    return words


def _matrix(what, numbers, columns):
    """`numbers` as a float64 matrix with 1 to 8 rows and a column a word, all finite."""
    got = as_array(numbers, what)
    if got.ndim != 2 or got.shape[1] != columns or not 1 <= len(got) <= MOST_NUMBERS:
        raise ValueError(
            f"{what} should have 1 to {MOST_NUMBERS} rows and {columns} columns, one a word; "
            f"got the shape {got.shape}."
        )
    if not np.isfinite(got).all():
        raise ValueError(f"{what} should hold finite numbers.")
    if (np.abs(got) > LARGEST).any():
        raise ValueError(f"{what} should hold numbers up to 10¹², above and below zero.")
    return got
