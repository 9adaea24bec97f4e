"""For every test: no network beyond this machine, an empty board, and threads that wait calmly."""

import os
import tempfile
from pathlib import Path

from hypothesis import settings

from helpers.notebooks import ENVIRONMENT, ROOT

# Kernels and other processes started by tests inherit these. The folder `offline` holds a
# sitecustomize.py, which every Python imports at its start, that refuses to leave the machine. And
# they test this copy of the project, whichever one is installed.
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent / "offline"), str(ROOT)])
os.environ["TRANSFORMER_NOTEBOOKS_PROGRESS"] = str(Path(tempfile.mkdtemp()) / "progress.json")
os.environ.update(ENVIRONMENT)
if "PYTEST_XDIST_WORKER" in os.environ:  # the processes share the cores among them already
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Two busy cores make any deadline a coin toss; in CI the examples are the same every time.
settings.register_profile("calm", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("calm")
