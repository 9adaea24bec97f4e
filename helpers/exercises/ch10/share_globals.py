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


def joined(N, chosen):
    """The global tokens alone, both ways."""
    rows, columns = rows_and_columns(N, chosen)
    return rows | columns


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
    "Your tokens see the blocks beside their own, too: which block is a query's own?": (
        lambda N, size, chosen: (
            (abs(np.arange(N)[:, None] // size - np.arange(N) // size) <= 1) | joined(N, chosen)
        )
    ),
    "A window moves with each token in yours: where does a block begin, and whose is it?": (
        lambda N, size, chosen: (
            (abs(np.arange(N)[:, None] - np.arange(N)) < size) | joined(N, chosen)
        ),
        lambda N, size, chosen: (
            (abs(np.arange(N)[:, None] - np.arange(N)) <= size // 2) | joined(N, chosen)
        ),
    ),
    "Your first block has one token too few: which number has the first token?": (
        lambda N, size, chosen: in_blocks(N + 1, size)[1:, 1:] | joined(N, chosen)
    ),
    "Your blocks are cut from the end of the text, so the first one is the smaller: where does the "
    "first block begin?": (
        lambda N, size, chosen: in_blocks(N, size)[::-1, ::-1] | joined(N, chosen)
    ),
    "Your global tokens are one place too early: are tokens counted from 0?": (
        lambda N, size, chosen: share_globals(N, size, [token - 1 for token in chosen])
    ),
    "Only one of the chosen tokens is global in yours: which are?": (
        lambda N, size, chosen: share_globals(N, size, chosen[:1]),
        lambda N, size, chosen: share_globals(N, size, chosen[-1:]),
    ),
    "Whole blocks are global in yours, those with a chosen token: who is global?": (
        lambda N, size, chosen: share_globals(
            N, size, [n for n in range(N) if n // size in [token // size for token in chosen]]
        )
    ),
    "Yours is a decoder's pattern: may a query not see later keys here?": (
        lambda N, size, chosen: np.triu(share_globals(N, size, chosen))
    ),
    "A query does not see its own key in yours: is that one not in its block?": (
        lambda N, size, chosen: share_globals(N, size, chosen) & ~np.eye(N, dtype=bool)
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
    inputs = 10, 4, [8, 3]
    recognize(
        unchanged(answer, *inputs),
        share_globals(*inputs),
        "the pattern for N=10, size=4, chosen=[8, 3]",
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
        (14, 4, [0]),  # from here on, one differs from an earlier input
        (8, 4, [5]),
        (8, 3, [0]),
    ):
        what = f"the pattern for N={N}, size={size}, chosen={chosen}"
        same(unchanged(answer, N, size, chosen), share_globals(N, size, chosen), what)


exercise.equivalent(
    "who sees whom is the same in both directions",
    "by_slices: * → return turned(pattern)",
    "by_slices: * → turned(pattern)[start:start + size, *",
)
exercise.equivalent(
    "a last block of no tokens adds nothing, and True stays True",
    "by_slices: * → for start in range(0, N + 1, size):",
    "by_slices: * → pattern[start:start + size, start:start + size] += True",
    "by_slices: * → pattern[chosen] = pattern[:, token] = True",
    "by_slices: * → pattern[token] = pattern[:, chosen] = True",
)
exercise.equivalent("a list is as good", "by_pairs: * → return [[*")
