"""Exercises: what one consists of, and how an answer is judged.

Each has a file of its own, named as its stub: in ch01/softmax_columns.py stands

    exercise = Exercise("1.2", "A softmax for every column", stars=1, stub=…, hints=(…))

    @exercise.solution
    def softmax_columns(scores): …

    @exercise.right
    def by_loops(scores): …

    @exercise.wrong("rows sum to one; here each column must")
    def over_rows(scores): …

    @exercise.check
    def check(answer):
        same(unchanged(answer, scores), expected, "the weights")
"""

import ast
import functools
import inspect
import textwrap
from dataclasses import dataclass, field

from helpers.exercises.run import Stopped, limited
from helpers.exercises.wording import error_text, kind, short

__all__ = ["WITH_TORCH", "Exercise", "Untouched", "Verdict", "Wrong", "judge"]

PASSED, WRONG, UNTOUCHED = "passed", "wrong", "untouched"

# Seconds that an exercise in PyTorch may take: the first import of torch, on a slow disk, must not
# be mistaken for an endless loop.
WITH_TORCH = 30.0


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
