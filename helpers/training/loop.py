"""The loop: forward, backward, clip, step; validate now and then; stop in good time."""

import contextlib
import importlib.util
import math
import os
import shutil
import time

import torch

from helpers.training.history import History, View

__all__ = ["can_be_fast", "decay_groups", "schedule", "train"]


def schedule(step, steps, warm_up):
    """What the peak learning rate is multiplied by at a step, counted from 0.

    It climbs in equal steps to 1 during warm-up, then follows half a cosine down to 0.
    """
    if step < warm_up:
        return (step + 1) / warm_up
    return (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up))) / 2


def train(
    model,
    loss,
    batches,
    steps,
    *,
    learning_rate=1e-3,
    warm_up=None,
    weight_decay=0.01,
    clip=1.0,
    seed=0,
    device=None,
    optimizer=torch.optim.AdamW,
    validate=None,
    every=100,
    fast=False,
    shared=False,
    show=True,
):
    """Train a model in place; it is left in eval mode. Returns the History.

    loss:      loss(model, batch) is the number to make small, a tensor without dimensions.
    batches:   an iterator of tuples of tensors, which are moved to the device.
    steps:     how many minibatches to learn from, one step each.
    learning_rate, warm_up: the peak, and after how many steps it is reached, a tenth of all unless
               told; see `schedule`.
    clip:      gradients whose norm, over all parameters, is larger are scaled down to it.
    seed:      of what the model draws while it trains, such as dropout.
    device:    where to train; where the model is unless told.
    optimizer: called with groups of parameters, and lr.
    validate:  validate(model) is a number, lower is better, found every `every` steps and at the
               end, in eval mode without gradients. The best parameters are the ones kept.
    fast:      on an NVIDIA GPU, forward pass and loss in bfloat16, compiled; the same elsewhere.
    shared:    among the processes of torch.distributed, each with a device, a model and batches of
               its own. Gradients, and the losses that are noted, are means over all processes, so
               that all take the same steps, from the parameters of the first.
    show:      a progress bar and a live curve.
    An interrupt, a loss or a gradient norm that is not finite ends training early, without a last
    step from it, and History.stopped says why. The model keeps the best parameters, or else the
    last.
    Raises ValueError for steps, warm_up or every that make no sense, a model without parameters, a
    loss that is not one number, and batches that are no tuples or end too early.
    """
    warm_up = steps // 10 if warm_up is None else warm_up
    whole = all(isinstance(number, int) for number in (steps, warm_up, every))
    if not whole or steps < 1 or not 0 <= warm_up <= steps or every < 1:
        raise ValueError(
            "Training needs at least 1 step, a warm-up from 0 to all of them, and whole numbers; "
            f"got steps={steps}, warm_up={warm_up}, every={every}."
        )
    if (parameter := next(model.parameters(), None)) is None:
        raise ValueError("This model has no parameters to train.")
    device = torch.device(device or parameter.device)
    model.to(device)
    torch.manual_seed(seed)
    updates = optimizer(decay_groups(model, weight_decay), lr=learning_rate)
    # Whatever stands in the model's place, its parameters are the model's.
    forward = torch.nn.parallel.DistributedDataParallel(model) if shared else model
    precision = contextlib.nullcontext()
    if fast and can_be_fast(device):
        forward = torch.compile(forward)
        precision = torch.autocast(device.type, torch.bfloat16)
    batches, history = iter(batches), History(steps)
    view = View(history) if show else None
    best, lowest = None, math.inf
    start = time.perf_counter()
    model.train()
    try:
        for step in range(steps):
            batch = _next(batches, step, steps, device)
            rate = learning_rate * schedule(step, steps, warm_up)
            for group in updates.param_groups:
                group["lr"] = rate
            with precision:
                value = _checked(loss(forward, batch))
            updates.zero_grad()
            value.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            # Both at once: to read a number, Python waits until the GPU has come so far.
            noted = torch.stack([value.detach(), norm])
            if shared:  # so that all processes see the same, and decide the same
                torch.distributed.all_reduce(noted)
                noted /= torch.distributed.get_world_size()
            number, norm = noted.tolist()
            if not (math.isfinite(number) and math.isfinite(norm)):
                history.stopped = _not_finite(number, norm, step, steps, rate)
                break
            updates.step()
            history.losses.append(number)
            history.rates.append(rate)
            history.gradient_norms.append(norm)
            if validate and ((step + 1) % every == 0 or step + 1 == steps):
                found = _validated(validate, model)
                history.validations.append((step + 1, found))
                if found < lowest:
                    best = {name: x.clone() for name, x in model.state_dict().items()}
                    history.best, lowest = step + 1, found
            if view:
                view.step()
    except KeyboardInterrupt:
        history.stopped = f"Stopped by you after {len(history.losses)} of {steps} steps."
    finally:
        updates.zero_grad()
        model.eval()
        history.seconds = time.perf_counter() - start
        if view:
            view.close()
    if best:
        model.load_state_dict(best)
    return history


def decay_groups(model, weight_decay):
    """The model's parameters in two groups for an optimizer: with and without weight decay.

    Decay pulls weights toward zero, which keeps a map smooth. A bias makes no map less smooth,
    and a norm's weight is at rest at one: parameters with one dimension are left alone.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]


def can_be_fast(device):
    """Whether it is a GPU that computes in bfloat16, with Triton and a C compiler beside it."""
    if device.type != "cuda" or importlib.util.find_spec("triton") is None:
        return False
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    return bool(compiler) and torch.cuda.is_bf16_supported(including_emulation=False)


def _next(batches, step, steps, device):
    try:
        batch = next(batches)
    except StopIteration:
        raise ValueError(
            f"The batches ended after {step} of {steps} steps; minibatches(…) never ends."
        ) from None
    if not isinstance(batch, tuple):
        raise ValueError(f"A batch should be a tuple of tensors, not {type(batch).__name__}.")
    return tuple(tensor.to(device) for tensor in batch)


def _checked(value):
    if not torch.is_tensor(value) or value.ndim:
        got = f"the shape {tuple(value.shape)}" if torch.is_tensor(value) else type(value).__name__
        raise ValueError(f"loss(model, batch) should be a tensor without dimensions; got {got}.")
    return value


def _validated(validate, model):
    model.eval()
    with torch.no_grad():
        value = float(validate(model))
    model.train()
    return value


def _not_finite(loss, norm, step, steps, rate):
    what = f"the loss is {loss}" if not math.isfinite(loss) else f"the gradients' norm is {norm}"
    return (
        f"Stopped at step {step + 1} of {steps}, which was not made: {what}. "
        f"Try a smaller learning rate (it was {rate:.2g}), a longer warm-up, or smaller inputs."
    )
