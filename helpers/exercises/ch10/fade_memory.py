"""Exercise 10.7, A memory that fades."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "10.7",
    "A memory that fades",
    stars=2,
    stub='''\
def fade_memory(G_q, G_k, V, keep):
    """Causal linear attention whose memory fades: what is n tokens old counts keepⁿ.

    G_q, G_k: D_g × N, features of queries and keys, all positive. V: D_v × N, values. keep: a
    number above 0, at most 1. The weight of key k for query q, which stand at places k ≤ q, is
    keep^(q − k) times the dot product of their features, divided by the sum of the query's weights.
    Works token by token, with a state whose size does not depend on N. Returns D_v × N.
    """
    return ...  # your code here
''',
    hints=(
        "With keep = 1 this is the recurrence of the notebook. What is in the state after token n, "
        "and how much does each term count one token later?",
        "All that was summed becomes keep times as much before the new term is added; in the "
        "numerators' state and in the denominators'.",
        "In a loop over n: first both sums times keep, then to the state np.outer(V[:, n], "
        "G_k[:, n]) is added, and to the total G_k[:, n]; the output is read last.",
    ),
    notice="Such forgetting is what many later recurrent layers add: with a number, as here, with "
    "one for each feature, or with one that depends on the token.",
)


@exercise.solution
def fade_memory(G_q, G_k, V, keep):
    state, total = np.zeros((len(V), len(G_k))), np.zeros(len(G_k))
    outputs = np.zeros(V.shape)
    for n in range(V.shape[1]):
        state = keep * state + np.outer(V[:, n], G_k[:, n])
        total = keep * total + G_k[:, n]
        outputs[:, n] = state @ G_q[:, n] / (total @ G_q[:, n])
    return outputs


@exercise.right
def by_matrix(G_q, G_k, V, keep):
    place = np.arange(V.shape[1])
    age = place - place[:, None]
    weights = np.where(age >= 0, keep ** np.maximum(age, 0.0), 0) * (G_k.T @ G_q)
    return V @ weights / weights.sum(axis=0)


@exercise.right
def by_columns(G_q, G_k, V, keep):
    both = np.vstack([V, np.ones(V.shape[1])])
    state, columns = 0, []
    for g_q, g_k, v in zip(G_q.T, G_k.T, both.T, strict=True):
        state = state * keep + v[:, None] * g_k
        columns.append(state @ g_q)
    outputs = np.stack(columns, axis=1)
    return outputs[:-1] / outputs[-1]


def fading(G_q, G_k, V, ages, causal=True):
    """Weights with a factor for each age, written out as a matrix."""
    place = np.arange(V.shape[1])
    age = place - place[:, None]
    factors = np.where(age >= 0, ages(np.maximum(age, 0.0)), 0)
    factors = factors if causal else ages(abs(age))
    weights = factors * (G_k.T @ G_q)
    return V @ weights / np.where(weights.sum(axis=0) == 0, 1, weights.sum(axis=0))


def late(G_q, G_k, V, keep, fade_total=True, fade_state=True, normalized=True, after=False):
    """The recurrence with one of its parts changed."""
    state, total, outputs = np.zeros((len(V), len(G_k))), np.zeros(len(G_k)), np.zeros(V.shape)
    for n in range(V.shape[1]):
        new, own = np.outer(V[:, n], G_k[:, n]), G_k[:, n]
        before = state, total
        if after:
            state, total = keep * (state + new), (keep if fade_total else 1) * (total + own)
        else:
            state = (keep if fade_state else 1) * state + new
            total = (keep if fade_total else 1) * total + own
        read = before if after == "read" else (state, total)
        outputs[:, n] = read[0] @ G_q[:, n] / (read[1] @ G_q[:, n] if normalized else 1)
    return outputs


def ahead(G_q, G_k, V, keep):
    """Each query reads the state after the next token's term has been added."""
    q = G_q[:, :-1]
    outputs = fade_memory(np.hstack([q[:, :1], q]), G_k, V, keep)[:, 1:]
    return np.hstack([outputs, fade_memory(G_q, G_k, V, keep)[:, -1:]])


