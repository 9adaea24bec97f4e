"""Exercise 7.5, How often the corpus is read."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "7.5",
    "How often the corpus is read",
    stars=1,
    stub='''\
def passes_over_corpus(phases, words, tokens_per_word):
    """How many times the training of a network has read its corpus.

    phases: a list of (steps, batch, N), one phase of the training after the other: so many steps,
    each of which reads `batch` inputs of N tokens, without padding.
    words: the words of the corpus.
    tokens_per_word: how many tokens a word has on average, at least 1.
    Returns the number of passes, not rounded.
    """
    return ...  # your code here
''',
    hints=(
        "How many tokens does one step read? And a phase?",
        "Add up the tokens of all phases. How many tokens does one pass over the corpus read?",
        "The corpus has more tokens than words: words · tokens_per_word. The quotient of the two "
        "is the number of passes, also where it is below 1.",
    ),
    notice="At one token a word, BERT's million steps of 256 inputs with 512 tokens are 40 passes; "
    "with nine tenths of the steps on inputs of 128 tokens, as it was trained, they are 13. Where "
    "words are cut into more tokens, both are fewer.",
)


@exercise.solution
def passes_over_corpus(phases, words, tokens_per_word):
    read = sum(steps * batch * N for steps, batch, N in phases)
    return read / (words * tokens_per_word)


@exercise.right
def by_loop(phases, words, tokens_per_word):
    passes = 0.0
    for steps, batch, N in phases:
        passes += steps * batch * N / words / tokens_per_word
    return passes


@exercise.right
def by_product(phases, words, tokens_per_word):
    return np.prod(np.array(phases, dtype=float), axis=1).sum() / tokens_per_word / words


# The question to ask, and the wrong answer
MISTAKES = {
    "Your passes are too many, the corpus was counted in words: how many tokens has it?": (
        lambda phases, words, each: passes_over_corpus(phases, words, 1)
    ),
    "You multiply what is read by tokens_per_word: are its N not tokens already?": (
        lambda phases, words, each: passes_over_corpus(phases, words, 1 / each)
    ),
    "Only the first phase was counted: what about the rest?": (
        lambda phases, words, each: passes_over_corpus(phases[:1], words, each)
    ),
    "Only the last phase was counted: does one overwrite the other?": (
        lambda phases, words, each: passes_over_corpus(phases[-1:], words, each)
    ),
    "Your result is a number of tokens: how many of them has a pass?": (
        lambda phases, words, each: sum(steps * batch * N for steps, batch, N in phases)
    ),
    "Your result is rounded: how large is the part that is begun?": (
        lambda phases, words, each: passes_over_corpus(phases, words, each) // 1,
        lambda phases, words, each: round(passes_over_corpus(phases, words, each)),
        lambda phases, words, each: passes_over_corpus(phases, words, each) // 1 + 1,
    ),
    "A batch was counted as one input: how many does a step read?": (
        lambda phases, words, each: passes_over_corpus(
            [(s, 1, N) for s, _, N in phases], words, each
        )
    ),
    "An input was counted as one token: how many has it?": (
        lambda phases, words, each: passes_over_corpus(
            [(s, b, 1) for s, b, _ in phases], words, each
        )
    ),
    "The steps were not counted: how often is a batch read?": (
        lambda phases, words, each: passes_over_corpus(
            [(1, b, N) for _, b, N in phases], words, each
        )
    ),
    "Your number is upside down: is it the part of the reading that one pass is?": (
        lambda phases, words, each: 1 / passes_over_corpus(phases, words, each)
    ),
    "The phases were multiplied instead of added: what is read in two phases together?": (
        lambda phases, words, each: np.prod(phases, dtype=float) / (words * each)
    ),
    "Steps, batches and N of the phases were each added up first: which three belong together?": (
        lambda phases, words, each: np.prod(np.sum(phases, axis=0, dtype=float)) / (words * each)
    ),
    "Steps, batch and N were added: how many tokens does a step read?": (
        lambda phases, words, each: float(np.sum(phases)) / (words * each)
    ),
    "Your result is the mean of the phases: do they not follow one another?": (
        lambda phases, words, each: passes_over_corpus(phases, words, each) / len(phases)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("in place")
def in_place(phases, words, tokens_per_word):
    phases.append((0, 0, 0))
    return passes_over_corpus(phases, words, tokens_per_word)


@exercise.check
def check(answer):
    inputs = [(30, 8, 16), (5, 6, 64)], 1_000, 1.25
    recognize(
        unchanged(answer, *inputs),
        passes_over_corpus(*inputs),
        "the number of passes, 30 steps of 8 × 16 tokens and 5 of 6 × 64, over 1000 words of 1.25 "
        "tokens",
        results(MISTAKES, *inputs),
    )
    rng = np.random.default_rng(78)
    for phases, words, each in (
        ([(1_000_000, 256, 512)], 3_300_000_000, 1.0),
        ([(900_000, 256, 128), (100_000, 256, 512)], 3_300_000_000, 1.3),
        ([(7, 3, 5)], 1_000, 2.0),
        ([(7, 3, 5)], 2_000, 2.0),
        ([(7, 3, 5)], 2_000, 1.0),
        ([(7, 3, 8)], 2_000, 1.0),
        ([tuple(rng.integers(1, 99, 3).tolist()) for _ in range(5)], 12_345, 1.5),
        ([(1, 1, 1)], 1, 1.0),
    ):
        right = passes_over_corpus(phases, words, each)
        what = f"the number of passes, {phases} over {words} words of {each} tokens"
        same(unchanged(answer, phases, words, each), right, what, size=right)


exercise.equivalent(
    "whole numbers of this size are exact as floats",
    "by_product: * → return np.prod(np.array(phases), axis=1).sum() / tokens_per_word / words",
)
