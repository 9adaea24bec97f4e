"""Exercises: what one consists of, how an answer is judged, and the comparisons that checks use.

A chapter's file (ch01.py …) holds one Exercise after another:

    softmax_exercise = Exercise("1.2", "A softmax for every column", stars=1, stub=…, hints=(…))

    @softmax_exercise.solution
    def softmax_columns(scores): …

    @softmax_exercise.right
    def by_loops(scores): …

    @softmax_exercise.wrong("each row sums to one; here each column must")
    def over_rows(scores): …

    @softmax_exercise.check
    def check(answer):
        same(unchanged(answer, scores), expected, "the weights")
"""

import ast
import copy
import functools
import inspect
import textwrap
from dataclasses import dataclass, field

import numpy as np

from helpers.exercises.run import Stopped, limited
from helpers.exercises.wording import error_text, kind, shape_text, short

__all__ = ["Exercise", "Verdict", "Wrong", "judge", "matches", "same", "unchanged"]

PASSED, WRONG, UNTOUCHED = "passed", "wrong", "untouched"


class Wrong(Exception):
    """A check found a fault.

    sentence: what is wrong, best as the question that learners should ask themselves.
    expected, got: a tiny example; shown if `expected` is given. Both are put into words at once.
    """

    def __init__(self, sentence, expected=None, got=None):
        super().__init__(sentence)
        self.sentence = sentence
        self.example = None if expected is None else (short(expected), short(got))


class Untouched(Exception):
    """The answer is still the stub."""


@dataclass(frozen=True)
class Verdict:
    """What a check found: the state, one sentence, and perhaps (expected, got) in words."""

    state: str
    sentence: str = ""
    example: tuple[str, str] | None = None

    @property
    def passed(self):
        return self.state == PASSED


@dataclass(eq=False)
class Exercise:
    """One exercise of a notebook.

    id:      "1.3": the notebook's number, then the exercise's.
    stars:   1 (a line), 2, or 3 (an evening).
    stub:    the source of the notebook's stub cell: a function, or a class whose methods return ...
    hints:   from a first question to the last step before the solution.
    notice:  one sentence shown below the solution: what is worth noticing in it.
    seconds: how long a check may take.
    """

    id: str
    title: str
    stars: int
    stub: str
    hints: tuple[str, ...]
    notice: str = ""
    seconds: float = 5.0
    answer: object = field(default=None, init=False)
    right_answers: list = field(default_factory=list, init=False)
    wrong_answers: list = field(default_factory=list, init=False)
    examine: object = field(default=None, init=False)

    def solution(self, answer):
        """Decorator: the answer that `source` shows."""
        self.answer = answer
        return answer

    def right(self, answer):
        """Decorator: another way to write a right answer."""
        self.right_answers.append(answer)
        return answer

    def wrong(self, words):
        """Decorator: an answer with a typical mistake, whose sentence must contain `words`."""

        def add(answer):
            self.wrong_answers.append((answer, words))
            return answer

        return add

    def check(self, examine):
        """Decorator: examine(answer) raises Wrong at the first fault and returns otherwise."""
        self.examine = examine
        return examine

    @functools.cached_property
    def definition(self):
        """The stub's function or class as a syntax tree."""
        return ast.parse(self.stub).body[0]

    @property
    def name(self):
        """The name that the stub defines."""
        return self.definition.name

    @property
    def source(self):
        """The solution as text, ready to stand in the stub's cell."""
        return source_of(self.answer)

    @property
    def call(self):
        """The source of the notebook's check cell."""
        return f'check("{self.id}", {self.name})'


def source_of(answer):
    """The source of a function or class without its decorators, ending in a newline."""
    source = textwrap.dedent(inspect.getsource(answer))
    first = ast.parse(source).body[0].lineno  # of `def` or `class`, below the decorators
    return "".join(source.splitlines(keepends=True)[first - 1 :])


def nbgrader_metadata(exercise):
    """The nbgrader metadata of the stub cell and of the check cell, as a pair of dicts."""
    number = exercise.id.replace(".", "-")
    common = {"schema_version": 3, "task": False}
    stub = common | {
        "grade": False,
        "grade_id": f"exercise-{number}",
        "locked": False,
        "solution": True,
    }
    check = common | {
        "grade": True,
        "grade_id": f"check-{number}",
        "locked": True,
        "points": exercise.stars,
        "solution": False,
    }
    return stub, check


