"""Exercise 0.6, What each word adds."""

import itertools

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "0.6",
    "What each word adds",
    stars=1,
    stub='''\
def word_scores(words, weights, bias):
    """What each word of a text adds to the score of a linear classifier, and the score.

    words: the text, a list of words.
    weights: a dict from words to numbers; a word that is not in it adds 0.
    Returns (scores, total): one number for each word of the text, in its order, and the sum of
    these numbers and the bias.
    """
    return ...  # your code here
''',
    hints=(
        "In “good, good wine”, how often is the weight of good added? How many scores are there?",
        "weights[word] stops at a word that is not in the dict. Which method of a dict returns "
        "something else instead?",
        "The scores first, one for each word in turn: weights.get(word, 0). The total is their "
        "sum, and the bias joins it a single time.",
    ),
    notice="Every word adds the same amount wherever it stands: “not” can lower the total of a "
    "text, but it cannot turn a “terrible” that follows into praise.",
)


@exercise.solution
def word_scores(words, weights, bias):
    scores = [weights.get(word, 0) for word in words]
    return scores, sum(scores) + bias


@exercise.right
def by_loop(words, weights, bias):
    scores, total = [], bias
    for word in words:
        score = 0
        if word in weights:
            score = weights[word]
        scores.append(score)
        total += score
    return scores, total


@exercise.right
def by_differences(words, weights, bias):
    totals = list(itertools.accumulate((weights.get(word, 0) for word in words), initial=bias))
    return [after - before for before, after in itertools.pairwise(totals)], totals[-1]


@exercise.wrong("good occurs twice")
def distinct_words(words, weights, bias):
    return word_scores(list(dict.fromkeys(words)), weights, bias)


@exercise.wrong("counted twice at each of its two places")
def counted_at_each_place(words, weights, bias):
    scores = [words.count(word) * weights.get(word, 0) for word in words]
    return scores, sum(scores) + bias


@exercise.wrong("the sum itself is asked for")
def probability(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return scores, 1 / (1 + np.exp(-total))


@exercise.wrong("how often can a dict hold the same word")
def in_a_dict(words, weights, bias):
    scores = {word: weights.get(word, 0) for word in words}
    return scores, sum(scores.values()) + bias


@exercise.wrong("running total")
def running_totals(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return list(itertools.accumulate(scores)), total


@exercise.wrong("running total")
def running_totals_with_bias(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return list(itertools.accumulate(scores, initial=bias))[1:], total


@exercise.wrong("does a word add the bias")
def bias_in_each_score(words, weights, bias):
    scores = [weights.get(word, 0) + bias for word in words]
    return scores, sum(scores)


@exercise.wrong("how often is the bias added")
def bias_for_each_word(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return scores, total + bias * (len(words) - 1)


@exercise.wrong("where is the bias")
def without_bias(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return scores, total - bias


@exercise.wrong("a mean")
def mean(words, weights, bias):
    scores, total = word_scores(words, weights, bias)
    return scores, (total - bias) / max(1, len(words)) + bias


@exercise.wrong("return both")
def total_alone(words, weights, bias):
    return word_scores(words, weights, bias)[1]


@exercise.wrong("the other way around")
def exchanged(words, weights, bias):
    return word_scores(words, weights, bias)[::-1]


@exercise.wrong("stops at the word “soup”")
def looked_up(words, weights, bias):
    scores = [weights[word] for word in words]
    return scores, sum(scores) + bias


@exercise.wrong("has no score of its own")
def unknown_left_out(words, weights, bias):
    scores = [weights[word] for word in words if word in weights]
    return scores, sum(scores) + bias


@exercise.wrong("in a new dict")
def remembered(words, weights, bias):
    scores = [weights.setdefault(word, 0) for word in words]
    return scores, sum(scores) + bias


@exercise.wrong("a return that stands inside")
def returned_early(words, weights, bias):
    scores = []
    for word in words:
        scores.append(weights.get(word, 0))
        return scores, sum(scores) + bias
    return scores, bias


@exercise.check
def check(answer):
    words, weights = ["good", "wine", "good"], {"good": 2.5, "bad": -3.1, "wine": 1.2}
    bias = 0.7
    scores, total = pair(unchanged(answer, words, weights, bias))
    if isinstance(scores, dict):
        raise Wrong(
            "The scores are a dict: how often can a dict hold the same word, and how often can a "
            "text?",
            [2.5, 1.2, 2.5],
            scores,
        )
    recognize(
        scores,
        [2.5, 1.2, 2.5],
        "the scores of good, wine, good with the weights 2.5, 1.2, 2.5",
        {
            "There are two scores and three words; good occurs twice: does it add its weight "
            "once, or twice?": [2.5, 1.2],
            "The first word alone has a score: is there a return that stands inside a loop?": [2.5],
            "The word good has twice its weight: is it counted twice at each of its two places? "
            "What does it add at one of them?": [5.0, 1.2, 5.0],
            "The scores grow from word to word, like a running total: what does each word add by "
            "itself?": ([2.5, 3.7, 6.2], [3.2, 4.4, 6.9]),
            "Each score has the bias in it, which belongs to the text as a whole: does a word add "
            "the bias, or only its weight?": [3.2, 1.9, 3.2],
            "The total came first: did you return scores, total, or the other way around?": 6.9,
        },
    )
    recognize(
        total,
        6.9,
        "the total of the scores 2.5, 1.2, 2.5 with the bias 0.7",
        {
            "The total is the sum of the scores alone: where is the bias?": 6.2,
            "Your total is a probability; the sum itself is asked for: what is applied to it?": (
                1 / (1 + np.exp(-6.9))
            ),
            "The total has three biases in it, one for each word: how often is the bias added?": (
                8.3
            ),
            "The total was divided by the number of words: is a sum asked for, or a mean?": (
                6.2 / 3 + 0.7,
                6.9 / 3,
            ),
            "The scores count good twice, the total has one of them: what is it the sum of?": 4.4,
        },
    )
    words = ["good", "soup", "bad"]
    try:
        scores, total = pair(unchanged(answer, words, weights, bias))
    except LookupError:
        raise Wrong(
            "Your function stops at the word “soup”, which has no weight: what does such a word "
            "add?"
        ) from None
    recognize(
        scores,
        [2.5, 0.0, -3.1],
        "the scores of good, soup, bad",
        {
            "The word “soup” has no weight and, in your result, has no score of its own: how many "
            "scores does a text of three words have?": [2.5, -3.1]
        },
    )
    same(total, 0.1, "the total of good, soup, bad")
    texts = [], ["soup"], ["bad"], ["wine", "bad", "tea", "wine", "good", "wine", "it's"]
    for others in weights, {"soup": 0.4, "wine": -1.9, "it's": 0.25}:
        for words, bias in itertools.product(texts, (0.0, -1.5)):
            expected = word_scores(words, others, bias)
            scores, total = pair(unchanged(answer, words, others, bias))
            where = f"of a text of {len(words)} words with the bias {bias}"
            same(scores, expected[0], f"the scores {where}")
            same(total, expected[1], f"the total {where}")


def pair(result):
    """Scores and total, or Wrong."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Wrong("Two results are expected, scores and total: does your function return both?")
    return result
