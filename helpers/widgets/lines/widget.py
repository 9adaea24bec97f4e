"""Curves over one axis with a crosshair that reads them; sliders recompute the curves."""

import math

import numpy as np
import traitlets

from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array
from helpers.widgets.shared.text import sentence, short

__all__ = ["Lines", "LinesWidget", "explore_lines", "in_words"]

MOST_CURVES = 6  # as many as there are colors, dashes and markers
MOST_POINTS = 500
LARGEST = 1e200  # ample, and far from where differences and ticks overflow
UNITS = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Lines:
    """Curves that share their x values: what `explore_lines` draws.

    x:       N numbers, 2 to 500, each larger than the one before.
    curves:  name -> N numbers, 1 to 6 curves; NaN leaves a gap.
    title, x_label, y_label: texts; the crosshair reads "x_label = 37: name 1.4 billion, …".
    log_x, log_y: a logarithmic axis; all numbers along it must be above zero.
    marks:   label -> ("x", number) or ("y", number), a line across the picture at that number. The
             crosshair starts at the first mark along x, or else in the middle.
    y_range: (lowest, highest) where the axis must not move while a slider does. Otherwise it
             reaches around all curves and marks, to round numbers.
    note:    one sentence shown under the picture.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(
        self,
        x,
        curves,
        title,
        x_label,
        y_label,
        log_x=False,
        log_y=False,
        marks=None,
        y_range=None,
        note="",
    ):
        log_x, log_y = (_truth(log, name) for log, name in ((log_x, "log_x"), (log_y, "log_y")))
        self.x = _numbers("x", x)
        if not 2 <= len(self.x) <= MOST_POINTS:
            raise ValueError(f"x should be 2 to {MOST_POINTS} numbers; got {len(self.x)}.")
        if np.isnan(self.x).any() or (np.diff(self.x) <= 0).any():
            raise ValueError("Each number of x should be larger than the one before.")
        if not isinstance(curves, dict) or not 1 <= len(curves) <= MOST_CURVES:
            raise ValueError(f"curves should be a dictionary of 1 to {MOST_CURVES} curves.")
        self.curves = {
            sentence(name): _numbers(f"Curve “{short(sentence(name))}”", y)
            for name, y in curves.items()
        }
        for name, y in self.curves.items():
            if len(y) != len(self.x):
                raise ValueError(
                    f"Curve “{short(name)}” should have {len(self.x)} numbers, one an x; "
                    f"got {len(y)}."
                )
        marks = {} if marks is None else marks
        if not isinstance(marks, dict):
            raise ValueError("marks should be a dictionary of a label and a place for each mark.")
        self.marks = {sentence(label): _mark(label, mark) for label, mark in marks.items()}
        self.title = sentence(title)
        self.x_label, self.y_label = short(sentence(x_label)), short(sentence(y_label))
        self.note = sentence(note)

        marked = {on: [at for axis, at in self.marks.values() if axis == on] for on in "xy"}
        along_x = np.concatenate([self.x, marked["x"]])
        along_y = np.concatenate([*self.curves.values(), marked["y"]])
        for name, log, numbers in (("x", log_x, along_x), ("y", log_y, along_y)):
            if log and (numbers < 1 / LARGEST).any():
                raise ValueError(
                    f"A logarithmic {name} axis needs numbers above zero; "
                    f"one is {in_words(np.nanmin(numbers))}."
                )
        self.x_axis = Axis(log_x, *_ends(log_x, along_x))  # curves run from edge to edge
        if y_range is None:
            self.y_axis = Axis(log_y, *_round_ends(log_y, *_ends(log_y, along_y)))
        else:
            self.y_axis = Axis(log_y, *_checked_range(log_y, y_range))
        nearest = np.abs(self.x - marked["x"][0]).argmin() if marked["x"] else len(self.x) // 2
        self.start = int(nearest)

    def at(self, index):
        """Where the crosshair stands, in words: "N = 37"."""
        return f"{self.x_label} = {in_words(self.x[index])}"

    def values(self, index):
        """All curves there, in words: "dense 1.4 billion, convolution 3.1 million"."""
        return ", ".join(f"{short(name)} {in_words(y[index])}" for name, y in self.curves.items())

    def __repr__(self):
        return f"Lines: {self.title}; at {self.at(self.start)}: {self.values(self.start)}"


class Axis:
    """One axis from low to high: turns numbers into places from 0 to 1, and knows its ticks."""

    def __init__(self, log, low, high):
        self.log, self.low, self.high = log, low, high

    def places(self, numbers):
        """0 at the lower end, 1 at the upper one; NaN stays NaN."""
        numbers, low, high = (
            np.log10(x) if self.log else np.asarray(x) for x in (numbers, self.low, self.high)
        )
        # A curve that leaves the picture still leaves it in the right direction.
        return np.clip((numbers - low) / (high - low), -9, 9)

    def ticks(self):
        """Round numbers along the axis: pairs of a place and the words for it."""
        numbers = _within(_powers(self.low, self.high), self.low, self.high) if self.log else []
        words = [_power_words(number) for number in numbers]
        if len(numbers) < 2:  # so short a piece of a logarithmic axis is nearly a linear one
            step = _step(self.low, self.high)
            numbers = _within(_multiples(step, self.low, self.high), self.low, self.high)
            words = _multiple_words(numbers, step)
        return list(zip(self.places(numbers).round(4).tolist(), words, strict=True))


class LinesWidget(Live):
    """The widget that `explore_lines` returns; `chart` holds places from 0 to 1, and all words."""

    _esm = module("shared/small", "lines/widget")
    _css = style("shared/small", "lines/widget")
    chart = traitlets.Dict().tag(sync=True)

    def receive(self, lines):
        if not isinstance(lines, Lines):
            raise TypeError(f"The function must return Lines, not {type(lines).__name__}.")
        self.lines = lines
        axes = {"x": lines.x_axis, "y": lines.y_axis}
        points = range(len(lines.x))
        self.chart = {
            "title": lines.title,
            "labels": {"x": lines.x_label, "y": lines.y_label},
            "ticks": {name: axis.ticks() for name, axis in axes.items()},
            "marks": [
                {
                    "label": short(label),
                    "axis": name,
                    "place": round(float(axes[name].places(at)), 4),
                }
                for label, (name, at) in lines.marks.items()
            ],
            "x": lines.x_axis.places(lines.x).round(4).tolist(),
            "curves": [
                {
                    "name": short(name),
                    # JSON knows no NaN.
                    "y": [
                        None if np.isnan(v) else round(v, 4) for v in axes["y"].places(y).tolist()
                    ],
                }
                for name, y in lines.curves.items()
            ],
            "at": [lines.at(i) for i in points],
            "values": [lines.values(i) for i in points],
            "start": lines.start,
            "note": lines.note,
        }

    def describe(self):
        return repr(self.lines)

    def fallback(self):
        lines = self.lines
        some = np.unique(np.linspace(0, len(lines.x) - 1, 8).round().astype(int))
        return table(
            f"{lines.title} ({lines.y_label})",
            [lines.x_label, *map(short, lines.curves)],
            [
                [in_words(lines.x[i]), *(in_words(y[i]) for y in lines.curves.values())]
                for i in some
            ],
        )


def explore_lines(lines, *controls):
    """A chart to read with mouse or arrow keys, and to change with sliders.

    lines:    a function of the notebook that returns Lines; it is called again whenever a slider
              moves, with one argument for every `slider(...)` in `controls`. Or Lines themselves.
    What the function raises at first is raised.
    """
    return LinesWidget(lines, controls)


def in_words(number):
    """A number as people read it: 0.0313, 37,888, 1.4 billion, 2.5 × 10⁻⁷; NaN is "no value"."""
    if math.isnan(number):
        return "no value"
    sign, size = "−" if number < 0 else "", abs(float(number))
    if size and not 1e-4 <= size < 999.95e15:
        mantissa, _, power = f"{size:.1e}".partition("e")
        times = "" if mantissa == "1.0" else f"{mantissa.removesuffix('.0')} × "
        return f"{sign}{times}10{str(int(power)).translate(RAISED)}"
    if size < 999.5:
        return f"{sign}{size:.3g}"
    if size < 999_999.5:
        return f"{sign}{size:,.0f}"
    name, unit = next((n, u) for n, u in UNITS.items() if size < 999.95 * u)
    return f"{sign}{size / unit:.1f}".removesuffix(".0") + f" {name}"


def _power_words(number):
    """A tick of a logarithmic axis: powers of a thousand have names."""
    return f"{number / 1000:.0f} thousand" if 999 < number < 999_999 else in_words(number)


def _multiple_words(numbers, step):
    """Ticks of a linear axis, all in the same unit and with the same number of decimals."""
    largest = max(map(abs, numbers), default=0)
    if step < 1e-4 or largest >= 999.95e15:
        return [in_words(number) for number in numbers]
    name, unit = next(((f" {n}", u) for n, u in reversed(UNITS.items()) if largest >= u), ("", 1.0))
    decimals = max(0, -math.floor(math.log10(step / unit) + 1e-9))
    return [
        f"{number / unit:,.{decimals}f}{name}".replace("-", "−") if number else "0"
        for number in numbers
    ]


def _step(low, high):
    """1, 2 or 5 times a power of ten, so that about five steps lead from low to high."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


