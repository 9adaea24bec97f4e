"""The shape stepper: matrix products and other operations, one at a time."""

from dataclasses import dataclass, fields

import numpy as np
import traitlets

from helpers.widgets.shared.live import Live, module, style, table
from helpers.widgets.shared.numbers import as_array
from helpers.widgets.shared.text import sentence, short

__all__ = ["Operation", "Product", "Steps", "step_through"]

MOST = 12  # rows or columns: more than this and nobody reads a single number
REACHES = {
    "entry": "each entry from its own place",
    "column": "each column from its own column",
    "all": "each entry from all entries",
}


class Step:
    """What every step has: a name for its faults, matrices that can be read, and a result."""

    def __post_init__(self):
        for field in fields(self):  # frozen, so that only this can set them
            text = getattr(self, field.name)
            if field.type is str or (field.type == str | None and text is not None):
                object.__setattr__(self, field.name, sentence(text))

    def _fault(self, sentence):
        return ValueError(f"Step “{short(self.name)}”: {sentence}.")

    def _matrix(self, name, matrix, masked=False):
        """A float64 copy of a matrix that can be shown; where it is masked it may hold −∞."""
        name = short(sentence(name))
        matrix = as_array(matrix, f"Step “{short(self.name)}”: {name}")
        if matrix.ndim != 2 or not 1 <= min(matrix.shape) or max(matrix.shape) > MOST:
            raise self._fault(
                f"{name} should be a matrix of 1 to {MOST} rows and "
                f"columns, not of shape {matrix.shape}"
            )
        if not (np.isfinite(matrix) | (masked & np.isneginf(matrix))).all():
            raise self._fault(f"{name} should hold finite numbers")
        return matrix

    def _check_result(self, expected, how):
        # Loose enough for float32; NaN equals nothing, so it is refused too.
        if not np.allclose(self.result, expected, rtol=1e-4, atol=1e-5):
            raise self._fault(f"{self.result_name} is not {how}")

    def _picture(self, **parts):
        """Plain data for the browser: the texts of a step and its parts."""
        return {"name": short(self.name), "equation": self.equation, "note": self.note} | parts


@dataclass(frozen=True, eq=False)
class Product(Step):
    """One step: left @ right + plus = result or, without a right matrix, a softmax by columns.

    name:      the step's short name, for its button.
    equation:  as the chapter writes it; _ starts a subscript ("Q = β_q + Ω_q X").
    left, right, result, plus: matrices; plus is a column that is added to every column. right is
               None for the softmax of each column of left, where left may hold −∞.
    left_shape, right_shape: the sizes' names ("D_q × D", "D × N"); the result's follow from them.
    note:      one sentence shown under the picture.
    Raises ValueError, naming the step, if the shapes do not fit, if a matrix has more than MOST
    rows or columns, or if `result` is not what the other matrices make.
    """

    name: str
    equation: str
    left_name: str
    left: np.ndarray
    right_name: str | None
    right: np.ndarray | None
    result_name: str
    result: np.ndarray
    plus_name: str | None = None
    plus: np.ndarray | None = None
    note: str = ""
    left_shape: str = ""
    right_shape: str = ""

    def __post_init__(self):
        super().__post_init__()
        for part in ("left", "right", "result", "plus"):
            if part in ("left", "result") or getattr(self, part) is not None:
                name, masked = getattr(self, f"{part}_name"), part == "left" and self.right is None
                object.__setattr__(self, part, self._matrix(name, getattr(self, part), masked))
        if self.right is None:
            expected, how = softmax_columns(self.left), "the softmax of each column"
        else:
            if self.left.shape[1] != self.right.shape[0]:
                raise self._fault(
                    f"{self.left_name} has {self.left.shape[1]} columns, "
                    f"but {self.right_name} has {self.right.shape[0]} rows"
                )
            expected, how = self.left @ self.right, f"{self.left_name} times {self.right_name}"
        if self.plus is not None:
            if self.plus.shape != (len(expected), 1):
                raise self._fault(
                    f"{self.plus_name} should be a column of {len(expected)} rows, "
                    f"not {self.plus.shape}"
                )
            expected, how = expected + self.plus, f"{how} plus {self.plus_name}"
        if self.result.shape != expected.shape:
            raise self._fault(
                f"{self.result_name} has the shape {self.result.shape}, "
                f"but {how} has {expected.shape}"
            )
        self._check_result(expected, how)
        self._shapes()

    def picture(self):
        """Plain data for the browser: `left`, `right`, `result` and `plus`, None where absent."""
        left, right, result, plus = self._shapes()
        return self._picture(
            left=part_of(self.left_name, self.left, left),
            right=part_of(self.right_name, self.right, right),
            result=part_of(self.result_name, self.result, result),
            plus=part_of(self.plus_name, self.plus, plus),
        )

    def sizes(self):
        """In words, which shapes meet and what they make."""
        words = size_of(self.left)
        if self.right is not None:
            words = f"({words}) · ({size_of(self.right)})"
        if self.plus is not None:
            words = f"({size_of(self.plus)}) + {words}"
        return f"{words} → {size_of(self.result)}"

    def _shapes(self):
        """Names of the sizes of left, right, result and plus, "" where none were given."""
        rows, _, inner = self.left_shape.partition(" × ")
        if self.right is None:
            return self.left_shape, "", self.left_shape, ""
        inner_right, _, columns = self.right_shape.partition(" × ")
        if inner != inner_right:
            shapes = short(self.left_shape), short(self.right_shape)
            raise self._fault(f"{' and '.join(shapes)} do not fit")
        if not rows:
            return "", "", "", ""
        return self.left_shape, self.right_shape, f"{rows} × {columns}", f"{rows} × 1"


