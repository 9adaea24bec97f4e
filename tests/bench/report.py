"""How the bench measures, and how it writes down what it found."""

import datetime
import importlib.metadata
import platform
import statistics
import time
from pathlib import Path

import psutil

from helpers.device import describe, pick_device, synchronize

__all__ = ["REPEATS", "header", "interleaved", "median", "percentile_95", "table"]

REPEATS = 7
SHORTEST = 0.02  # seconds: a sample of less is mostly the clock and the scheduler
PACKAGES = ("torch", "numpy", "matplotlib", "jupyterlab", "ipykernel", "ipywidgets", "anywidget")

median = statistics.median


def percentile_95(samples):
    """The value that 95 of 100 samples do not exceed, read off between the two nearest."""
    return statistics.quantiles(samples, n=20, method="inclusive")[-1]


def interleaved(works, device=None):
    """Median seconds that each work takes: dict from name to seconds.

    works:  dict from a name to a function without arguments. They take turns (A, B, A, B, …), so
            that whatever else the machine does meanwhile burdens all of them alike.
    device: a torch.device whose queue is waited for, or None for work that uses no device.
    """

    def sample(work, calls):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        if device is not None:
            synchronize(device)
        return (time.perf_counter() - start) / calls

    for work in works.values():
        sample(work, 1)  # the first call does not count: it also loads and allocates
    calls = {name: int(SHORTEST / sample(work, 1)) + 1 for name, work in works.items()}
    samples = {name: [] for name in works}
    for _ in range(REPEATS):
        for name, work in works.items():
            samples[name].append(sample(work, calls[name]))
    return {name: median(times) for name, times in samples.items()}


def header():
    """The machine, the day and the versions, as a Markdown list."""
    memory = psutil.virtual_memory().total / 2**30
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return "\n".join(
        [
            f"- Machine: {processor()}, {psutil.cpu_count()} cores, {memory:.0f} GiB, "
            f"{platform.system()}; load average {psutil.getloadavg()[0]:.1f} at the start.",
            f"- {describe(pick_device())}",
            f"- Date: {datetime.date.today().isoformat()}.",
            f"- Versions: Python {platform.python_version()}, {', '.join(versions)}.",
        ]
    )


def processor():
    """The processor's name; on Linux Python itself does not know it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(columns, rows):
    """A Markdown table; every column but the first is set to the right, as numbers are."""
    lines = [columns, [":--", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
