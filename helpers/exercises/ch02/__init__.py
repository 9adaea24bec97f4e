"""The exercises of notebook 02, Matrix form, in its order: in NumPy columns, in PyTorch rows."""

from helpers.exercises.ch02 import (
    attend,
    attention_matrix,
    batched_attention,
    count_multiplications,
    linear_columns,
    masked_attention,
    padding_mask,
    self_attention_backward,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    linear_columns.exercise,
    attention_matrix.exercise,
    attend.exercise,
    count_multiplications.exercise,
    masked_attention.exercise,
    batched_attention.exercise,
    padding_mask.exercise,
    self_attention_backward.exercise,
)
