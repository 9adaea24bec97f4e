"""The mistakes of an exercise in one dict: from the question to ask to one wrong answer or several.

Every wrong answer has the inputs of the exercise; a tuple of them makes the same mistake in several
ways. `register` makes wrong answers of them, `results` what `recognize` compares with.
"""

import numpy as np

__all__ = ["register", "results"]


def register(exercise, mistakes):
    """Add all mistakes to the exercise's wrong answers, each with its question."""
    for question, wrongs in mistakes.items():
        for wrong in _several(wrongs):
            exercise.wrong(question)(wrong)


def results(mistakes, *inputs):
    """Dict from each question to the results, a tuple, that its mistakes have for these inputs."""
    with np.errstate(all="ignore"):
        return {
            question: tuple(wrong(*inputs) for wrong in _several(wrongs))
            for question, wrongs in mistakes.items()
        }


def _several(wrongs):
    return wrongs if isinstance(wrongs, tuple) else (wrongs,)
