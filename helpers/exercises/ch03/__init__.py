"""The exercises of notebook 03, Positional encoding, in its order; in 3.7 tokens are rows."""

from helpers.exercises.ch03 import (
    add_positions,
    alibi_bias,
    attend_with_positions,
    permutation_matrix,
    previous_word_head,
    relative_bias_matrix,
    rotate,
    sinusoidal_encoding,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    permutation_matrix.exercise,
    sinusoidal_encoding.exercise,
    attend_with_positions.exercise,
    relative_bias_matrix.exercise,
    alibi_bias.exercise,
    rotate.exercise,
    add_positions.exercise,
    previous_word_head.exercise,
)
