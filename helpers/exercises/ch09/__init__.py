"""The exercises of notebook 09, Cross-attention, in its order."""

from helpers.exercises.ch09 import (
    aligned_words,
    exact_share,
    prefix_mask,
    read_source,
    read_source_backward,
    read_with_cache,
    teacher_forcing_loss,
    three_sublayers,
    translate_greedily,
    translator_parameters,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    read_source.exercise,
    read_source_backward.exercise,
    three_sublayers.exercise,
    translator_parameters.exercise,
    prefix_mask.exercise,
    teacher_forcing_loss.exercise,
    exact_share.exercise,
    translate_greedily.exercise,
    read_with_cache.exercise,
    aligned_words.exercise,
)