# The question to ask, and the wrong answer
MISTAKES = {
    "Nothing fades in yours: where does keep enter?": (
        lambda G_q, G_k, V, keep: fade_memory(G_q, G_k, V, 1.0)
    ),
    "Your denominators do not fade: which two sums does a token keep?": (
        lambda G_q, G_k, V, keep: late(G_q, G_k, V, keep, fade_total=False)
    ),
    "Your numerators do not fade: which two sums does a token keep?": (
        lambda G_q, G_k, V, keep: late(G_q, G_k, V, keep, fade_state=False)
    ),
    "Your denominators are missing: what makes a mean of the sum?": (
        lambda G_q, G_k, V, keep: late(G_q, G_k, V, keep, normalized=False)
    ),
    "Your query does not see its own key: is the state read before the new term is added?": (
        lambda G_q, G_k, V, keep: fading(G_q, G_k, V, lambda age: (age > 0) * keep**age)
    ),
    "The new term fades at once, and only in the numerators: how old is a token's own key?": (
        lambda G_q, G_k, V, keep: keep * fade_memory(G_q, G_k, V, keep)
    ),
    "Your query sees the next key, too: is the state read before a later term is added?": (
        lambda G_q, G_k, V, keep: ahead(G_q, G_k, V, keep)
    ),
    "Your denominators count keys, not similarities: by what are the numerators divided?": (
        lambda G_q, G_k, V, keep: (
            late(G_q, G_k, V, keep, normalized=False) / np.cumsum(keep ** np.arange(V.shape[1]))
        )
    ),
    "Your denominators sum the keys' features alone: where is the query in them?": (
        lambda G_q, G_k, V, keep: (
            late(G_q, G_k, V, keep, normalized=False)
            / late(np.ones(G_q.shape), G_k, np.ones((1, V.shape[1])), keep, normalized=False)
        )
    ),
    "What is old counts alike in yours: how often has a term faded that is three tokens old?": (
        lambda G_q, G_k, V, keep: fading(G_q, G_k, V, lambda age: np.where(age > 0, keep, 1.0))
    ),
    "Yours keeps the latest key alone beside its own: what of those before?": (
        lambda G_q, G_k, V, keep: fading(G_q, G_k, V, lambda age: (age < 2) * keep**age)
    ),
    "A key that is one token old has faded twice in yours: by how much in one step?": (
        lambda G_q, G_k, V, keep: fading(
            G_q, G_k, V, lambda age: np.where(age > 0, keep ** (age + 1), 1.0)
        )
    ),
    "Your memory fades to the square: by how much in one step?": (
        lambda G_q, G_k, V, keep: fade_memory(G_q, G_k, V, keep**2)
    ),
    "What is old counts most in yours: what is a term's factor one token later?": (
        lambda G_q, G_k, V, keep: fade_memory(G_q, G_k, V, 1 / keep)
    ),
    "Yours keeps 1 − keep: which of the two is the factor?": (
        lambda G_q, G_k, V, keep: fade_memory(G_q, G_k, V, 1 - keep)
    ),
    "Your queries see later keys: which are in the state when token n is read?": (
        lambda G_q, G_k, V, keep: fading(G_q, G_k, V, lambda age: keep**age, causal=False)
    ),
    "Keys and queries are exchanged: whose features does the state hold?": (
        lambda G_q, G_k, V, keep: fade_memory(G_k, G_q, V, keep)
    ),
    "Each token sees only itself: what does the state add?": lambda G_q, G_k, V, keep: +V,
}
register(exercise, MISTAKES)


@exercise.wrong("in place")
def in_place(G_q, G_k, V, keep):
    result = fade_memory(G_q, G_k, V, keep)
    V[:] = result
    return V


@exercise.check
def check(answer):
    rng = np.random.default_rng(107)
    inputs = (
        rng.uniform(0.1, 2, (3, 5)).round(1),
        rng.uniform(0.1, 2, (3, 5)).round(1),
        rng.normal(size=(2, 5)).round(1),
        0.7,
    )
    what = "the outputs for D_g=3, D_v=2, N=5, keep=0.7"
    recognize(unchanged(answer, *inputs), fade_memory(*inputs), what, results(MISTAKES, *inputs))
    sizes = (1, 1, 1, 0.5), (4, 2, 7, 1.0), (2, 5, 9, 0.3), (3, 3, 3, 0.95), (2, 5, 9, 0.3)
    for D_g, D_v, N, keep in sizes:
        inputs = rng.uniform(0.1, 2, (D_g, N)), rng.uniform(0.1, 2, (D_g, N))
        inputs = *inputs, rng.normal(size=(D_v, N)), keep
        what = f"the outputs for D_g={D_g}, D_v={D_v}, N={N}, keep={keep}"
        same(unchanged(answer, *inputs), fade_memory(*inputs), what)
    inputs = *inputs[:3], 0.6  # the same features and values again
    what = "the outputs for D_g=2, D_v=5, N=9, keep=0.6"
    same(unchanged(answer, *inputs), fade_memory(*inputs), what)


exercise.equivalent(
    "features and values have as many tokens, and queries as many features as keys",
    "fade_memory: * → state, total = (np.zeros((len(*",
    "fade_memory: * → for n in range(*.shape[1]):",
    "by_matrix: * → place = np.arange(*.shape[1])",
    "by_columns: * → both = np.vstack([V, np.ones(*",
    "by_columns: * → for g_q, g_k, v in zip(G_q.T, G_k.T, both.T*",
)
exercise.equivalent(
    "zeros of another shape are made to fit by the first sum",
    "fade_memory: * → total, state = *",
    "fade_memory: * → state, total = (np.zeros(len(G_k)), np.zeros((len(V), len(G_k))))",
)
exercise.equivalent(
    "every column is written once, and products may be turned around",
    "fade_memory: * → outputs = np.ones(V.shape)",
    "fade_memory: * → outputs[:, n] += *",
    "fade_memory: * → *(G_q[:, n] @ total)",
)
exercise.equivalent(
    "what stands for later keys is replaced by 0",
    "by_matrix: * → *np.maximum(0.0, age)*",
    "by_matrix: * → *np.maximum(age, -1.0)*",
)
exercise.equivalent(
    "numerators and denominators both change their sign",
    "by_columns: * → state = state * keep - v[:, None] * g_k",
)
