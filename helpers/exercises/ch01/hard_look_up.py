"""Exercise 1.6, A hard dictionary."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.questions import recognize
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "1.6",
    "A hard dictionary",
    stars=2,
    stub='''\
def hard_look_up(query, keys, values):
    """The value stored under the one key that has the largest dot product with the query.

    query:  shape (D_q,).
    keys:   D_q × N, one key in each column.
    values: D_v × N; column m is stored under key m.
    Returns one value, shape (D_v,).
    """
    return ...  # your code here
''',
    hints=(
        "A dictionary has three parts: what is asked, what is compared, what is returned. Which "
        "of them are keys?",
        "One dot product for each column of keys: N numbers. Which position holds the largest?",
        "np.argmax gives the position; the answer is what is stored there, a column of values.",
    ),
    notice="No slope leads through argmax: moving the query a little changes nothing. "
    "The softmax mixes instead, and so can be trained.",
)


@exercise.solution
def hard_look_up(query, keys, values):
    scores = keys.T @ query  # (N,)
    return values[:, np.argmax(scores)]  # (D_v,)


@exercise.right
def by_loop(query, keys, values):
    best = 0
    for m in range(1, keys.shape[1]):
        if sum(keys[:, m] * query) > sum(keys[:, best] * query):
            best = m
    return values[:, best]


@exercise.right
def by_one_hot(query, keys, values):
    scores = query @ keys
    return values @ np.eye(len(scores))[scores.argmax()]


@exercise.right
def by_sorting(query, keys, values):
    best = np.argsort(query @ keys)[-1]
    return [row[best] for row in values]


exercise.equivalent(
    "the search may compare a key with itself, or go over the last key twice",
    "by_loop: for * → for m in range(*, keys.shape[1]):",
)
exercise.equivalent(
    "one key alone has the largest dot product",
    "by_loop: * → if sum(keys[:, m] * query) >= sum(keys[:, best] * query):",
)
exercise.equivalent(
    "as many values as keys", "by_loop: for * → for m in range(1, values.shape[1]):"
)


@exercise.wrong("nearest to the query")
def nearest(query, keys, values):
    return values[:, np.argmin(((keys - query[:, None]) ** 2).sum(axis=0))]


@exercise.wrong("what is stored under it")
def key_alone(query, keys, values):
    return keys[:, np.argmax(keys.T @ query)]


@exercise.wrong("smallest dot product")
def smallest(query, keys, values):
    return values[:, np.argmin(keys.T @ query)]


@exercise.wrong("where the value is")
def index_alone(query, keys, values):
    return np.argmax(keys.T @ query)


@exercise.wrong("a mixture of all the values")
def mixture(query, keys, values):
    return values @ softmax_columns(keys.T @ query)


@exercise.wrong("does the norm of a key count")
def cosine(query, keys, values):
    return values[:, np.argmax(query @ keys / np.linalg.norm(keys, axis=0))]


@exercise.wrong("does the search end at once")
def returned_early(query, keys, values):
    best = 0
    for m in range(keys.shape[1]):
        if keys[:, m] @ query > keys[:, best] @ query:
            best = m
        return values[:, best]


@exercise.wrong("does a key replace the best so far only if")
def last(query, keys, values):
    best = -np.inf
    for m in range(keys.shape[1]):
        if keys[:, m] @ query < np.inf:
            best = m
    return values[:, best]


@exercise.wrong("farthest from 0")
def without_signs(query, keys, values):
    return values[:, np.argmax(np.abs(keys.T @ query))]


@exercise.wrong("from which number does your search")
def from_zero(query, keys, values):
    best, place = 0, 0
    for m in range(keys.shape[1]):
        if keys[:, m] @ query > best:
            best, place = keys[:, m] @ query, m
    return values[:, place]


@exercise.check
def check(answer):
    query = np.array([1.5, -0.5])
    keys = np.array([[0.9, 1.2, 2.1, 3.1, -2.3, 0.2], [2.9, -0.9, -0.8, 0.6, 0.9, -3.3]])
    values = np.array([[11, 23, 31, 43, 53, 61], [13, 29, 37, 41, 59, 67], [17, 19, 7, 47, 71, 73]])
    values = values / 10
    recognize(
        unchanged(answer, query, keys, values),
        values[:, 3],
        "the value for dot products -0.1, 2.25, 3.55, 4.35, -3.9 and 1.95",
        {
            "This is the value of the key nearest to the query: is the nearest key the one with "
            "the largest dot product?": values[:, 1],
            "This is the value of the key whose direction is nearest to the query's: does the "
            "norm of a key count in a dot product?": values[:, 2],
            "This is the key that was found: what is stored under it?": keys[:, 3],
            "This is the value of the key with the smallest dot product: which end of the scores "
            "do you want?": values[:, 4],
            "This is the first value: is every key compared with the best so far, or does the "
            "search end at once?": values[:, 0],
            "This is the last value: does a key replace the best so far only if its dot product is "
            "larger?": values[:, 5],
            "This is where the value is, and not the value: what stands there in values?": 3,
            "This is a mixture of all the values, the soft dictionary: a hard one returns a "
            "single value as it is stored.": mixture(query, keys, values),
        },
    )
    negative = np.array([2.0, 0.0]), np.array([[-1.5, -0.5, -2.5], [0.3, 0.7, 0.1]]), values[:, :3]
    got = unchanged(answer, *negative)
    if matches(got, values[:, 2]):
        raise Wrong(
            "The value for the dot product -5 came out, and -1 is larger: do you look for the "
            "largest number, or for the one that is farthest from 0?",
            values[:, 1],
            got,
        )
    if not matches(got, values[:, 1]):
        raise Wrong(
            "The largest of the dot products -3, -1 and -5 was not found: from which number does "
            "your search for the largest begin?",
            values[:, 1],
            got,
        )
    rng = np.random.default_rng(16)
    for D_q, D_v, N in 2 * ((1, 1, 1), (3, 2, 1), (2, 4, 5), (3, 3, 3), (4, 1, 90)):
        inputs = [rng.normal(size=size) for size in ((D_q,), (D_q, N), (D_v, N))]
        what = f"the value for D_q={D_q}, D_v={D_v}, N={N}"
        same(unchanged(answer, *inputs), hard_look_up(*inputs), what)
