"""constraints.txt holds one version of everything that pyproject.toml brings along, everywhere.

What that is, the installed packages say themselves, each in its metadata; nothing here needs the
network. Where a test fails, `make lock` writes the file anew.
"""

import functools
import itertools
import re
import tomllib
from importlib import metadata

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from helpers.notebooks import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DIRECT = [
    Requirement(text)
    for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"])
]
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
PYTHONS = [
    f"3.{minor}"
    for minor in range(8, 20)
    if f"3.{minor}" in SpecifierSet(PROJECT["requires-python"])
]
SYSTEMS = {
    "Linux": ("linux", "posix", "x86_64"),
    "Darwin": ("darwin", "posix", "arm64"),
    "Windows": ("win32", "nt", "AMD64"),
}


def environment(python, system):
    """What markers ask for, in CPython of that version on that system."""
    sys_platform, os_name, machine = SYSTEMS[system]
    return {
        **default_environment(),
        "python_version": python,
        "python_full_version": python + ".0",
        "platform_system": system,
        "sys_platform": sys_platform,
        "os_name": os_name,
        "platform_machine": machine,
    }


def applies(requirement, where, extras=("",)):
    """Whether the requirement's marker holds in the environment `where`, with one of `extras`."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**where, "extra": extra}) for extra in extras)


def locked(where):
    """The versions that constraints.txt holds in the environment `where`, by name."""
    versions = {}
    for line in LOCK.splitlines():
        if line.startswith("#"):
            continue
        requirement = Requirement(line)
        if applies(requirement, where):
            (specifier,) = requirement.specifier
            assert specifier.operator == "==" and requirement.name not in versions, line
            versions[requirement.name] = specifier.version
    return versions


@functools.cache
def requirements(name):
    """What an installed package requires; nothing of one that is for other systems."""
    try:
        return [Requirement(text) for text in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []


def brought_along(where):
    """All requirements in the environment `where`: the direct ones, theirs, and so on."""
    todo, found, done = list(DIRECT), [], set()
    while todo:
        requirement = todo.pop()
        found.append(requirement)
        asked = requirement.name, frozenset(requirement.extras)
        if asked not in done:
            done.add(asked)
            extras = ("", *requirement.extras)
            todo += [
                each for each in requirements(requirement.name) if applies(each, where, extras)
            ]
    return found


def test_lines_hold_names_and_versions_alone():
    for line in LOCK.splitlines():
        assert re.fullmatch(r"#.*|[a-z0-9-]+==[a-z0-9.]+( ; [^/@]+)?", line), line


@pytest.mark.parametrize("python, system", list(itertools.product(PYTHONS, SYSTEMS)))
def test_lock_is_in_step_with_pyproject(python, system):
    where = environment(python, system)
    versions = locked(where)
    for requirement in brought_along(where):
        version = versions.get(canonicalize_name(requirement.name))
        assert version, f"{requirement} is not locked: run make lock"
        assert requirement.specifier.contains(version, prereleases=True), (
            f"{requirement} does not accept the locked {version}: run make lock"
        )


@pytest.mark.parametrize("python", PYTHONS)
def test_libraries_for_nvidia_gpus_are_locked(python):
    """On Linux the index has PyTorch for NVIDIA GPUs; a lock made with another build lacks them."""
    assert {"nvidia-cublas", "triton"} <= locked(environment(python, "Linux")).keys()


def test_installed_versions_are_the_locked_ones():
    where = default_environment()
    versions = locked(where)
    for requirement in brought_along(where):
        version = versions[canonicalize_name(requirement.name)]
        installed = metadata.version(requirement.name)
        # == accepts a build of that version, such as 2.13.0+cpu for 2.13.0.
        assert SpecifierSet(f"=={version}").contains(installed, prereleases=True), (
            f"{requirement.name} {installed} is installed, {version} is locked: run make lab"
        )
