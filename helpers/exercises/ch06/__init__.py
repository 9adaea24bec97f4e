"""The exercises of notebook 06, Byte pair encoding and embeddings, in its order."""

from helpers.exercises.ch06 import (
    byte_ids,
    count_pairs,
    decode_ids,
    encode_word,
    learn_merges,
    look_up_gradient,
    merge_and_update,
    merge_pair,
    wordpiece_word,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    count_pairs.exercise,
    merge_pair.exercise,
    learn_merges.exercise,
    byte_ids.exercise,
    merge_and_update.exercise,
    encode_word.exercise,
    decode_ids.exercise,
    wordpiece_word.exercise,
    look_up_gradient.exercise,
)
