"""One rule of precision for all exercises: float32 is enough, in inputs, inside, and in results."""

import functools

import numpy as np
import pytest
import torch

from helpers.exercises.engine.chapters import chapters, exercises_of
from helpers.exercises.engine.judge import judge
from helpers.exercises.shared.compare import ROUNDING, matches

EXERCISES = [exercise for chapter in chapters() for exercise in exercises_of(chapter)]


def cast(dtype, value):
    """Every array and tensor of real numbers in the value, in the type of that name."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(dtype)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(getattr(torch, dtype))
    if isinstance(value, float):
        return float(np.float32(value)) if dtype == "float32" else value
    if type(value) in (list, tuple):  # no list of a check's own, which may note who reads it
        parts = [cast(dtype, part) for part in value]
        # Without a real number it stays the same object: an answer may have to change it.
        same = all(part is before for part, before in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    if isinstance(value, dict):
        parts = {key: cast(dtype, part) for key, part in value.items()}
        return value if all(parts[key] is value[key] for key in value) else parts
    if callable(value):  # a sublayer, whose own numbers are float64
        return lambda *xs: cast(dtype, value(*(cast("float64", x) for x in xs)))
    return value


def with_gradients(value):
    """Every array of real numbers in the value as a tensor that requires its gradient."""
    if isinstance(value, (np.ndarray, np.floating)) and np.asarray(value).dtype.kind == "f":
        return torch.tensor(value, requires_grad=True)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.requires_grad_() if value.is_leaf else value
    if isinstance(value, (list, tuple)) and all(isinstance(p, np.ndarray) for p in value):
        return type(value)(map(with_gradients, value))
    if isinstance(value, dict):
        return {key: with_gradients(part) for key, part in value.items()}
    return value


FORMS = {
    "computed in float32": lambda answer, *inputs: answer(*cast("float32", inputs)),
    "stored in float32": lambda answer, *inputs: cast("float32", answer(*inputs)),
    "computed in float32, stored in float64": lambda answer, *inputs: cast(
        "float64", answer(*cast("float32", inputs))
    ),
    "requiring gradients": lambda answer, *inputs: with_gradients(answer(*inputs)),
}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
@pytest.mark.parametrize("form", FORMS)
def test_a_solution_passes_in_any_precision_from_float32_on(exercise, form):
    answer = functools.wraps(exercise.answer)(functools.partial(FORMS[form], exercise.answer))
    verdict = judge(exercise, answer, seconds=60)
    assert verdict.passed, verdict.sentence


def test_what_counts_is_the_difference_and_not_the_type():
    third = np.array([1 / 3, 100 / 3])
    for dtype in "float32", "float64":
        assert matches(third.astype(dtype), third)
        assert not matches((third * (1 + 2 * ROUNDING)).astype(dtype), third)
    assert not matches(third.astype("float16"), third)
    assert matches(np.array([0.5], "float16"), [0.5])
    assert not matches(np.array([ROUNDING * 1.1, 0]), [0, 0])
