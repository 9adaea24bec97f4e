"""How an answer is judged: whatever it is, a verdict comes out, and nothing is raised."""

import ast
import dis
import sys
import time
import traceback
from dataclasses import dataclass, field

from helpers.exercises.engine.calls import Call, Calls
from helpers.exercises.engine.exercise import Untouched, Wrong
from helpers.exercises.engine.limits import Stopped, limited
from helpers.exercises.engine.memory import LimitedMemory
from helpers.exercises.engine.restore import restored
from helpers.exercises.engine.wording import error_text, kind

__all__ = ["PASSED", "UNTOUCHED", "WRONG", "Verdict", "judge"]

PASSED, WRONG, UNTOUCHED = "passed", "wrong", "untouched"
LARGE = "Does an array, a list or a text grow larger than it needs to be?"


@dataclass(frozen=True)
class Verdict:
    """What a check found: the state, one sentence, and perhaps (expected, got) in words.

    call: the call of the answer that it is about, with its inputs and what it printed.
    """

    state: str
    sentence: str = ""
    example: tuple[str, str] | None = None
    call: Call = field(default_factory=Call, compare=False)

    @property
    def passed(self):
        return self.state == PASSED


def judge(exercise, answer, seconds=None):
    """Judge any object as the answer to an exercise; returns a Verdict and never raises.

    seconds: how long it may take, where that is not exercise.seconds.
    """
    seconds = exercise.seconds if seconds is None else seconds
    calls = Calls(exercise, answer)
    try:
        with restored():
            return limited(lambda: _verdict(exercise, answer, calls), seconds, calls.write)
    except TimeoutError:
        return Verdict(WRONG, _too_slow(calls, seconds), call=calls.last)
    except KeyboardInterrupt:
        words = "You interrupted the check before it had finished."
        return Verdict(WRONG, words, call=calls.last)


def _verdict(exercise, answer, calls):
    if "ipykernel" in sys.modules:
        _hide_displays(calls)
    try:
        with LimitedMemory():
            _fits(exercise, answer)
            exercise.examine(calls.watched)
        return Verdict(PASSED, call=calls.last)
    except Untouched:
        return Verdict(UNTOUCHED, call=calls.last)
    except Wrong as fault:
        return Verdict(WRONG, fault.sentence, fault.example, calls.about(fault.got))
    except Stopped:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: the learner raised them
        return _crash(error, answer, calls.last)
    finally:
        calls.take_figures()


def _hide_displays(calls):
    """Let the kernel hand to `calls` whatever this thread displays."""
    from IPython import get_ipython

    publisher = getattr(get_ipython(), "display_pub", None)
    if hasattr(publisher, "register_hook"):
        publisher.register_hook(calls.show)


def _too_slow(calls, seconds):
    """The sentence on an answer whose time was up: is it slow, or does it never end?"""
    limit = f"It did not finish within {seconds:g} seconds, the limit for all examples together"
    if not calls.finished:
        return (
            f"{limit}, and was stopped in its first call: does a loop never end, or is there too "
            "much to compute?"
        )
    finished = "One call" if calls.finished == 1 else f"{calls.finished} calls"
    if calls.last.returned or time.monotonic() - calls.last.started < seconds / 2:
        return f"{limit}. {finished} took most of that time: what is computed again and again?"
    return (
        f"{limit}. {finished} finished soon, and the next one was stopped: is there a loop that "
        "does not end for its inputs?"
    )


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


def _crash(error, answer, call):
    """The verdict on an answer that raised: with the line, if it happened in the learner's code."""
    frames = list(_frames(error))
    lacking = _out_of_memory(error)
    if lacking:
        traceback.clear_frames(error.__traceback__)  # what follows may need the memory
    codes = [code for code, _ in frames]
    watched = [i for i, code in enumerate(codes) if code.co_name == "call_learner"]
    if not watched and not lacking:  # without memory, Python may not even note the frames
        words = f"What it returned could not be checked: {error_text(error)}."
        return Verdict(WRONG, words, call=call)
    own = getattr(answer, "__code__", None)
    inside = frames[watched[0] + 1 :] if watched else []
    home = inside[0][0].co_filename if inside else None
    mine = [(c, line) for c, line in inside if c.co_filename == home and c.co_name[0] != "<"]
    if isinstance(error, NotImplementedError) and mine and _only_raises(inside[-1][0]):
        return Verdict(UNTOUCHED, call=call)
    where = ""
    if mine:
        code, line = mine[-1]
        whose = "your function" if code is own else code.co_name
        where = f", on line {line - code.co_firstlineno + 1} of {whose}"
    if lacking:
        return Verdict(WRONG, f"There was not enough memory for it{where}. {LARGE}", call=call)
    return Verdict(WRONG, f"It stopped with {error_text(error)}{where}.", call=call)


def _only_raises(code):
    """Whether all that a function does is to raise a NotImplementedError, as some stubs do.

    PyTorch raises it too, from functions that have no frame of their own: for the softmax of whole
    numbers, for example.
    """
    steps = {step.opname for step in dis.get_instructions(code)}
    computes = any(step.startswith(("BINARY", "COMPARE", "LOAD_FAST", "STORE")) for step in steps)
    return "RAISE_VARARGS" in steps and code.co_names == ("NotImplementedError",) and not computes


def _out_of_memory(error):
    """Whether an exception says that memory ran out; PyTorch says so in a RuntimeError."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "DefaultCPUAllocator" in error_text(error)
    )


def _frames(error):
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lineno
        trace = trace.tb_next
