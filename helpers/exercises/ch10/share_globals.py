"""Exercise 10.3, Blocks that hear of each other."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.3",
    "Blocks that hear of each other",
    stars=2,
    stub='''\
def share_globals(N, size, chosen):
    """Blocks of `size` tokens with global tokens, N × N truth values, True: may see; keys down.

    A query sees the keys of its own block; the last block may be smaller. chosen: a list of token
    numbers, in any order, perhaps empty: these are global, wherever they stand.
    """
    return ...  # your code here
''',
    hints=(
        "Two patterns are combined: blocks, and global tokens. With which operator, | or &?",
        "np.arange(N) // size is the block of each token. As a column and as a row, compared, it "
        "makes the N × N pattern of the blocks.",
        "A global token sees all and is seen by all: its column becomes True, and its row, too. "
        "pattern[chosen] and pattern[:, chosen] can be set.",
    ),
    notice="If tokens were seen by all but did not see all, they could not collect anything: the "
    "blocks would hear from them, but never from each other.",
)


@exercise.solution
def share_globals(N, size, chosen):
    block = np.arange(N) // size
    special = np.isin(np.arange(N), chosen)
    return (block[:, None] == block) | special[:, None] | special


@exercise.right
def by_slices(N, size, chosen):
    pattern = np.zeros((N, N), bool)
    for start in range(0, N, size):
        pattern[start : start + size, start : start + size] = True
    for token in chosen:
        pattern[token] = pattern[:, token] = True
    return pattern


@exercise.right
def by_pairs(N, size, chosen):
    rows = range(N)
    return np.array(
        [[k // size == q // size or k in chosen or q in chosen for q in rows] for k in rows]
    )


def rows_and_columns(N, chosen):
    special = np.isin(np.arange(N), chosen)
    return special[:, None] | np.zeros((N, N), bool), special | np.zeros((N, N), bool)


def in_blocks(N, size):
    block = np.arange(N) // size
    return block[:, None] == block


# The question to ask, and the wrong answer
MISTAKES = {
    "Your global tokens are seen by all, but do not see all: which columns are theirs?": (
        lambda N, size, chosen: in_blocks(N, size) | rows_and_columns(N, chosen)[0]
    ),
    "Your global tokens see all, but are not seen by all: which rows are theirs?": (
        lambda N, size, chosen: in_blocks(N, size) | rows_and_columns(N, chosen)[1]
    ),
    "Your global tokens meet only each other beyond their blocks: whom does a global token see?": (
        lambda N, size, chosen: (
            in_blocks(N, size) | rows_and_columns(N, chosen)[0] & rows_and_columns(N, chosen)[1]
        )
    ),
    "Only what both patterns allow is left: are they joined by “and” or by “or”?": (
        lambda N, size, chosen: (
            in_blocks(N, size) & (rows_and_columns(N, chosen)[0] | rows_and_columns(N, chosen)[1])
        )
    ),
    "The blocks are missing: whom does a token see that is not global?": (
        lambda N, size, chosen: rows_and_columns(N, chosen)[0] | rows_and_columns(N, chosen)[1]
    ),
    "The global tokens are missing: who joins the blocks?": (
        lambda N, size, chosen: in_blocks(N, size)
    ),
    "Your True marks what is hidden: what does it mean in this notebook?": (
        lambda N, size, chosen: ~share_globals(N, size, chosen)
    ),
    "Your first tokens are global, as many as are chosen: which tokens are?": (
        lambda N, size, chosen: share_globals(N, size, range(len(chosen)))
    ),
    "Your text is cut into `size` blocks: is size the number of blocks, or of a block's tokens?": (
        lambda N, size, chosen: share_globals(N, -(-N // size), chosen)
    ),
    "Tokens of one place in their blocks meet, every size-th: which tokens make a block?": (
        lambda N, size, chosen: (
            (np.arange(N)[:, None] % size == np.arange(N) % size)
            | rows_and_columns(N, chosen)[0]
            | rows_and_columns(N, chosen)[1]
        )
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("smaller than the others")
def without_rest(N, size, chosen):
    pattern = share_globals(N, size, chosen)
    whole = np.arange(N) < N // size * size
    return pattern & (whole | whole[:, None] | rows_and_columns(N, chosen)[0].T)


@exercise.wrong("in place")
def in_place(N, size, chosen):
    chosen.sort()
    return share_globals(N, size, chosen)


@exercise.check
def check(answer):
    inputs = 11, 3, [7, 4]
    recognize(
        unchanged(answer, *inputs),
        share_globals(*inputs),
        "the pattern for N=11, size=3, chosen=[7, 4]",
        results(MISTAKES, *inputs)
        | {
            "The last block is missing; it is smaller than the others. Who sees its tokens?": (
                without_rest(*inputs)
            )
        },
    )
    for N, size, chosen in (
        (8, 4, [0]),
        (7, 2, []),
        (5, 5, [3, 1]),
        (9, 4, [8]),
        (1, 1, [0]),
        (6, 1, [2, 5, 0]),
        (4, 9, []),
    ):
        what = f"the pattern for N={N}, size={size}, chosen={chosen}"
        same(unchanged(answer, N, size, chosen), share_globals(N, size, chosen), what)
