"""A learner's answer may take only so much memory, where the system can see to it: on Linux."""

import os
import sys
import threading

__all__ = ["LimitedMemory"]

ALLOWANCE = 4 * 2**30  # bytes that an answer may take on top of what the kernel holds already


class LimitedMemory:
    """Within it, a request for more than that raises MemoryError; afterwards all is as before.

    It is entered and left by the thread that does the work: one that cannot be stopped stays
    limited, and the kernel with it, until it ends. What counts is memory to write to. Address space
    would not do: importing PyTorch, or waking a GPU, reserves far more of it than is ever used.
    """

    _lock = threading.Lock()
    _inside = 0  # threads
    _before = None  # the limits of the process, from before the first of them

    def __enter__(self):
        held = _held()
        if held is None:
            return
        import resource  # which Windows does not have

        with self._lock:
            LimitedMemory._inside += 1
            if self._inside > 1:  # a limit that rose with every further answer would be none
                return
            LimitedMemory._before = resource.getrlimit(resource.RLIMIT_DATA)
            soft, hard = self._before
            limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            limited = min([held + ALLOWANCE, *limits])
            resource.setrlimit(resource.RLIMIT_DATA, (limited, hard))

    def __exit__(self, *error):  # asks for next to no memory: there may be none left
        with self._lock:
            if self._inside:
                LimitedMemory._inside -= 1
                if not self._inside:
                    resource = sys.modules["resource"]
                    resource.setrlimit(resource.RLIMIT_DATA, self._before)


def _held():
    """Bytes of this process that can be written to, as Linux counts them; None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # a container that hides it
        return None
