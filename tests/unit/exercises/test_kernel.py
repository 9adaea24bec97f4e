"""Checks in a real kernel: whatever an answer does, the next cell works."""

import os
import sys
import time

import pytest
from jupyter_client.manager import start_new_kernel

SET_UP = """
import matplotlib.pyplot as plt
import numpy as np
from helpers.exercises import check, example
from helpers.exercises.engine.chapters import find
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs a cell: returns the texts it showed, and whether it failed."""
    manager, client = start_new_kernel(
        kernel_name="python3",
        env=os.environ | {"TRANSFORMER_NOTEBOOKS_PROGRESS": str(tmp_path / "board.json")},
    )

    def run(code, interrupt_after=None):
        """interrupt_after: a file; once the cell has made it, the kernel is interrupted."""
        request = client.execute(code)
        if interrupt_after:
            assert any(interrupt_after.exists() or time.sleep(0.05) for _ in range(200))
            manager.interrupt_kernel()
        texts, failed = [], False
        while True:
            message = client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif message["msg_type"] == "display_data":
                texts.append(content["data"]["text/plain"])
            elif message["msg_type"] == "error":
                failed = True
            elif content.get("execution_state") == "idle":
                return "".join(texts), failed

    try:
        assert run(SET_UP) == ("", False)
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_endless_loops_and_interrupts_leave_the_next_cell_working(run, tmp_path):
    run("find('1.1').seconds = 0.3\ndef loop(values, weights):\n    while True: print(1)")
    text, failed = run("check('1.1', loop)")
    assert "did not finish within 0.3 seconds" in text and not failed
    assert run("print(6 * 7)") == ("42\n", False)
    started = tmp_path / "started"
    run("find('1.1').seconds = 60")
    run(f"def wait(values, weights):\n    open({str(started)!r}, 'w')\n    while True: pass")
    text, failed = run("check('1.1', wait)", started)
    assert "You interrupted the check" in text and not failed
    assert run("print(6 * 7)") == ("42\n", False)
    text, failed = run("check('1.1', lambda values, weights: values @ weights)")
    assert text.startswith("✓ Passed: 1.1") and not failed


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_an_answer_that_takes_all_memory_leaves_the_kernel_alive(run):
    run("import helpers.exercises.engine.memory as memory\nmemory.ALLOWANCE = 100 * 2**20")
    run("def hoard(values, weights):\n    kept = []\n    while True: kept.append(np.ones(10**5))")
    text, failed = run("check('1.1', hoard)")
    assert "There was not enough memory for it, on line 3 of your function" in text and not failed
    assert run("print(np.ones(10**8).sum())") == ("100000000.0\n", False)


def test_figures_that_an_answer_shows_appear_once(run):
    route = "def route(values, weights):\n    plt.plot([1])\n    {}\n    return values @ weights"
    run("find('1.1').seconds = 60")  # for a busy machine
    for last in ("plt.show()", "", "plt.gcf().canvas.draw()", "plt.close()"):
        run(route.format(last))
        text, failed = run("check('1.1', route)")
        assert text.startswith("✓ Passed: 1.1") and not failed
        assert text.count("<Figure") == (0 if last == "plt.close()" else 1), last
        assert run("print(plt.get_fignums())") == ("[]\n", False)


def test_what_fails_can_be_tried_again_and_prints_come_back(run):
    run("def route(values, weights):\n    print('weights:', len(weights))\n    return weights")
    text, failed = run("check('1.1', route)")
    assert "It printed:\nweights: " in text and 'route(*example("1.1"))' in text and not failed
    text, failed = run("print(len(route(*example('1.1'))))")
    number = int(text.split()[-1])
    assert text == f"weights: {number}\n{number}\n" and not failed


def test_an_import_of_torch_in_an_answer_does_not_ruin_it(run):
    run("find('1.1').seconds = 0.1")
    run("def route(values, weights):\n    import torch\n    while True: pass")
    text, failed = run("check('1.1', route)")
    assert "did not finish within 0.1 seconds" in text and not failed
    assert run("import torch\nprint(torch.ones(2).sum().item())") == ("2.0\n", False)
