"""The learner's board: which exercises are passed and how many hints were read, in a small file."""

import json
import os
import tempfile
from pathlib import Path

__all__ = ["Board"]

HERE = Path(__file__).parents[3] / ".progress.json"
NEW = {"tried": False, "passed": False, "hints": 0}


class Board:
    """Progress across notebooks, kept in one JSON file that several kernels may share.

    The file is read anew before every change and replaced as a whole, so a crash never leaves half
    of one. A file that cannot be read is set aside, and one that cannot be written is done without;
    `notes` then holds a sentence for the learner, once. No method raises.
    """

    def __init__(self):
        self.notes = []
        self._records = {}  # as last seen: all there is if the file cannot be written
        self._saved = False
        self._warned = False
        self._readable = True

    @property
    def path(self):
        """The file: .progress.json at the project's root, or where the environment says."""
        return Path(os.environ.get("TRANSFORMER_NOTEBOOKS_PROGRESS") or HERE)

    def records(self):
        """A dict from an exercise's id to {"tried": bool, "passed": bool, "hints": int}."""
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            if self._saved:
                self.notes.append("The file with your progress is gone: the board starts afresh.")
                self._records, self._saved = {}, False
            self._readable = True
        except UnicodeDecodeError:
            self._set_aside()
        except OSError:  # perhaps another program holds it: what is in it must not be lost
            if self._readable:
                self._readable = False
                self.notes.append(
                    f"The file with your progress ({self.path.name}) cannot be read now: it is "
                    "left as it is, and what you do is remembered until this kernel ends."
                )
        else:
            self._readable = True
            try:
                self._records = _merged(self._records, _checked(json.loads(text)))
            except (ValueError, RecursionError):
                self._set_aside()
        return self._records

    def of(self, id):
        """The record of one exercise."""
        return self.records().get(id, NEW)

    def record(self, id, **news):
        """Note `tried`, `passed` or `hints`; what was passed stays passed, hints read stay read."""
        before = self.of(id)
        after = {name: max(before[name], news.get(name, before[name])) for name in NEW}
        if after != before:
            self._records = self._records | {id: after}
            self._write()

    def take_notes(self):
        """The sentences not yet shown, which count as shown from now on."""
        notes, self.notes = self.notes, []
        return notes

    def _write(self):
        if not self._readable:
            return
        text = json.dumps({"exercises": self._records}, indent=1, sort_keys=True)
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                os.replace(temporary, self.path)
            except OSError:
                os.unlink(temporary)
                raise
            self._saved = True
        except OSError:
            if not self._warned:
                self._warned = True
                self.notes.append(
                    f"Your progress cannot be saved ({self.path.name} cannot be written): "
                    "the board lasts until this kernel ends."
                )

    def _set_aside(self):
        broken = self.path.with_name(self.path.name + ".broken")
        try:
            os.replace(self.path, broken)
        except OSError:
            return  # it can neither be read nor moved: writing will say so
        self._records = {}
        self.notes.append(
            f"The file with your progress could not be read: it was renamed {broken.name}, "
            "and the board starts afresh."
        )


def _merged(one, other):
    """The records of both: what either has passed is passed, and the most hints read are read."""
    return {
        id: {name: max(one.get(id, NEW)[name], other.get(id, NEW)[name]) for name in NEW}
        for id in one | other
    }


def _checked(content):
    """The records in the file's content; ValueError if it is not what `record` writes."""
    try:
        return {
            str(id): {
                "tried": bool(entry["tried"]),
                "passed": bool(entry["passed"]),
                "hints": max(0, int(entry["hints"])),
            }
            for id, entry in content["exercises"].items()
        }
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError("not a board") from error
