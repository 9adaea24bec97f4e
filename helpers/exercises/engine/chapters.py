"""The chapters (folders ch01 …) and the exercises in them, imported only when asked for."""

import difflib
import importlib
from pathlib import Path

__all__ = ["chapters", "exercises_of", "find", "nearest"]


def chapters():
    """The numbers of the chapters that have exercises, in order: "01", "02" …"""
    # A folder that another version has left behind holds no __init__.py.
    files = Path(__file__).parents[1].glob("ch[0-9][0-9]/__init__.py")
    return sorted(path.parent.name[2:] for path in files)


def exercises_of(chapter):
    """The exercises of one chapter in the order of its notebook, a tuple."""
    return importlib.import_module(f"helpers.exercises.ch{chapter}").EXERCISES


def find(id):
    """The exercise with this id, or None."""
    chapter = id.partition(".")[0].zfill(2)
    if chapter not in chapters():
        return None
    return next((e for e in exercises_of(chapter) if e.id == id), None)


def nearest(id):
    """The ids most like this one, at most three."""
    ids = [exercise.id for chapter in chapters() for exercise in exercises_of(chapter)]
    near = difflib.get_close_matches(id, ids, cutoff=0)
    return sorted(near, key=ids.index)  # as the notebooks have them: 9.2 before 10.1
