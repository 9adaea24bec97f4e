"""Notebook 08's training shared among several processes, each with a device of its own.

    python -m helpers.experiments.distributed [--processes 2] [--steps 100] [--store FILE]
    torchrun --nproc-per-node 2 -m helpers.experiments.distributed

A process for each GPU, with nccl, or two processes on the CPU, with gloo. The first line starts
them as torchrun does, but if one of them dies it says so in a sentence; with one process, it is the
training loop as ever. The batches are the same however many share them: each process takes its part
of every batch, and the losses and parameters are those of one process with the whole batch, but for
rounding. --double computes in float64, where that is smaller; --store writes both as safetensors.
"""

import argparse
import datetime
import os
import signal
import sys

import torch
from safetensors.torch import save_file
from torch import distributed

from helpers.blocks.gpt_torch import Decoder, next_token_loss
from helpers.corpora.reviews import reviews
from helpers.experiments.gpt import SIZES, numbers
from helpers.training import minibatches, train

SIZE = 32  # reviews of a batch, all parts together
PATIENCE = datetime.timedelta(seconds=60)  # that a process waits for one that does not answer
LAUNCHED = "TRANSFORMER_NOTEBOOKS_LAUNCHED"  # set where `launch` speaks for the processes


def part(batches, rank, world):
    """Of each batch, every world-th text, from number `rank` on."""
    return (tuple(tensor[rank::world] for tensor in batch) for batch in batches)


def part_loss(model, batch):
    """This process's part of the loss of the whole batch, times the number of processes.

    The mean over processes is then the mean over all tokens of the batch, however unequal the
    parts are. (A mean of each part's mean would count the tokens of a shorter part for more.)
    """
    (ids,) = batch
    tokens = (ids[:, 1:] != 0).sum()
    distributed.all_reduce(tokens)
    return next_token_loss(model, batch, "sum") * distributed.get_world_size() / tokens


def learn(steps, rank=0, world=1, device=None, double=False):
    """The decoder after so many steps, and the History of its training."""
    torch.manual_seed(0)
    decoder = Decoder(**SIZES)
    decoder = decoder.double() if double else decoder
    batches = minibatches(numbers(reviews(SIZE * steps, 1, "train")), size=SIZE, seed=0)
    options = dict(learning_rate=4e-3, warm_up=min(100, steps // 2), device=device, show=False)
    if world == 1:
        return decoder, train(decoder, next_token_loss, batches, steps, **options)
    batches = part(batches, rank, world)
    return decoder, train(decoder, part_loss, batches, steps, shared=True, **options)


def work(steps, store, double):
    """What each process does; the first one tells the result, and stores it."""
    rank, world = (int(os.environ.get(name, n)) for name, n in (("RANK", 0), ("WORLD_SIZE", 1)))
    device, by = torch.device("cpu"), "gloo"
    if torch.cuda.is_available():
        device, by = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))), "nccl"
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    if world > 1:
        distributed.init_process_group(by, timeout=PATIENCE)
        if rank == 0:
            print(f"{world} processes, {by} between them, share each batch.", flush=True)
    try:
        decoder, history = learn(steps, rank, world, device, double)
    except RuntimeError as error:
        if world == 1 or not lost(error):
            raise
        sys.stdout.flush()
        os._exit(1 if os.environ.get(LAUNCHED) else _said(f"Process {rank} of {world}: {GONE}"))
    if rank == 0:
        print(history, flush=True)
        if store and not history.stopped:
            result = {name: p.detach().cpu() for name, p in decoder.named_parameters()}
            save_file(result | {"losses": torch.tensor(history.losses)}, store)
    if world > 1:
        distributed.destroy_process_group()


GONE = "another process is gone, and without it there is no batch. The run ends; nothing is stored."


def lost(error):
    """Whether an error says that another process does not answer any more."""
    words = str(error).lower()
    return any(sign in words for sign in ("connection", "broken pipe", "timed out", "nccl"))


def _said(sentence):
    print(sentence, file=sys.stderr, flush=True)
    return 1


def launch(processes, arguments):
    """Start so many of them and wait for their end; SystemExit, in one sentence, if one dies."""
    import logging

    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.disable()  # what there is to say is said below
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # or each would take all cores
    os.environ[LAUNCHED] = "1"
    config = LaunchConfig(
        run_id="reviews",
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
    )
    try:
        elastic_launch(config, sys.executable)("-m", "helpers.experiments.distributed", *arguments)
    except SignalException:
        raise SystemExit("Stopped by you; nothing is stored.") from None
    except ChildFailedError as error:
        # Those that were left have been ended with SIGTERM, or lost their connection.
        ends = [(rank, failure.exitcode) for rank, failure in error.failures.items()]
        rank, code = min(ends, key=lambda end: (end[1] == -signal.SIGTERM, end[1] > 0))
        how = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        raise SystemExit(
            f"Process {rank} of {processes} {how}, so the run has ended; nothing is stored."
        ) from None


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m helpers.experiments.distributed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--processes", type=int, default=max(2, torch.cuda.device_count()))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--store")
    parser.add_argument("--double", action="store_true")
    given = parser.parse_args(arguments)
    if "RANK" in os.environ or given.processes == 1:  # started by torchrun, or alone
        work(given.steps, given.store, given.double)
    else:
        launch(given.processes, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
