"""Write the notebooks' reusable definitions to helpers/blocks/: `make export`.

A code cell with the tag `export` holds definitions that later notebooks use. They go to
helpers/blocks/TOPIC.py, with the imports they need; those that use PyTorch go to
helpers/blocks/TOPIC_torch.py, so that the NumPy half of a notebook starts without it.
"""

import ast
import builtins
import subprocess
import sys

from helpers.notebooks import BLOCKS, notebook_paths, read, topic

__all__ = ["blocks", "main"]


def blocks(path):
    """The modules that one notebook exports: dict from a module's name to its source.

    Raises ValueError, naming the notebook, if an exported cell uses a name that is neither
    imported in the notebook nor defined in an exported cell before it.
    """
    cells = [c.source for c in read(path).cells if c.cell_type == "code"]
    exported = [c.source for c in read(path).cells if "export" in c.metadata.get("tags", [])]
    imports = {name: node for cell in cells for name, node in _imported(cell)}
    modules, home = {}, {}  # home: which module a definition went to
    for source in exported:
        used = _used(source)
        needs_torch = any("torch" in ast.unparse(imports[name]) for name in used & imports.keys())
        needs_torch = needs_torch or any(home.get(name, "").endswith("_torch") for name in used)
        module = topic(path) + ("_torch" if needs_torch else "")
        missing = sorted(used - imports.keys() - home.keys())
        if missing:
            raise ValueError(
                f"{path.name}: an exported cell uses {missing[0]!r}, which no exported "
                "cell defines and no import brings."
            )
        modules.setdefault(module, []).append(source)
        home.update(dict.fromkeys(_defined(source), module))
    return {
        module: _module(path, module, sources, imports, home) for module, sources in modules.items()
    }


def main():
    """Write all blocks, and remove those that no notebook exports any more."""
    wanted = {}
    for path in notebook_paths():
        wanted.update(blocks(path))
    for old in BLOCKS.glob("*.py"):
        if old.stem not in wanted and old.stem != "__init__":
            old.unlink()
    for module, source in wanted.items():
        (BLOCKS / f"{module}.py").write_text(source, encoding="utf-8", newline="\n")
        print(f"helpers/blocks/{module}.py")


def _module(path, module, sources, imports, home):
    used = set().union(*map(_used, sources))
    own = {name for name, where in home.items() if where == module}
    lines = []
    for name in sorted(used - own):
        if name in imports:
            lines.append(ast.unparse(imports[name]))
        else:
            lines.append(f"from helpers.blocks.{home[name]} import {name}")
    header = f'"""Exported from notebooks/{path.name} by `make export`: edit it there."""'
    return _formatted("\n\n".join([header, "\n".join(lines), *sources]) + "\n")


def _imported(source):
    """Pairs of a name and the import statement that binds that name alone."""
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if isinstance(node, ast.Import):
                    yield name, ast.Import([alias])
                else:
                    yield name, ast.ImportFrom(node.module, [alias], node.level)


def _defined(source):
    """The names that a cell binds at its top level."""
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _used(source):
    """The names that a cell reads and does not bind itself anywhere, builtins left out."""
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(ast.parse(source)) if isinstance(node, ast.arg)}
    bound |= set(_defined(source))
    return {node.id for node in names} - bound - set(dir(builtins))


def _formatted(source):
    """The source with its imports sorted and its layout settled by ruff."""
    for arguments in (["check", "--select=I", "--fix", "-"], ["format", "-"]):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *arguments,
            "--quiet",
            "--stdin-filename=blocks.py",
        ]
        run = subprocess.run(
            command, input=source, capture_output=True, encoding="utf-8", check=True
        )
        source = run.stdout
    return source


if __name__ == "__main__":
    main()
