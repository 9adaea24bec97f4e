"""For every test: no network beyond this machine, an empty board, and threads that wait calmly."""

import os
import tempfile
from pathlib import Path

from hypothesis import settings

# Kernels and other processes started by tests inherit these. The folder `offline` holds a
# sitecustomize.py, which every Python imports at its start, that refuses to leave the machine.
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "offline")
os.environ["TRANSFORMER_NOTEBOOKS_PROGRESS"] = str(Path(tempfile.mkdtemp()) / "progress.json")

# Stored outputs were made on the CPU; what differs on a GPU is no fault.
os.environ["TRANSFORMER_NOTEBOOKS_DEVICE"] = "cpu"

# Tests run side by side. Threads that wait by spinning would take the time that others compute in.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

# Two busy cores make any deadline a coin toss; in CI the examples are the same every time.
settings.register_profile("calm", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("calm")
