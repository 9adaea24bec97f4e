"""The shape stepper: matrix products one at a time, rows meeting columns."""

from dataclasses import dataclass

import numpy as np
import traitlets

from helpers.widgets.live import Live, module, style, table
from helpers.widgets.small import as_array

__all__ = ["Product", "Steps", "step_through"]

MOST = 12  # rows or columns: more than this and nobody reads a single number


@dataclass(frozen=True)
class Product:
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
        for part in ("left", "right", "result", "plus"):
            if getattr(self, part) is not None:
                object.__setattr__(self, part, self._matrix(part))
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
        # Loose enough for float32; NaN equals nothing, so it is refused too.
        if not np.allclose(self.result, expected, rtol=1e-4, atol=1e-5):
            raise self._fault(f"{self.result_name} is not {how}")
        self._shapes()

    def picture(self):
        """Plain data for the browser; −∞, which JSON lacks, becomes None."""
        left, right, result, plus = self._shapes()
        parts = {
            "left": (self.left_name, self.left, left),
            "right": (self.right_name, self.right, right),
            "result": (self.result_name, self.result, result),
            "plus": (self.plus_name, self.plus, plus),
        }
        return {"name": self.name, "equation": self.equation, "note": self.note} | {
            part: None
            if matrix is None
            else {
                "name": name,
                "shape": shape,
                "rows": [[x if np.isfinite(x) else None for x in row] for row in matrix.tolist()],
            }
            for part, (name, matrix, shape) in parts.items()
        }

    def sizes(self):
        """In words, which shapes meet and what they make."""
        words = size_of(self.left)
        if self.right is not None:
            words = f"({words}) · ({size_of(self.right)})"
        if self.plus is not None:
            words = f"({size_of(self.plus)}) + {words}"
        return f"{words} → {size_of(self.result)}"

    def _matrix(self, part):
        matrix = as_array(getattr(self, part))
        if matrix.ndim != 2 or not 1 <= min(matrix.shape) or max(matrix.shape) > MOST:
            raise self._fault(
                f"{getattr(self, f'{part}_name')} should be a matrix of 1 to {MOST} rows and "
                f"columns, not of shape {matrix.shape}"
            )
        masked = part == "left" and self.right is None
        if not (np.isfinite(matrix) | (masked & np.isneginf(matrix))).all():
            raise self._fault(f"{getattr(self, f'{part}_name')} should hold finite numbers")
        return matrix

    def _shapes(self):
        """Names of the sizes of left, right, result and plus, "" where none were given."""
        rows, _, inner = self.left_shape.partition(" × ")
        if self.right is None:
            return self.left_shape, "", self.left_shape, ""
        inner_right, _, columns = self.right_shape.partition(" × ")
        if inner != inner_right:
            raise self._fault(f"{self.left_shape} and {self.right_shape} do not fit")
        if not rows:
            return "", "", "", ""
        return self.left_shape, self.right_shape, f"{rows} × {columns}", f"{rows} × 1"

    def _fault(self, sentence):
        return ValueError(f"Step “{self.name}”: {sentence}.")


def step_through(products, *sliders):
    """Step through matrix products: each entry of a result lights up the row and column it needs.

    products: a list of `Product`, or the notebook's function(**values) -> list of `Product`, with
              one value a slider.
    sliders:  from `slider(name, low, high, value)`, for a function.
    Raises ValueError if there is no step or a step is not what it says (see `Product`).
    Source: the chapter, “Self-attention in matrix form”.
    """
    return Steps(products, sliders)


class Steps(Live):
    """The widget; `steps` holds one `Product.picture()` a step."""

    _esm = module("small", "products")
    _css = style("small", "products")
    steps = traitlets.List().tag(sync=True)

    def receive(self, result):
        products = list(result)
        if not products or not all(isinstance(product, Product) for product in products):
            raise ValueError("The stepper needs a list of at least one Product.")
        self._products = products
        self.steps = [product.picture() for product in products]

    def describe(self):
        lines = [f"{p.equation}: {p.sizes()}" for p in self._products]
        return "\n".join(["Matrix products, step by step:", *lines])

    def fallback(self):
        rows = [[p.name, p.equation, p.sizes(), p.note] for p in self._products]
        return table("Matrix products, step by step", ["step", "equation", "sizes", "note"], rows)


def softmax_columns(scores):
    """Softmax of each column; a column that is −∞ throughout gives NaN, which equals nothing."""
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=0))
        return powers / powers.sum(axis=0)


def size_of(matrix):
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
