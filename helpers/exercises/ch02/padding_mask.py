"""Exercise 2.7, A mask for padding."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "2.7",
    "A mask for padding",
    stars=2,
    stub='''\
def padding_mask(lengths, N):
    """Which places of a padded batch hold no token: PyTorch's key_padding_mask.

    lengths: a list with the number of real tokens of each sentence, from 0 to N.
    N: the length to which all sentences are padded, at the end.
    Returns truth values, batch × N, an array or a tensor: True where a place is padding.
    """
    return ...  # your code here
''',
    hints=(
        "Number the places 0, 1, …, N − 1. Which of them hold real tokens in a sentence of "
        "length 2?",
        "In a sentence of some length, is the place with that same number still a token?",
        "Comparing a row of places (1 × N) with a column of lengths (batch × 1) gives all the "
        "truth values at once.",
    ),
    notice="Libraries do not agree on what True means: nn.MultiheadAttention hides the places "
    "that are True, scaled_dot_product_attention shows them. Read the page before you mask.",
)


@exercise.solution
def padding_mask(lengths, N):
    places = np.arange(N)  # (N,)
    return places >= np.array(lengths)[:, None]  # batch × N


@exercise.right
def by_loops(lengths, N):
    return [[place >= length for place in range(N)] for length in lengths]


@exercise.right
def by_assignment(lengths, N):
    mask = np.zeros((len(lengths), N), dtype=bool)
    for i, length in enumerate(lengths):
        mask[i, length:] = True
    return mask


@exercise.right
def by_rows(lengths, N):
    return [np.arange(N) >= length for length in lengths]


exercise.equivalent(
    "False + True is True", "by_assignment: mask[i, length:] = True → mask[i, length:] += True"
)


@exercise.wrong("True where a place is padding")
def inverted(lengths, N):
    return np.arange(N) < np.array(lengths)[:, None]


@exercise.wrong("the first place of padding")
def one_late(lengths, N):
    return np.arange(N) > np.array(lengths)[:, None]


@exercise.wrong("the last real token")
def one_early(lengths, N):
    return np.arange(N) >= np.array(lengths)[:, None] - 1


@exercise.wrong("marks no place at all")
def nothing_hidden(lengths, N):
    return np.zeros((len(lengths), N), dtype=bool)


@exercise.wrong("a return that stands inside it")
def returned_early(lengths, N):
    mask = np.zeros((len(lengths), N), dtype=bool)
    for i, length in enumerate(lengths):
        mask[i, length:] = True
        return mask


@exercise.wrong("which index counts the sentences")
def transposed(lengths, N):
    return padding_mask(lengths, N).T


@exercise.wrong("at the start")
def at_start(lengths, N):
    return padding_mask(lengths, N)[:, ::-1]


@exercise.wrong("truth values")
def as_numbers(lengths, N):
    return padding_mask(lengths, N).astype(int)


@exercise.wrong("got floats")
def as_scores(lengths, N):
    return np.where(padding_mask(lengths, N), -np.inf, 0.0)


@exercise.wrong("what does -0 select")
def from_the_end(lengths, N):
    mask = np.zeros((len(lengths), N), dtype=bool)
    for i, length in enumerate(lengths):
        mask[i, -(N - length) :] = True
    return mask


@exercise.check
def check(answer):
    lengths, N = [1, 4, 2], 4
    expected = padding_mask(lengths, N)
    got = unchanged(answer, lengths, N)
    recognize(
        got,
        expected,
        "the mask for lengths 1, 4, 2 and N=4",
        {
            "Your mask is True where a token is. What does PyTorch's convention mark? True where "
            "a place is padding.": ~expected,
            "A sentence of length 1 fills place 0 only, and your mask leaves place 1 open: is "
            "the place numbered by the length a token, or the first place of padding?": (
                one_late(lengths, N)
            ),
            "Your mask marks no place at all: which places of a short sentence are padding?": (
                nothing_hidden(lengths, N)
            ),
            "Your mask hides the last real token: which place has the last token of a sentence "
            "of length 1?": one_early(lengths, N),
            "The mask is transposed, batch × N is asked for: which index counts the sentences?": (
                expected.T
            ),
            "Your padding stands at the start of the sentences: at which end were they padded?": (
                expected[:, ::-1]
            ),
            "Expected truth values (bool), got floats: PyTorch would also accept a mask of floats, "
            "to be added to the scores, but here True means padding.": (
                np.where(expected, -np.inf, 0.0),
                np.where(expected, -1e9, 0.0),
            ),
            "The sentence that fills all places has no padding, and your mask hides all of it: "
            "what does -0 select in mask[i, -0:]?": from_the_end(lengths, N),
        },
    )
    if "bool" not in str(getattr(got, "dtype", np.asarray(got).dtype)):
        raise Wrong(
            "The mask holds ones and zeros, not truth values (bool): PyTorch refuses whole numbers "
            "here, and adds floats to the scores, where a 1 hides nothing.",
            expected,
            got,
        )
    for lengths, N in (
        *(([1, 4, 2], 5), ([1, 3, 2], 4), ([0], 1), ([1], 1), ([4, 0, 2, 7], 7), ([3, 5], 5)),
        ([2, 2, 2, 2, 2], 3),
    ):
        what = f"the mask for {lengths} and N={N}"
        same(unchanged(answer, lengths, N), padding_mask(lengths, N), what)
