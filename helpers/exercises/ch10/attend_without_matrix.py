"""Exercise 10.6, The other order."""

import tracemalloc

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.6",
    "The other order, with padding",
    stars=2,
    stub='''\
def attend_without_matrix(G_q, G_k, V, there):
    """Linear attention to the keys that are there, without a matrix of keys by queries.

    G_q: D_g × N and G_k: D_g × M, features of queries and keys, all positive. V: D_v × M, values.
    there: M truth values; a key whose value is False is padding, and no query sees it. At least
    one is there. The similarity of a key and a query is the dot product of their features.
    Returns D_v × N: for each query the mean of the values, weighted by similarity.
    """
    return ...  # your code here
''',
    hints=(
        "Write it with the M × N matrix of similarities first: what is divided by what? Which "
        "product can then be made first instead?",
        "Padding must vanish from the numerator and from the denominator. What if its features "
        "were all zero?",
        "With G = G_k * there: the numerators are (V @ G.T) @ G_q, and the denominators are the "
        "same for values of one, G.sum(axis=1) @ G_q.",
    ),
    notice="Whatever depends on a key alone can be hidden so. What depends on key and query "
    "together, such as a window, cannot: the matrix in which it would stand is never made.",
)


@exercise.solution
def attend_without_matrix(G_q, G_k, V, there):
    G = G_k * there  # D_g × M: padding has no features
    state = V @ G.T  # D_v × D_g
    total = G.sum(axis=1)  # D_g
    return state @ G_q / (total @ G_q)


@exercise.right
def by_choice(G_q, G_k, V, there):
    G, values = G_k[:, there], np.vstack([V[:, there], np.ones(there.sum())])
    both = (values @ G.T) @ G_q
    return both[:-1] / both[-1]


@exercise.right
def by_loop(G_q, G_k, V, there):
    state, total = np.zeros((len(V), len(G_k))), np.zeros(len(G_k))
    for m in np.flatnonzero(there):
        state += np.outer(V[:, m], G_k[:, m])
        total += G_k[:, m]
    return (state @ G_q) / (total @ G_q)


# The question to ask, and the wrong answer
MISTAKES = {
    "The denominators are missing: what makes a mean of a weighted sum?": (
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q
    ),
    "Your sums are divided by the number of keys: by what is a weighted mean divided?": (
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q / there.sum(),
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q / len(there),
    ),
    "Padding is seen, as if it were text: where does `there` enter?": (
        lambda G_q, G_k, V, there: attend_without_matrix(G_q, G_k, V, there | True)
    ),
    "Padding still counts in your denominators: whose similarities do they sum?": (
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q / (G_k.sum(axis=1) @ G_q)
    ),
    "Padding still counts in your numerators: whose values do they sum?": (
        lambda G_q, G_k, V, there: V @ G_k.T @ G_q / ((G_k * there).sum(axis=1) @ G_q)
    ),
    "Only padding is seen: what does True mean in `there`?": (
        lambda G_q, G_k, V, there: attend_without_matrix(G_q, G_k, V, ~there)
    ),
    "Each feature is divided by its own sum over the keys: to whom does a denominator belong?": (
        lambda G_q, G_k, V, there: (
            V @ (G_k * there / (G_k * there).sum(axis=1, keepdims=True)).T @ G_q
        ),
        lambda G_q, G_k, V, there: (
            V @ (G_k * there / (G_k * there).sum(axis=1, keepdims=True)).T @ G_q / len(G_k)
        ),
    ),
    "Each key's features are made to sum to one: what is divided by its sum here?": (
        lambda G_q, G_k, V, there: attend_without_matrix(G_q, G_k / G_k.sum(axis=0), V, there)
    ),
    "Your denominators sum the keys' features and leave out the query's: what is a similarity?": (
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q / (G_k * there).sum()
    ),
    "Your denominators sum the query's features and leave out the keys': what is a similarity?": (
        lambda G_q, G_k, V, there: V @ (G_k * there).T @ G_q / G_q.sum(axis=0)
    ),
    "You take exponentials of the features: are these not positive already?": (
        lambda G_q, G_k, V, there: (
            V
            @ (np.exp(G_k) * there).T
            @ np.exp(G_q)
            / ((np.exp(G_k) * there).sum(axis=1) @ np.exp(G_q))
        )
    ),
    "Every query has the same output, the mean of the values: where does its own g enter?": (
        lambda G_q, G_k, V, there: (
            V[:, there].mean(axis=1, keepdims=True) + np.zeros((1, G_q.shape[1]))
        )
    ),
    "All queries have one denominator: does each have its own?": (
        lambda G_q, G_k, V, there: (
            V @ (G_k * there).T @ G_q / ((G_k * there).sum(axis=1) @ G_q).sum()
        ),
        lambda G_q, G_k, V, there: (
            V @ (G_k * there).T @ G_q / ((G_k * there).sum(axis=1) @ G_q).mean()
        ),
    ),
    "Your weights are those of a softmax of the similarities: does this attention have one?": (
        lambda G_q, G_k, V, there: attend_without_matrix(
            np.eye(G_q.shape[1]), np.exp(G_k.T @ G_q).T, V, there
        )
    ),
    "Your keys are normalized over the queries: over what does a query's mean run?": (
        lambda G_q, G_k, V, there: (
            V
            @ ((G_k * there).T @ G_q / np.maximum((G_k * there).T @ G_q.sum(axis=1), 1e-9)[:, None])
        )
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("M × N matrix")
def with_matrix(G_q, G_k, V, there):
    S = (G_k * there).T @ G_q
    return V @ (S / S.sum(axis=0))


@exercise.wrong("in place")
def in_place(G_q, G_k, V, there):
    G_k *= there
    return attend_without_matrix(G_q, G_k, V, there)


def some_inputs(rng, D_g, M, N, D_v):
    """Positive features, values, and who is there."""
    there = rng.random(M) < 0.6
    there[rng.integers(M)] = True
    return (
        rng.uniform(0.1, 2, (D_g, N)),
        rng.uniform(0.1, 2, (D_g, M)),
        rng.normal(size=(D_v, M)),
        there,
    )


@exercise.check
def check(answer):
    rng = np.random.default_rng(106)
    G_q, G_k, V, _ = some_inputs(rng, 3, 5, 4, 2)
    inputs = G_q.round(1), G_k.round(1), V.round(1), np.array([True, False, True, True, False])
    what = "the outputs for D_g=3, M=5, N=4, D_v=2"
    expected = attend_without_matrix(*inputs)
    recognize(unchanged(answer, *inputs), expected, what, results(MISTAKES, *inputs))
    sizes = (1, 1, 1, 1), (4, 6, 3, 5), (2, 9, 9, 9), (6, 3, 8, 1), (5, 7, 1, 2), (5, 7, 1, 2)
    for D_g, M, N, D_v in sizes:
        inputs = some_inputs(rng, D_g, M, N, D_v)
        what = f"the outputs for D_g={D_g}, M={M}, N={N}, D_v={D_v}"
        same(unchanged(answer, *inputs), attend_without_matrix(*inputs), what)
    inputs = some_inputs(rng, 4, 1500, 1400, 4)
    tracemalloc.start()
    try:
        answer(*inputs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 1500 * 1400:  # less than two bits of each entry
        raise Wrong(
            f"For 1,500 keys and 1,400 queries it holds {peak / 1e6:.0f} MB at once, so an M × N "
            "matrix is made somewhere: in which order can the three matrices be multiplied without?"
        )


exercise.equivalent(
    "keys and queries have equally many features",
    "by_loop: * → state, total = (np.zeros((len(*",
)
