"""Exercise 9.5, Source and target in one sequence."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import numbers
from helpers.exercises.shared.examples import shape_of
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "9.5",
    "Source and target in one sequence",
    stars=1,
    stub='''\
def prefix_mask(M, N):
    """Which keys are hidden, when one stack of layers reads the source and writes the target.

    The sequence is M tokens of the source, then N tokens of the target; M or N may be 0.
    Tokens of the source see the whole source, both ways, as in an encoder, and nothing of the
    target. Tokens of the target see the whole source, the target's tokens before them, and
    themselves.
    Returns (M + N) × (M + N) truth values, keys down, queries across: True where the query may not
    see the key.
    """
    return ...  # your code here
''',
    hints=(
        "Draw it for M = 3 and N = 2, five columns, one for each query. Which keys does the first "
        "column hide, which the last?",
        "A causal mask of the whole sequence is nearly right. Where does it hide something that is "
        "allowed?",
        "Hidden is a key that stands after the query and belongs to the target. A column of key "
        "numbers, compared with a row of query numbers and with M, gives both truth values.",
    ),
    notice="Such a decoder-only translator needs no cross-attention: its self-attention reads the "
    "source. What is given up is that source and target have parameters of their own.",
)


@exercise.solution
def prefix_mask(M, N):
    keys, queries = np.arange(M + N)[:, None], np.arange(M + N)
    return (keys > queries) & (keys >= M)


@exercise.right
def by_blocks(M, N):
    hidden = np.zeros((M + N, M + N), dtype=bool)
    hidden[M:, :M] = True
    hidden[M:, M:] = np.tri(N, k=-1)
    return hidden


@exercise.right
def by_triangle(M, N):
    seen = np.triu(np.ones((M + N, M + N)))
    seen[:M, :M] = 1
    return seen == 0


@exercise.right
def by_loops(M, N):
    hidden = np.full((M + N, M + N), False)
    for key in range(M + N):
        for query in range(M + N):
            if key >= M and key > query:
                hidden[key, query] = True
    return hidden


@exercise.right
def by_farthest(M, N):
    farthest = [max(query, M - 1) for query in range(M + N)]  # the last key that a query sees
    return [[key > last for last in farthest] for key in range(M + N)]


def mask(M, N, source=False, source_to_target=True, target_to_source=False, target=None):
    """The right mask, or one with other blocks, named by query and key (what source sees of …).

    source: what is hidden of the source from the source; source_to_target: of the target from the
    source; target_to_source: of the source from the target; target: of the target from itself.
    """
    hidden = np.zeros((M + N, M + N), dtype=bool)
    hidden[:M, :M], hidden[M:, :M], hidden[:M, M:] = source, source_to_target, target_to_source
    hidden[M:, M:] = later(N) if target is None else target
    return hidden


def later(N, k=0):
    """Which keys stand after a query, or at least k places further on."""
    return np.arange(N)[:, None] > np.arange(N) + k


# The question to ask, and the wrong answer
MISTAKES = {
    "Your source cannot see its own later tokens: is any of the source still unwritten, when it is "
    "read?": lambda M, N: later(M + N),
    "Your source sees no later tokens of its own, and your target sees none of the source: what is "
    "there to be translated?": lambda M, N: mask(M, N, later(M), target_to_source=True),
    "Nothing is hidden in yours: which tokens have not been written, when the next is predicted?": (
        lambda M, N: np.zeros((M + N, M + N), bool)
    ),
    "Your target sees its own future: which tokens have not been written, when the next is "
    "predicted?": lambda M, N: mask(M, N, target=False),
    "Your source sees the target: what would be left to predict, once a token of the source has "
    "read the answer and the target reads the source?": (
        lambda M, N: mask(M, N, source_to_target=False)
    ),
    "Your target sees nothing of the source: what is there to be translated?": (
        lambda M, N: mask(M, N, target_to_source=True)
    ),
    "Rows and columns are exchanged in yours: which index counts the keys?": (
        lambda M, N: mask(M, N).T
    ),
    "Yours says what is seen: does True mean hidden?": lambda M, N: ~mask(M, N),
    "Yours says what is seen, with queries down: does True mean hidden, and which index counts the "
    "keys?": lambda M, N: ~mask(M, N).T,
    "Your target does not see its own token: is what has just been read not known when the next "
    "is predicted?": lambda M, N: mask(M, N, target=later(N, -1)),
    "No token sees itself in yours: is what has just been read not known when the next is "
    "predicted?": (
        lambda M, N: mask(M, N, np.eye(M) == 1, target=later(N, -1)),
        lambda M, N: later(M + N, -1),
    ),
    "Your target sees one token of its future, and that is the one it has to predict: is the mask "
    "off by one?": lambda M, N: mask(M, N, target=later(N, 1)),
    "Your target sees only itself: what of the tokens before it?": (
        lambda M, N: mask(M, N, target=np.eye(N) == 0)
    ),
    "Your source has N tokens and your target M: which stands first?": lambda M, N: mask(N, M),
    "The first token of the target counts as source in yours: at which place, counted from 0, does "
    "the target begin?": lambda M, N: mask(M + 1, N - 1) if N else mask(M, N),
    "The last token of the source counts as target in yours: at which place, counted from 0, does "
    "the target begin?": lambda M, N: mask(M - 1, N + 1) if M else mask(M, N),
    "The target stands first in yours: which comes first in the sequence?": (
        lambda M, N: np.roll(mask(M, N), (N, N), axis=(0, 1))
    ),
    "These are numbers to be added to scores, 0 and −∞: truth values are asked for.": (
        lambda M, N: np.where(mask(M, N), -np.inf, 0.0)
    ),
    "Your source tokens see themselves alone: what of the rest of the source?": (
        lambda M, N: mask(M, N, np.eye(M) == 0)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("Only the queries of the target")
def of_target_alone(M, N):
    return mask(M, N)[:, M:]


@exercise.wrong("Only the keys of the target")
def target_by_target(M, N):
    return later(N)


@exercise.wrong("truth values are asked for, and these are numbers")
def as_numbers(M, N):
    return mask(M, N).astype(int)


@exercise.wrong("truth values are asked for, and these are numbers")
def as_floats(M, N):
    return 1.0 * mask(M, N)


@exercise.wrong("with M = 0")
def never_empty(M, N):
    if M == 0:
        raise ValueError("no source")
    return mask(M, N)


@exercise.check
def check(answer):
    for M, N in (5, 3), (2, 4), (1, 5), (6, 1), (5, 0), (0, 4), (7, 9), (9, 7):
        what = f"the mask for M={M} and N={N}"
        try:
            got = run(answer, M, N, errors={})
        except (IndexError, ValueError) as error:
            if M and N:
                raise
            empty = "M" if M == 0 else "N"
            raise Wrong(
                f"It stops with an error with {empty} = 0, “{error}”: what is left of the mask "
                "then?"
            ) from None
        expected = prefix_mask(M, N)
        if shape_of(got) == (M + N, N) and M:
            raise Wrong(
                "Only the queries of the target have columns in yours: does the source pass "
                "through the same layers, and ask as well?",
                expected,
                got,
            )
        if shape_of(got) == (N, N) and M:
            raise Wrong(
                "Only the keys of the target have rows in yours: how many tokens has the whole "
                "sequence?",
                expected,
                got,
            )
        recognize(got, expected, what, results(MISTAKES, M, N) if M and N else {})
        if numbers(got, expected, what).dtype.kind != "b":
            raise Wrong(
                "The places are right, and truth values are asked for, and these are numbers: what "
                "would ~mask make of them?",
                expected,
                got,
            )


exercise.equivalent(
    "what the last line writes, or was there already, may be written before",
    "by_blocks: * → hidden[M:, :M] += True",
    "by_blocks: * → hidden[M:, :] = True",
    "by_blocks: * → hidden[M:, :M + 1] = True",
    "by_triangle: * → seen[:M, :] = 1",
    "by_triangle: * → seen[:M, :M + 1] = 1",
    "by_triangle: * → seen[:M, :M - 1] = 1",
)
exercise.equivalent(
    "whatever is not 0 is seen, and within the source all is",
    "by_triangle: * → seen[:M, :M] += 1",
    "by_triangle: * → turned(seen)[:M, :M] = 1",
    "by_triangle: * → seen[:M, :M] = -1",
    "by_triangle: * → seen[:M, :M] = 2",
)
exercise.equivalent(
    "a hidden key stands after the query: key 0 never is, and from the last query none is",
    "by_loops: * → for key in range(1, M + N):",
    "by_loops: * → for query in range(M + N + 1):",
    "by_loops: * → for query in range(M + N - 1):",
    "by_loops: * → for query in range(key + N):",
    "by_loops: * → for query in range(M + key):",
    "by_loops: * → hidden[key, query] += True",
)
exercise.equivalent(
    "of two numbers the larger, whichever comes first",
    "by_farthest: * → farthest = [max(M - 1, query) *",
)
