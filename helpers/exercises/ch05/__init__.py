"""The exercises of notebook 05, The transformer layer, in its order."""

from helpers.exercises.ch05 import (
    drop,
    layer_backward,
    layer_parameters,
    learning_rate,
    norm_after_layer,
    normalize_tokens,
    position_wise_mlp,
    pre_norm_layer,
    residual_sublayer,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    normalize_tokens.exercise,
    position_wise_mlp.exercise,
    norm_after_layer.exercise,
    pre_norm_layer.exercise,
    layer_parameters.exercise,
    drop.exercise,
    residual_sublayer.exercise,
    learning_rate.exercise,
    layer_backward.exercise,
)
