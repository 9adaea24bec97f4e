"""What every custom widget shares: one import-free module, controls, answers from Python."""

from decimal import Decimal
from html import escape
from pathlib import Path

import anywidget
import numpy as np
import traitlets

from helpers.widgets.shared.text import sentence, visible

__all__ = [
    "WIDGETS",
    "Live",
    "module",
    "options",
    "slider",
    "style",
    "switches",
    "table",
    "text_box",
]

WIDGETS = Path(__file__).parents[1]
LARGEST = 10**9  # of a slider's numbers; with six decimals at most they are exact in a browser too
DECIMALS = 6
LONGEST = 2000  # letters in a text box


def module(*names):
    """The JavaScript of one widget, as one import-free ES module.

    names: files below helpers/widgets, such as "shared/cells" and "grid/widget"; shared/common
           comes first by itself.
    """
    return _joined(names, ".js")


def style(*names):
    """The style sheet of one widget, from the same names as `module`."""
    return _joined(names, ".css")


def _joined(names, ending):
    files = (WIDGETS / f"{name}{ending}" for name in ("shared/common", *names))
    return "".join(file.read_text("utf-8") for file in files)


class Live(anywidget.AnyWidget):
    """A widget whose picture a function of the notebook recomputes.

    The browser sends `values` (one entry a control) and raises `asked`; Python calls
    compute(**values), hands what it returns to `receive`, and sets `answered` to the same number,
    all in one message. ipywidgets has one message under way at a time and then sends the newest
    values only, so a fast hand never builds a queue. If compute raises, `problem` carries one
    sentence and the picture stays as it was.

    Without a function, `compute` is the result itself, which nothing changes. Subclasses define
    `receive(result)`, `describe()` and `fallback()`. The page may change traits tagged `page`
    alone; whatever else it sends is undone.
    """

    controls = traitlets.List(traitlets.Dict()).tag(sync=True)
    recomputes = traitlets.Bool().tag(sync=True)  # whether there is a function to ask
    values = traitlets.Dict().tag(sync=True, page=True)
    asked = traitlets.Int(0).tag(sync=True, page=True)
    answered = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, compute, controls=(), **state):
        self.controls = _checked_controls(controls)
        self.recomputes = callable(compute)
        if controls and not self.recomputes:
            raise ValueError(
                f"Controls need a function that is called with their values, not a "
                f"{type(compute).__name__}."
            )
        self._compute = compute if self.recomputes else lambda: compute
        self.values = {control["name"]: control["value"] for control in self.controls}
        # The first call is the author's own, so its errors are raised, not shown in the widget. It
        # comes before the widget opens, so that everything travels in the opening message.
        self.receive(self._compute(**self.values))
        super().__init__(**state | {"values": self.values | state.get("values", {})})
        self.observe(self._answer, "asked")

    def receive(self, result):
        """Turn what compute returned into traits."""
        raise NotImplementedError

    def describe(self):
        """In words, what the picture shows now."""
        raise NotImplementedError

    def fallback(self):
        """Static HTML for a reader without a kernel: a small table, everything escaped."""
        raise NotImplementedError

    def set_state(self, sync_data):
        """What the page sends. Where Python ends up with something else, the page hears of it."""
        of_page = self.trait_names(page=True)
        super().set_state({name: sync_data[name] for name in of_page if name in sync_data})
        known = [name for name in sync_data if name in self.keys]
        self.send_state({name for name in known if getattr(self, name) != sync_data[name]})

    def _answer(self, change):
        with self.hold_sync():
            try:
                self.receive(self._compute(**self._checked()))
                self.problem = ""
            except BaseException as error:  # an interrupt or exit() too: the page must hear of it
                self.problem = sentence(str(error).partition("\n")[0]) or type(error).__name__
            finally:
                self.answered = change["new"]

    def _checked(self):
        """The values as the controls allow them: numbers on their steps, whatever is sent."""
        checked = {}
        for control in self.controls:
            value = self.values.get(control["name"], control["value"])
            if control["kind"] == "slider":
                value = on_step(control, value)
            elif control["kind"] == "switches":
                value = _truths(value, len(control["labels"]), control["label"])
            elif control["kind"] == "options":
                value = _one_of(control["labels"], value, control["label"])
            else:
                value = str(value)[:LONGEST]
            checked[control["name"]] = value
        # The page gets what was made of its values.
        self.values = self.values | {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in checked.items()
        }
        return checked

    def __repr__(self):
        return self.describe()

    def _repr_mimebundle_(self, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {
            "text/plain": self.describe(),
            "text/html": self.fallback(),
            "application/vnd.jupyter.widget-view+json": view,
        }


def slider(name, low, high, value, label=None, step=None):
    """A slider for one number, which moves from low to high in equal steps.

    name:  what the function calls the number; label: what stands beside it, by default the name.
    step:  without one, 1 for whole numbers, else a round number that makes at most 100 steps.
    The function gets an int if low, high, value and step are int, else a float.
    Raises ValueError, with what was wrong, unless low < high are a whole number of steps apart and
    value is on a step: so what is shown is what is sent, and the way back leads to the start.
    """
    label = _checked_name(name, label)
    given = {"low": low, "high": high, "value": value}
    given |= {} if step is None else {"step": step}
    whole = all(isinstance(x, int | np.integer) for x in given.values())
    number = {what: _decimal(x, f"Slider “{label}”: {what}") for what, x in given.items()}
    low, high, value = number["low"], number["high"], number["value"]
    if not low < high:
        raise ValueError(f"Slider “{label}”: low should be below high; got {low} and {high}.")
    if not low <= value <= high:
        raise ValueError(f"Slider “{label}”: {value} is not between {low} and {high}.")
    default = Decimal(1) if whole else _round_step(low, high)
    step = number.get("step", default)
    if step <= 0:
        raise ValueError(f"Slider “{label}”: step should be above 0; got {step}.")
    for what, end in (("high", high), ("value", value)):
        if (end - low) % step:
            raise ValueError(
                f"Slider “{label}”: {what} should be a whole number of steps above low; "
                f"{end} is not {low} plus a multiple of {step}."
            )
    plain = int if whole else float
    return dict(
        kind="slider",
        name=name,
        label=label,
        min=plain(low),
        max=plain(high),
        step=plain(step),
        digits=max(_decimals(low), _decimals(step)),
        value=plain(value),
        whole=whole,
    )


def on_step(control, value):
    """The number on the slider's steps that is nearest to value, as `onStep` in common.js finds it.

    Raises ValueError or TypeError for what is no finite number.
    """
    low, high, step = control["min"], control["max"], control["step"]
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"{control['label']} should be a finite number.")
    steps = np.floor((min(max(value, low), high) - low) / step + 0.5)
    value = round(low + float(steps) * step, control["digits"]) + 0.0  # no −0
    return int(value) if control["whole"] else value


