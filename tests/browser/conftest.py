"""A real JupyterLab and a real browser, for tests of what a learner sees and types."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from helpers.bootstrap import LAB_DEFAULTS

ROOT = Path(__file__).parents[2]
TOKEN = "test"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Limits are there to end what hangs, also on a machine with ten other things to do.
PATIENCE = 300  # seconds for a page or a server to open
expect.set_options(timeout=60_000)


def chromium():
    """The browser's path, or a skip that says what is missing; where CI is set, a failure."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        message = "No Chromium here: install it, or set CHROMIUM to its path, to test the widgets."
        if os.environ.get("CI"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab on this machine only: its address and its folder, which is a temporary one."""
    chromium()
    root = tmp_path_factory.mktemp("lab")
    defaults = root / "defaults"  # those of `make lab`
    defaults.mkdir()
    (defaults / "overrides.json").write_text(json.dumps(LAB_DEFAULTS))
    settings(root, "apputils-extension/notification", checkForUpdates=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(root / "config"),
        "JUPYTER_RUNTIME_DIR": str(root / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}"),
        *("--LabApp.expose_app_in_browser=True", f"--LabApp.app_settings_dir={defaults}"),
    ]
    address = f"http://127.0.0.1:{port}"
    with open(root / "lab.log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=root)
    try:
        wait_for_server(address, server, root / "lab.log")
        yield address, root
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def wait_for_server(address, server, log, seconds=PATIENCE):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2).close()
            return
        except OSError:
            time.sleep(0.3)
    pytest.fail("JupyterLab did not start:\n" + log.read_text()[-2000:], pytrace=False)


def settings(root, plugin, **values):
    """Write a JupyterLab setting; a page reads them when it opens."""
    path = root / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


@pytest.fixture(scope="module")
def browser(lab):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


class Notebook:
    """An open notebook: its page, what went wrong on it, and its outputs."""

    def __init__(self, page, address):
        self.page = page
        self.errors = []  # what the browser's console calls an error
        self.outside = []  # addresses of requests that leave this machine
        at_home = (address, address.replace("http", "ws", 1), "data:", "blob:")
        page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda r: r.url.startswith(at_home) or self.outside.append(r.url))
        page.on("websocket", lambda s: s.url.startswith(at_home) or self.outside.append(s.url))

    def run(self, timeout=2 * PATIENCE):
        """Run all cells and wait for the last one; AssertionError if one failed unexpectedly."""
        self.page.evaluate(
            """() => {
                window.ran = false;
                window.jupyterapp.commands.execute("notebook:run-all-cells")
                    .finally(() => { window.ran = true; });
            }"""
        )
        self.page.wait_for_function("() => window.ran", timeout=timeout * 1000)
        problems = self.page.evaluate(
            """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel
                .toJSON().cells.filter(c => !c.metadata.tags?.includes("raises-exception"))
                .flatMap(c => c.outputs ?? []).filter(o => o.output_type === "error")
                .map(o => o.ename + ": " + o.evalue)"""
        )
        assert not problems, problems

    def python(self, code):
        """Run code in the notebook's kernel, outside its cells, and return what it prints."""
        return self.page.evaluate(
            """async (code) => {
                const notebook = window.jupyterapp.shell.currentWidget;
                const future = notebook.sessionContext.session.kernel.requestExecute({ code });
                let printed = "";
                future.onIOPub = (message) => {
                    const { text, evalue } = message.content;
                    printed += text ?? evalue ?? "";
                };
                await future.done;
                return printed.trim();
            }""",
            code,
        )

    def soon(self, probe, expected, seconds=60):
        """What probe() returns as soon as it is what is expected, or what it returns at last."""
        limit = time.monotonic() + seconds
        while (value := probe()) != expected and time.monotonic() < limit:
            self.page.wait_for_timeout(50)
        return value

    def change_theme(self, theme):
        """Change the theme of the open page to "light" or "dark"."""
        self.page.evaluate(
            """(theme) => window.jupyterapp.commands.execute("apputils:change-theme", { theme })""",
            f"JupyterLab {theme.title()}",
        )
        light = "true" if theme == "light" else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")

    def cell(self, index):
        """The cell with this index, counted from 0, as a locator."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def widget(self, index, view=0):
        """A custom widget in the output of a cell."""
        return self.cell(index).locator(".tn-widget").nth(view)

    def active_cell(self):
        """The index of the cell that JupyterLab takes as active."""
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
        )

    def activate(self, index):
        """Make this cell the active one."""
        self.page.evaluate(
            "i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", index
        )

    def expect_keys_back(self, index):
        """Escape leaves the widget of this cell, and the arrows move between cells again."""
        assert self.active_cell() == index
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("ArrowDown")
        assert self.active_cell() == index + 1

    def scroll(self, to):
        """Scroll a windowed notebook to this many pixels from its top."""
        self.page.evaluate(
            "to => document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, to)", to
        )

    def accessibility_findings(self):
        """What axe-core finds inside the custom widgets, as text; empty if nothing."""
        findings = Axe().run(self.page, context={"include": [[".tn-widget"]]})
        return findings.generate_report() if findings.violations_count else ""


@contextlib.contextmanager
def opening(lab, browser):
    """A function that opens notebooks; at last their pages are closed and their kernels ended."""
    address, root = lab
    contexts = []

    def open_(cells, theme="light", width=1100, scale=1, windowing="none", run=True):
        path = root / f"scratch-{len(list(root.glob('scratch-*')))}.ipynb"
        if isinstance(cells, Path):
            shutil.copy(cells, path)
        else:
            code = [nbformat.v4.new_code_cell(c) if isinstance(c, str) else c for c in cells]
            kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
            nbformat.write(nbformat.v4.new_notebook(cells=code, metadata=kernel), path)
        settings(root, "apputils-extension/themes", theme=f"JupyterLab {theme.title()}")
        settings(root, "notebook-extension/tracker", windowingMode=windowing)
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, device_scale_factor=scale
        )
        context.set_default_timeout(PATIENCE * 1000)
        contexts.append(context)
        page = context.new_page()
        notebook = Notebook(page, address)
        page.goto(f"{address}/lab/workspaces/{path.stem}/tree/{path.name}?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
        )
        # Only the notebook, so that the window's width is the notebook's.
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        if run:
            notebook.run()
        return notebook

    yield open_
    for context in contexts:
        context.close()
    for session in json.loads(ask(address, "sessions")):
        with contextlib.suppress(urllib.error.HTTPError):  # a kernel that has ended already
            ask(address, f"sessions/{session['id']}", "DELETE")


def ask(address, what, method="GET"):
    """What JupyterLab answers to a request of its interface."""
    request = urllib.request.Request(f"{address}/api/{what}?token={TOKEN}", method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read()


@pytest.fixture(scope="module")
def open_notebook(lab, browser):
    """open_notebook(cells, theme="light", …): a notebook of these code cells, opened and run.

    `cells` are sources of code cells, or finished cells, or the path of a notebook, of which a copy
    is opened; with run=False it is only opened.
    """
    with opening(lab, browser) as open_:
        yield open_


@pytest.fixture
def open_for_now(lab, browser):
    """The same, for notebooks that end with the test."""
    with opening(lab, browser) as open_:
        yield open_


@pytest.fixture
def open_clean(open_notebook):
    """open_notebook, and afterwards: nothing on the console, no request left the machine."""
    opened = []

    def open_(*arguments, **options):
        opened.append(open_notebook(*arguments, **options))
        return opened[-1]

    yield open_
    for notebook in opened:
        assert (notebook.errors, notebook.outside) == ([], [])
