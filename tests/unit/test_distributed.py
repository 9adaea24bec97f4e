"""Training shared among processes: as one process learns, and an end in one sentence."""

import os
import re
import subprocess
import sys
import time

import psutil
import pytest
import torch
from safetensors.torch import load_file

from helpers.device import one_thread
from helpers.experiments.distributed import learn, lost
from helpers.notebooks import ROOT


def start(*arguments):
    """The command, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "helpers.experiments.distributed", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("processes", "options", "tolerance"),
    # 32 reviews make no three equal parts. In float32, AdamW makes more of a rounding error in a
    # small gradient with each step.
    [(3, ["--double"], 1e-9), (2, [], 1e-4)],
    ids=["three in float64", "two in float32"],
)
def test_several_processes_learn_what_one_does(tmp_path, processes, options, tolerance):
    steps, path = 4, tmp_path / "result"
    command = start(
        "--processes", str(processes), "--steps", str(steps), "--store", str(path), *options
    )
    with one_thread():
        decoder, history = learn(steps, double="--double" in options)
    told, errors = command.communicate(timeout=120)
    assert told.startswith(f"{processes} processes") and f"\n{steps} steps in " in told, errors
    found = load_file(path)
    torch.testing.assert_close(found.pop("losses"), torch.tensor(history.losses), rtol=1e-6, atol=0)
    expected = dict(decoder.named_parameters())
    assert found.keys() == expected.keys()
    for name, parameter in found.items():
        torch.testing.assert_close(parameter, expected[name].detach(), rtol=0, atol=tolerance)


def test_a_killed_process_ends_the_run_with_one_sentence(tmp_path):
    path = tmp_path / "result"
    command = start("--steps", "5000", "--store", str(path))
    try:
        assert command.stdout.readline() == "2 processes, gloo between them, share each batch.\n"
        time.sleep(1)
        workers = psutil.Process(command.pid).children()
        workers[1].kill()
        told, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    assert command.returncode == 1 and told == "" and not path.exists()
    sentence = r"Process \d of 2 was ended by SIGKILL, so the run has ended; nothing is stored.\n"
    assert re.fullmatch(sentence, errors), errors
    assert not any(worker.is_running() for worker in workers)


def test_what_is_no_lost_connection_is_told_as_it_is():
    assert lost(RuntimeError("[...pair.cc:534] Connection closed by peer [127.0.0.1]:29741"))
    assert not lost(RuntimeError("mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)"))
