"""The learner's board: nothing that was passed is lost, and the file may be in any state."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.exercises.engine.board import Board
from helpers.notebooks import ROOT


@pytest.fixture
def path(monkeypatch, tmp_path):
    path = tmp_path / "board.json"
    monkeypatch.setenv("TRANSFORMER_NOTEBOOKS_PROGRESS", str(path))
    return path


def test_two_kernels_share_the_board(path):
    one, two = Board(), Board()
    one.record("1.1", tried=True, passed=True)
    two.record("1.2", hints=2)
    one.record("1.2", hints=1)
    two.record("1.1", tried=True, passed=False)
    assert one.records() == two.records()
    assert one.of("1.1")["passed"] and one.of("1.2")["hints"] == 2
    assert {p.name for p in path.parent.iterdir()} == {"board.json", "board.json.lock"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[1]",
        b"null",
        b"[" * 100_000,
        b'{"exercises": {"1.1": 3}}',
        b'{"exercises": {"1.1": {"tried": 1, "passed": 1, "hints": Infinity}}}',
    ],
)
def test_a_broken_file_is_set_aside(path, content):
    path.write_bytes(content)
    board = Board()
    board.record("1.1", tried=True)
    (note,) = board.take_notes()
    assert "renamed board.json.broken1" in note
    assert path.with_name("board.json.broken1").read_bytes() == content
    assert json.loads(path.read_text("utf-8"))["exercises"]["1.1"]["tried"] is True
    board.record("1.2", tried=True)
    assert not board.take_notes()


def test_a_board_that_cannot_be_saved_says_so_once(path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_NOTEBOOKS_PROGRESS", str(path / "no" / "folder.json"))
    board = Board()
    board.record("1.1", passed=True)
    board.record("1.2", passed=True)
    (note,) = board.take_notes()
    assert "cannot be saved" in note
    assert board.of("1.1")["passed"] and board.of("1.2")["passed"]


def test_a_folder_in_the_place_of_the_file_is_left_alone(path):
    path.mkdir()
    (path / "kept").touch()
    board = Board()
    board.record("1.1", passed=True)
    assert board.of("1.1")["passed"] and (path / "kept").exists()
    (note,) = board.take_notes()
    assert "cannot be read now" in note


def test_a_file_that_another_program_holds_is_not_lost(path, monkeypatch):
    Board().record("1.1", passed=True)
    board, read_text = Board(), Path.read_text

    def refuse(self, *arguments):
        raise PermissionError(13, "held by another program")

    monkeypatch.setattr(Path, "read_text", refuse)
    board.record("1.2", passed=True)
    (note,) = board.take_notes()
    assert "cannot be read now" in note and board.of("1.2")["passed"]
    monkeypatch.setattr(Path, "read_text", read_text)
    assert board.of("1.1")["passed"] and board.of("1.2")["passed"]  # of the file, and of memory


def test_a_file_that_vanishes_is_told(path):
    board = Board()
    board.record("1.1", passed=True)
    path.unlink()
    assert board.records() == {}
    (note,) = board.take_notes()
    assert "is gone" in note


PASSES = """
import sys
from helpers.exercises.engine.board import Board
board = Board()
for number in range(40):
    board.record(f"{sys.argv[1]}.{number}", tried=True, passed=True)
print(*board.take_notes())
"""


def test_kernels_that_pass_at_the_same_time_lose_nothing(path):
    kernels = [
        subprocess.Popen(
            [sys.executable, "-c", PASSES, str(kernel)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for kernel in range(4)
    ]
    assert [kernel.communicate(timeout=120)[0] for kernel in kernels] == ["\n"] * 4
    assert len(Board().records()) == 4 * 40


def test_a_kernel_that_still_runs_does_not_bring_a_deleted_board_back(path):
    one, two, watcher = Board(), Board(), Board()
    one.record("1.1", passed=True)
    two.record("1.2", passed=True)
    assert len(watcher.records()) == 2
    path.unlink()
    one.record("1.3", passed=True)  # sees that the file is gone, and begins a new one
    two.record("1.4", passed=True)  # finds a new file in the old one's place
    assert sorted(two.records()) == sorted(watcher.records()) == ["1.3", "1.4"]
    for board, words in (one, "is gone"), (two, "is a new one"), (watcher, "is a new one"):
        (note,) = board.take_notes()
        assert words in note and "starts afresh" in note


def test_a_spoiled_file_costs_nothing_that_a_kernel_knows_and_is_kept(path):
    one, two = Board(), Board()
    one.record("1.1", passed=True)
    two.record("1.2", passed=True)
    for number, content in enumerate(("spoiled", "again", "and again"), 1):
        path.write_text(content)
        reader = (
            Board() if number == 3 else two
        )  # the third is found by a kernel that knows nothing
        assert reader.records() == ({} if number == 3 else one.records())
        assert path.with_name(f"board.json.broken{number}").read_text() == content
        (note,) = reader.take_notes()
        assert ("starts afresh" if number == 3 else "what this kernel knows is kept") in note
    assert one.of("1.1")["passed"] and two.of("1.2")["passed"]
    one.record("1.3", tried=True)
    assert Board().of("1.1")["passed"] and not one.take_notes() and not two.take_notes()


def test_a_board_of_an_earlier_version_is_read(path):
    path.write_text('{"exercises": {"1.1": {"tried": true, "passed": true, "hints": 0}}}')
    board = Board()
    board.record("1.2", tried=True)
    assert board.of("1.1")["passed"] and not board.take_notes()


@pytest.mark.skipif(os.name == "nt", reason="Windows lets only some users make links")
def test_a_link_stays_a_link(path, tmp_path):
    target = tmp_path / "elsewhere" / "kept.json"
    target.parent.mkdir()
    path.symlink_to(target)
    Board().record("1.1", passed=True)
    Board().record("1.2", passed=True)
    assert path.is_symlink() and len(json.loads(target.read_text("utf-8"))["exercises"]) == 2


def test_where_no_file_can_be_locked_the_board_works_all_the_same(path, monkeypatch):
    if os.name == "nt":
        import msvcrt as locks

        name = "locking"
    else:
        import fcntl as locks

        name = "flock"

    def refuse(*arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks, name, refuse)
    Board().record("1.1", passed=True)
    assert Board().of("1.1")["passed"]
