"""A learner's answer may take only so much memory, where the system can see to it: on Linux."""

import os
import sys

__all__ = ["LimitedMemory"]

ALLOWANCE = 4 * 2**30  # bytes that an answer may take on top of what the kernel holds already


class LimitedMemory:
    """Within it, a request for more than that raises MemoryError; afterwards all is as before.

    What counts is memory to write to. Address space would not do: importing PyTorch, or waking a
    GPU, reserves far more of it than is ever used.
    """

    def __init__(self):
        self._before = None

    def __enter__(self):
        held = _held()
        if held is not None:
            import resource  # which Windows does not have

            soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            limited = min([held + ALLOWANCE, *limits]), hard
            self._before = resource.RLIMIT_DATA, (soft, hard)
            resource.setrlimit(resource.RLIMIT_DATA, limited)

    def __exit__(self, *error):
        self.lift()

    def lift(self):
        """End it now, if it has not ended; asks for no memory."""
        before, self._before = self._before, None
        if before:
            sys.modules["resource"].setrlimit(*before)


def _held():
    """Bytes of this process that can be written to, as Linux counts them; None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # a container that hides it
        return None
