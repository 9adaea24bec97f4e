"""What a mutant calls while it runs, for mistakes that depend on the values it meets."""

import numpy as np

__all__ = ["Probe"]


class Probe:
    """The calls of one mutant, and whether any of them changed what it meant to change.

    A vector turned around is the same vector, and a function without numbers among its inputs
    forgets none of them: such a mutant never was one, and `changed` stays False.
    """

    def __init__(self):
        self.changed = False
        self._first = None
        self._results = {}

    def turned(self, value):
        """The transpose of a matrix, or of the last two axes of a larger array."""
        if getattr(value, "ndim", 0) < 2 or set(value.shape) == {1}:
            return value
        self.changed = True
        return value.swapaxes(-1, -2)

    def first_seen(self, size):
        """The whole number that stood here the first time: a size that is read off an example."""
        if not isinstance(size, int | np.integer) or isinstance(size, bool):
            return size
        self.changed = True
        self._first = size if self._first is None else self._first
        return self._first

    def whole(self, value):
        """The numbers without their fractions."""
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            self.changed = True
            with np.errstate(invalid="ignore"):
                return value.astype(int)
        if hasattr(value, "detach") and value.is_floating_point():
            self.changed = True
            return value.long()
        return value

    def in_place(self, operation, left, right):
        """left + right and the like, computed in left itself where that is an array."""
        self.changed = self.changed or hasattr(left, "shape")
        return getattr(left, f"__i{operation}__", getattr(left, f"__{operation}__"))(right)

    def kept(self, function, forgotten):
        """`function`, whose results are kept by the sizes of arrays and by its other inputs.

        forgotten: the number of the input that the key leaves out; None for none of them.
        """

        def with_results_kept(*inputs, **named):
            values = [*inputs, *named.values()]
            if forgotten is None:
                self.changed |= any(map(_holds_array, values))
            elif forgotten < len(values):
                self.changed |= not _holds_array(values[forgotten])
            key = tuple(_size(x) for i, x in enumerate(values) if i != forgotten)
            if key not in self._results:
                self._results[key] = function(*inputs, **named)
            return self._results[key]

        return with_results_kept


def _holds_array(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(map(_holds_array, value))
    return hasattr(value, "shape")


def _size(value):
    """What a careless cache knows of a value: an array by its shape, all else by what it is."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return tuple(map(_size, value))
    return ("array", *value.shape) if hasattr(value, "shape") else repr(value)
