"""Run a learner's code for a limited time, on every platform and in any kernel."""

import contextvars
import ctypes
import sys
import threading
import time
import warnings

__all__ = ["Stopped", "limited"]


class Stopped(SystemExit):
    """Raised inside the thread whose time is up; a thread that ends by SystemExit ends silently.

    A bare `except` around the endless work would swallow it. But Python creates the exception in
    the thread itself, so we can have every running function there traced from now on: at the next
    line, which is the handler's, Stopped is raised again, and nothing catches it there.
    """

    def __init__(self, *args):
        super().__init__(*args)
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_qualname != "limited.<locals>.run":
            frame.f_trace = _raise_again
            frame = frame.f_back
        sys.settrace(lambda *new_function: None)


def _raise_again(frame, event, argument):
    if event == "line":
        raise SystemExit
    return _raise_again


def limited(work, seconds):
    """Return work(), or raise TimeoutError if it takes longer than `seconds`.

    work() runs in a thread of its own, because signals exist neither on Windows nor outside the
    main thread. What it prints is dropped, its warnings are ignored. When the time is up, or the
    kernel is interrupted, the thread is stopped; one that cannot be (it sleeps, or swallows
    every exception) is left behind, silent, and the caller goes on. Only a single call into
    compiled code that never lets Python run (9**9**9) holds everybody up.

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
            finished.set()

    thread = threading.Thread(target=run, daemon=True)
    streams = sys.stdout, sys.stderr
    muted = [_Muted(stream, thread) for stream in streams]
    _kept.extend(muted)
    sys.stdout, sys.stderr = muted
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thread.start()
            deadline = time.monotonic() + seconds
            # In slices: on Windows an interrupt is not seen during one long wait.
            while not finished.wait(0.05) and time.monotonic() < deadline:
                pass
            if not results:
                raise TimeoutError
            return results[0]
    finally:
        if not finished.is_set():
            _stop(thread, finished)
        if finished.is_set():  # otherwise the thread left behind stays muted
            sys.stdout, sys.stderr = streams


def _stop(thread, finished, patience=1.0):
    """Raise Stopped in the thread, again and again if need be, until it has finished."""
    deadline = time.monotonic() + patience
    while not finished.wait(0.05) and time.monotonic() < deadline:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
        )


# print() borrows sys.stdout without owning it: if we freed a stream while some thread prints to
# it, Python would crash. So the few bytes of each are kept.
_kept = []


class _Muted:
    """A stream that drops what one thread writes and passes on the rest."""

    def __init__(self, stream, thread):
        self._stream = stream
        self._thread = thread

    def write(self, text):
        if threading.current_thread() is self._thread:
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name):
        return getattr(self._stream, name)
