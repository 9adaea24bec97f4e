"""Exercise 9.9, Read once, ask often."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import matches, same
from helpers.exercises.shared.cross_attention import linear, random_cross_parameters
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import NOT_THE_LARGEST, OVERFLOW, UNDERFLOW, run
from helpers.exercises.shared.reference import softmax_columns

exercise = Exercise(
    "9.9",
    "Read once, ask often",
    stars=1,
    stub='''\
def read_with_cache(x, E, kept, parameters):
    """Cross-attention of one new token of the target, with what has been kept of the source.

    x: D × 1, the new token.
    E: D_e × N_e, the encoder's output, for the first token of the target; None for all later ones.
    kept: None for the first token of the target; for all later ones what the call before has
    returned: the pair (K, V) of the source's keys, D_q × N_e, and values, D_v × N_e.
    parameters: a dict of "Omega_q", D_q × D, "Omega_k", D_q × D_e, "Omega_v", D_v × D_e, "beta_q"
    and "beta_k", D_q × 1, and "beta_v", D_v × 1.
    No token of the source is padding; scores are divided by √D_q and may be ±1000.
    Returns the output, D_v × 1, and the pair (K, V) for the next call.
    """
    return ...  # your code here
''',
    hints=(
        "In self-attention the cache grows with each word (exercise 8.8). Whose keys and values "
        "are read here, and how many words has the source when the next one is written?",
        "Only the first call makes K and V, of E; each call makes a query of x. What are K and V "
        "in a later call?",
        "K, V = kept, if kept is not None. The rest is attention of one query: N_e scores, divided "
        "by √D_q, a softmax, and V @ weights.",
    ),
    notice="So a decoder has two kinds of caches: that of self-attention grows by a column a word, "
    "and that of cross-attention is made once and stays as it is.",
)


@exercise.solution
def read_with_cache(x, E, kept, parameters):
    if kept is None:
        kept = [parameters[f"beta_{role}"] + parameters[f"Omega_{role}"] @ E for role in "kv"]
    K, V = kept
    q = parameters["beta_q"] + parameters["Omega_q"] @ x  # D_q × 1
    scores = K.T @ q / np.sqrt(len(q))  # N_e × 1
    exponentials = np.exp(scores - scores.max())
    return V @ (exponentials / exponentials.sum()), (K, V)


@exercise.right
def by_source(x, E, kept, parameters):
    p = parameters
    if E is not None:
        kept = p["Omega_k"] @ E + p["beta_k"], p["Omega_v"] @ E + p["beta_v"]
    query = (p["Omega_q"] @ x + p["beta_q"]) * len(p["beta_q"]) ** -0.5
    return kept[1] @ softmax_columns(kept[0].T @ query), kept


@exercise.right
def by_sums(x, E, kept, parameters):
    K, V = kept or (
        parameters["beta_k"] + parameters["Omega_k"] @ E,
        parameters["beta_v"] + parameters["Omega_v"] @ E,
    )
    query = parameters["beta_q"] + parameters["Omega_q"] @ x
    scores = (K * query).sum(axis=0) / len(K) ** 0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    return (V * weights).sum(axis=1, keepdims=True), [K, V]


def read(x, E, kept, parameters, **slip):
    """The right answer, or one with slips.

    make: the source's keys and values; of: function of q, K, V, to what stands in their places.
    weigh: function of the scores and D_q. own: what is done to K and V before they are read.
    keep: function of K, V, and E to what is kept. biases: which there are.
    """
    p = {
        name: matrix * (name[0] == "O" or name[-1] in slip.get("biases", "qkv"))
        for name, matrix in parameters.items()
    }
    if kept is None:
        K, V = slip.get("make", lambda E, p: (linear("k", E, p), linear("v", E, p)))(E, p)
    else:
        K, V = kept[:2]
    q = linear("q", x, p)
    keep = slip.get("keep", lambda K, V, x, p: (K, V))
    if "own" in slip:
        K, V = slip["own"](K, V, x, p)
    weigh = slip.get("weigh", lambda scores, D_q: softmax_columns(scores / np.sqrt(D_q)))
    return slip.get("out", lambda K, V, a, E: V @ a)(K, V, weigh(K.T @ q, len(q)), E), keep(
        K, V, x, p
    )


def slipped(**slip):
    """A wrong answer: read with slips."""
    return lambda *inputs: read(*inputs, **slip)


def with_own(K, V, x, p):
    """The new token's own key and value beside those of the source, for tokens of one size."""
    return np.hstack([K, linear("k", x, p)]), np.hstack([V, linear("v", x, p)])


