"""Shuffled minibatches that never end."""

import torch

__all__ = ["minibatches"]


def minibatches(*tensors, size, seed):
    """Endless shuffled minibatches, for each seed the same: tuples of tensors (size, …).

    tensors: one or more with the same number of examples along their first dimension.
    Every example comes once before any comes again. What an epoch leaves over opens the first
    minibatch of the next, so all have the same size and no example is seen less often than others.
    Raises ValueError for tensors of different lengths, for none, or for a size below 1.
    """
    counts = {len(tensor) for tensor in tensors}
    if len(counts) != 1 or counts == {0}:
        raise ValueError(
            "minibatches needs tensors with the same number of examples, at least one; "
            f"got {[len(tensor) for tensor in tensors]}."
        )
    if size < 1:
        raise ValueError(f"A minibatch needs at least 1 example; size is {size}.")
    return _shuffled(tensors, size, torch.Generator().manual_seed(seed))


def _shuffled(tensors, size, generator):
    order = torch.empty(0, dtype=torch.long)
    while True:
        while len(order) < size:
            epoch = torch.randperm(len(tensors[0]), generator=generator)
            order = torch.cat([order, epoch])
        yield tuple(tensor[order[:size]] for tensor in tensors)
        order = order[size:]
