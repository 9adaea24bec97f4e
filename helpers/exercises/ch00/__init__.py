"""The exercises of notebook 00, What makes text hard, in its order."""

from helpers.exercises.ch00 import (
    bag_of_words,
    convolve_words,
    count_parameters,
    layers_needed,
    same_bag,
    train_bag_of_words,
    word_scores,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    count_parameters.exercise,
    convolve_words.exercise,
    layers_needed.exercise,
    bag_of_words.exercise,
    train_bag_of_words.exercise,
    word_scores.exercise,
    same_bag.exercise,
)
