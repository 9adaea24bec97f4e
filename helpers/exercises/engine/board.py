"""The learner's board: which exercises are passed and how many hints were read, in a small file."""

import contextlib
import json
import os
import secrets
import tempfile
import time
from pathlib import Path

__all__ = ["Board"]

HERE = Path(__file__).parents[3] / ".progress.json"
NEW = {"tried": False, "passed": False, "hints": 0}
PATIENCE = 5.0  # seconds to wait for another kernel that is writing; that takes milliseconds


class Board:
    """Progress across notebooks, kept in one JSON file that several kernels may share.

    The file is read anew before every change and replaced as a whole, under a lock, so that a crash
    never leaves half of one and no kernel overwrites what another has noted. It carries a random
    name: a file of another name was begun after the old one had been deleted, and what a kernel
    knows of the old one counts no more. A file that makes no sense is set aside, and one that
    cannot be written is done without; `notes` then holds a sentence for the learner, once. No
    method raises.
    """

    def __init__(self):
        self.notes = []
        self._records = {}  # as last seen: all there is if the file cannot be written
        self._name = None  # of the file as last seen; None if it has none
        self._seen = False
        self._warned = False
        self._readable = True

    @property
    def path(self):
        """The file: .progress.json at the project's root, or where the environment says.

        If that is a link, the file it leads to: the link stays.
        """
        return Path(os.path.realpath(os.environ.get("TRANSFORMER_NOTEBOOKS_PROGRESS") or HERE))

    def records(self):
        """A dict from an exercise's id to {"tried": bool, "passed": bool, "hints": int}."""
        with _locked(self.path):
            return self._read()

    def of(self, id):
        """The record of one exercise."""
        return self.records().get(id, NEW)

    def record(self, id, **news):
        """Note `tried`, `passed` or `hints`; what was passed stays passed, hints read stay read."""
        with _locked(self.path):
            before = self._read().get(id, NEW)
            after = {name: max(before[name], news.get(name, before[name])) for name in NEW}
            if after != before:
                self._records = self._records | {id: after}
                self._write()

    def take_notes(self):
        """The sentences not yet shown, which count as shown from now on."""
        notes, self.notes = self.notes, []
        return notes

    def _read(self):
        try:
            content = json.loads(self.path.read_text("utf-8"))
            name, records = content.get("name") or None, _checked(content)
        except FileNotFoundError:
            if self._seen:
                self._forget("is gone")
            self._readable = True
        except (AttributeError, RecursionError, ValueError):  # no text, no JSON, or another's
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
            if self._name and name and name != self._name:
                self._forget("is a new one")
            self._seen, self._name = True, name or self._name
            self._records = _merged(self._records, records)
        return self._records

    def _forget(self, why):
        self.notes.append(f"The file with your progress {why}: the board starts afresh.")
        self._records, self._seen, self._name = {}, False, None

    def _write(self):
        if not self._readable:
            return
        if not self._seen:
            self._name = secrets.token_hex(4)
        content = {"name": self._name, "exercises": self._records}
        text = json.dumps(content, indent=1, sort_keys=True)
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                os.replace(temporary, self.path)
            except OSError:
                os.unlink(temporary)
                raise
            self._seen = True
        except OSError:
            if not self._warned:
                self._warned = True
                self.notes.append(
                    f"Your progress cannot be saved ({self.path.name} cannot be written): "
                    "the board lasts until this kernel ends."
                )

    def _set_aside(self):
        number = 1
        while (broken := self.path.with_name(f"{self.path.name}.broken{number}")).exists():
            number += 1
        try:
            os.replace(self.path, broken)
        except OSError:
            return  # it can neither be read nor moved: writing will say so
        # A name would tell other kernels to forget what they know; without one, all is merged.
        self._seen = True
        self.notes.append(
            f"The file with your progress could not be read: it was renamed {broken.name}, and "
            + ("what this kernel knows is kept." if self._records else "the board starts afresh.")
        )
        self._write()


@contextlib.contextmanager
def _locked(path):
    """Hold the lock of the file, or go on without where there can be none.

    The system gives a lock back when its process ends; the empty file beside the board stays.
    """
    try:
        file = open(path.with_name(path.name + ".lock"), "ab")
    except OSError:  # a folder that cannot be written to
        yield
        return
    with file:
        ends = time.monotonic() + PATIENCE
        while not _lock(file) and time.monotonic() < ends:
            time.sleep(0.01)
        yield


def _lock(file):
    """Whether the file could be locked now, or never will be."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True


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