def scaled(scale):
    return slipped(weigh=lambda scores, D_q: softmax_columns(scores / scale(D_q)))


# The question to ask, and the wrong answer. In the first example tokens of source and target have
# the same size, so that all of these come to an end.
MISTAKES = {
    "Your kept keys and values grow by those of the new token, as in self-attention: does the "
    "source grow when a word is written?": (
        slipped(own=with_own),
        slipped(keep=with_own),
    ),
    "Your new token also reads itself: whose keys and values are there in cross-attention?": (
        slipped(own=with_own, keep=lambda K, V, x, p: (K[:, :-1], V[:, :-1]))
    ),
    "Your kept keys are those of the new token: what is it that will be read again?": (
        slipped(keep=lambda K, V, x, p: (linear("k", x, p), linear("v", x, p)))
    ),
    "Keys and values are exchanged in what you return: which comes first?": slipped(
        keep=lambda K, V, x, p: (V, K)
    ),
    "Your keys are made by Omega_q: which Omega makes a key?": slipped(
        make=lambda E, p: (linear("q", E, p), linear("v", E, p))
    ),
    "Your scores are not divided by √D_q: how large is D_q?": scaled(lambda D_q: 1),
    "Your scores are divided by D_q itself: is its root asked for?": scaled(lambda D_q: D_q),
    "Your scores are multiplied by √D_q: are they to become smaller or larger?": scaled(
        lambda D_q: D_q**-0.5
    ),
    "The weights of all tokens are 1: along which axis does the softmax run, with one query?": (
        slipped(weigh=lambda scores, D_q: np.ones(scores.shape))
    ),
    "Your weights are exponentials: by what are they divided in a softmax?": (
        slipped(weigh=lambda scores, D_q: np.exp(scores / np.sqrt(D_q))),
        slipped(weigh=lambda scores, D_q: np.exp((scores - scores.max()) / np.sqrt(D_q))),
    ),
    "Your values are weighted with the scores: what makes weights of them?": slipped(
        weigh=lambda scores, D_q: scores / np.sqrt(D_q)
    ),
    "Your output is the plain mean of the values: does the query meet each key?": slipped(
        weigh=lambda scores, D_q: np.ones(scores.shape) / len(scores)
    ),
    "Your output is the value with the largest score: are the others not weighed at all?": slipped(
        weigh=lambda scores, D_q: 1.0 * (scores == scores.max())
    ),
    "Your weights mix the keys: what do they mix in attention?": slipped(
        out=lambda K, V, a, E: K @ a
    ),
    "Your new token asks only the first word of the source: is anything of a source that stands "
    "there as a whole to be hidden?": slipped(
        weigh=lambda scores, D_q: 1.0 * (np.arange(len(scores))[:, None] == 0)
    ),
    "Your new token asks only the last word of the source: is anything of a source that stands "
    "there as a whole to be hidden?": slipped(
        weigh=lambda scores, D_q: 1.0 * (np.arange(len(scores))[:, None] == len(scores) - 1)
    ),
    "All your biases are missing: what is added to Omega @ x, and to Omega @ E?": slipped(
        biases=""
    ),
    "Your query has no bias: what is added to Omega_q @ x?": slipped(biases="kv"),
    "Your keys have no bias: what is added to Omega_k @ E?": slipped(biases="qv"),
    "Your values have no bias: what is added to Omega_v @ E?": slipped(biases="qk"),
}
register(exercise, MISTAKES)

ANEW = (
    "The second token stops with an error, and would not if E were there: keys and values are made "
    "anew. What has the first call kept?"
)


@exercise.wrong("keys and values are made anew")
def made_anew(x, E, kept, parameters):
    return read(x, E, None, parameters)


