"""What was typed is what is shown, also where JupyterLab would set it as mathematics."""

from playwright.sync_api import expect

TYPED = r"$x^2$ costs \(y\) or $$z$$ \begin{align}n\end{align}"
SET_UP = f"""
import matplotlib.pyplot as plt
from IPython.display import HTML, Latex, display
from helpers.exercises.engine.box import message_box
from helpers.plots import figure
from helpers.widgets import WordScores, explore_scores

typed = {TYPED!r}
scores = explore_scores(lambda words: WordScores(words, [1] * len(words), 1, typed), typed)
"""


def test_dollars_are_no_mathematics(open_clean):
    shown = ("HTML(scores.fallback())", "message_box(typed)", "figure(plt.figure(), typed)")
    notebook = open_clean([SET_UP, *shown, 'Latex("$x^2$")'])
    # The last cell is mathematics: when it is set, so would be whatever stands above it.
    expect(notebook.cell(4).locator("mjx-container")).to_have_count(1, timeout=60_000)
    for index, text in ((1, "$x^2$"), (2, TYPED), (3, TYPED)):
        output = notebook.cell(index).locator(".jp-OutputArea-output").last
        expect(output).to_contain_text(text, use_inner_text=True)
        expect(output.locator("mjx-container")).to_have_count(0)