@dataclass(frozen=True, eq=False)
class Operation(Step):
    """One step that is no matrix product: its result has the shape of what it is made of.

    name:     the step's short name, for its button.
    equation: as the chapter writes it; _ starts a subscript ("X ← X + MhSa[X]").
    inputs:   name -> D × N matrix; two of them stand with a + between.
    result:   D × N. Two inputs with the reach "entry" are added: the result must be their sum.
    reach:    which entries of the inputs an entry of the result depends on: "entry", the same
              entry of each (an addition); "column", its whole column, one token (LayerNorm, the
              MLP); "all", every entry (self-attention).
    note:     one sentence shown under the picture.
    shape:    the name of the shape ("D × N").
    Raises ValueError, naming the step, if there are not one or two inputs, if a shape differs or
    has more than MOST rows or columns, or if a sum is none.
    Source: the chapter, “The transformer layer”.
    """

    name: str
    equation: str
    inputs: dict[str, np.ndarray]
    result_name: str
    result: np.ndarray
    reach: str
    note: str = ""
    shape: str = ""

    def __post_init__(self):
        super().__post_init__()
        if self.reach not in REACHES:
            raise self._fault(
                f"reach should be “entry”, “column” or “all”, not “{short(self.reach)}”"
            )
        if not isinstance(self.inputs, dict) or not 1 <= len(self.inputs) <= 2:
            raise self._fault("inputs should be a dictionary of one or two matrices")
        inputs = {sentence(name): self._matrix(name, x) for name, x in self.inputs.items()}
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "result", self._matrix(self.result_name, self.result))
        for name, matrix in inputs.items():
            if matrix.shape != self.result.shape:
                raise self._fault(
                    f"{self.result_name} has the shape {self.result.shape}, "
                    f"but {name} has {matrix.shape}"
                )
        if self.reach == "entry" and len(inputs) == 2:
            self._check_result(sum(inputs.values()), " plus ".join(inputs))

    def picture(self):
        """Plain data for the browser: `inputs`, a list, `result` and `reach`."""
        return self._picture(
            inputs=[part_of(name, matrix, self.shape) for name, matrix in self.inputs.items()],
            result=part_of(self.result_name, self.result, self.shape),
            reach=self.reach,
        )

    def sizes(self):
        """In words, which shapes make which, and what an entry depends on."""
        words = " + ".join([f"({size_of(self.result)})"] * len(self.inputs))
        return f"{words} → {size_of(self.result)}, {REACHES[self.reach]}"


def step_through(steps, *sliders):
    """Step through matrix products and operations: each entry of a result lights up what it needs.

    steps:   a list in which each step is a `Product` or an `Operation`, or the notebook's
             function(**values) -> such a list, with one value a slider.
    sliders: from `slider(name, low, high, value)`, for a function.
    Raises ValueError if there is no step or a step is not what it says (see the two classes).
    Source: the chapter, “Self-attention in matrix form” and “The transformer layer”.
    """
    return Steps(steps, sliders)


class Steps(Live):
    """The widget; `steps` holds the `picture()` of each step."""

    _esm = module("shared/small", "products/widget")
    _css = style("shared/small", "products/widget")
    steps = traitlets.List().tag(sync=True)

    def receive(self, result):
        steps = list(result) if np.iterable(result) else []
        if not steps or not all(isinstance(step, Step) for step in steps):
            raise ValueError("The stepper needs a list of at least one Product or Operation.")
        self._steps = steps
        self.steps = [step.picture() for step in steps]

    def describe(self):
        return "\n".join(
            [f"{self._title()}:", *(f"{s.equation}: {s.sizes()}" for s in self._steps)]
        )

    def fallback(self):
        rows = [[short(step.name), step.equation, step.sizes(), step.note] for step in self._steps]
        return table(self._title(), ["step", "equation", "sizes", "note"], rows)

    def _title(self):
        products = all(isinstance(step, Product) for step in self._steps)
        return f"{'Matrix products' if products else 'Operations'}, step by step"


def softmax_columns(scores):
    """Softmax of each column; a column that is −∞ throughout gives NaN, which equals nothing."""
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=0))
        return powers / powers.sum(axis=0)


def part_of(name, matrix, shape):
    """One matrix for the browser; −∞, which JSON lacks, becomes None."""
    if matrix is None:
        return None
    rows = [[x if np.isfinite(x) else None for x in row] for row in matrix.tolist()]
    return {"name": short(name or ""), "shape": short(shape), "rows": rows}


def size_of(matrix):
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
