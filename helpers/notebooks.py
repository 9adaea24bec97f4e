"""The collection's notebooks on disk: which there are, how they are read, written and cut down."""

import ast
import dis
import functools
import types
from pathlib import Path

import nbformat

__all__ = [
    "BLOCKS",
    "COMPREHENSIONS",
    "ENVIRONMENT",
    "ROOT",
    "bound_names",
    "needed_names",
    "notebook_paths",
    "only_what_needs",
    "read",
    "topic",
    "write",
]

ROOT = Path(__file__).parents[1]
BLOCKS = ROOT / "helpers" / "blocks"

# Functions of their own until Python 3.11; of these, generators still are.
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}

# Outputs are stored, and later compared, under the same conditions.
ENVIRONMENT = {
    "TRANSFORMER_NOTEBOOKS_DEVICE": "cpu",  # which every reader has
    # Threads that spin while they wait take the time that others compute in, and spoil what is
    # measured on a busy machine.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def notebook_paths(number=""):
    """The notebooks in order, or only those whose number starts with `number`, such as "01".

    Raises SystemExit with one sentence if there is none.
    """
    paths = sorted((ROOT / "notebooks").glob(f"{number}*.ipynb"))
    if not paths:
        raise SystemExit(f"There is no notebook whose name starts with “{number}” in notebooks/.")
    return paths


def topic(path):
    """The module name of a notebook's blocks: 01_self_attention.ipynb → self_attention."""
    return path.stem.partition("_")[2]


def read(path):
    """The notebook at `path` in nbformat's current form."""
    return nbformat.read(path, as_version=4)


def write(notebook, path):
    """Write a notebook as JupyterLab would, so that saving it there changes nothing else."""
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


class _Names:
    """The names of a code cell, as Python compiles it.

    needed:       those it takes from other cells (or from Python itself)
    bound:        those it binds, and those whose entries or attributes it sets
    anew:         of the bound ones those of which nothing is left that they were before; in any
                  case, or under `if name:` alone, which is taken to stand over later uses as well
    in_functions: those that its functions look up when they are called
    """

    def __init__(self, source):
        self.needed, self.bound, self.in_functions = set(), set(), set()
        code = compile(source, "cell", "exec")
        for instruction in dis.get_instructions(code):
            if instruction.opname == "LOAD_NAME":
                self.needed |= {instruction.argval} - self.bound
            elif instruction.opname == "STORE_NAME":
                self.bound.add(instruction.argval)
        self._look_inside(code)
        self.needed |= self.in_functions - self.bound
        tree = ast.parse(source)
        top = compile(ast.Module([*_certain(tree.body)], []), "cell", "exec")
        self.anew = {i.argval for i in dis.get_instructions(top) if i.opname == "STORE_NAME"}
        for node in ast.walk(tree):
            target = node
            while isinstance(target, ast.Subscript | ast.Attribute):
                target = target.value
            if isinstance(getattr(node, "ctx", None), ast.Store) and isinstance(target, ast.Name):
                self.bound |= {target.id} & (self.needed | self.bound)

    def _look_inside(self, code):
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                instructions = list(dis.get_instructions(inner))
                names = {i.argval for i in instructions if "GLOBAL" in i.opname}
                of_class = {i.argval for i in instructions if i.opname == "LOAD_NAME"}
                if of_class or inner.co_name in COMPREHENSIONS:  # which run at once
                    self.needed |= (names | of_class) - self.bound
                else:
                    self.in_functions |= names
                self._look_inside(inner)


_names = functools.cache(_Names)  # the tests ask for the same cells many times


def _certain(statements):
    """The statements that are executed in any case, or under a condition that is one name."""
    for node in statements:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and not node.orelse:
            yield from _certain(node.body)
        elif not isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.Match):
            yield node


def needed_names(cell):
    """The names that a code cell takes from earlier ones, or from Python itself."""
    return set(_names(cell.source).needed)


def bound_names(cell):
    """The names that a code cell binds, and those whose entries or attributes it sets."""
    return set(_names(cell.source).bound)


def only_what_needs(notebook, wanted):
    """Keep of a notebook, in place, the code cells for which wanted(cell), and what they rest on.

    A cell rests on the last cell before it that binds a name that it needs, and on those that
    change it since; and, where a function needs it, on later ones too, for a widget calls its
    function at last. The first cell, the set-up, stays; text goes.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names = [_names(cell.source) for cell in cells]
    kept = {0} | {i for i, cell in enumerate(cells) if wanted(cell)}

    def keep_what_they_rest_on():
        needed = set()
        for i in reversed(range(len(cells))):
            if i in kept or names[i].bound & needed:
                kept.add(i)
                needed = (needed - names[i].anew) | names[i].needed

    keep_what_they_rest_on()
    in_functions = set().union(*(names[i].in_functions for i in kept))
    kept |= {i for i in range(len(cells)) if names[i].bound & in_functions}
    keep_what_they_rest_on()
    notebook.cells = [cells[i] for i in sorted(kept)]
    return notebook