@exercise.wrong("keys and values are made anew")
def appended(x, E, kept, parameters):
    K, V = linear("k", E, parameters), linear("v", E, parameters)
    if kept is not None:
        K, V = np.hstack([kept[0], K]), np.hstack([kept[1], V])
    return read(x, None, (K, V), parameters)


@exercise.wrong("E itself is kept")
def source_kept(x, E, kept, parameters):
    E = E if kept is None else kept
    return read(x, E, None, parameters)[0], E


@exercise.wrong("E itself is kept")
def source_kept_twice(x, E, kept, parameters):
    E = E if kept is None else kept[0]
    return read(x, E, None, parameters)[0], (E, E)


@exercise.wrong("Two results are expected")
def output_alone(*inputs):
    return read(*inputs)[0]


@exercise.wrong("Two results are expected")
def three_results(*inputs):
    output, (K, V) = read(*inputs)
    return output, K, V


@exercise.wrong("a pair of keys and values is to be kept, got None")
def kept_as_given(x, E, kept, parameters):
    return read(x, E, kept, parameters)[0], kept


@exercise.wrong("a pair of keys and values is to be kept, got a dict")
def as_dict(x, E, kept, parameters):
    kept = kept and (kept["K"], kept["V"])
    output, (K, V) = read(x, E, kept, parameters)
    return output, {"K": K, "V": V}


@exercise.wrong("D_v × 1")
def flat_output(*inputs):
    output, kept = read(*inputs)
    return output[:, 0], kept


@exercise.wrong("came in another order")
def other_order(*inputs):
    return read(*inputs)[::-1]


@exercise.wrong("np.exp(1000) overflows")
def unstable(*inputs):
    def weigh(scores, D_q):
        with np.errstate(all="ignore"):
            exponentials = np.exp(scores / np.sqrt(D_q))
            return exponentials / exponentials.sum()

    return read(*inputs, weigh=weigh)


@exercise.wrong("the largest of them, or something else")
def first_subtracted(*inputs):
    def weigh(scores, D_q):
        with np.errstate(all="ignore"):
            exponentials = np.exp((scores - scores[0]) / np.sqrt(D_q))
            return exponentials / exponentials.sum()

    return read(*inputs, weigh=weigh)


@exercise.wrong("were large scores cut off")
def cut_off(*inputs):
    return read(
        *inputs,
        weigh=lambda scores, D_q: softmax_columns(np.clip(scores / np.sqrt(D_q), -500, 500)),
    )


@exercise.wrong("in place")
def in_place(x, E, kept, parameters):
    if kept is not None:
        kept[0][:] += 1
        return read(x, E, (kept[0] - 1, kept[1]), parameters)
    return read(x, E, kept, parameters)


@exercise.check
def check(answer):
    rng = np.random.default_rng(91)
    for number, (D, D_e, D_q, D_v, N_e) in enumerate(
        ((4, 4, 3, 2, 5), (3, 5, 2, 4, 6), (2, 1, 4, 3, 1), (1, 3, 1, 5, 8), (1, 3, 1, 5, 8))
    ):
        digits = 15 if number else 1
        parameters = random_cross_parameters(rng, D, D_e, D_q, D_v)
        parameters = {name: (0.6 * matrix).round(digits) for name, matrix in parameters.items()}
        E, tokens = rng.normal(size=(D_e, N_e)).round(digits), rng.normal(size=(4, D, 1))
        sizes = f"for D={D}, D_e={D_e}, D_q={D_q}, D_v={D_v}, N_e={N_e}"
        check_source(answer, E, tokens.round(digits), parameters, sizes, first=not number)
    check_large(answer)


def check_source(answer, E, tokens, parameters, sizes, first):
    """One source and the tokens of a target one after another, with what was kept each time."""
    kept = None
    for n, x in enumerate(tokens):
        inputs = x, None if n else E, kept, parameters
        what = f"of token {n} of the target, {sizes}"
        expected = read_with_cache(*inputs)
        try:
            got = pair(run(answer, *inputs, errors={}), E)
        except (AttributeError, IndexError, TypeError, ValueError):
            if n and works(answer, x, E, kept, parameters):
                raise Wrong(ANEW) from None
            raise
        if not equal(got, expected) and first:
            for question, mistaken in results(MISTAKES, *inputs).items():
                if any(equal(got, wrong) for wrong in mistaken):
                    raise Wrong(question, *first_difference(expected, got))
        compare(got, expected, what)
        kept = got[1]


