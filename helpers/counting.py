"""Count what a calculation really does, rather than believe a formula."""

import numpy as np

__all__ = ["largest", "launches", "multiplications"]


class _Counted:
    """A number that counts how often it is multiplied; additions are not counted."""

    total = 0

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        _Counted.total += 1
        return _Counted(self.value * _value(other))

    def __add__(self, other):
        return _Counted(self.value + _value(other))

    __rmul__, __radd__ = __mul__, __add__


def multiplications(work, *arrays):
    """How many multiplications of two numbers work(*arrays) makes.

    work:   a function of arrays that uses +, * and @ only.
    arrays: NumPy arrays; each entry is replaced by a number that counts.
    """
    _Counted.total = 0
    work(*(np.vectorize(_Counted, otypes=[object])(array) for array in arrays))
    return _Counted.total


def launches(work):
    """How many operations work() asks PyTorch to carry out, each a launch of its own.

    On a GPU this is a kernel launch; on the CPU, a call of a compiled function.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            self.total += 1
            return operation(*args, **(kwargs or {}))

    with Count() as count:
        work()
    return count.total


def largest(work):
    """How many numbers the largest tensor holds that an operation of work() returns.

    Views count as what they show. What a compiled function keeps to itself is not seen: for that,
    see helpers.device.peak_bytes.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Watch(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            result = operation(*args, **(kwargs or {}))
            sizes = [x.numel() for x in tree_leaves(result) if hasattr(x, "numel")]
            self.most = max([self.most, *sizes])
            return result

    with Watch() as watch:
        work()
    return watch.most


def _value(x):
    return x.value if isinstance(x, _Counted) else x
