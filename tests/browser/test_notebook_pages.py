"""The widgets of every notebook in a real JupyterLab, in both themes: they show and they answer.

Each page holds the cells with widgets and what these rest on, and where these train a network, it
learns for a few steps only: the whole notebooks are run, and their claims tested, by nbval.
"""

import pytest
from nbformat.v4 import new_code_cell

from helpers.notebooks import notebook_paths, only_what_needs, read

# The first cell of a page with networks: what later cells import as `train` and `claim`.
FEW_STEPS = """
import helpers.claims
import helpers.training

in_full = helpers.training.train


def train(model, loss, batches, steps, **options):
    return in_full(model, loss, batches, min(steps, 20), **options | {"warm_up": 1})


helpers.training.train = train
helpers.claims.claim = lambda words, holds: None  # what has hardly learned proves nothing
"""
TRAINING = "helpers.training", "helpers.experiments"  # the modules that train


def shows_a_widget(cell):
    return any(
        "application/vnd.jupyter.widget-view+json" in o.get("data", {}) for o in cell.outputs
    )


def page(path):
    """The code cells of a notebook's page."""
    cells = only_what_needs(read(path), shows_a_widget).cells
    trains = any(module in cell.source for cell in cells for module in TRAINING)
    return [new_code_cell(FEW_STEPS), *cells] if trains else cells


@pytest.mark.parametrize("path", notebook_paths(), ids=lambda path: path.stem)
def test_a_notebook_runs_in_the_browser(open_for_now, path):
    notebook = open_for_now(page(path))
    # Every output that announces a widget holds one, and not the words that say it is missing.
    announced = notebook.page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel
            .toJSON().cells.flatMap(c => c.outputs ?? [])
            .filter(o => o.data?.["application/vnd.jupyter.widget-view+json"]).length"""
    )
    shown = notebook.page.locator(".jp-OutputArea-output > .jupyter-widgets, .tn-widget")
    assert notebook.soon(shown.count, announced) == announced
    assert all(widget.bounding_box()["height"] > 20 for widget in shown.all())
    # Widgets call the notebook's functions: they must still answer after its last cell.
    for slider in notebook.page.locator(".tn-widget input[type=range]").all():
        slider.focus()
        for key in ("ArrowRight", "ArrowLeft"):
            notebook.page.keyboard.press(key)
            notebook.python("pass")  # comes after the widget's question, and so does its answer
    buttons = notebook.page.locator(".tn-order-buttons button").all()
    for box in notebook.page.locator(".tn-widget input[type=checkbox]").all():
        buttons += [box, box]  # off and on again, or the other way round
    for button in buttons:
        button.click()
        notebook.python("pass")
    for choice in notebook.page.locator(".tn-widget select").all():
        chosen = choice.input_value()
        for value in (choice.locator("option").last.inner_text(), chosen):
            choice.select_option(value)
            notebook.python("pass")
    notebook.page.wait_for_timeout(500)
    problems = notebook.page.locator(".tn-problem:not([hidden])").all_inner_texts()
    assert not problems, problems
    for theme in ("light", "dark"):
        notebook.change_theme(theme)
        assert not notebook.accessibility_findings(), theme
    assert not notebook.errors
    assert not notebook.outside
