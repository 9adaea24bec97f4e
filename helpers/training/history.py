"""What happened during training, and two ways to see it: live, and as a figure afterwards."""

import time
from dataclasses import dataclass, field

import numpy as np
from IPython.display import DisplayHandle
from tqdm.auto import tqdm

from helpers.plots import CURVES, INK, figure
from helpers.widgets.lines.widget import Lines, LinesWidget, in_words

__all__ = ["History", "View"]

MOST_POINTS = 200  # of the live curve
BETWEEN = 0.25  # seconds from one update of the live curve to the next


@dataclass
class History:
    """What happened during training; the lists hold one number for every step that was made."""

    steps: int  # as planned
    losses: list = field(default_factory=list)
    rates: list = field(default_factory=list)  # learning rates
    gradient_norms: list = field(default_factory=list)  # of all parameters at once, unclipped
    validations: list = field(default_factory=list)  # pairs (steps made, value)
    best: int | None = None  # steps made at the lowest validation, if any
    seconds: float = 0.0
    stopped: str | None = None  # one sentence, if training ended early

    def averages(self, size):
        """Mean losses of `size` steps at a time, and the number of the last step of each."""
        blocks = [self.losses[i : i + size] for i in range(0, len(self.losses), size)]
        last = [min((i + 1) * size, len(self.losses)) for i in range(len(blocks))]
        return last, [sum(block) / len(block) for block in blocks]

    def lines(self):
        """The loss so far over all planned steps, for `explore_lines`."""
        size = -(-self.steps // MOST_POINTS)
        x = np.minimum(np.arange(0, self.steps + size, size), self.steps)
        losses = np.full(len(x), np.nan)  # nothing at 0, nor where training has not come yet
        _, done = self.averages(size)
        losses[1 : 1 + len(done)] = done
        curves = {"training": losses}
        if self.validations:
            steps, values = np.array(self.validations).T
            values[~np.isfinite(values)] = np.nan
            curves["validation"] = np.interp(x, steps, values, left=np.nan, right=np.nan)
        return Lines(x, curves, "Loss while training", "step", "loss")

    def figure(self, title):
        """A picture of the loss and, below, of the learning rate, as a cell's last line.

        Raises ValueError if not a single step was made.
        """
        if not self.losses:
            raise ValueError("There is nothing to draw: no step was made.")
        import matplotlib.pyplot as plt

        steps, averages = self.averages(-(-len(self.losses) // 50))
        every = range(1, len(self.losses) + 1)
        fig, (above, below) = plt.subplots(
            2, 1, sharex=True, figsize=(6.4, 4.2), height_ratios=(3, 1)
        )
        above.plot(every, self.losses, "-", color=INK, alpha=0.4, linewidth=1)
        above.plot(steps, averages, **CURVES["blue"], label="training, averaged")
        if self.validations:
            where, values = zip(*self.validations, strict=True)
            above.plot(where, values, marker="s", **CURVES["orange"], label="validation")
        above.set(title=title, ylabel="loss")
        above.legend()
        below.plot(every, self.rates)
        below.set(xlabel="step", ylabel="learning rate")
        first, last, most = map(in_words, (averages[0], averages[-1], max(self.rates)))
        return figure(
            fig,
            f"{title}: over {len(self.losses)} steps the training loss, averaged, goes from "
            f"{first} to {last}.{self._lowest()} Below, the learning rate; its peak is {most}.",
        )

    def _lowest(self):
        if self.best is None:
            return ""
        value = in_words(dict(self.validations)[self.best])
        return f" Lowest validation: {value} after {self.best} steps."

    def __repr__(self):
        made = str(len(self.losses)) if not self.stopped else f"{len(self.losses)} of {self.steps}"
        last = f", last loss {in_words(self.losses[-1])}" if self.losses else ""
        return f"{made} steps in {self.seconds:.1f} s{last}.{self._lowest()}"


class View:
    """A progress bar and a live curve under the cell that trains."""

    def __init__(self, history):
        self.history, self.drawn = history, time.monotonic()
        self.curve, self.output = LinesWidget(history.lines()), DisplayHandle()
        self.bar = tqdm(total=history.steps, unit="step")
        self.output.display(self.curve)

    def step(self):
        self.bar.update()
        if time.monotonic() - self.drawn >= BETWEEN:
            self.curve.receive(self.history.lines())
            self.drawn = time.monotonic()

    def close(self):
        self.bar.close()
        self.curve.receive(self.history.lines())
        # The table that is stored with the notebook was made before the first step.
        self.output.update(self.curve)
        if self.history.stopped:
            print(self.history.stopped)
