"""The live curve of training in a real JupyterLab: it grows while its cell still runs."""

import re

from playwright.sync_api import expect

from helpers.widgets.lines.widget import in_words

SET_UP = """
import time
from pathlib import Path

import torch
from helpers.training import train

model = torch.nn.Linear(1, 1)

def batches():
    for step in range(200):
        while step == 150 and not Path("seen").exists():
            time.sleep(0.01)
        yield (torch.ones(4, 1),)

def loss(model, batch):
    time.sleep(0.01)
    return (model(batch[0]) ** 2).mean()
"""
RUN = """() => {
    window.jupyterapp.commands.execute("notebook:run-all-cells")
        .finally(() => { window.ran = true; });
}"""


def test_the_curve_grows_while_the_cell_runs(open_clean, lab):
    notebook = open_clean([SET_UP, "history = train(model, loss, batches(), 200)"], run=False)
    notebook.page.evaluate(RUN)
    cell, status = notebook.cell(1), notebook.widget(1).locator(".tn-status")
    # The crosshair stands in the middle, where there is nothing until training has come so far.
    expect(status).to_have_text("step = 100: training no value", timeout=60_000)
    expect(status).to_have_text(re.compile(r"step = 100: training \d"), timeout=30_000)
    assert not notebook.page.evaluate("window.ran")

    (lab[1] / "seen").touch()  # the last quarter has waited for this
    notebook.page.wait_for_function("window.ran")
    expect(cell).to_contain_text("200/200")  # the progress bar
    last = in_words(float(notebook.python("print(history.losses[-1])")))
    notebook.widget(1).get_by_role("slider").press("End")
    expect(status).to_have_text(f"step = 200: training {last}")
    stored = notebook.page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel
            .toJSON().cells[1].outputs.map((o) => o.data?.["text/html"]).join()"""
    )
    assert f'<th scope="row">200</th><td>{last}</td>' in stored
