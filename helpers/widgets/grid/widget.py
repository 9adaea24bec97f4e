"""A table of numbers as colored cells: one page or several, read with mouse or arrow keys."""

import math

import numpy as np
import traitlets

from helpers.widgets.lines.widget import in_words
from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array, two
from helpers.widgets.shared.text import sentence, short, visible

__all__ = ["Grid", "Page", "explore_grid"]

MOST = 128  # rows or columns: cells of more would be too narrow to be told apart
MOST_PAGES = 8
LARGEST = 1e20  # ample, and far from where float32 overflows
SMALL = 8  # rows and columns of a static table


class Page:
    """A matrix with its labels: one page of what `explore_grid` draws.

    name:     the page's name, on its button.
    matrix:   R × C numbers, 1 to 128 rows and columns (NumPy or PyTorch); NaN leaves a cell empty.
              Kept as a copy in float64.
    rows, columns: R and C labels, by default numbers from 0.
    row_label, column_label: what a row and a column are: "feature", "position".
    signed:   True for numbers around zero, drawn in two hues; False for numbers from zero up.
    whole:    True for whole numbers, counts for instance, which are then written without decimals.
    groups:   R × C whole numbers; the cells with the number of the chosen cell are outlined.
    note:     one sentence shown under the picture.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(
        self,
        name,
        matrix,
        rows=None,
        columns=None,
        row_label="row",
        column_label="column",
        signed=True,
        groups=None,
        note="",
        whole=False,
    ):
        self.name = visible(str(name))
        self.matrix = self._numbers("the matrix", matrix)
        if self.matrix.ndim != 2 or not 1 <= min(self.matrix.shape) <= max(self.matrix.shape):
            raise self._fault(f"the matrix should be R × C; its shape is {self.matrix.shape}")
        if max(self.matrix.shape) > MOST:
            raise self._fault(
                f"the matrix should have 1 to {MOST} rows and columns; "
                f"its shape is {self.matrix.shape}"
            )
        self.row_label, self.column_label = visible(str(row_label)), visible(str(column_label))
        self.rows = self._labels("row", rows, self.matrix.shape[0])
        self.columns = self._labels("column", columns, self.matrix.shape[1])
        self.signed = bool(signed)
        if not self.signed and (self.matrix < 0).any():
            raise self._fault(
                "numbers that are not signed should be at least 0; "
                f"one is {in_words(np.nanmin(self.matrix))}"
            )
        self.whole = bool(whole)
        broken = self.matrix[self.matrix % 1 > 0]
        if self.whole and len(broken):
            raise self._fault(f"not all numbers are whole; one is {in_words(broken[0])}")
        self.groups = None if groups is None else self._checked_groups(groups)
        self.note = sentence(note)

    def cell(self, row, column):
        """One cell in words: "feature 4, position 17: −0.53"."""
        where = (
            f"{self.row_label} {short(self.rows[row])}, "
            f"{self.column_label} {short(self.columns[column])}"
        )
        return f"{where}: {self._content(row, column)}"

    def size(self):
        """Name, size and reach in words: "Π: 64 × 128 (feature × position), −1 to 1"."""
        rows, columns = self.matrix.shape
        what = f"{self.row_label} × {self.column_label}"
        return f"{self.name}: {rows} × {columns} ({what}), {self._reach()}"

    def picture(self):
        """Plain data for the browser; numbers travel as bytes, float32, row after row."""
        top = scale(self.matrix)
        return {
            "name": self.name,
            "note": self.note,
            "shape": list(self.matrix.shape),
            "rows": self.rows,
            "columns": self.columns,
            "labels": [self.row_label, self.column_label],
            "signed": self.signed,
            "whole": self.whole,
            "top": top,
            "ends": [in_words(-top if self.signed else 0.0), in_words(top)],
            "numbers": self.matrix.astype("<f4").tobytes(),
            "groups": b"" if self.groups is None else self.groups.tobytes(),
        }

    def static(self):
        """A small HTML table, at most SMALL × SMALL cells from the upper left corner."""
        rows, columns = (min(n, SMALL) for n in self.matrix.shape)
        cut = (rows, columns) != self.matrix.shape
        shown = f"; shown: the first {rows} × {columns}" if cut else ""
        return table(
            self.size() + shown,
            [f"{self.row_label} ↓ {self.column_label} →", *map(short, self.columns[:columns])],
            [
                [short(self.rows[r]), *(self._content(r, c) for c in range(columns))]
                for r in range(rows)
            ],
        )

    def __repr__(self):
        return self.size()

    def _content(self, row, column):
        """What a cell holds, in words; the browser writes numbers in the same way."""
        number = np.float32(self.matrix[row, column])
        if np.isnan(number):
            return "empty"
        return two(number).removesuffix(".00") if self.whole else two(number)

    def _reach(self):
        there = self.matrix[~np.isnan(self.matrix)]
        if not len(there):
            return "no numbers"
        return f"{in_words(there.min())} to {in_words(there.max())}"

    def _numbers(self, what, numbers):
        try:
            numbers = as_array(numbers)
        except (TypeError, ValueError, OverflowError):
            raise self._fault(f"{what} should be an array of numbers") from None
        far = np.argwhere(np.abs(numbers) > LARGEST)
        if len(far):
            where = tuple(far[0].tolist())
            raise self._fault(
                f"{what} should hold finite numbers up to 10²⁰, or NaN for an empty cell; "
                f"at {where} there is {numbers[where]}"
            )
        return numbers

    def _labels(self, what, labels, count):
        labels = self._list(f"{what}s", range(count) if labels is None else labels)
        if len(labels) != count:
            raise self._fault(f"{count} {what}s need {count} labels; got {len(labels)}")
        return [visible(str(label)) for label in labels]

    def _checked_groups(self, groups):
        groups = self._numbers("groups", groups)
        if groups.shape != self.matrix.shape or (groups != np.round(groups)).any():
            rows, columns = self.matrix.shape
            raise self._fault(f"groups should be {rows} × {columns} whole numbers, one a cell")
        _, number = np.unique(groups, return_inverse=True)
        return number.reshape(groups.shape).astype("<u2")  # at most 128 × 128 of them

    def _list(self, what, things):
        if isinstance(things, str):
            raise self._fault(f"{what} should be a list of texts, not one text")
        try:
            return list(things)
        except TypeError:
            raise self._fault(f"{what} should be a list of texts") from None

    def _fault(self, sentence):
        return ValueError(f"Page “{self.name}”: {sentence}.")


class Grid(Live):
    """The widget that `explore_grid` returns. `page`, `row` and `column` can be read and set."""

    _esm = module("shared/cells", "grid/widget")
    _css = style("shared/cells", "grid/widget")
    pictures = traitlets.List().tag(sync=True)
    page = traitlets.Int(0).tag(sync=True, page=True)
    row = traitlets.Int(0).tag(sync=True, page=True)
    column = traitlets.Int(0).tag(sync=True, page=True)

    def __init__(self, compute, controls=(), **chosen):
        super().__init__(compute, controls, **chosen)
        for name, index in chosen.items():
            if getattr(self, name) != index:
                raise IndexError(f"There is no {name} {index}: they are numbered from 0.")

    def receive(self, pages):
        pages = list(pages) if isinstance(pages, list | tuple) else [pages]
        for page in pages:
            if not isinstance(page, Page):
                raise TypeError(
                    "The function must return a Page or a list of Pages, "
                    f"not {type(page).__name__}."
                )
        if not 1 <= len(pages) <= MOST_PAGES:
            raise ValueError(f"There should be 1 to {MOST_PAGES} pages; got {len(pages)}.")
        self.pages = pages
        self.pictures = [page.picture() for page in pages]
        self.page = self.page  # stays chosen, as far as it still exists
        self._stay_within()

    @traitlets.observe("page")
    def _stay_within(self, change=None):
        """What was chosen stays chosen, as far as it still exists."""
        self.row, self.column = self.row, self.column

    @traitlets.validate("page", "row", "column")
    def _within(self, proposal):
        last = len(self.pages) - 1
        if proposal["trait"].name != "page":
            shape = self.pages[min(max(self.page, 0), last)].matrix.shape
            last = shape[proposal["trait"].name == "column"] - 1
        return min(max(proposal["value"], 0), last)

    def describe(self):
        sizes = "; ".join(page.size() for page in self.pages)
        page = self.pages[self.page]
        chosen = f"Chosen in {page.name}: " if len(self.pages) > 1 else "Chosen: "
        return f"Grid: {sizes}. {chosen}{page.cell(self.row, self.column)}"

    def fallback(self):
        return self.pages[self.page].static()


def explore_grid(pages, *sliders, page=0, cell=(0, 0)):
    """A matrix, or several, as a grid of colored cells: hover, click, or use the arrow keys.

    pages:   a Page, a list of 1 to 8 of them, or a function of the notebook that returns these; it
             is called again whenever a slider moves, with one argument a slider.
    sliders: from `slider(name, low, high, value)`, for a function.
    page, cell: the page, and its (row, column), that are chosen at first, numbered from 0.
    Raises IndexError if these do not exist; what the function raises at first is raised.
    """
    row, column = cell
    return Grid(pages, sliders, page=page, row=row, column=column)


def scale(matrix):
    """The number at which colors end: the largest in size, rounded up to two digits; 1 for none."""
    top = float(np.abs(np.nan_to_num(matrix)).max())
    if top < 1e-30:  # nearly nothing in float32, which the browser gets
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(top)) - 1)
    return math.ceil(top / unit - 1e-6) * unit
