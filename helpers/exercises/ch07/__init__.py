"""The exercises of notebook 07, BERT, in its order."""

from helpers.exercises.ch07 import (
    bert_parameters,
    best_span,
    encoder_input,
    entity_spans,
    mask_words,
    masked_loss,
    masked_loss_backward,
    passes_over_corpus,
    text_probability,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    encoder_input.exercise,
    mask_words.exercise,
    masked_loss.exercise,
    bert_parameters.exercise,
    passes_over_corpus.exercise,
    text_probability.exercise,
    entity_spans.exercise,
    best_span.exercise,
    masked_loss_backward.exercise,
)
