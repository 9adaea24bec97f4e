"""One training loop for every notebook that trains, and the curve to watch while it runs."""

from helpers.training.batches import minibatches
from helpers.training.history import History
from helpers.training.loop import schedule, train

__all__ = ["History", "minibatches", "schedule", "train"]
