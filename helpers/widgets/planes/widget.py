"""Rotary position encoding: query and key as arrows that turn in D/2 planes."""

import numpy as np
import traitlets

from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array, fixed, two, vector
from helpers.widgets.shared.text import sentence

__all__ = ["Planes", "PlanesWidget", "explore_planes"]

MOST = 16  # numbers a vector: more planes than eight nobody follows
LARGEST = 1e6
COLUMNS = [
    "plane", "query", "turned by", "becomes", "key", "turned by", "becomes",
    "share before", "share after",
]  # fmt: skip


class Planes:
    """A query and a key before and after they were turned: what `explore_planes` draws.

    query, key: D numbers each, D even, from 2 to 16; numbers 2i and 2i + 1 (from 0) are the place
                in plane i.
    turned_query, turned_key: the same after each plane was turned by an angle of its own.
    note:       one sentence shown under the picture.
    Attributes: `turns` (2 × D/2) the angles of query and key in degrees, counterclockwise, from 0
    to 360, whole turns left out; `before` and `after` (D/2,) what each plane adds to the dot
    product of query and key.
    Raises ValueError if a shape is wrong, a number is not finite or beyond a million, or if the
    length in a plane changed, for then it was not turned.
    """

    def __init__(self, query, key, turned_query, turned_key, note=""):
        size = as_array(query, "The query").size
        if size not in range(2, MOST + 1, 2):
            raise ValueError(
                f"The query should be an even number of numbers, 2 to {MOST}; got {size}."
            )
        given = {"query": query, "key": key, "turned query": turned_query, "turned key": turned_key}
        # One row a plane.
        places = {
            name: vector(numbers, size, f"The {name}").reshape(-1, 2)
            for name, numbers in given.items()
        }
        if max(np.abs(place).max() for place in places.values()) > LARGEST:
            raise ValueError("Planes should hold numbers between minus and plus one million.")
        for name in ("query", "key"):
            _check_turned(name, places[name], places[f"turned {name}"])
        self.query, self.key, self.turned_query, self.turned_key = places.values()
        self.turns = np.array(
            [_turns(self.query, self.turned_query), _turns(self.key, self.turned_key)]
        )
        self.before = (self.query * self.key).sum(1)
        self.after = (self.turned_query * self.turned_key).sum(1)
        self.note = sentence(note)

    def words(self, plane):
        """One plane in words: "plane 2: query turned by 34°, key by 12°, share … 0.41"."""
        query, key = (_degrees(turn) for turn in self.turns[:, plane])
        return (
            f"plane {plane}: query turned by {query}, key by {key}, "
            f"share of the dot product {two(self.after[plane])}"
        )

    def total(self):
        """The dot product in words: "q·k = 1.20 before, 0.83 after"."""
        return f"q·k = {two(self.before.sum())} before, {two(self.after.sum())} after"

    def rows(self):
        """The numbers as cells of a table, one row a plane, under COLUMNS."""
        return [
            [
                str(i),
                *(fixed(self.query[i]), _degrees(self.turns[0, i]), fixed(self.turned_query[i])),
                *(fixed(self.key[i]), _degrees(self.turns[1, i]), fixed(self.turned_key[i])),
                *(two(self.before[i]), two(self.after[i])),
            ]
            for i in range(len(self.query))
        ]

    def __repr__(self):
        planes = "; ".join(self.words(i) for i in range(len(self.query)))
        return f"Planes of a rotary encoding: {self.total()}; {planes}"


class PlanesWidget(Live):
    """The widget that `explore_planes` returns; `picture` holds places in a circle, and words."""

    _esm = module("shared/small", "planes/widget")
    _css = style("shared/small", "planes/widget")
    picture = traitlets.Dict().tag(sync=True)

    def receive(self, planes):
        if not isinstance(planes, Planes):
            raise TypeError(f"The function must return Planes, not {type(planes).__name__}.")
        self.planes = planes
        # All planes are drawn to one scale. Turning keeps lengths, so it stays while sliders move.
        longest = max(np.hypot(*p.T).max() for p in (planes.query, planes.key)) or 1.0
        self.picture = {
            "planes": [
                {
                    "query": (planes.query[i] / longest).tolist(),
                    "turnedQuery": (planes.turned_query[i] / longest).tolist(),
                    "key": (planes.key[i] / longest).tolist(),
                    "turnedKey": (planes.turned_key[i] / longest).tolist(),
                    "turns": planes.turns[:, i].tolist(),
                    "share": _signed(planes.after[i]),
                    "words": planes.words(i),
                }
                for i in range(len(planes.query))
            ],
            "total": planes.total(),
            "columns": COLUMNS,
            "rows": planes.rows(),
            "note": planes.note,
        }

    def describe(self):
        return repr(self.planes)

    def fallback(self):
        return table(
            f"Planes of a rotary encoding: {self.planes.total()}", COLUMNS, self.planes.rows()
        )


def explore_planes(planes, *sliders):
    """Query and key as arrows in their planes, before and after turning, with their dot product.

    planes:  a function of the notebook that returns Planes; it is called again whenever a slider
             moves, with one argument for every `slider(...)` in `sliders`. Or Planes themselves.
    What the function raises at first is raised.
    Source: rotary encoding, a descendant of the chapter's “Positional encoding”.
    """
    return PlanesWidget(planes, sliders)


def _check_turned(name, before, after):
    """ValueError, naming the first plane in which the length changed by more than rounding."""
    old, new = np.hypot(*before.T), np.hypot(*after.T)
    changed = np.abs(new - old) > 0.02 * old + 1e-6  # numbers may come in bfloat16
    if changed.any():
        i = int(changed.argmax())
        raise ValueError(
            f"Turning keeps lengths, but in plane {i} the {name} has length "
            f"{two(old[i])} before and {two(new[i])} after."
        )


def _turns(before, after):
    """Angles in degrees from 0 to 360, one a row, that lead from `before` to `after`."""
    x, y = before.T
    u, v = after.T
    degrees = np.degrees(np.arctan2(x * v - y * u, x * u + y * v))
    return degrees.round(1) % 360  # rounded first: a hair below zero is no whole turn


def _degrees(angle):
    """34°; small angles with one decimal."""
    return f"{angle:.0f}°" if angle >= 10 else f"{angle:.1f}".removesuffix(".0") + "°"


def _signed(number):
    """Two decimals with the sign always shown; a zero has none."""
    words = two(number)
    return words if words.startswith("−") or words == two(0) else f"+{words}"
