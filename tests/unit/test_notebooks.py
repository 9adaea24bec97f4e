"""A notebook cut down to some of its cells keeps all that these rest on."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers.notebooks import bound_names, needed_names, only_what_needs


@pytest.mark.parametrize(
    ("source", "needed", "bound"),
    [
        ("x = y + 1", {"y"}, {"x"}),
        ("x = x + 1", {"x"}, {"x"}),
        ("x = 1\ny = x", set(), {"x", "y"}),
        ("x[0] = y", {"x", "y"}, {"x"}),
        ("x.rate = y", {"x", "y"}, {"x"}),
        ("x += 1", {"x"}, {"x"}),
        ("for n in X:\n    print(n)", {"X", "print"}, {"n"}),
        ("x = [a for a in b]", {"b"}, {"x"}),
        ("x = [a * c for a in b]", {"b", "c"}, {"x"}),
        ("def f(a):\n    b = a\n    return b + c", {"c"}, {"f"}),
        ("f = lambda a: a + b", {"b"}, {"f"}),
        ("import numpy as np\nfrom math import exp", set(), {"np", "exp"}),
        ("class A(B):\n    c = d\n    def e(self):\n        return g", {"B", "d", "g"}, {"A"}),
    ],
)
def test_names_that_a_cell_needs_and_binds(source, needed, bound):
    cell = new_code_cell(source)
    assert needed_names(cell) - {"__name__"} == needed
    assert bound_names(cell) == bound


def cut(sources, wanted):
    cells = [new_markdown_cell("text"), *map(new_code_cell, sources)]
    notebook = only_what_needs(new_notebook(cells=cells), lambda cell: cell.source in wanted)
    return [cell.source for cell in notebook.cells]


def test_what_a_cell_rests_on_is_kept_in_order_and_no_more():
    sources = ["set_up = 1", "a = 1", "b = a", "c = 2", "d = b", "e = d"]
    assert cut(sources, ["d = b"]) == ["set_up = 1", "a = 1", "b = a", "d = b"]


def test_a_change_of_what_it_needs_is_kept():
    sources = ["set_up = 1", "a = {}", "a['x'] = 1", "b = a"]
    assert cut(sources, ["b = a"]) == sources


@pytest.mark.parametrize("again", ["a = 1", "if x:\n    a = 1", "import a", "def a():\n    pass"])
def test_what_is_bound_anew_is_not_kept(again):
    assert cut(["x = 1", "a = 0", again, "b = a"], ["b = a"]) == ["x = 1", again, "b = a"]


@pytest.mark.parametrize(
    "perhaps",
    [
        "if x > 1:\n    a = 1",
        "if x:\n    a = 1\nelse:\n    c = 1",
        "for a in x:\n    pass",
        "a += 1",
    ],
)
def test_what_may_stay_as_it_was_is_kept(perhaps):
    sources = ["x = 1", "a = 0", perhaps, "b = a"]
    assert cut(sources, ["b = a"]) == sources


def test_later_cells_are_kept_where_a_function_needs_what_they_bind():
    """Or a widget that a later cell breaks would seem sound."""
    function = "def f():\n    return a"
    sources = ["set_up = 1", "a = 1", function, "b = f()", "z = 2", "a = z", "c = 3"]
    assert cut(sources, ["b = f()"]) == sources[:-1]
    assert cut(["set_up = 1", "a = 1", "b = a", "a = 2"], ["b = a"])[-1] == "b = a"
