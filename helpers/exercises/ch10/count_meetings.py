"""Exercise 10.1, What a window saves."""

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


@exercise.check
def check(answer):
    for inputs in (13, 3, False), (13, 3, True):
        N, reach, causal = inputs
        what = f"the meetings for N={N}, reach={reach}, causal={causal}"
        recognize(answer(*inputs), count_meetings(*inputs), what, results(MISTAKES, *inputs))
    for N, reach in (5, 1), (12, 4), (7, 6), (3, 0), (1, 0), (1, 3), (6, 6), (6, 9), (20, 13):
        for causal in (False, True):
            what = f"the meetings for N={N}, reach={reach}, causal={causal}"
            question = "A window reaches only as far as there are keys: what if reach is N or more?"
            mistakes = {question: not_clipped(N, reach, causal)}
            recognize(answer(N, reach, causal), count_meetings(N, reach, causal), what, mistakes)
    expected = count_meetings(10**6, 500, True)
    same(answer(10**6, 500, True), expected, "the meetings of a million tokens")
