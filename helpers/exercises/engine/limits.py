"""Run a learner's code for a limited time, on every platform and in any kernel."""

import contextvars
import ctypes
import sys
import threading
import time
import warnings

__all__ = ["Stopped", "in_limited", "limited"]

IMPORTS = 120.0  # seconds that imports may take on top of the limit: PyTorch on a slow disk
SLICE = 0.05  # seconds between two looks at the thread


class Stopped(SystemExit):
    """Raised inside the thread whose time is up; a thread that ends by SystemExit ends silently.

    A bare `except` around the endless work would swallow it. But Python creates the exception in
    the thread itself, so we can have every running function there traced from now on: at the next
    line, which is the handler's, Stopped is raised again, and nothing catches it there. The
    engine's own functions are left alone: they let it through, and end what they have begun.

    If the work has just ended, the exception comes to the thread on its way out, in functions of
    threading. Nothing is traced then: raised again on the line at which a lock is given back, it
    would leave the lock taken for ever, and no thread could be started any more.
    """

    def __init__(self, *args):
        super().__init__(*args)
        frame, frames = sys._getframe(1), []
        while frame is not None and frame.f_code.co_qualname != "limited.<locals>.run":
            if not frame.f_globals.get("__name__", "").startswith(__package__ + "."):
                frames.append(frame)
            frame = frame.f_back
        if frame is None or all(f.f_globals.get("__name__") == "threading" for f in frames):
            return
        for traced in frames:
            traced.f_trace = _raise_again
        sys.settrace(lambda *new_function: None)


def _raise_again(frame, event, argument):
    if event == "line":
        raise Stopped.__new__(Stopped)  # without __init__: tracing is on already
    return _raise_again


class _Limited(threading.Thread):
    """The thread in which work is done for a limited time."""


def in_limited():
    """Whether this is called by work whose time is limited."""
    return isinstance(threading.current_thread(), _Limited)


def limited(work, seconds, write):
    """Return work(), or raise TimeoutError if it takes longer than `seconds`.

    work() runs in a thread of its own, because signals exist neither on Windows nor outside the
    main thread. What it prints goes to write(text), its warnings are ignored. When the time is up,
    or the kernel is interrupted, the thread is stopped; one that cannot be (it sleeps, or swallows
    every exception) is left behind, silent, and the caller goes on. Only a single call into
    compiled code that never lets Python run (9**9**9) holds everybody up.

    An import is never stopped half-way, since a module such as torch could not be imported again,
    and its time does not count; one that takes longer than IMPORTS is taken for an endless loop.

    work must not raise: what it raises other than Stopped counts as running out of time.
    """
    results = []
    finished = threading.Event()
    context = contextvars.copy_context()  # NumPy keeps its error settings there

    def run():
        try:
            results.append(context.run(work))
        except SystemExit:  # Stopped, or its second coming
            pass
        finally:
            try:
                finished.set()
            except SystemExit:  # once more, on the way out
                finished.set()

    thread = _Limited(target=run, daemon=True)
    importing = _Importing(thread)
    streams = sys.stdout, sys.stderr
    muted = [_Muted(stream, thread, write) for stream in streams]
    _kept.extend(muted)
    sys.stdout, sys.stderr = muted
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thread.start()
            ends = time.monotonic() + seconds
            # In slices: on Windows an interrupt is not seen during one long wait.
            while not _ended(thread, finished) and time.monotonic() < ends + importing.lasted:
                importing.look()
            if not results:
                raise TimeoutError
            return results[0]
    finally:
        try:
            if thread.is_alive() and not finished.is_set():
                _stop(thread, finished, importing)
        finally:
            for stream in muted:
                stream.write_own = len  # it is kept, and must hold nothing; len drops the text
            if finished.is_set() or not thread.is_alive():  # one left behind stays muted
                sys.stdout, sys.stderr = streams


def _ended(thread, finished):
    """Whether the work has ended within a slice; a thread stopped on its way out says nothing."""
    return finished.wait(SLICE) or not thread.is_alive()


def _stop(thread, finished, importing, patience=1.0):
    """Raise Stopped in the thread, again and again if need be, until it has finished."""
    ends = time.monotonic() + patience
    while not _ended(thread, finished) and time.monotonic() < ends + importing.lasted:
        if not importing.look():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
            )


class _Importing:
    """Looks, slice by slice, whether a thread is importing a module, and counts the seconds."""

    def __init__(self, thread):
        self._thread = thread
        self._looked = time.monotonic()
        self.lasted = 0.0

    def look(self):
        """Whether it is importing now, and has not done so for too long."""
        before, self._looked = self._looked, time.monotonic()
        frame = sys._current_frames().get(self._thread.ident)
        while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
            frame = frame.f_back
        if frame is None or self.lasted > IMPORTS:
            return False
        self.lasted += self._looked - before
        return True


# print() borrows sys.stdout without owning it: if we freed a stream while some thread prints to
# it, Python would crash. So the few bytes of each are kept.
_kept = []


class _Muted:
    """A stream that hands what one thread writes to `write_own` and passes on the rest."""

    def __init__(self, stream, thread, write_own):
        self._stream = stream
        self._thread = thread
        self.write_own = write_own

    def write(self, text):
        if threading.current_thread() is self._thread:
            self.write_own(text)
            return len(text)
        return self._stream.write(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._stream, name)
