"""The files around the notebooks say what is so: README, environment.yml, pins, Makefile."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from helpers.notebooks import ROOT, notebook_paths, read

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_environment_installs_this_project_on_a_python_it_supports():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == PYPROJECT["project"]["name"]
    python, pip, packages = environment["dependencies"]
    name, version = python.split("=")
    assert name == "python" and version in SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert pip == "pip" and packages == {"pip": ["-c constraints.txt", "-e ."]}


def test_every_requirement_is_pinned_exactly():
    project = PYPROJECT["project"]
    pinned = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    pinned += PYPROJECT["build-system"]["requires"]
    for text in (*pinned, *PYPROJECT["tool"]["transformer-notebooks"].values()):
        (specifier,) = Requirement(text).specifier
        assert specifier.operator == "==" and "*" not in specifier.version, text


@pytest.mark.parametrize(
    "path, models",
    [
        ("README.md", ["encoder", "gpt"]),
        ("helpers/pretrained/files.py", ["encoder"]),
        ("helpers/pretrained/gguf.py", ["gpt"]),
    ],
)
def test_models_to_install_by_hand_are_the_pinned_ones(path, models):
    found = re.findall(r"[\w-]+==[\d.]*\d", (ROOT / path).read_text(encoding="utf-8"))
    assert set(found) == {PYPROJECT["tool"]["transformer-notebooks"][model] for model in models}


def test_readme_names_the_supported_pythons():
    supported = SpecifierSet(PYPROJECT["project"]["requires-python"])
    minors = [f"3.{minor}" for minor in range(8, 20) if f"3.{minor}" in supported]
    assert f"Python {', '.join(minors[:-1])} or {minors[-1]}" in README


def test_commands_in_readme_are_those_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.M))
    assert targets - {"help"} == set(re.findall(r"`make ([a-z]+)", README))


def test_map_in_readme_is_that_of_the_notebooks():
    rows = re.findall(r"^\| \[(.+)\]\(notebooks/(.+)\) \| (.+) \|$", README, flags=re.M)
    there = []
    for path in notebook_paths():
        title, question = re.match(r"# (.+)\n\n\*(.+)\*\n", read(path).cells[0].source).groups()
        there.append((title, path.name, question))
    assert rows == there


def test_links_in_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_folders_in_readme_exist():
    folders = re.findall(r"^\| `([a-z/]+)` \|", README, flags=re.M)
    assert len(folders) >= 7 and all((ROOT / folder).is_dir() for folder in folders)
