"""Who may import whom, and what an import costs."""

import ast
import subprocess
import sys

import pytest

from helpers.notebooks import ROOT

MAY_IMPORT = {  # a part of helpers → the other parts it may import
    "blocks": {"blocks"},
    "bootstrap": set(),
    "claims": set(),
    "corpora": set(),
    "counting": set(),
    "device": set(),
    "execute": {"notebooks"},
    "exercises": {"blocks", "corpora", "counting", "notebooks"},
    "experiments": {"blocks", "corpora", "device", "notebooks", "pretrained", "training"},
    "export": {"notebooks"},
    "notebooks": set(),
    "plots": {"blocks", "corpora"},
    "pretrained": {"blocks", "corpora"},
    "training": {"plots", "widgets"},
    "widgets": {"blocks", "corpora", "plots"},
}


def part(path):
    return path.relative_to(ROOT / "helpers").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", sorted((ROOT / "helpers").rglob("*.py")), ids=str)
def test_imports_follow_the_layout(path):
    if path == ROOT / "helpers" / "__init__.py":
        return
    own = part(path)
    imported = [
        name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [f"{node.module}.{alias.name}" for alias in node.names]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    parts = {name.split(".")[1] for name in imported if name.startswith("helpers.")}
    if own == "blocks":
        outside = {name.split(".")[0] for name in imported} - {"helpers"}
        assert outside - sys.stdlib_module_names <= {"numpy", "torch"}
    assert parts - {own} <= MAY_IMPORT[own]


@pytest.mark.parametrize(
    "module",
    ["helpers.widgets", "helpers.exercises", "helpers.pretrained", "helpers.corpora.word_vectors"],
)
def test_the_numpy_half_starts_without_torch(module):
    code = f"import {module}, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