def _decimal(number, what):
    """The number as people write it, exactly; ValueError, with `what` as its subject, otherwise."""
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        raise ValueError(f"{what} should be a number; got {number!r}.")
    number = Decimal(str(number))
    if not (number.is_finite() and abs(number) <= LARGEST and _decimals(number) <= DECIMALS):
        raise ValueError(
            f"{what} should be at most 10⁹, with at most {DECIMALS} decimals; got {number}."
        )
    return number


def _decimals(number):
    """How many digits after the point a Decimal needs."""
    return max(0, -number.normalize().as_tuple().exponent)


def _round_step(low, high):
    """The smallest round step that leads evenly from low to high in at most 100 steps."""
    least = (high - low) / 100
    unit = Decimal(1).scaleb(least.adjusted())
    rounds = [times * unit for times in (1, 2, 5, 10) if times * unit >= least]
    return next((step for step in rounds if (high - low) % step == 0), rounds[0])


def switches(name, labels, on=None):
    """A row of switches; the function gets a tuple of True and False, one a label.

    labels: the names of the switches, at least one.
    on:     which are on at first, one truth value a label; without it, all of them.
    Raises ValueError, with what was wrong, for anything else.
    """
    label = _checked_name(name, None)
    if isinstance(labels, str) or not np.iterable(labels) or not list(labels):
        raise ValueError(f"Switches “{label}”: labels should be a list of texts; got {labels!r}.")
    labels = [visible(str(text)) for text in labels]
    if on is not None and not np.iterable(on):
        raise ValueError(f"Switches “{label}”: on should be one truth value a label; got {on!r}.")
    value = _truths(
        [True] * len(labels) if on is None else [bool(x) for x in on], len(labels), label
    )
    return dict(kind="switches", name=name, label=label, labels=labels, value=value)


def _truths(sent, size, what):
    """What was sent as a tuple of `size` truth values; ValueError if it is anything else."""
    if not isinstance(sent, list | tuple) or not all(isinstance(on, bool) for on in sent):
        raise ValueError(f"{what} should be switched with True and False.")
    if len(sent) != size:
        raise ValueError(f"{what} should be {size} truth values; got {len(sent)}.")
    return tuple(sent)


def options(name, labels, value=None, label=None):
    """A list to choose one of several things from; the function gets the label of the chosen one.

    name:   what the function calls it; label: what stands beside the list, by default the name.
    labels: the names of the things, at least two, all different.
    value:  the one that is chosen at first; without it, the first.
    Raises ValueError, with what was wrong, for anything else.
    """
    label = _checked_name(name, label)
    if isinstance(labels, str) or not np.iterable(labels):
        raise ValueError(f"Options “{label}”: labels should be a list of texts; got {labels!r}.")
    labels = [visible(str(text)) for text in labels]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"Options “{label}”: labels should be at least two different texts.")
    value = labels[0] if value is None else _one_of(labels, value, label)
    return dict(kind="options", name=name, label=label, labels=labels, value=value)


def _one_of(labels, sent, what):
    """What was sent, if it is one of the labels; ValueError if it is anything else."""
    if not isinstance(sent, str) or sent not in labels:
        raise ValueError(f"{what} should be one of {len(labels)}: {', '.join(labels)}.")
    return sent


def text_box(text, name="words"):
    """A box for a sentence; `name` is what the function calls what is typed."""
    if not isinstance(text, str):
        raise ValueError(f"The text should be one text, not a {type(text).__name__}.")
    text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot travel
    return dict(kind="text", name=name, label=name.title(), value=text, longest=LONGEST)


def _checked_name(name, label):
    """The label of a control; its name must be one that a function can give to a parameter."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"A control needs the name of a parameter of the function; got {name!r}.")
    return sentence(label or name.replace("_", " "))


def _checked_controls(controls):
    """Controls as a list, each with a name of its own."""
    for control in controls:
        if not isinstance(control, dict) or "kind" not in control:
            kind = type(control).__name__
            raise ValueError(f"Controls are made by slider, switches or options; got a {kind}.")
    names = [control["name"] for control in controls]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two controls have the name {name}.")
    return list(controls)


def table(caption, columns, rows):
    """A small HTML table; `rows` are lists of cells, the first of each a row header.

    Dollars stay dollars: what is between two of them is not typeset, neither by JupyterLab (the
    first class) nor in an exported page (the second).
    """
    head = "".join(f'<th scope="col">{escape(str(c))}</th>' for c in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(str(row[0]))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        '<table class="mathjax_ignore tex2jax_ignore">'
        f"<caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