# ---------------------------------------------------------------------------------------- judging


def judge(exercise, answer):
    """Judge any object as the answer to an exercise; returns a Verdict and never raises."""
    try:
        return limited(lambda: _verdict(exercise, answer), exercise.seconds)
    except TimeoutError:
        return Verdict(
            WRONG,
            f"It did not finish within {exercise.seconds:g} seconds and was stopped: "
            "is there a loop that never ends?",
        )
    except KeyboardInterrupt:
        return Verdict(WRONG, "You interrupted the check before it had finished.")


def _verdict(exercise, answer):
    try:
        _fits(exercise, answer)
        exercise.examine(_watched(exercise, answer))
        return Verdict(PASSED)
    except Untouched:
        return Verdict(UNTOUCHED)
    except Wrong as fault:
        return Verdict(WRONG, fault.sentence, fault.example)
    except Stopped:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: the learner raised them
        return _crash(error, answer)


def _fits(exercise, answer):
    """Refuse what cannot be an answer at all."""
    if answer is ...:
        raise Untouched
    wanted = "class" if isinstance(exercise.definition, ast.ClassDef) else "function"
    if isinstance(answer, type) != (wanted == "class") or not callable(answer):
        raise Wrong(
            f"check needs the {wanted} {exercise.name} itself and was given {kind(answer)}: "
            f"write {exercise.call}."
        )


def _watched(exercise, answer):
    """The answer as a check calls it: notices an untouched stub and a call that does not fit."""
    if isinstance(answer, type):
        methods = {
            name: _watched(exercise, method)
            for name, method in vars(answer).items()
            if inspect.isfunction(method)
        }
        return type(answer)(answer.__name__, (answer,), methods)

    @functools.wraps(answer)
    def call_learner(*args, **kwargs):
        try:
            inspect.signature(answer).bind(*args, **kwargs)
        except TypeError as error:
            raise Wrong(f"{_signature(exercise)}: {error}.") from None
        except ValueError:  # a compiled function without a signature
            pass
        result = answer(*args, **kwargs)
        if result is ...:
            raise Untouched
        return result

    return call_learner


def _signature(exercise):
    if isinstance(exercise.definition, ast.ClassDef):
        return "A method cannot be called with the inputs that the stub gives it"
    inputs = ast.unparse(exercise.definition.args)
    return f"It cannot be called as in the stub, {exercise.name}({inputs})"


def _crash(error, answer):
    """The verdict on an answer that raised: with the line, if it happened in the learner's code."""
    frames = list(_frames(error))
    codes = [code for code, _ in frames]
    watched = [i for i, code in enumerate(codes) if code.co_name == "call_learner"]
    if not watched:
        return Verdict(WRONG, f"What it returned could not be checked: {error_text(error)}.")
    own = getattr(answer, "__code__", None)
    inside = frames[watched[0] + 1 :]
    home = inside[0][0].co_filename if inside else None
    mine = [(c, line) for c, line in inside if c.co_filename == home and c.co_name[0] != "<"]
    if isinstance(error, NotImplementedError) and mine and mine[-1][0] is inside[-1][0]:
        return Verdict(UNTOUCHED)
    where = ""
    if mine:
        code, line = mine[-1]
        whose = "your function" if code is own else code.co_name
        where = f", on line {line - code.co_firstlineno + 1} of {whose}"
    return Verdict(WRONG, f"It stopped with {error_text(error)}{where}.")


def _frames(error):
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lineno
        trace = trace.tb_next


# ------------------------------------------------------------------------------------ comparisons


NAN = "Is zero divided by zero, infinity divided by infinity, or subtracted from infinity?"


