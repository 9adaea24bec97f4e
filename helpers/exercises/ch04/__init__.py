"""The exercises of notebook 04, Scaling and multiple heads, in its order."""

from helpers.exercises.ch04 import (
    circuits,
    count_parameters_of_heads,
    grouped_query_attention,
    merge_heads,
    multi_head,
    scaled_dot_product,
    softmax_jacobian,
    split_heads,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    softmax_jacobian.exercise,
    scaled_dot_product.exercise,
    multi_head.exercise,
    count_parameters_of_heads.exercise,
    split_heads.exercise,
    merge_heads.exercise,
    grouped_query_attention.exercise,
    circuits.exercise,
)
