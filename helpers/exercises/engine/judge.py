"""How an answer is judged: whatever it is, a verdict comes out, and nothing is raised."""

import ast
import functools
import inspect
import traceback
from dataclasses import dataclass

from helpers.exercises.engine.exercise import Untouched, Wrong
from helpers.exercises.engine.limits import Stopped, limited
from helpers.exercises.engine.memory import LimitedMemory
from helpers.exercises.engine.wording import error_text, kind

__all__ = ["PASSED", "UNTOUCHED", "WRONG", "Verdict", "judge"]

PASSED, WRONG, UNTOUCHED = "passed", "wrong", "untouched"
LARGE = "Does an array, a list or a text grow larger than it needs to be?"


@dataclass(frozen=True)
class Verdict:
    """What a check found: the state, one sentence, and perhaps (expected, got) in words."""

    state: str
    sentence: str = ""
    example: tuple[str, str] | None = None

    @property
    def passed(self):
        return self.state == PASSED


def judge(exercise, answer, seconds=None):
    """Judge any object as the answer to an exercise; returns a Verdict and never raises.

    seconds: how long it may take, where that is not exercise.seconds.
    """
    seconds = exercise.seconds if seconds is None else seconds
    memory = LimitedMemory()
    try:
        return limited(lambda: _verdict(exercise, answer, memory), seconds)
    except TimeoutError:
        return Verdict(
            WRONG,
            f"It did not finish within {seconds:g} seconds and was stopped: "
            "is there a loop that never ends?",
        )
    except KeyboardInterrupt:
        return Verdict(WRONG, "You interrupted the check before it had finished.")
    finally:
        memory.lift()  # a thread that cannot be stopped holds on to it


def _verdict(exercise, answer, memory):
    try:
        with memory:
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
    lacking = _out_of_memory(error)
    if lacking:
        traceback.clear_frames(error.__traceback__)  # what follows may need the memory
    codes = [code for code, _ in frames]
    watched = [i for i, code in enumerate(codes) if code.co_name == "call_learner"]
    if not watched and not lacking:  # without memory, Python may not even note the frames
        return Verdict(WRONG, f"What it returned could not be checked: {error_text(error)}.")
    own = getattr(answer, "__code__", None)
    inside = frames[watched[0] + 1 :] if watched else []
    home = inside[0][0].co_filename if inside else None
    mine = [(c, line) for c, line in inside if c.co_filename == home and c.co_name[0] != "<"]
    if isinstance(error, NotImplementedError) and mine and mine[-1][0] is inside[-1][0]:
        return Verdict(UNTOUCHED)
    where = ""
    if mine:
        code, line = mine[-1]
        whose = "your function" if code is own else code.co_name
        where = f", on line {line - code.co_firstlineno + 1} of {whose}"
    if lacking:
        return Verdict(WRONG, f"There was not enough memory for it{where}. {LARGE}")
    return Verdict(WRONG, f"It stopped with {error_text(error)}{where}.")


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
