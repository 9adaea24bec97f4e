"""Which device PyTorch runs on, in words, and fair measurements of time and memory on it."""

import contextlib
import os
import platform
import sys
import time
import tracemalloc

__all__ = ["describe", "one_thread", "peak_bytes", "pick_device", "seconds"]


def pick_device():
    """The best device here: an NVIDIA (or AMD) GPU, else Apple's GPU, else the CPU.

    The environment variable TRANSFORMER_NOTEBOOKS_DEVICE ("cpu", "cuda:1") decides otherwise.
    """
    import torch

    if name := os.environ.get("TRANSFORMER_NOTEBOOKS_DEVICE"):
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe(device):
    """One sentence about the device, for people."""
    import torch

    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        return f"PyTorch runs on the GPU {card.name} with {card.total_memory / 2**30:.0f} GiB."
    if device.type == "mps":
        return "PyTorch runs on Apple's GPU, which has no float64: those cells use the CPU."
    threads = torch.get_num_threads()
    plural = "" if threads == 1 else "s"
    return f"PyTorch runs on the CPU ({platform.machine()}) with {threads} thread{plural}."


@contextlib.contextmanager
def one_thread():
    """Let PyTorch compute on one core, in a `with` block or, as a decorator, in a function.

    Networks as small as a lesson's train faster so: their products are too small to be shared.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def synchronize(device):
    """Wait until the device has done all it was asked: a GPU works on while Python goes on."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def seconds(work, device=None, at_least=0.2):
    """Least wall time of work() in seconds, after one call that does not count.

    The least of at least five, because whatever else the machine does can only add to it; and
    again until `at_least` seconds have passed, because threads that wait for each other may stall
    the first dozen calls.
    device: a torch.device whose queue is waited for, or None for work that uses no device.
    """
    times = []
    while len(times) < 6 or sum(times) < at_least:
        start = time.perf_counter()
        work()
        if device is not None:
            synchronize(device)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def peak_bytes(work, device=None):
    """The most memory, in bytes, that one call of work() holds on top of what was there before.

    device: None for NumPy (counted by tracemalloc), or the torch.device that work() uses. On the
    CPU the profiler's record of allocations is summed up; Apple's GPU gives no such record, so
    there the answer is None.
    """
    if device is None:
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            result = work()
            del result
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
    import torch

    if device.type == "cuda":
        synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        work()
        synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    if device.type == "mps":
        return None
    from torch.profiler import ProfilerActivity, profile

    with (
        _stderr_closed(),
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record,
    ):
        work()
    held = peak = 0
    for event in record.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


@contextlib.contextmanager
def _stderr_closed():
    """Keep what compiled code writes to stderr, as the profiler does, out of the notebook."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
