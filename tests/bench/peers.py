"""PyTorch's modules with our parameters, and the passes in which both are timed."""

import torch

__all__ = ["forward", "forward_and_backward", "same_parameters"]

NAMES = {  # ours → PyTorch's
    "attention.": "self_attn.",
    "cross.": "multihead_attn.",
    "project.": "in_proj_",
    "combine.": "out_proj.",
    "mlp.0.": "linear1.",
    "mlp.2.": "linear2.",
    "norm_1.": "norm1.",
    "norm_2.": "norm2.",
    "norm_3.": "norm3.",
}


def same_parameters(ours, theirs):
    """Give PyTorch's module the parameters of ours, copied; returns it.

    ours: multi-head attention, a transformer layer, or what is made of layers.
    """

    def translated(name):
        for here, there in NAMES.items():
            name = name.replace(here, there)
        return name

    theirs.load_state_dict({translated(name): p for name, p in ours.state_dict().items()})
    return theirs


def forward(function, parameters, x, upstream):
    """The outputs, without a record for the backward pass."""
    with torch.no_grad():
        return [function(x)]


def forward_and_backward(function, parameters, x, upstream):
    """The outputs, and the gradients of x and of the parameters.

    upstream: the gradient that arrives from above.
    """
    outputs = function(x)
    return [outputs, *torch.autograd.grad(outputs, [x, *parameters], upstream)]
