"""Count what a calculation really does, rather than believe a formula."""

import numpy as np

__all__ = ["launches", "multiplications"]


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


def _value(x):
    return x.value if isinstance(x, _Counted) else x
