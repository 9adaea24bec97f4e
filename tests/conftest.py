"""For every test: no network beyond this machine, an empty board, and threads that wait calmly."""

import os
import tempfile
from pathlib import Path

# Kernels and other processes started by tests inherit these. The folder `offline` holds a
# sitecustomize.py, which every Python imports at its start, that refuses to leave the machine.
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "offline")
os.environ["TRANSFORMER_NOTEBOOKS_PROGRESS"] = str(Path(tempfile.mkdtemp()) / "progress.json")

# Tests run side by side. Threads that wait by spinning would take the time that others compute in.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
