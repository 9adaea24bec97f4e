"""What an exercise consists of.

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

from helpers.exercises.engine.wording import told_apart

__all__ = ["WITH_TORCH", "Exercise", "Untouched", "Wrong", "nbgrader_metadata", "source_of"]

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
        self.got = got
        self.example = None if expected is None else told_apart(expected, got)


class Untouched(Exception):
    """The answer is still the stub."""


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
    equivalents: dict = field(default_factory=dict, init=False)
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

    def equivalent(self, reason, *changes):
        """Say of mutants that pass the check why they are no mistakes.

        changes: "answer: before → after", as `python -m helpers.exercises --mutants` prints them;
                 a * stands for any text.
        """
        self.equivalents |= dict.fromkeys(changes, reason)

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
