"""Exercise 9.10, Which word comes from which."""

import copy

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.examples import first_fault, shape_of
from helpers.exercises.shared.mistakes import register
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "9.10",
    "Which word comes from which",
    stars=2,
    stub='''\
def aligned_words(weights, source, inputs):
    """For each word of a translation, the word of the source that it rests on.

    weights: of cross-attention, heads × N_e × N_d, keys down and queries across.
    source: the N_e tokens that the encoder has read, words and special tokens, a list.
    inputs: the N_d tokens that the decoder has read, <start>, the words of the translation, and
    perhaps special tokens after them, a list.
    Special are the numbers 0, 1 and 2: padding, <start> and <end>. They are never aligned.
    The token that was read last asks for the next one: so the query that found a word is that of
    the token before it. Its word of the source is the one with the largest weight, in the mean of
    the heads; of equal ones, the first.
    Returns a list of whole numbers, one for each word of the translation: the place of its word in
    source, counted from 0.
    """
    return ...  # your code here
''',
    hints=(
        "Write the inputs above the columns of the weights. Which column belongs to the query that "
        "predicted the first word of the translation?",
        "Take the mean over the heads first, so that one matrix N_e × N_d is left. Which of its "
        "rows may win, and what can be put in the others, so that they never do?",
        "np.where(special[:, None], -1, mean).argmax(axis=0) has a place for each query. Of these, "
        "which belong to a word of the inputs, one place further on?",
    ),
    notice="Special tokens may well win: a head that has nothing to look for has to put its "
    "weight somewhere. And the query of a word that has been read asks for the next one.",
)


@exercise.solution
def aligned_words(weights, source, inputs):
    mean = weights.mean(axis=0)  # N_e × N_d
    special = np.array(source) < 3
    places = np.where(special[:, None], -1, mean).argmax(axis=0)
    return [int(places[n - 1]) for n, token in enumerate(inputs) if token > 2]


@exercise.right
def by_loops(weights, source, inputs):
    found = []
    for n in range(1, len(inputs)):
        if inputs[n] not in (0, 1, 2):
            best, largest = None, -1.0
            for m, token in enumerate(source):
                if token not in (0, 1, 2):
                    weight = sum(head[m, n - 1] for head in weights)
                    if weight > largest:
                        best, largest = m, weight
            found.append(best)
    return found


@exercise.right
def of_words_alone(weights, source, inputs):
    words = np.flatnonzero(np.array(source) > 2)
    asking = [n for n, token in enumerate(inputs[1:]) if token > 2]
    return words[weights.sum(axis=0)[words][:, asking].argmax(axis=0)]


@exercise.right
def by_sorting(weights, source, inputs):
    words = [m for m, token in enumerate(source) if token >= 3]
    mean = np.mean(weights, 0)
    pairs = zip(mean.T, inputs[1:], strict=False)
    return [max(words, key=lambda m: column[m]) for column, token in pairs if token >= 3]


def align(weights, source, inputs, **slip):
    """The right places, or one with slips.

    heads: function of the weights, to one matrix. hidden: which tokens of the source are not
    aligned. choose: function of the matrix with −1 where hidden, to a place for each query.
    shift: how many columns before a word its query stands. asked: for which inputs. place:
    function of places and source, to what is returned of them.
    """
    source, inputs = np.array(source), np.array(inputs)
    hidden = slip.get("hidden", lambda source: source < 3)(source)
    mean = slip.get("heads", lambda weights, hidden: weights.mean(axis=0))(weights, hidden)
    mean = np.where(hidden[:, None], slip.get("never", -1), mean)
    places = slip.get("choose", lambda mean: mean.argmax(axis=0))(mean)
    asked = np.flatnonzero(slip.get("asked", lambda inputs: inputs > 2)(inputs))
    places = places[(asked - slip.get("shift", 1)) % len(places)]
    return slip.get("place", lambda places, source: places)(places, source)


def slipped(**slip):
    """A wrong answer: align with slips."""
    return lambda *inputs: align(*inputs, **slip)


def renormalized(weights, hidden):
    words = weights * ~hidden[:, None]
    return (words / words.sum(axis=1, keepdims=True)).mean(axis=0)


def by_vote(weights, hidden):
    """How many heads have their largest weight there."""
    words = np.where(hidden[:, None], -1, weights)
    return (words == words.max(axis=1, keepdims=True)).sum(axis=0)


