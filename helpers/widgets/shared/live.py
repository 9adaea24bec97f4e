"""What every custom widget shares: one import-free module, controls, answers from Python."""

import math
from html import escape
from pathlib import Path

import anywidget
import traitlets

from helpers.widgets.shared.text import sentence, visible

__all__ = ["WIDGETS", "Live", "module", "slider", "style", "switches", "table", "text_box"]

WIDGETS = Path(__file__).parents[1]


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
    all in one message. The browser has one question open at a time and then asks for the newest
    values only, so a fast hand never builds a queue. If compute raises, `problem` carries one
    sentence and the picture stays as it was.

    Without a function, `compute` is the result itself, which nothing changes. Subclasses define
    `receive(result)`, `describe()` and `fallback()`.
    """

    controls = traitlets.List(traitlets.Dict()).tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)
    answered = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, compute, controls=(), **state):
        self._compute = compute if callable(compute) else lambda: compute
        self.controls = list(controls)
        self.values = {control["name"]: control["value"] for control in self.controls}
        # The first call is the author's own, so its errors are raised, not shown in the widget. It
        # comes before the widget opens, so that everything travels in the opening message.
        self.receive(self._compute(**self.values))
        super().__init__(**state)
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

    def _answer(self, change):
        with self.hold_sync():
            try:
                self.receive(self._compute(**self._checked()))
                self.problem = ""
            except Exception as error:
                self.problem = sentence(str(error).partition("\n")[0]) or type(error).__name__
            finally:  # also after an interrupt: a browser without an answer would wait for ever
                self.answered = change["new"]

    def _checked(self):
        """The values as the controls allow them: numbers stay in range, whatever is sent."""
        checked = {}
        for control in self.controls:
            value = self.values.get(control["name"], control["value"])
            if control["kind"] == "slider":
                if not math.isfinite(value := float(value)):
                    raise ValueError(f"{control['label']} must be a finite number.")
                value = min(max(value, control["min"]), control["max"])
                value = round(value) if control["whole"] else value
            elif control["kind"] == "switches":
                value = _truths(value, len(control["labels"]), control["label"])
            elif control["kind"] == "text":
                value = str(value)[:2000]
            checked[control["name"]] = value
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
    """A slider for one number; whole numbers if all of low, high and value are int."""
    whole = all(isinstance(x, int) for x in (low, high, value))
    step = step or (1 if whole else (high - low) / 100)
    label = sentence(label or name.replace("_", " "))
    return dict(
        kind="slider",
        name=name,
        label=label,
        min=low,
        max=high,
        step=step,
        value=value,
        whole=whole,
    )


def switches(name, labels, on=None):
    """A row of switches; the function gets a tuple of True and False, one a label.

    labels: the names of the switches, at least one.
    on:     which are on at first, one truth value a label; without it, all of them.
    Raises ValueError if there is no label, or not one truth value a label.
    """
    labels = [visible(str(text)) for text in labels]
    if not labels:
        raise ValueError("A row of switches needs at least one label.")
    label = name.replace("_", " ")
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


def text_box(text):
    """A box for a sentence; the function gets what is typed as `words`."""
    return dict(kind="text", name="words", label="Words", value=text)


def table(caption, columns, rows):
    """A small HTML table; `rows` are lists of cells, the first of each a row header."""
    head = "".join(f'<th scope="col">{escape(str(c))}</th>' for c in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(str(row[0]))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
