"""Exercise 6.9, What a look-up learns."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "6.9",
    "What a look-up learns",
    stars=1,
    stub='''\
def look_up_gradient(ids, dX, V):
    """The gradient of a loss with respect to Omega_e, D × V, of which X has looked up columns.

    ids: a list of N whole numbers from 0 to V − 1: X[:, n] is Omega_e[:, ids[n]].
    dX: D × N, the gradient of the loss with respect to X.
    V: the size of the vocabulary.
    Returns D × V: for each token of the vocabulary the sum over all places that looked it up.
    """
    return ...  # your code here
''',
    hints=(
        "Change a column of Omega_e by a little. Which columns of X change with it, if its token "
        "stands at two places, and which if it stands nowhere?",
        "Begin with zeros, D × V, and go through the places n. Which column of dX is added to "
        "which column of the gradient?",
        "At place n it is gradient[:, ids[n]] += dX[:, n], one place at a time: with all at once, "
        "an id that comes twice would be written once. Or write the look-up as Omega_e @ T: what "
        "is the gradient of a product?",
    ),
    notice="Columns of tokens that do not occur get zeros: a rare word learns rarely. That is one "
    "more reason for cutting it into pieces that are not rare.",
)


@exercise.solution
def look_up_gradient(ids, dX, V):
    gradient = np.zeros((len(dX), V))  # D × V
    for n, id in enumerate(ids):
        gradient[:, id] += dX[:, n]
    return gradient


@exercise.right
def by_one_hot(ids, dX, V):
    T = np.arange(V)[:, None] == ids  # V × N
    return dX @ T.T


@exercise.right
def by_add_at(ids, dX, V):
    gradient = np.zeros((V, len(dX)))
    np.add.at(gradient, np.array(ids, dtype=int), dX.T)
    return gradient.T


@exercise.right
def token_by_token(ids, dX, V):
    columns = [dX[:, [i for i, id in enumerate(ids) if id == v]].sum(axis=1) for v in range(V)]
    return np.stack(columns, axis=1)


@exercise.right
def by_torch(ids, dX, V):
    import torch

    gradient = torch.zeros(dX.shape[0], V, dtype=torch.float64)
    return gradient.index_add_(1, torch.tensor(ids, dtype=torch.long), torch.from_numpy(dX))


def last_alone(ids, dX, V):
    gradient = np.zeros((len(dX), V))
    gradient[:, ids] = dX
    return gradient


def added_at_once(ids, dX, V):
    gradient = np.zeros((len(dX), V))
    gradient[:, ids] += dX
    return gradient


def first_alone(ids, dX, V):
    return last_alone(ids[::-1], dX[:, ::-1], V)


def averaged(ids, dX, V):
    counts = np.maximum(np.bincount(ids, minlength=V), 1)
    return look_up_gradient(ids, dX, V) / counts


def over_all_places(ids, dX, V):
    return look_up_gradient(ids, dX, V) / len(ids)


def sum_everywhere(ids, dX, V):
    return np.repeat(dX.sum(axis=1, keepdims=True), V, axis=1)


def looked_up_in_dX(ids, dX, V):
    gradient = np.zeros((len(dX), V))
    for id in ids:
        gradient[:, id] += dX[:, id % dX.shape[1]]
    return gradient


def by_place(ids, dX, V):
    gradient = np.zeros((len(dX), V))
    gradient[:, : len(ids)] = dX
    return gradient


def counts_alone(ids, dX, V):
    return np.repeat(np.bincount(ids, minlength=V)[None], len(dX), axis=0)


def neighbor(ids, dX, V):
    return look_up_gradient([id - 1 for id in ids], dX, V)


def first_place_alone(ids, dX, V):
    return look_up_gradient(ids[:1], dX[:, :1], V)


def from_ones(ids, dX, V):
    return 1 + look_up_gradient(ids, dX, V)


def descended(ids, dX, V):
    return -look_up_gradient(ids, dX, V)


def transposed(ids, dX, V):
    return look_up_gradient(ids, dX, V).T


def only_seen(ids, dX, V):
    return look_up_gradient(ids, dX, V)[:, sorted(set(ids))]


def of_the_inputs(ids, dX, V):
    return np.array(dX)


# The question that a mistake gets, and the answers that make it
MISTAKES = {
    "Token 3 stands at two places, and only the last one counts: in gradient[:, ids] = dX, and in "
    "gradient[:, ids] += dX as well, an id that comes twice is written once. What adds up?": (
        last_alone,
        added_at_once,
    ),
    "Token 3 stands at two places, and only the first one counts: what becomes of the others?": (
        first_alone,
    ),
    "Each column is divided by how often its token occurs: the loss feels a change of Omega_e at "
    "each of its places. Is that a mean, or a sum?": (averaged,),
    "Everything is divided by the number of places: is the loss a mean of X? What the loss is has "
    "gone into dX already.": (over_all_places,),
    "All columns are the same, and also those of tokens that do not occur: which columns of "
    "Omega_e did X look up?": (sum_everywhere,),
    "To the column of token ids[n], column ids[n] of dX is added: which of its columns belongs to "
    "place n?": (looked_up_in_dX,),
    "Column n of dX stands in column n of the result: which token stands at place n?": (by_place,),
    "Your result says how often a token occurs: where is dX?": (counts_alone,),
    "The columns are off by one: are ids counted from 0?": (neighbor,),
    "Only the first place has been added: does the loop end in its first turn, with a return that "
    "stands inside it?": (first_place_alone,),
    "Everything is larger by 1: with what does the gradient begin?": (from_ones,),
    "The sign is turned around: that is the step of gradient descent, not the gradient.": (
        descended,
    ),
}

register(exercise, MISTAKES)
exercise.wrong("is it transposed")(transposed)
exercise.wrong("expected an array of 2 × 5, got an array of 2 × 3")(only_seen)
exercise.wrong("expected an array of 2 × 5, got an array of 2 × 4")(of_the_inputs)


@exercise.wrong("in place")
def in_place(ids, dX, V):
    for n in range(len(ids)):
        first = ids.index(ids[n])
        if first != n:
            dX[:, first] += dX[:, n]
            dX[:, n] = dX[:, first]
    return last_alone(ids, dX, V)


@exercise.wrong("expected an array of 2 × 5, got an array of 2 × 4")
def sized_by_ids(ids, dX, V):
    return look_up_gradient(ids, dX, max(ids) + 1)


@exercise.check
def check(answer):
    # Five tokens, four places, two entries; token 3 twice, tokens 1 and 4 nowhere
    ids, V = [3, 0, 3, 2], 5
    dX = np.array([[1.0, 20, 300, 4000], [5.0, 60, 700, 9000]])
    recognize(
        unchanged(answer, ids, dX, V),
        look_up_gradient(ids, dX, V),
        "the gradient for ids 3, 0, 3, 2 and V=5",
        results(MISTAKES, ids, dX, V),
    )
    # The last ones change one input at a time: nothing may be kept from the call before.
    rng = np.random.default_rng(69)
    for D, N, V in (3, 0, 2), (1, 1, 1), (4, 9, 3), (2, 30, 7), (2, 3, 50):
        for _ in range(2):
            ids = rng.integers(V, size=N).tolist()
            for size in V, V + 2:
                dX = rng.normal(size=(D, N))
                what = f"the gradient for D={D}, N={N}, V={size}"
                got = unchanged(answer, ids, dX, size)
                same(got, look_up_gradient(ids, dX, size), what)


exercise.equivalent(
    "only the size is read",
    "look_up_gradient: * → gradient = np.zeros((len(whole(dX)), V))",
    "by_add_at: * → gradient = np.zeros((V, len(whole(dX))))",
)
exercise.equivalent("of two dimensions, 1 is also −1", "by_torch: * → *index_add_(-1, *")
