"""What an answer changes for everybody, such as np.exp, is as before after its check."""

import contextlib
import sys

__all__ = ["restored"]

# Only names that are there before are looked at: imports add names, and rightly so.
MODULES = (
    *("builtins", "math", "random", "time"),
    *("numpy", "numpy.linalg", "numpy.random"),
    *("torch", "torch.linalg", "torch.nn", "torch.nn.functional"),
    "matplotlib.pyplot",
)
DEEPEST = 10_000  # calls within calls: deeper ones take all memory, or the kernel itself


@contextlib.contextmanager
def restored():
    """Undo what happens within it to the functions of Python, NumPy and PyTorch, and to recursion.

    Within it the recursion limit cannot be raised beyond DEEPEST, and plt.show waits: the figures
    of the last call alone are shown, once.
    """
    owners = [sys.modules[name] for name in MODULES if name in sys.modules]
    owners += [torch.Tensor for torch in owners if torch.__name__ == "torch"]
    before = [(owner, dict(vars(owner))) for owner in owners]
    limit, set_limit = sys.getrecursionlimit(), sys.setrecursionlimit
    set_limit(min(limit, DEEPEST))
    sys.setrecursionlimit = lambda limit: set_limit(min(limit, DEEPEST))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].show = lambda *options, **more: None
    try:
        yield
    finally:
        sys.setrecursionlimit = set_limit
        set_limit(limit)
        for owner, values in before:
            now = vars(owner)
            for name, value in values.items():
                if now.get(name) is not value and callable(value):
                    setattr(owner, name, value)
