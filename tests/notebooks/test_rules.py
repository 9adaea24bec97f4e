"""What every notebook must keep to, read off the files as they are stored."""

import ast
import dis
import re
import types
from itertools import pairwise

import pytest

from helpers.exercises.engine.chapters import find
from helpers.export import blocks
from helpers.notebooks import (
    BLOCKS,
    COMPREHENSIONS,
    bound_names,
    needed_names,
    notebook_paths,
    read,
)

PATHS = notebook_paths()
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return read(path)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def markdown_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell):
    return cell.metadata.get("tags", [])


def outputs(notebook, kind):
    return [o for cell in code_cells(notebook) for o in cell.outputs if kind in o.get("data", {})]


def headings(source):
    without_code = re.sub(r"```.*?```", "", source, flags=re.S)
    return re.findall(r"^(#+) +(.+)$", without_code, flags=re.M)


def test_blocks_are_fresh():
    wanted = {}
    for path in PATHS:
        wanted.update(blocks(path))
    found = {p.stem: p.read_text("utf-8") for p in BLOCKS.glob("*.py") if p.stem != "__init__"}
    assert found == wanted, "run `make export`"


def test_every_code_cell_was_executed_in_order(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "run `make execute`"


def test_errors_are_announced_and_explained(notebook):
    for cell, after in pairwise(notebook.cells):
        failed = any(o.output_type == "error" for o in cell.get("outputs", []))
        assert failed == ("raises-exception" in tags(cell)), cell.source
        if failed:
            assert after.cell_type == "markdown", f"explain the error of: {cell.source}"


def test_claims_left_their_ticks(notebook):
    for cell in code_cells(notebook):
        printed = "".join(o.text for o in cell.outputs if o.output_type == "stream")
        if re.search(r"^claim\(", cell.source, flags=re.M):
            assert "✓ " in printed, cell.source


def test_only_tagged_cells_are_ignored_and_each_is_followed_by_a_claim(notebook):
    cells = code_cells(notebook)
    for k, cell in enumerate(cells):
        assert not {"nbval-skip", "nbval-raises-exception"} & set(tags(cell))
        assert "NBVAL" not in cell.source, "use the cell's tags"
        if "nbval-ignore-output" in tags(cell):
            compared = [c for c in cells[k + 1 :] if "nbval-ignore-output" not in tags(c)]
            assert any("claim(" in c.source for c in compared[:3]), f"no claim after: {cell.source}"


def test_what_an_exercise_defines_is_defined_and_used_nowhere_else(notebook):
    """Or a learner's answer would change what comes later, and later cells the answer."""
    of_exercises, of_others = set(), set()
    for cell in code_cells(notebook):
        if "exercise" in tags(cell):
            of_exercises |= bound_names(cell)
        elif "check" not in tags(cell):
            of_others |= bound_names(cell) | needed_names(cell)
    assert not of_exercises & of_others


def looked_up(code):
    """The names that a function looks up in the notebook whenever it is called."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    return names.union(*(looked_up(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def test_no_later_cell_changes_what_a_widget_calls(notebook):
    """Or it would show something else, or fail, for who comes back to it from the end."""
    cells, functions = code_cells(notebook), {}
    for place, cell in enumerate(cells):
        inside = [
            (code.co_name, looked_up(code))
            for code in compile(cell.source, "cell", "exec").co_consts
            if isinstance(code, types.CodeType) and code.co_name not in COMPREHENSIONS
        ]
        functions.update(inside)
        if not any(WIDGET in output.get("data", {}) for output in cell.outputs):
            continue
        called, names = set(), needed_names(cell).union(*(names for _, names in inside))
        used = set().union(*(names for _, names in inside))
        while found := (names | used) & functions.keys() - called:
            called |= found
            used = used.union(*(functions[name] for name in found))
        for later in cells[place + 1 :]:
            assert not used & bound_names(later), later.source


def test_exercises_are_headed_by_their_titles(notebook):
    headed = {text for cell in markdown_cells(notebook) for _, text in headings(cell.source)}
    for cell in code_cells(notebook):
        if "check" in tags(cell):
            exercise = find(ast.parse(cell.source).body[0].value.args[0].value)
            assert f"Exercise {exercise.id} {'★' * exercise.stars} {exercise.title}" in headed


def test_nothing_is_left_over_from_writing(notebook):
    """No placeholder on a line of its own, and no backslash that became a control character."""
    for cell in notebook.cells:
        assert not re.search(r"[^\n\x20-\U0010ffff]", cell.source), cell.source
    for cell in markdown_cells(notebook):
        assert not re.search(r"^[A-Z_]{4,}$", cell.source, flags=re.M), cell.source


def test_size(path):
    assert path.stat().st_size < 1_000_000


def test_cells_are_short(notebook):
    for cell in code_cells(notebook):
        assert len(cell.source.splitlines()) <= 30, cell.source
    assert len(code_cells(notebook)[0].source.splitlines()) <= 8, "the set-up cell is too long"


def test_links_lead_somewhere(path, notebook):
    for cell in markdown_cells(notebook):
        for target in re.findall(r"(?:\]\(|src=[\"']|href=[\"'])([^)\"'\s]+)", cell.source):
            if "://" in target:
                continue
            file, _, anchor = target.partition("#")
            linked = path.parent / file if file else path
            assert linked.exists(), target
            if anchor:
                known = {
                    title.strip().replace(" ", "-")
                    for other in markdown_cells(read(linked))
                    for _, title in headings(other.source)
                }
                assert anchor in known, target


def test_headings_go_down_one_level_at_a_time(notebook):
    levels = [len(h) for cell in markdown_cells(notebook) for h, _ in headings(cell.source)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


def test_figures_are_described(notebook):
    assert not outputs(notebook, "image/svg+xml") and not outputs(notebook, "image/jpeg")
    for output in outputs(notebook, "image/png"):
        description = output.data.get("text/plain", "")
        assert len(description) > 20 and not description.startswith("<"), "use plots.figure"
        assert output.metadata["image/png"]["alt"] == description


def test_widgets_have_words_and_a_static_table(notebook):
    shown = outputs(notebook, WIDGET)
    assert len(shown) >= 3, "a notebook has at least three widgets"
    for output in shown:
        assert len(output.data["text/plain"]) > 20 and "0x" not in output.data["text/plain"]
        assert "<table" in output.data["text/html"]


def test_no_widget_state_is_stored(notebook):
    assert "widgets" not in notebook.metadata


def test_cell_ids_are_unique(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


def minutes_to_read(notebook, with_stars):
    """What a notebook costs a learner: its prose, its code, and its exercises of so many stars.

    Ten seconds for 25 words or a line of code; five, ten and forty minutes for an exercise of one,
    two and three stars, its stub and its check included.
    """
    prose = " ".join(re.sub(r"<[^>]+>", " ", cell.source) for cell in markdown_cells(notebook))
    words = sum(bool(re.search(r"[^\W_]", word)) for word in prose.split())
    stars, lines = [], 0
    for cell in code_cells(notebook):
        if "check" in tags(cell):
            stars.append(find(ast.parse(cell.source).body[0].value.args[0].value).stars)
        elif "exercise" not in tags(cell):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
    return (words / 25 + lines) / 6 + sum((5, 10, 40)[s - 1] for s in stars if s in with_stars)


def test_the_promised_time_is_a_readers(notebook):
    """As in "about 255 minutes for you, 295 with the backward pass by hand (5.9)"."""
    (promise,) = re.findall(r"^\| Time \| (.*) \|$", notebook.cells[0].source, flags=re.M)
    without, with_three = re.match(
        r"about (\d+) minutes for you(?:, (\d+) with .* \(\d+\.\d+\))?", promise
    ).groups()
    assert int(without) == pytest.approx(minutes_to_read(notebook, (1, 2)), rel=0.25)
    in_all = minutes_to_read(notebook, (1, 2, 3))
    assert int(with_three or without) == pytest.approx(in_all, rel=0.25)


def test_slides_are_set(notebook):
    assert all("slide_type" in cell.metadata.get("slideshow", {}) for cell in notebook.cells)


def test_prose_stays_calm(notebook):
    for cell in markdown_cells(notebook):
        assert not re.search(
            r"[A-Za-z]!|\b(simply|obviously|trivially|clearly)\b", cell.source, re.I
        ), cell.source
