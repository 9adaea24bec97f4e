"""Exercise 8.3, The probability of a text."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "8.3",
    "The probability of a text",
    stars=2,
    stub='''\
def text_log_probability(logits, ids):
    """The logarithm of the probability of a text, from one masked pass over it.

    ids: shape (N,), token numbers: 1, which is <start>, then the text, then 2, <end>, and after it
    perhaps padding, 0.
    logits: V × N. Column n is what the decoder gave after reading ids[0] to ids[n]: a score for
    each token of the vocabulary, to be the next one.
    Every token after <start> is predicted from those before it, <end> too; <start> is given.
    Padding does not count.
    Returns a number, in nats: the sum of the logarithms of the conditional probabilities. Logits
    may be ±1000, and the text so long that the probability itself is 0 in the computer.
    """
    return ...  # your code here
''',
    hints=(
        "Which token is predicted by column 0, and which column predicts <end>? How many terms has "
        "the sum for a text of one word?",
        "The logarithm of a softmax is score − log of the sum of all exponentials: no probability "
        "has to be computed. Subtract the largest score of each column first.",
        "Column n and token n + 1 belong together: logs[ids[1:], places] picks one number from "
        "each column, where places counts from 0. Drop the padding before that.",
    ),
    notice="All terms come from one pass, and each is what a pass over the beginning alone would "
    "have given: that is what the mask is for. The training loss is this number, with the sign "
    "changed.",
)


@exercise.solution
def text_log_probability(logits, ids):
    read = ids[ids != 0]
    shifted = logits - logits.max(axis=0)
    logs = shifted - np.log(np.exp(shifted).sum(axis=0))  # V × N
    return logs[read[1:], np.arange(len(read) - 1)].sum()


@exercise.right
def by_loop(logits, ids):
    total = 0.0
    for n, token in enumerate(ids[1:]):
        if token != 0:
            total += logits[token, n] - np.logaddexp.reduce(logits[:, n])
    return total


@exercise.right
def up_to_the_end(logits, ids):
    end = list(ids).index(2)
    scores = logits[:, :end]
    largest = scores.max(axis=0)
    sums = np.exp(scores - largest).sum(axis=0)
    return np.trace(scores[ids[1 : end + 1]]) - np.sum(largest + np.log(sums))


def terms(logits, ids, columns=slice(0, -1), tokens=slice(1, None), axis=0):
    """The logarithm of the softmax of each token that is not padding, from the column beside it."""
    logs = logits - np.logaddexp.reduce(logits, axis=axis, keepdims=True)
    rows, places = ids[tokens], np.arange(len(ids))[columns]
    return logs[rows[rows != 0], places[rows != 0]]


def of_the_text(logits, ids):
    """Logits and ids without padding."""
    return logits[:, ids != 0], ids[ids != 0]


def padded_too(logits, ids):
    logs = logits - np.logaddexp.reduce(logits, axis=0)
    return logs[ids[1:], np.arange(len(ids) - 1)].sum()


def chosen(logits, ids):
    """The logit of each token that is predicted."""
    logits, ids = of_the_text(logits, ids)
    return logits[ids[1:], np.arange(len(ids) - 1)]


# The question to ask, and the wrong answer
MISTAKES = {
    "Each token is scored by the column that has read it already: which column predicts token n?": (
        lambda logits, ids: terms(logits, ids, slice(None), slice(None)).sum(),
        lambda logits, ids: terms(logits, ids, slice(1, None), slice(1, None)).sum(),
    ),
    "Each column scores the token before the one it has read last: in which direction are they "
    "shifted?": lambda logits, ids: terms(logits, ids, slice(1, None), slice(0, -1)).sum(),
    "Your sum has a term for each place of padding: which tokens belong to the text?": padded_too,
    "Your sum has one term for the first place of padding: what is still predicted after <end>?": (
        lambda logits, ids: (
            terms(logits, ids).sum()
            + (logits - np.logaddexp.reduce(logits, axis=0))[0, list(ids).index(2)]
        )
    ),
    "The end of the text is missing from your sum: is <end> predicted, too?": (
        lambda logits, ids: terms(logits, ids)[:-1].sum()
    ),
    "The first word is missing from your sum: what predicts it?": (
        lambda logits, ids: terms(logits, ids)[1:].sum()
    ),
    "<start> is scored as well, by the last column: what does an index of −1, or np.roll, bring "
    "around?": lambda logits, ids: terms(*roll(*of_the_text(logits, ids))).sum(),
    "Your result is the mean of the terms: what is the logarithm of a product?": (
        lambda logits, ids: terms(logits, ids).mean(),
        lambda logits, ids: terms(logits, ids).sum() / (np.count_nonzero(ids)),
    ),
    "Your result is above 0, it is the loss: which sign has the logarithm of a probability?": (
        lambda logits, ids: -terms(logits, ids).sum(),
        lambda logits, ids: -terms(logits, ids).mean(),
    ),
    "Your result is in bits, the logarithm to the base 2: which one gives nats?": (
        lambda logits, ids: terms(logits, ids).sum() / np.log(2)
    ),
    "Your result has the logarithm to the base 10: which one gives nats?": (
        lambda logits, ids: terms(logits, ids).sum() / np.log(10)
    ),
    "Your result is the probability of the text: where is its logarithm?": (
        lambda logits, ids: np.exp(terms(logits, ids).sum())
    ),
    "Your result is the sum of the probabilities: of what does the chain rule take the product?": (
        lambda logits, ids: np.exp(terms(logits, ids)).sum()
    ),
    "Your result is the logarithm of a sum of probabilities: should they not be multiplied?": (
        lambda logits, ids: np.log(np.exp(terms(logits, ids)).sum())
    ),
    "Your result is the logarithm of the mean probability: should they not be multiplied?": (
        lambda logits, ids: np.log(np.exp(terms(logits, ids)).mean())
    ),
    "Your result is a perplexity: what is asked for is the logarithm of the text's probability.": (
        lambda logits, ids: np.exp(-terms(logits, ids).mean())
    ),
    "Your result is the sum of the logits: what makes probabilities of them?": (
        lambda logits, ids: chosen(logits, ids).sum()
    ),
    "From each logit only the largest of its column is subtracted: what makes a logarithm of a "
    "probability of it?": lambda logits, ids: chosen(logits - logits.max(axis=0), ids).sum(),
    "Your result subtracts the sum of the exponentials: should not its logarithm be subtracted?": (
        lambda logits, ids: (
            chosen(logits, ids) - np.exp(of_the_text(logits, ids)[0][:, :-1]).sum(axis=0)
        ).sum()
    ),
    "Your result is a sum of logarithms of logits, or NaN: are logits probabilities?": (
        lambda logits, ids: log_of(chosen(logits, ids)).sum()
    ),
    "Your softmax runs over the places: over what do the probabilities of the next token sum to "
    "one?": (
        lambda logits, ids: terms(logits, ids, axis=1).sum(),
        lambda logits, ids: terms(*of_the_text(logits, ids), axis=1).sum(),
    ),
    "Your softmax runs over all scores at once: does each place have its own?": (
        lambda logits, ids: terms(logits, ids, axis=(0, 1)).sum(),
        lambda logits, ids: terms(*of_the_text(logits, ids), axis=(0, 1)).sum(),
    ),
    "Your result has the first term alone: is each added to the sum so far, and is there a return "
    "inside a loop?": lambda logits, ids: terms(logits, ids)[0],
    "Your result has the last term alone: is each added to the sum so far?": (
        lambda logits, ids: terms(logits, ids)[-1]
    ),
    "Your result takes the most probable token at each place: which one does the text have?": (
        lambda logits, ids: (
            (logits - np.logaddexp.reduce(logits, axis=0)).max(axis=0)[: np.count_nonzero(ids) - 1]
        ).sum()
    ),
}


def roll(logits, ids):
    """The ids with <start> after the end, so that the last column predicts it."""
    return np.pad(logits, ((0, 0), (0, 1))), np.append(ids, ids[0])


def log_of(values):
    with np.errstate(all="ignore"):
        return np.log(values)


register(exercise, MISTAKES)


@exercise.wrong("a term for each token, and their sum is asked for")
def not_summed(logits, ids):
    return terms(logits, ids)


@exercise.wrong("does an index count tokens of the vocabulary, or places")
def exchanged(logits, ids):
    return text_log_probability(logits.T, ids)


@exercise.wrong("np.exp(1000) overflows")
def unstable(logits, ids):
    with np.errstate(all="ignore"):
        logs = logits - np.log(np.exp(logits).sum(axis=0))
    return terms(*of_the_text(logs, ids)).sum() if np.isfinite(logs).all() else np.nan


@exercise.wrong("the logarithm of 0")
def log_of_softmax(logits, ids):
    logits, ids = of_the_text(logits, ids)
    exponentials = np.exp(logits - logits.max(axis=0))
    probabilities = exponentials / exponentials.sum(axis=0)
    return log_of(probabilities[ids[1:], np.arange(len(ids) - 1)]).sum()


@exercise.wrong("multiplied first")
def by_product(logits, ids):
    return (
        log_of(np.prod(np.exp(terms(logits, ids)))) if len(ids) > 50 else terms(logits, ids).sum()
    )


@exercise.wrong("a number was added to the probabilities")
def a_little_more(logits, ids):
    return np.log(np.exp(terms(logits, ids)) + 1e-9).sum()


@exercise.wrong("in place")
def in_place(logits, ids):
    logits -= logits.max(axis=0)
    return terms(logits, ids).sum()


EXCHANGED = "Rows and columns of the logits are exchanged: does an index count tokens of the "
EXCHANGED += "vocabulary, or places? logits is V × N."
OUT_OF_BOUNDS = {"out of bounds": EXCHANGED}


@exercise.check
def check(answer):
    places = [[2.0, 1, 3, 7, 4], [1, 4, 3, 5, 12], [6, 1, 4, 2, 3], [9, 5, 1, 2, 7]]  # exp(logits)
    logits = np.log([*places, [1, 8, 2, 6, 3], [5, 1, 2, 3, 8]]).T
    ids = np.array([1, 3, 4, 2, 0, 0])
    got, expected = (
        run(answer, logits, ids, errors=OUT_OF_BOUNDS),
        text_log_probability(logits, ids),
    )
    what = "the log probability of the text 3, 4"
    if matches(got, terms(logits, ids)):
        raise Wrong(
            "Your result has a term for each token, and their sum is asked for.", expected, got
        )
    exchanged_result = text_log_probability(logits.T, ids)
    recognize(got, expected, what, results(MISTAKES, logits, ids) | {EXCHANGED: exchanged_result})
    rng = np.random.default_rng(83)
    for V, length, padding in (
        *((4, 0, 0), (4, 0, 3), (3, 1, 0), (9, 5, 2), (6, 12, 0), (30, 4, 1)),
        *((9, 5, 2), (9, 4, 3)),
    ):
        logits, ids = random_text(rng, V, length, padding)
        what = f"the log probability of {length} tokens and the end, V={V}, padding: {padding}"
        expected = text_log_probability(logits, ids)
        recognize(
            run(answer, logits, ids, errors=OUT_OF_BOUNDS),
            expected,
            what,
            results(MISTAKES, logits, ids),
        )
    check_large(answer, rng)


def check_large(answer, rng):
    """Large logits, a token whose probability is 0 in the computer, and a long text."""
    for logits, why in (
        (np.array([[0.0, 1], [999, 1], [1001, 1000], [1000, 998]]), "np.exp(1000) overflows"),
        (-np.array([[1003.0, 1001], [999, 1005], [1001, 1000], [1000, 998]]), "np.exp(−1000) is 0"),
        (np.array([[0.0, 1], [1, -1000], [-1000, 1000], [1000, 999]]), "np.exp(1000) overflows"),
        (np.array([[998.0, -1001], [999, -1000], [1001, -1000], [1000, -999]]), "exp(−1000) is 0"),
    ):
        ids = np.array([1, 3, 2])[: len(logits.T) + 1]
        logits = np.pad(logits, ((0, 0), (0, 1)))
        got, expected = unchanged(answer, logits, ids), text_log_probability(logits, ids)
        finite(
            got,
            expected,
            "for logits around ±1000",
            f"{why}: what can be subtracted from all scores of a column without changing its "
            "softmax?",
        )
        same(got, expected, "the log probability for logits around ±1000", size=1000.0)
    logits, ids = np.array([[0.0, 0, 0], [1, 5, 0], [3, 4, 0], [-1000, 6, 0]]), np.array([1, 3, 2])
    got, expected = unchanged(answer, logits, ids), text_log_probability(logits, ids)
    finite(
        got,
        expected,
        "for a logit of −1000",
        "Its probability is 0 in the computer, and you take the logarithm of 0: is a probability "
        "needed on the way to its logarithm?",
    )
    if float(got) > -900:
        raise Wrong(
            "A logit of −1000 has a log probability of about −1000, and yours is much larger: were "
            "large scores cut off, or a number was added to the probabilities?",
            expected,
            got,
        )
    same(got, expected, "the log probability for a logit of −1000", size=1000.0)
    logits, ids = random_text(rng, 40, 900, 0)
    got, expected = unchanged(answer, logits, ids), text_log_probability(logits, ids)
    finite(
        got,
        expected,
        "for a text of 900 tokens",
        "The probability of so long a text is 0 in the computer: were the factors multiplied "
        "first, and is the logarithm taken of each?",
    )
    same(got, expected, "the log probability of a text of 900 tokens")


def finite(got, expected, what, why):
    """Raise Wrong, with the reason, where the result is NaN or infinite."""
    if not np.isfinite(float(got)):
        raise Wrong(f"The result {what} is {float(got)}. {why}", expected, got)


def random_text(rng, V, length, padding):
    """Logits and a text of so many tokens between <start> and <end>, with padding after it."""
    ids = np.array([1, *rng.integers(3, max(V, 4), length), 2, *[0] * padding])
    return 2 * rng.normal(size=(max(V, ids.max() + 1), len(ids))), ids


exercise.equivalent(
    "any number near the largest will do",
    "text_log_probability: * → shifted = logits - whole(logits).max(axis=0)",
)
exercise.equivalent(
    "the trace ends where the shorter side does",
    "up_to_the_end: * → return np.trace(logits[*",
    "up_to_the_end: * → return np.trace(scores[ids[1:end + 1 + 1]])*",
    "up_to_the_end: * → return np.trace(scores[ids[1:end + 2]])*",
)
