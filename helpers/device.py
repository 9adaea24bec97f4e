"""Which device PyTorch runs on, in words, and fair measurements of time and memory on it."""

import os
import platform
import time
import tracemalloc

# The profiler, which measures memory on the CPU, would write its log into the notebook. It reads
# the variable when torch is imported.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import torch

__all__ = ["describe", "peak_bytes", "pick_device", "seconds"]


def pick_device():
    """The best device here: an NVIDIA (or AMD) GPU, else Apple's GPU, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe(device):
    """One sentence about the device, for people."""
    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        return f"PyTorch runs on the GPU {card.name} with {card.total_memory / 2**30:.0f} GiB."
    if device.type == "mps":
        return "PyTorch runs on Apple's GPU, which has no float64: those cells use the CPU."
    return f"PyTorch runs on the CPU ({platform.machine()}) with {torch.get_num_threads()} threads."


def synchronize(device):
    """Wait until the device has done all it was asked: a GPU works on while Python goes on."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def seconds(work, device=None, repeats=5):
    """Least wall time of work() in seconds, after one call that does not count.

    The least of several, because whatever else the machine does can only add to it.
    device: a torch.device whose queue is waited for, or None for work that uses no device.
    """
    times = []
    for _ in range(repeats + 1):
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

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        work()
    held = peak = 0
    for event in record.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak
