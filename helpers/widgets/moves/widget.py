"""Words as points in the plane: where they were, and where they are now."""

import numpy as np
import traitlets

from helpers.widgets.shared.given import words_of
from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array, fixed, two
from helpers.widgets.shared.text import sentence, short, visible

__all__ = ["Moves", "MovesWidget", "explore_moves"]

MOST = 64  # points: more than this and labels cover each other whatever one tries
MOST_ROWS = 12  # of the table for a reader without a kernel
LARGEST = 1e6
COLUMNS = ["word", "moved by", "from", "to"]


class Moves:
    """N points of the plane before and after they moved: what `explore_moves` draws.

    labels: N words, 1 to 64.
    before: 2 × N, where the points were, one a column.
    after:  2 × N, where they are now.
    note:   one sentence shown under the picture.
    The picture reaches around the places before, with room to move, so it stands still while
    `after` changes; an arrow to a place outside ends at the edge.
    Attributes: `moved` (N,) the distances.
    Raises ValueError if a shape is wrong, or a number is not finite or beyond a million.
    """

    def __init__(self, labels, before, after, note=""):
        self.labels = [short(visible(label)) for label in words_of(labels, "labels")]
        if not 1 <= len(self.labels) <= MOST:
            raise ValueError(f"There should be 1 to {MOST} labels; got {len(self.labels)}.")
        self.before = _places("before", before, len(self.labels))
        self.after = _places("after", after, len(self.labels))
        self.moved = np.hypot(*(self.after - self.before))
        self.note = sentence(note)

        ends = self.before.min(axis=1), self.before.max(axis=1)
        width, height = ends[1] - ends[0]
        half = 0.75 * max(width / 1.5, height)  # half as much room again as the points need
        if half < 0.01:  # one point, or all in one place
            half = 1.0
        around = half * np.array([1.5, 1.0])  # the picture is three to two
        self.low, self.high = sum(ends) / 2 - around, sum(ends) / 2 + around

    def inside(self, place):
        """Whether a place (2,) lies in the picture."""
        return bool((place >= self.low).all() and (place <= self.high).all())

    def words(self, point):
        """One point in words: "“restaurant” moved by 0.83"."""
        beyond = "" if self.inside(self.after[:, point]) else ", out of the picture"
        return f"“{self.labels[point]}” moved by {two(self.moved[point])}{beyond}"

    def rows(self):
        """The numbers as cells of a table under COLUMNS, those that moved farthest first."""
        # By what is shown, so that the last digits of a machine do not decide.
        order = np.argsort(-self.moved.round(2), kind="stable")
        return [
            [self.labels[i], two(self.moved[i]), fixed(self.before[:, i]), fixed(self.after[:, i])]
            for i in order
        ]

    def __repr__(self):
        points = f"{len(self.labels)} point{'s' if len(self.labels) > 1 else ''}"
        word, most, *_ = self.rows()[0]
        if most == two(0):
            return f"Moves: {points}, none moved"
        return f"Moves: {points}, by {two(self.moved.mean())} on average; “{word}” most, by {most}"


class MovesWidget(Live):
    """The widget that `explore_moves` returns; `picture` holds places, and all words."""

    _esm = module("shared/small", "moves/widget")
    _css = style("shared/small", "moves/widget")
    picture = traitlets.Dict().tag(sync=True)

    def receive(self, moves):
        if not isinstance(moves, Moves):
            raise TypeError(f"The function must return Moves, not {type(moves).__name__}.")
        self.moves = moves
        self.picture = {
            "points": [
                {"label": label, "before": before, "after": after, "words": moves.words(i)}
                for i, (label, before, after) in enumerate(
                    zip(moves.labels, moves.before.T.tolist(), moves.after.T.tolist(), strict=True)
                )
            ],
            "low": moves.low.tolist(),
            "high": moves.high.tolist(),
            "start": int(moves.moved.round(2).argmax()),
            "columns": COLUMNS,
            "rows": moves.rows(),
            "note": moves.note,
        }

    def describe(self):
        return repr(self.moves)

    def fallback(self):
        rows = self.moves.rows()
        hidden = len(rows) - MOST_ROWS
        more = f" (the first {MOST_ROWS} of {len(rows)})" if hidden > 0 else ""
        return table(
            f"How far the words moved{more}", COLUMNS[:2], [row[:2] for row in rows[:MOST_ROWS]]
        )


def explore_moves(moves, *controls):
    """Arrows from where words were to where they are now; switches or sliders make them move.

    moves:    a function of the notebook that returns Moves; it is called again whenever a control
              changes, with one argument for every `switches(...)` or `slider(...)` in `controls`.
              Or Moves themselves.
    What the function raises at first is raised.
    Source: the chapter, “Multiple heads”: switch heads off and see the outputs move.
    """
    return MovesWidget(moves, controls)


def _places(what, numbers, size):
    """2 × N places in float64; ValueError, with `what` as its subject, for anything else."""
    places = as_array(numbers, what)
    if places.shape != (2, size):
        raise ValueError(
            f"{what} should hold two numbers for each of {size} labels (2 × {size}); "
            f"got {places.shape}."
        )
    if not (np.abs(places) <= LARGEST).all():  # also false for NaN
        raise ValueError(f"{what} should hold finite numbers, none beyond a million.")
    return places
