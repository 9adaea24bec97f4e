"""A learner's answer may take only so much memory, where the system can see to it: on Linux."""

import os
import sys
import threading
from typing import ClassVar

__all__ = ["LimitedMemory"]

ALLOWANCE = 4 * 2**30  # bytes that an answer may take on top of what the kernel holds already


class LimitedMemory:
    """Within it, a request for more than that raises MemoryError; afterwards all is as before.

    It is entered and left by the thread that does the work: one that cannot be stopped stays
    limited, and the kernel with it, until it ends. What counts is memory to write to. Address space
    would not do: importing PyTorch, or waking a GPU, reserves far more of it than is ever used.
    """

    _lock = threading.Lock()
    _inside: ClassVar = {}  # thread → the limits that it found
    _before = None  # the limits of the process, from before the first of them

    def __enter__(self):
        held = _held()
        if held is None:
            return
        import resource  # which Windows does not have

        with self._lock:
            found = resource.getrlimit(resource.RLIMIT_DATA)
            if not self._inside:
                LimitedMemory._before = found
            # A thread that was stopped on its way out may have ended without a word.
            LimitedMemory._inside = {t: own for t, own in self._inside.items() if t.is_alive()}
            if not self._inside:
                found = self._before
            self._inside[threading.current_thread()] = found
            soft, hard = found  # beside a thread left behind, the limit may fall, but not rise
            limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            limited = min([held + ALLOWANCE, *limits])
            resource.setrlimit(resource.RLIMIT_DATA, (limited, hard))

    def __exit__(self, *error):  # asks for next to no memory: there may be none left
        with self._lock:
            found = self._inside.pop(threading.current_thread(), None)
            if found:
                resource = sys.modules["resource"]
                limits = found if self._inside else self._before
                resource.setrlimit(resource.RLIMIT_DATA, limits)


def _held():
    """Bytes of this process that can be written to, as Linux counts them; None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # a container that hides it
        return None