def _multiples(step, low, high):
    """The multiples of step around low to high."""
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return step * np.arange(first, last + 1)


def _powers(low, high):
    """Powers of ten around low to high, not too many, with their double and fivefold if few."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    every = math.ceil((last - first) / 8)
    first, last = every * (first // every), every * -(-last // every)
    mantissas = (1, 2, 5) if high / low < 100 else (1,)
    return np.array([m * 10.0**p for p in range(first, last + 1, every) for m in mantissas])


def _within(numbers, low, high):
    edge = 1e-9 * (high - low)
    return numbers[(numbers >= low - edge) & (numbers <= high + edge)]


def _ends(log, numbers):
    """The least and the largest number, moved apart where they are one."""
    numbers = numbers[~np.isnan(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (1.0, 10.0)
    if high - low > max(1e-9 * max(abs(low), abs(high)), 1 / LARGEST):
        return low, high
    return (low / 2, high * 2) if log else (low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1))


def _round_ends(log, low, high):
    """The nearest ticks around low and high."""
    if log:
        steps = _powers(low, high)
        steps = steps[steps <= low * (1 + 1e-8)].max(), steps[steps >= high * (1 - 1e-8)].min()
    else:
        steps = _multiples(_step(low, high), low, high)
    return float(steps[0]), float(steps[-1])


def _numbers(what, x):
    """A row of numbers as float64, none infinite; ValueError, with `what` first, otherwise."""
    try:
        x = as_array(x)
    except ValueError:
        raise ValueError(f"{what} should be a row of numbers.") from None
    if x.ndim != 1:
        raise ValueError(f"{what} should be a row of numbers; its shape is {x.shape}.")
    if (np.abs(x) > LARGEST).any():
        raise ValueError(f"{what} should hold finite numbers, or NaN where there is none.")
    return x


def _truth(given, name):
    if not isinstance(given, bool | np.bool_):
        raise ValueError(f"{name} should be True or False.")
    return bool(given)


def _mark(label, mark):
    try:
        axis, at = mark
        at = float(at)
    except (TypeError, ValueError, OverflowError):
        axis, at = None, math.nan
    if axis not in ("x", "y") or not abs(at) <= LARGEST:
        raise ValueError(
            f'Mark “{short(sentence(label))}” should be ("x", number) or ("y", number).'
        )
    return axis, at


def _checked_range(log, y_range):
    ends = _numbers("y_range", y_range)
    if len(ends) != 2 or not _ends(log, ends) == tuple(ends) or (log and ends[0] < 1 / LARGEST):
        raise ValueError(
            "y_range should be the lowest and the highest number of the y axis"
            f"{', both above zero' if log else ''}; got {tuple(ends.tolist())}."
        )
    return float(ends[0]), float(ends[1])