def same(got, expected, what="the result", atol=1e-8, nan=NAN, far=""):
    """Raise Wrong unless `got` holds the numbers of `expected`.

    got:      NumPy array, PyTorch tensor, number, or (nested) list; a dict if `expected` is one.
    what:     the noun that the sentence begins with, as in "the weights".
    atol:     allowed difference; relative to the expected entry where that is larger than 1.
              Whole numbers are compared exactly.
    nan, far: what to ask where NaN occurs, and where numbers differ.

    Kind, shape, NaN and infinity are looked at first, each with a sentence of its own.
    """
    if got is ...:
        raise Untouched
    what = what[0].upper() + what[1:]
    if got is None:
        raise Wrong(f"{what}: expected a value, got None: does your function end with return?")
    if isinstance(expected, dict):
        return _same_dict(got, expected, what, atol)
    expected = _numbers(expected, what)
    if isinstance(got, tuple):
        shapes = [tuple(getattr(part, "shape", ())) for part in got]
        if any(shapes) and shapes != [row.shape for row in np.atleast_1d(expected)]:
            raise Wrong(f"{what}: expected the result alone, got a tuple of {len(got)}.")
    got = _numbers(got, what)
    if got.shape != expected.shape:
        transposed = got.shape == expected.shape[::-1]
        raise Wrong(
            f"{what}: expected {shape_text(expected.shape)}, got {shape_text(got.shape)}"
            + (": is it transposed?" if transposed else "."),
            expected,
            got,
        )
    if np.isnan(got).any() and not np.isnan(expected).any():
        raise Wrong(f"{what}: NaN (not a number) occurs. {nan}", expected, got)
    if np.isinf(got).any() and not np.isinf(expected).any():
        raise Wrong(f"{what}: infinity occurs. Does a number overflow?", expected, got)
    whole = got.dtype.kind in "biu" and expected.dtype.kind in "biu"
    allowed = 0 if whole else atol * np.maximum(1, np.abs(expected.astype(float)))
    equal = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(all="ignore"):
        difference = np.abs(np.subtract(got, expected, dtype=float))
    wrong = ~equal & ~((difference <= allowed) & np.isfinite(difference))
    if wrong.any():
        words = _worst(difference, wrong) if got.ndim else _both(expected, got)
        raise Wrong(f"{what}: {words}{f': {far}' if far else '.'}", expected, got)


def matches(got, expected, atol=1e-8):
    """Whether `same` would accept; for recognizing a typical mistake by the result it leads to."""
    try:
        same(got, expected, atol=atol)
        return True
    except Wrong:
        return False


def unchanged(answer, *inputs):
    """Return answer(*inputs) for copies of the inputs; raise Wrong if it changes one in place."""
    copies = copy.deepcopy(inputs)
    result = answer(*copies)
    for i, (after, before) in enumerate(zip(copies, inputs, strict=True)):
        if not _equal(after, before):
            try:
                name = list(inspect.signature(answer).parameters)[i]
            except (IndexError, ValueError):  # *args, or compiled
                name = f"number {i + 1}"
            raise Wrong(
                f"It changes its input {name} in place, which its caller may still need: "
                "can you compute the result in a new array?",
                before,
                after,
            )
    return result


def _same_dict(got, expected, what, atol):
    if not isinstance(got, dict):
        raise Wrong(f"{what}: expected a dict, got {kind(got)}.", expected, got)
    missing = [key for key in expected if key not in got]
    if missing:
        raise Wrong(f"{what}: the key {missing[0]!r} is missing.", list(expected), list(got))
    for key, value in expected.items():
        same(got[key], value, f"{what}, {key!r}", atol)


def _numbers(value, what):
    """The value as an array of real numbers, or Wrong."""
    if hasattr(value, "detach"):  # a tensor, perhaps on a GPU, perhaps with a gradient
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths, or a strange object
        raise Wrong(f"{what}: expected numbers, got {kind(value)} that holds no array.") from None
    if array.dtype.kind not in "biuf":
        of = f" of {array.dtype}" if isinstance(value, np.ndarray) else ""
        raise Wrong(f"{what}: expected numbers, got {kind(value)}{of}.")
    return array


def _both(expected, got):
    """Two single numbers, with all digits that may tell them apart."""
    expected, got = (
        f"{x:.12g}" if isinstance(x, float) else x for x in (expected.item(), got.item())
    )
    return f"expected {expected}, got {got}"


def _worst(difference, wrong):
    """The largest difference and its place."""
    place = np.unravel_index(np.argmax(np.where(wrong, difference, -1)), wrong.shape)
    words = f"the largest difference is {difference[place]:.3g}"
    if wrong.ndim == 2:
        return f"{words}, in row {place[0]}, column {place[1]} (counted from 0)"
    return f"{words}, at [{', '.join(map(str, place))}]"


def _equal(a, b):
    """Whether two inputs are equal throughout; NaN equals NaN."""
    if isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in b)
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if hasattr(b, "detach"):
        a, b = a.detach().cpu().numpy(), b.detach().cpu().numpy()
    if isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=b.dtype.kind == "f")
    return a == b