def works(answer, x, E, kept, parameters):
    """Whether the answer needs E, which is no longer there."""
    try:
        answer(x, E, kept, parameters)
    except Exception:
        return False
    return True


def pair(got, E):
    """The answer's two results, or Wrong."""
    if isinstance(got, dict) or not hasattr(got, "__len__") or len(got) != 2:
        raise Wrong(
            f"Two results are expected, the output and the pair (K, V), got {kind(got)}: does your "
            "function end with return output, (K, V)?"
        )
    output, kept = got
    if hasattr(got, "ndim"):
        raise Wrong(
            "Two results are expected, the output and the pair (K, V), got one array: does your "
            "function end with return output, (K, V)?"
        )
    if isinstance(output, (tuple, list)) and hasattr(kept, "ndim"):
        raise Wrong("The results came in another order: first the output, then what is kept.")
    if matches(kept, E) or (isinstance(kept, (tuple, list)) and any(matches(k, E) for k in kept)):
        raise Wrong(
            "E itself is kept, so that keys and values have to be made anew for each word: what "
            "does a query meet?"
        )
    if isinstance(kept, dict) or not hasattr(kept, "__len__") or len(kept) != 2:
        raise Wrong(f"Beside the output a pair of keys and values is to be kept, got {kind(kept)}.")
    return output, tuple(kept)


NAMES = "output", "keys to be kept", "values to be kept"


def parts(results):
    return results[0], *results[1]


def compare(got, expected, what):
    """Raise Wrong for the first of the three arrays that is not as expected."""
    if matches(got[0], expected[0][:, 0]):
        raise Wrong(
            "The output is a flat vector, and a column is asked for, D_v × 1.", expected[0], got[0]
        )
    for name, result, right in zip(NAMES, parts(got), parts(expected), strict=True):
        same(result, right, f"the {name} {what}")


def equal(got, expected):
    return all(matches(a, b) for a, b in zip(parts(got), parts(expected), strict=True))


def first_difference(expected, got):
    """The first of the three arrays that differs: what was expected, and what came."""
    pairs = zip(parts(expected), parts(got), strict=True)
    return next((a, b) for a, b in pairs if not matches(b, a))


def check_large(answer):
    """Keys of one entry, and the query −1, so that the keys are the scores with a minus."""
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    parameters = {"Omega_q": one, "beta_q": none, "Omega_k": np.array([[1.0, 0]]), "beta_k": none}
    parameters |= {"Omega_v": np.array([[0, 1.0]]), "beta_v": none}
    for scores, why in (
        ([1000.0, 1001.0, 999.0], OVERFLOW),
        ([-1000.0, -1001.0, -999.0], UNDERFLOW),
        ([1.0, 1000.0, -1000.0], NOT_THE_LARGEST),
        ([-1000.0, 1.0, 1000.0], NOT_THE_LARGEST),
    ):
        keys = [-score for score in scores]
        inputs = -one, np.array([keys, [5.0, 7.0, 2.0]]), None, parameters
        got, expected = pair(run(answer, *inputs, errors={}), inputs[1]), read_with_cache(*inputs)
        what = f"the output for scores of {', '.join(f'{score:g}' for score in scores)}"
        same(got[0], expected[0], what, nan=why, far="were large scores cut off, or NaN replaced?")


exercise.equivalent(
    "a key is as long as a query, and one query has scores in one column",
    "read_with_cache: * → *np.sqrt(len(K))",
    "read_with_cache: * → *turned(scores)*",
    "read_with_cache: * → *turned(exponentials)*",
    "by_sums: * → *len(query)*",
)
exercise.equivalent(
    "E is asked for only whether it is there, p is a shorter name, and two are kept",
    "by_source: * → if turned(E) is not None:",
    "by_source: * → if whole(E) is not None:",
    "by_source: * → *parameters[*",
    "by_source: * → *kept[-1] @ *",
)
