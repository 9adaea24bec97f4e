"""The exercises of notebook 08, GPT, in its order."""

from helpers.exercises.ch08 import (
    apply_temperature,
    attend_with_cache,
    causal_weights,
    gated_mlp,
    gpt_in_numbers,
    keep_nucleus,
    keep_top_k,
    normalize_by_rms,
    search_with_beam,
    shifted_batch,
    text_log_probability,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    causal_weights.exercise,
    shifted_batch.exercise,
    text_log_probability.exercise,
    apply_temperature.exercise,
    keep_top_k.exercise,
    keep_nucleus.exercise,
    search_with_beam.exercise,
    attend_with_cache.exercise,
    gpt_in_numbers.exercise,
    normalize_by_rms.exercise,
    gated_mlp.exercise,
)
