"""Exercise 10.1, What a window saves."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.1",
    "What a window saves",
    stars=1,
    stub='''\
def count_meetings(N, reach, causal):
    """How many meetings N tokens have when each query sees only the keys near it.

    A query sees its own key and those up to `reach` places away: to either side, or if causal is
    True, only before it. N: at least 1. reach: at least 0; it may be larger than N.
    Returns a whole number. It must come fast for a million tokens, too.
    """
    return ...  # your code here
''',
    hints=(
        "Forget the edges first: how many keys does a query in the middle of a long text see?",
        "Then look at what is missing. The first token lacks `reach` keys before it, the second "
        "reach − 1, and so on: that is 1 + 2 + … + reach in all, and after the last token as many.",
        "A reach of N or more is as good as one of N − 1. With w = min(reach, N − 1), both sides "
        "give N(2w + 1) − w(w + 1).",
    ),
    notice="For reach = N − 1 the formulas are the encoder's N² and the decoder's N(N + 1)/2. For "
    "a fixed reach they grow with N, and no longer with its square.",
)


@exercise.solution
def count_meetings(N, reach, causal):
    w = min(reach, N - 1)  # no key is farther away
    missing = w * (w + 1) // 2  # at one end of the text
    return N * (w + 1) - missing if causal else N * (2 * w + 1) - 2 * missing


@exercise.right
def by_distance(N, reach, causal):
    before = sum(N - away for away in range(1, min(reach, N - 1) + 1))
    return N + before if causal else N + 2 * before


@exercise.right
def by_rest(N, reach, causal):
    outside = max(N - 1 - reach, 0)  # the longest row of keys that a query does not see
    half = N * (N + 1) // 2 - outside * (outside + 1) // 2
    return half if causal else 2 * half - N


def counted(N, reach, causal, own=0, clipped=True):
    w = min(reach, N - 1) if clipped else reach
    return N * (w + own) - w * (w + 1) // 2 if causal else N * (2 * w + own) - w * (w + 1)


# The question to ask, and the wrong answer
MISTAKES = {
    "The edges are forgotten: how many keys does the first token see before it?": (
        lambda N, reach, causal: N * (reach + 1) if causal else N * (2 * reach + 1),
        lambda N, reach, causal: (
            N * (min(reach, N - 1) + 1) if causal else N * (2 * min(reach, N - 1) + 1)
        ),
    ),
    "No query meets its own key in your count: does it see that one?": counted,
    "One end of the text is forgotten: which tokens lack keys when both sides are seen?": (
        lambda N, reach, causal: count_meetings(N, reach, True) + (0 if causal else N * reach)
    ),
    "Your count is the same for both: what does causal change?": (
        lambda N, reach, causal: count_meetings(N, reach, False),
        lambda N, reach, causal: count_meetings(N, reach, True),
    ),
    "Half of all is not what a causal window has: is a meeting of a token with itself halved?": (
        lambda N, reach, causal: count_meetings(N, reach, False) // (2 if causal else 1)
    ),
    "Your window reaches one place too far: how far away is the farthest key?": (
        lambda N, reach, causal: count_meetings(N, reach + 1, causal)
    ),
    "Your window ends one place too early: how far away is the farthest key?": (
        lambda N, reach, causal: count_meetings(N, reach - 1, causal)
    ),
    "Your window has `reach` keys on its two sides together: how far does it go on each?": (
        lambda N, reach, causal: count_meetings(N, reach // 2 if not causal else reach, causal)
    ),
    "A key at the window's border is counted half: does the query see it or not?": (
        lambda N, reach, causal: (
            (count_meetings(N, reach - 1, causal) + count_meetings(N, reach, causal)) / 2
        )
    ),
    "Yours is the decoder's count on both sides, so each query's own key counts twice: how often "
    "does a query meet its own key?": (
        lambda N, reach, causal: count_meetings(N, reach, True) * (1 if causal else 2)
    ),
    "The edges take reach² meetings in yours: how much is 1 + 2 + … + reach?": (
        lambda N, reach, causal: (
            N * (reach + 1) - reach**2 if causal else N * (2 * reach + 1) - 2 * reach**2
        )
    ),
    "At the edges you subtract 1 + 2 + … + (reach − 1): how many keys does the first token lack?": (
        lambda N, reach, causal: (
            count_meetings(N, reach, causal) + (1 if causal else 2) * min(reach, N - 1)
        )
    ),
    "These are the meetings of one query: how many have all N?": (
        lambda N, reach, causal: reach + 1 if causal else 2 * reach + 1
    ),
    "These are the meetings that a window saves: how many are left?": (
        lambda N, reach, causal: (
            (N * (N + 1) // 2 if causal else N * N) - count_meetings(N, reach, causal)
        )
    ),
    "Without a window there would be as many: where does reach enter?": (
        lambda N, reach, causal: N * (N + 1) // 2 if causal else N * N
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("as far as there are keys")
def not_clipped(N, reach, causal):
    return counted(N, reach, causal, own=1, clipped=False)


@exercise.wrong("not enough memory")
def by_the_whole_pattern(N, reach, causal):
    away = np.arange(N)[:, None] - np.arange(N)  # keys down
    return ((away <= 0 if causal else away <= reach) & (away >= -reach)).sum()


@exercise.check
def check(answer):
    for inputs in (13, 4, False), (13, 4, True):
        N, reach, causal = inputs
        what = f"the meetings for N={N}, reach={reach}, causal={causal}"
        recognize(answer(*inputs), count_meetings(*inputs), what, results(MISTAKES, *inputs))
    sizes = (5, 1), (12, 4), (7, 6), (7, 2), (3, 0), (1, 0), (1, 3), (6, 6), (6, 9), (20, 13)
    for N, reach in sizes:
        for causal in (False, True):
            what = f"the meetings for N={N}, reach={reach}, causal={causal}"
            question = "A window reaches only as far as there are keys: what if reach is N or more?"
            mistakes = {question: not_clipped(N, reach, causal)}
            recognize(answer(N, reach, causal), count_meetings(N, reach, causal), what, mistakes)
    expected = count_meetings(10**6, 500, True)
    same(answer(10**6, 500, True), expected, "the meetings of a million tokens")


exercise.equivalent(
    "a key N places away would add as much as it lacks, and none is farther away",
    "*: * → *min(N - 1, reach)*",
    "*: * → *min(reach, N)*",
    "*: * → *min(reach, N - 0)*",
)
exercise.equivalent(
    "−1 · 0 is 0, as 0 · 1 is",
    "by_rest: * → outside = max(0, N - 1 - reach)",
    "by_rest: * → outside = max(N - 1 - reach, -1)",
)
exercise.equivalent(
    "a whole number as a float is as good",
    "count_meetings: * → missing = w * (w + 1) / 2",
    "by_rest: * → half = N * (N + 1) / 2 - *",
    "by_rest: * → half = *outside * (outside + 1) / 2",
)
