"""Exported from notebooks/03_positional_encoding.ipynb by `make export`: edit it there."""

import torch
from torch import nn


class Positions(nn.Module):
    """The doors by which positions can enter self-attention; this class leaves all of them closed.

    where: shape (N,), the position of each token, counted from 0. Chapter 12,
    "Positional encoding"; `turn` and biases without parameters came after the first transformers.
    """

    def at_input(self, x, where, layer=0):
        """What layer number `layer` receives, (batch, N, D)."""
        return x

    def at_queries_and_keys(self, x, where):
        """What queries and keys are computed from; the values are computed from x itself."""
        return x

    def turn(self, q, where):
        """Queries or keys, (..., N, D_q), after their projection."""
        return q

    def factor(self, where):
        """What multiplies the scores: None, or (queries, keys), or (heads, queries, keys)."""
        return None

    def bias(self, where):
        """What is then added to the scores: None, or the same shapes."""
        return None


class Absolute(Positions):
    """A vector for each position, added at one door; a subclass defines encode(where, x).

    door: "input" (of the network) or "every layer" (its input), or "queries and keys".
    """

    def __init__(self, door="input"):
        super().__init__()
        if door not in ("input", "every layer", "queries and keys"):
            raise ValueError(f"door is input, every layer or queries and keys, not {door!r}.")
        self.door = door

    def at_input(self, x, where, layer=0):
        here = self.door == "every layer" or (self.door == "input" and layer == 0)
        return x + self.encode(where, x) if here else x

    def at_queries_and_keys(self, x, where):
        return x + self.encode(where, x) if self.door == "queries and keys" else x


def angles(where, D, delta, like):
    """The angle of each position in each of D/2 planes, (N, D/2): where / delta^(2i/D).

    At least in float32, whatever `like` is: bfloat16 cannot tell position 1000 from 1003.
    Raises ValueError if D is odd.
    """
    if D % 2:
        raise ValueError(f"{D} features make no pairs; these positions need an even number.")
    dtype = torch.promote_types(like.dtype, torch.float32)
    return where[:, None] / delta ** (torch.arange(0, D, 2, dtype=dtype, device=like.device) / D)


class Sinusoidal(Absolute):
    """The matrix Π of waves, (N, D) with positions as rows; no parameters, any length."""

    def __init__(self, door="input", delta=10000.0):
        super().__init__(door)
        self.delta = delta

    def encode(self, where, x):
        theta = angles(where, x.shape[-1], self.delta, like=x)
        return torch.stack([theta.sin(), theta.cos()], dim=-1).flatten(1).to(x.dtype)


class Learned(Absolute):
    """A table of learned vectors, one for each of `longest` positions."""

    def __init__(self, D, longest, door="input"):
        super().__init__(door)
        self.table = nn.Parameter(0.02 * torch.randn(longest, D))

    def encode(self, where, x):
        # The check would make a compiler stop here.
        if not torch.compiler.is_compiling() and where.max() >= len(self.table):
            raise ValueError(f"Only {len(self.table)} positions were learned; shorten the text.")
        return self.table[where]


class Relative(Positions):
    """A parameter for each offset, key position minus query position; one row for each head.

    longest: L − 1; offsets beyond it, either way, take the parameter at that end. around: the mean
    of the parameters at first. They start at random, for if all were alike, attention would begin
    blind to positions.
    """

    def __init__(self, longest, around, H=1):
        super().__init__()
        self.longest = longest
        self.pi = nn.Parameter(around + torch.randn(H, 2 * longest + 1))

    def by_offset(self, where):
        offset = where - where[:, None]  # queries down, keys across
        return self.pi[:, offset.clamp(-self.longest, self.longest) + self.longest]


class RelativeBias(Relative):
    """The parameter of the offset is added to the score; at first, they lie around 0."""

    def __init__(self, longest, H=1):
        super().__init__(longest, 0.0, H)

    def bias(self, where):
        return self.by_offset(where)


class RelativeFactor(Relative):
    """The score is multiplied by the parameter of the offset; at first, they lie around 1."""

    def __init__(self, longest, H=1):
        super().__init__(longest, 1.0, H)

    def factor(self, where):
        return self.by_offset(where)


class ALiBi(Positions):
    """Each step away lowers the score by the head's slope; no parameters, any length."""

    def __init__(self, slopes=(0.5,)):
        super().__init__()
        slopes = torch.tensor(slopes, dtype=torch.get_default_dtype())
        self.register_buffer("slopes", slopes[:, None, None])

    def bias(self, where):
        return -self.slopes * (where - where[:, None]).abs()


class Rotary(Positions):
    """Queries and keys are turned in the planes of their pairs, by angles that grow with n."""

    def __init__(self, delta=10000.0):
        super().__init__()
        self.delta = delta

    def turn(self, q, where):
        theta = angles(where, q.shape[-1], self.delta, like=q)
        x, y = q[..., 0::2], q[..., 1::2]
        turned = x * theta.cos() - y * theta.sin(), x * theta.sin() + y * theta.cos()
        return torch.stack(turned, dim=-1).flatten(-2).to(q.dtype)
