"""Exercise 10.2, A window for a decoder."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.2",
    "A dilated window for a decoder",
    stars=1,
    stub='''\
def see_behind(N, reach, step):
    """The pattern of a decoder with a dilated window, N × N truth values, True: may see.

    Keys stand down, queries across. A query sees its own key and `reach` keys before it, which
    stand step, 2 · step, … places before; fewer, where the text begins. reach, step: at least 1.
    """
    return ...  # your code here
''',
    hints=(
        "How far does a key stand before its query? Make a matrix of these distances first.",
        "np.arange(N) - np.arange(N)[:, None] has the query's place minus the key's: keys down. "
        "Which of its values are seen?",
        "Those that are at least 0, at most reach · step, and divisible by step.",
    ),
    notice="With step 1 this is the pattern of GPT-3's sparse layers, which it alternates with "
    "full ones.",
)


@exercise.solution
def see_behind(N, reach, step):
    before = np.arange(N) - np.arange(N)[:, None]  # how far before the query the key stands
    return (before >= 0) & (before <= reach * step) & (before % step == 0)


@exercise.right
def by_loops(N, reach, step):
    pattern = np.zeros((N, N), dtype=bool)
    for query in range(N):
        for back in range(reach + 1):
            if query >= back * step:
                pattern[query - back * step, query] = True
    return pattern


@exercise.right
def by_diagonals(N, reach, step):
    return sum(np.eye(N, k=back * step) for back in range(reach + 1)) > 0


def seen(N, reach, step, own=0, more=0):
    before = np.arange(N) - np.arange(N)[:, None]
    return (before >= own) & (before <= (reach + more) * step) & (before % step == 0)


def gaps(N, reach, step, place):
    """Keys up to reach · step before the query whose place(key, query) is a multiple of step."""
    key, query = np.arange(N)[:, None], np.arange(N)
    return (key <= query) & (query - key <= reach * step) & (place(key, query) % step == 0)


# The question to ask, and the wrong answer
MISTAKES = {
    "Your queries see one key too few: how many before their own do they see?": (
        lambda N, reach, step: seen(N, reach, step, more=-1)
    ),
    "Your queries see one key too many: how many before their own do they see?": (
        lambda N, reach, step: seen(N, reach, step, more=1)
    ),
    "Your queries do not see their own key: does the window begin with it?": (
        lambda N, reach, step: seen(N, reach, step, own=1),
        lambda N, reach, step: seen(N, reach, step, own=1, more=1),
    ),
    "Your queries see the future and not the past: which of the two indices counts the keys?": (
        lambda N, reach, step: see_behind(N, reach, step).T
    ),
    "Your queries see both sides: may a decoder?": (
        lambda N, reach, step: see_behind(N, reach, step) | see_behind(N, reach, step).T
    ),
    "Your True marks what is hidden: what does it mean in this notebook?": (
        lambda N, reach, step: ~see_behind(N, reach, step)
    ),
    "Your window has no gaps: where does the step enter?": (
        lambda N, reach, step: see_behind(N, reach, 1),
        lambda N, reach, step: see_behind(N, reach * step, 1),
    ),
    "Your window reaches `reach` places back, not `reach` keys: how far away is the last?": (
        lambda N, reach, step: see_behind(N, reach // step, step)
    ),
    "Your keys stand 1, 1 + step, … places before: how far away is the first one?": (
        lambda N, reach, step: gaps(N, reach, step, lambda key, query: query - key - 1),
        lambda N, reach, step: (
            gaps(N, reach, step, lambda key, query: query - key - 1) | (np.eye(N) > 0)
        ),
    ),
    "All your queries see the same keys, every step-th of the text: from where are the steps "
    "counted, from the text's first token or from the query?": (
        lambda N, reach, step: gaps(N, reach, step, lambda key, query: key + 0 * query),
        lambda N, reach, step: (
            gaps(N, reach, step, lambda key, query: key + 0 * query) | (np.eye(N) > 0)
        ),
    ),
    "Only every step-th of your queries sees anything: which of them does see keys?": (
        lambda N, reach, step: gaps(N, reach, step, lambda key, query: query + 0 * key)
    ),
    "Your keys are step + 1 places apart: how many are left out between two that are step places "
    "apart?": lambda N, reach, step: see_behind(N, reach, step + 1),
    "Your queries see the keys between the steps, and not those at them: which do they see?": (
        lambda N, reach, step: (
            seen(N, reach, 1, own=0, more=reach * step - reach) & ~see_behind(N, reach, step)
        )
    ),
    "Your window never ends: how many keys before its own does a query see?": (
        lambda N, reach, step: see_behind(N, N, step)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("wrap around")
def around(N, reach, step):
    return sum(np.roll(np.eye(N), back * step, axis=1) for back in range(reach + 1)) > 0


@exercise.check
def check(answer):
    recognize(
        answer(13, 2, 3),
        see_behind(13, 2, 3),
        "the pattern for N=13, reach=2, step=3",
        results(MISTAKES, 13, 2, 3)
        | {
            "Your first queries wrap around and see keys from the end of the text: what stands "
            "before the first token?": around(13, 2, 3)
        },
    )
    sizes = (6, 2, 1), (1, 1, 1), (5, 1, 3), (4, 7, 2), (13, 2, 4), (8, 1, 8), (9, 3, 3)
    # Then one differs from an earlier size, to notice results that are kept between calls.
    for inputs in *sizes, (9, 2, 1), (6, 4, 1), (6, 2, 2):
        N, reach, step = inputs
        what = f"the pattern for N={N}, reach={reach}, step={step}"
        same(answer(*inputs), see_behind(*inputs), what)


exercise.equivalent(
    "a number is divisible as its negative is",
    "see_behind: * → *(turned(before) % step == 0)",
)
exercise.equivalent(
    "0 and 1 are as good as truth values, and each is set once",
    "by_loops: * → pattern = np.zeros((N, N))",
    "by_loops: * → pattern[query - back * step, query] += True",
)
