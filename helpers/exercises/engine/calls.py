"""The calls of an answer during a check: what went in, what came out, what was printed or drawn."""

import ast
import copy
import functools
import inspect
import sys
import time
import tracemalloc
from dataclasses import dataclass, field

import numpy as np

from helpers.exercises.engine.exercise import Untouched, Wrong
from helpers.exercises.engine.limits import Stopped

__all__ = ["Call", "Calls", "copied"]

REMEMBERED = 20  # calls: a check may look at several results before it says what is wrong
LARGEST = 2 * 2**20  # bytes of inputs that are copied
MANY = 100_000  # lists within lists that are looked into
PRINTED = 4_000  # characters kept of what one call prints, the last ones
DISPLAYED = 4  # outputs kept of what one call displays, the last ones


@dataclass(eq=False)
class Call:
    """One call as a check made it; of a class, the call of its constructor or of a method.

    names, inputs: the parameters and what was given for them, as it was before the call; inputs is
                   None if there was no call yet, or if they could not be copied.
    made:          of a method, the constructor's call.
    method:        its name.
    """

    names: tuple[str, ...] = ()
    inputs: tuple | None = None
    made: "Call | None" = None
    method: str = ""
    started: float = field(default_factory=time.monotonic)
    returned: bool = False
    result: object = None
    printed: str = ""
    displayed: list = field(default_factory=list)  # figures; pairs of mime bundle and metadata

    @property
    def example(self):
        """The inputs; for a class two tuples, the constructor's and the method's."""
        if not self.method:
            return self.inputs
        return (self.made.inputs, self.inputs) if self.made else (self.inputs, ())


class Calls:
    """The calls of an answer during one check, made through `watched`.

    finished: how many returned.
    """

    def __init__(self, exercise, answer):
        self.finished = 0
        self._exercise = exercise
        self._inside = False
        self._calls = [Call()]  # before the first
        self._made = None
        self._figures = set(_figures())
        self.watched = self._watch(answer)

    @property
    def last(self):
        """The call that was made last, or is being made."""
        return self._calls[-1]

    def about(self, got):
        """The call that gave this result, or else the last."""
        if got is not None:
            for call in reversed(self._calls):
                if call.returned and _alike(call.result, got):
                    return call
        return self.last

    def write(self, text):
        """Note what the answer prints."""
        self.last.printed = (self.last.printed + text)[-PRINTED:]

    def show(self, message):
        """Note what the answer displays: a hook of the kernel's, which then displays nothing."""
        if message["msg_type"] == "display_data":
            content = message["content"]
            self._display((content["data"], content["metadata"]))

    def take_figures(self):
        """Close what figures the last call left open: it displays them."""
        for number, figure in _figures().items():
            if number not in self._figures:
                sys.modules["matplotlib.pyplot"].close(number)
                self._display(figure)

    def _display(self, output):
        self.last.displayed = [*self.last.displayed, output][-DISPLAYED:]

    def _watch(self, answer, method=""):
        """The answer as a check calls it; notices an untouched stub and inputs that do not fit."""
        if isinstance(answer, type):
            methods = {
                name: self._watch(function, name)
                for name, function in vars(answer).items()
                if inspect.isfunction(function)
            }
            return type(answer)(answer.__name__, (answer,), methods)

        @functools.wraps(answer)
        def call_learner(*args, **kwargs):
            if self._inside:  # one method calls another
                return answer(*args, **kwargs)
            self._begin(answer, method, args, kwargs)
            self._inside = True
            try:
                result = answer(*args, **kwargs)
            finally:
                self._inside = False
            if result is ...:
                raise Untouched
            self.last.result, self.last.returned = result, True
            self.finished += 1
            return result

        return call_learner

    def _begin(self, answer, method, args, kwargs):
        try:
            names = tuple(inspect.signature(answer).bind(*args, **kwargs).arguments)
        except TypeError as error:
            raise Wrong(f"{_signature(self._exercise)}: {error}.") from None
        except ValueError:  # a compiled function without a signature
            names = tuple(f"input {i + 1}" for i in range(len(args)))
        self.take_figures()
        self.last.displayed = []  # only the last call displays something
        of = 1 if method else 0  # self is no input
        call = Call(names[of:], copied((*args[of:], *kwargs.values())), self._made, method)
        if method == "__init__":
            call.made, self._made = None, call
        self._calls = [*self._calls, call][-REMEMBERED:]


def copied(inputs):
    """Copies of the inputs, or None if they are too large or cannot be copied.

    None, too, where a check measures memory, which must not count ours.
    """
    if tracemalloc.is_tracing() or _bytes(inputs) > LARGEST:
        return None
    memo = {}
    try:
        return tuple(_copy(value, memo) for value in inputs)
    except Exception:  # such as a generator
        return None


def _copy(value, memo):
    if type(value) is np.ndarray and value.dtype.kind in "biuf":  # ten times as fast as deepcopy
        return memo.setdefault(id(value), value.copy("K"))
    return copy.deepcopy(value, memo)


def _bytes(value):
    """How much the arrays, tensors, text and lists in a value hold, roughly."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes, value)) + 8 * len(value)
    return getattr(value, "nbytes", 0) or (len(value) if isinstance(value, str) else 0)


def _alike(result, got):
    """Whether a result holds these numbers."""
    if result is got:
        return True
    if _endless(result) or _endless(got):
        return False
    try:
        # As floats: an array of texts takes the length of the longest for each of them.
        result, got = (
            np.asarray(x.detach().cpu() if hasattr(x, "detach") else x, dtype=float)
            for x in (result, got)
        )
        return np.array_equal(result, got, equal_nan=True)
    except Stopped:
        raise
    except BaseException:  # a hostile object may raise anything
        return False


def _endless(value):
    """Whether lists within lists hold very many things, or one of them itself."""
    count, lists = 0, [value] if isinstance(value, (list, tuple)) else []
    while lists and count < MANY:
        inside = [x for x in lists.pop() if isinstance(x, (list, tuple))]
        lists += inside
        count += 1 + len(inside)
    return bool(lists)


def _figures():
    """The figures that pyplot holds open, by number; it is not imported for that."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if not hasattr(pyplot, "get_fignums"):  # not yet, or not yet wholly, imported
        return {}
    managers = pyplot._pylab_helpers.Gcf.figs
    return {number: manager.canvas.figure for number, manager in managers.items()}


def _signature(exercise):
    if isinstance(exercise.definition, ast.ClassDef):
        return "A method cannot be called with the inputs that the stub gives it"
    inputs = ast.unparse(exercise.definition.args)
    return f"It cannot be called as in the stub, {exercise.name}({inputs})"
