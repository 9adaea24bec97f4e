"""The exercises of notebook 01, Self-attention, in its order. Tokens are columns throughout."""

from helpers.exercises.ch01 import (
    attend_to_stream,
    attention_weights,
    design_head,
    hard_look_up,
    parameter_free_attention,
    route,
    self_attention_loops,
    softmax_columns,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    route.exercise,
    softmax_columns.exercise,
    parameter_free_attention.exercise,
    attention_weights.exercise,
    self_attention_loops.exercise,
    hard_look_up.exercise,
    design_head.exercise,
    attend_to_stream.exercise,
)
