"""What is stored with a notebook."""

import nbformat

from helpers.execute import execute


def test_progress_bars_are_left_out_and_other_output_stays(tmp_path):
    cell = nbformat.v4.new_code_cell(
        "from IPython.display import HTML\n"
        "from tqdm.auto import tqdm\n"
        "print(sum(tqdm(range(3))))\n"
        "HTML('<b>three</b>')"
    )
    printed, shown = execute(nbformat.v4.new_notebook(cells=[cell]), tmp_path).cells[0].outputs
    assert printed.text == "3\n"
    assert shown.data["text/html"] == "<b>three</b>"


def test_widgets_with_a_table_stay(tmp_path):
    cell = nbformat.v4.new_code_cell(
        "from helpers.widgets import Lines, explore_lines\n"
        "explore_lines(Lines([0, 1], {'a': [2, 3]}, 'T', 'x', 'y'))"
    )
    (shown,) = execute(nbformat.v4.new_notebook(cells=[cell]), tmp_path).cells[0].outputs
    assert shown.data["text/html"].startswith("<table ")
    assert "application/vnd.jupyter.widget-view+json" in shown.data