def best_of_each(weights, source, inputs):
    """For each word of the source, the word of the translation with the largest weight."""
    mean = weights.mean(axis=0)[:, :-1]
    asked = np.flatnonzero(np.array(inputs)[1:] > 2)
    if not len(asked):
        return []
    return mean[np.array(source) > 2][:, asked].argmax(axis=1)


# The question to ask, and the wrong answer
MISTAKES = {
    "Yours takes the query of the word itself: what does a token ask for once it has been read, "
    "and which query has found it?": slipped(shift=0),
    "Yours takes the query two places before a word: which token was read last when it was "
    "found?": slipped(shift=2),
    "Special tokens of the source are aligned, too: which of the rows may win?": (
        slipped(hidden=lambda source: source < 0),
        slipped(hidden=lambda source: source == 0),
        slipped(hidden=lambda source: source == 2),
        slipped(hidden=lambda source: source == 1),
        slipped(hidden=lambda source: source < 2),
        slipped(hidden=lambda source: source % 2 == 0),
        slipped(hidden=lambda source: (source == 1) | (source == 2)),
    ),
    "A word of the source is never aligned, the one with the number 3: which numbers are "
    "special?": slipped(hidden=lambda source: source <= 3),
    "Your places count the words of the source alone: how many special tokens stand before them?": (
        slipped(place=lambda places, source: places - np.cumsum(source < 3)[places])
    ),
    "Your places are counted from 1: which number has the first token of the source?": slipped(
        place=lambda places, source: places + 1
    ),
    "These are the tokens of the source themselves: which places do they stand at?": slipped(
        place=lambda places, source: source[places]
    ),
    "Your list has more places than there are words: which of the inputs are words, and which "
    "queries have found one?": (
        slipped(asked=lambda inputs: inputs > 0),
        slipped(asked=lambda inputs: inputs >= 0),
        slipped(shift=0, asked=lambda inputs: inputs >= 0),
    ),
    "Yours is the largest weight that any head gives: what is the mean of the heads?": slipped(
        heads=lambda weights, hidden: weights.max(axis=0)
    ),
    "Only the first head counts in yours: what of the others?": slipped(
        heads=lambda weights, hidden: weights[0]
    ),
    "Only the last head counts in yours: what of the others?": slipped(
        heads=lambda weights, hidden: weights[-1]
    ),
    "Your heads vote, each for its largest weight: what is the mean of the heads?": slipped(
        heads=by_vote
    ),
    "Your weights are multiplied over the heads: what is the mean of the heads?": slipped(
        heads=lambda weights, hidden: weights.prod(axis=0)
    ),
    "Yours is the least weight that any head gives: what is the mean of the heads?": slipped(
        heads=lambda weights, hidden: weights.min(axis=0)
    ),
    "In each head the weights of words were divided by their sum before the mean, so that a head "
    "that looks past all words counts as much as the others: what is asked for?": slipped(
        heads=renormalized
    ),
    "Yours has the smallest weight: which word does a query rest on?": slipped(
        choose=lambda mean: mean.argmin(axis=0), never=2
    ),
    "Yours has a place for each word of the source, in the translation: which way round is asked "
    "for?": best_of_each,
    "Your places come from the last column up: in which order do the words stand?": slipped(
        place=lambda places, source: places[::-1]
    ),
    "Your words are aligned in the order in which they stand, whatever the weights are: where do "
    "these come in?": slipped(
        place=lambda places, source: np.resize(np.flatnonzero(source > 2), len(places))
    ),
    "Each word of the source is aligned once in yours: may two words of a translation rest on the "
    "same one?": slipped(
        place=lambda places, source: np.array(list(dict.fromkeys(places.tolist())))
    ),
    "Your places are in ascending order: may the words cross?": slipped(
        place=lambda places, source: np.sort(places)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("which of equal ones is asked for")
def last_of_equal(weights, source, inputs):
    return align(
        *(weights, source, inputs),
        choose=lambda mean: len(mean) - 1 - mean[::-1].argmax(axis=0),
    )


@exercise.wrong("and yours is a dict")
def as_dict(*inputs):
    return dict(enumerate(align(*inputs).tolist()))


@exercise.wrong("as pairs")
def as_pairs(*inputs):
    return list(enumerate(align(*inputs).tolist()))


@exercise.wrong("as pairs")
def as_pairs_turned(*inputs):
    return [(m, n) for n, m in enumerate(align(*inputs).tolist())]


@exercise.wrong("are these the weights")
def largest_weights(*inputs):
    return align(*inputs, choose=lambda mean: mean.max(axis=0))


@exercise.wrong("in place")
def in_place(weights, source, inputs):
    weights[:, np.array(source) < 3] = -1
    return align(weights, source, inputs)


@exercise.check
def check(answer):
    cases = [*examples()]
    found = [checked(run(answer, *inputs, errors={}), inputs) for inputs, _ in cases]
    fault = first_fault(found, aligned_words, MISTAKES, [inputs for inputs, _ in cases])
    if fault is not None:
        n, question = fault
        inputs, what = cases[n]
        answer(*copy.deepcopy(inputs))  # so that its inputs are shown
        if question:
            raise Wrong(question, aligned_words(*inputs), found[n])
        same(found[n], aligned_words(*inputs), what)
    special_alone = np.zeros((2, 5, 3))
    special_alone[:, 0], special_alone[:, 4] = 0.4, 0.6
    far = "all words have the same weight there; which of equal ones is asked for?"
    for weights, what in (
        (np.full((2, 5, 3), 0.2), "where all weights are 0.2"),
        (special_alone, "where all the weight is on <start> and <end>"),
    ):
        inputs = weights, [1, 4, 8, 3, 2], [1, 6, 7]
        got = run(answer, *inputs, errors={})
        same(got, aligned_words(*inputs), f"the places {what}", far=far)


def checked(got, inputs):
    """The result, unless it is of a kind that tells what went wrong."""
    expected = aligned_words(*inputs)
    if isinstance(got, dict):
        raise Wrong("A list is expected, one number for each word, and yours is a dict.")
    if shape_of(got) == (len(expected), 2):
        raise Wrong(
            "Your places come as pairs: a list of numbers is asked for, one for each word.",
            expected,
            got,
        )
    if shape_of(got) == np.shape(expected) and not np.all(np.mod(got, 1) == 0):
        raise Wrong(
            "Places are whole numbers, and yours are not: are these the weights? At which "
            "place do they stand?",
            expected,
            got,
        )
    return got


def examples():
    """Random weights, large for special tokens, and tokens; with what to say of them."""
    rng = np.random.default_rng(99)
    for H, source, inputs in (
        (3, [1, 9, 3, 5, 14, 8, 2, 0], [1, 11, 4, 21, 17, 6, 2]),
        (2, [3, 12, 2, 0, 0], [1, 31, 8, 16]),
        (4, [1, 5, 3, 2], [1, 7, 9, 4, 12, 8, 6, 0, 0]),
        (1, [6], [1, 5]),
        (5, [1, 7, 30, 3, 4, 2, 0], [1]),
        (5, [1, 7, 30, 3, 4, 2, 0], [1, 13, 3, 15, 10]),
        (5, [1, 7, 30, 3, 4, 2, 0], [1, 13, 3, 15, 10]),
        (5, [1, 7, 30, 3, 4, 0, 2], [1, 13, 3, 15, 10]),
        (5, [1, 7, 30, 3, 4, 0, 2], [1, 13, 3, 2, 0]),
    ):
        weights = rng.dirichlet(np.where(np.array(source) < 3, 1.5, 0.9), size=(H, len(inputs)))
        yield (
            (weights.swapaxes(1, 2).round(2 if H == 3 else 15), source, inputs),
            f"the places for {H} heads, source {source} and inputs {inputs}",
        )


exercise.equivalent(
    "a sum is as large as a mean times the heads, and any negative number is less than a weight",
    "aligned_words: * → mean = weights.sum(axis=0)",
    "aligned_words: * → *np.where(special[:, None], -2, mean)*",
    "aligned_words: * → return [places[n - 1] for *",
    "by_loops: * → best, largest = (None, -2.0)",
)
exercise.equivalent(
    "<start> stands at the first place alone, and nothing is below 0",
    "by_loops: * → for n in range(0, len(inputs)):",
    "by_loops: * → if inputs[n] not in (*, *, 2):",
    "by_loops: * → if token not in (1, 0, 2):",
)
