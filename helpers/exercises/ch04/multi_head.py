"""Exercise 4.3, Several heads."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, recognize, run, survives
from helpers.exercises.shared.reference import project, random_parameters, softmax_columns

exercise = Exercise(
    "4.3",
    "Several heads",
    stars=2,
    stub='''\
def multi_head(X, heads, Omega_c):
    """Multi-head self-attention, scaled: one head after the other, then Omega_c.

    X: D × N, one token in each column.
    heads: list of H dicts with the parameters of one head each: "Omega_q" and "Omega_k", D_q × D;
    "beta_q" and "beta_k", D_q × 1; "Omega_v", D_v × D; "beta_v", D_v × 1.
    Omega_c: D × H·D_v; its first D_v columns belong to the first head.
    Returns the outputs, D × N. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "One head is exercise 4.2 on its own queries, keys and values. Which shape does its "
        "output have, and which shape does Omega_c expect?",
        "Collect the outputs of all heads in a list. Put below each other they have H·D_v rows, "
        "and N columns as before.",
        "np.concatenate joins a list of matrices along axis 0, the first head on top. Omega_c "
        "then stands on the left of the result.",
    ),
    notice="The heads never see each other: only Omega_c mixes what they found. Its columns fall "
    "into H blocks, so the result is also a sum of one contribution per head.",
)


@exercise.solution
def multi_head(X, heads, Omega_c):
    outputs = []
    for head in heads:
        Q = head["beta_q"] + head["Omega_q"] @ X  # D_q × N
        K = head["beta_k"] + head["Omega_k"] @ X  # D_q × N
        V = head["beta_v"] + head["Omega_v"] @ X  # D_v × N
        scores = K.T @ Q / np.sqrt(Q.shape[0])  # N × N, keys × queries
        exponentials = np.exp(scores - scores.max(axis=0))
        outputs.append(V @ (exponentials / exponentials.sum(axis=0)))
    return Omega_c @ np.concatenate(outputs)  # D × N


NAMES = "Omega_q", "beta_q", "Omega_k", "beta_k", "Omega_v", "beta_v"


def each(X, heads, divisor=lambda X, Q, V: np.sqrt(len(Q))):
    """The outputs of the heads, a list; the scores are divided by divisor(X, Q, V)."""
    outputs = []
    for head in heads:
        Q, K, V = project(X, **head)
        outputs.append(V @ softmax_columns(K.T @ Q / divisor(X, Q, V)))
    return outputs


@exercise.right
def by_contributions(X, heads, Omega_c):
    blocks = np.split(Omega_c, len(heads), axis=1)
    return sum(block @ output for block, output in zip(blocks, each(X, heads), strict=True))


@exercise.right
def at_once(X, heads, Omega_c):
    stacked = {name: np.stack([head[name] for head in heads]) for name in heads[0]}
    Q, K, V = project(X, **stacked)  # H × D_q × N and H × D_v × N
    scores = np.einsum("hdm,hdn->hmn", K, Q) / np.sqrt(Q.shape[1])
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    outputs = V @ (exponentials / exponentials.sum(axis=1, keepdims=True))
    return Omega_c @ outputs.reshape(-1, X.shape[1])


@exercise.wrong("where is Omega_c")
def without_combining(X, heads, Omega_c):
    return np.concatenate(each(X, heads))


@exercise.wrong("alternate")
def interleaved(X, heads, Omega_c):
    return Omega_c @ np.stack(each(X, heads), axis=1).reshape(-1, X.shape[1])


@exercise.wrong("first head on top")
def reversed_heads(X, heads, Omega_c):
    return Omega_c @ np.concatenate(each(X, heads)[::-1])


@exercise.wrong("This is the sum of the heads' outputs")
def summed(X, heads, Omega_c):
    return sum(each(X, heads))


@exercise.wrong("This is the mean of the heads' outputs")
def averaged(X, heads, Omega_c):
    return sum(each(X, heads)) / len(heads)


@exercise.wrong("added, or side by side")
def summed_then_combined(X, heads, Omega_c):
    return Omega_c @ sum(each(X, heads))


@exercise.wrong("added, or side by side")
def side_by_side(X, heads, Omega_c):
    return Omega_c @ np.concatenate(each(X, heads), axis=1)


@exercise.wrong("of the head before")
def chained(X, heads, Omega_c):
    outputs = []
    for head in heads:
        [X] = each(X, [head])
        outputs.append(X)
    return Omega_c @ np.concatenate(outputs)


@exercise.wrong("Omega_c is transposed")
def transposed(X, heads, Omega_c):
    return Omega_c.T @ np.concatenate(each(X, heads))


@exercise.wrong("divided by H in the end")
def mean_after_combining(X, heads, Omega_c):
    return multi_head(X, heads, Omega_c) / len(heads)


@exercise.wrong("one and the same head")
def first_alone(X, heads, Omega_c):
    return Omega_c @ np.tile(each(X, heads)[0], (len(heads), 1))


def with_divisor(divisor):
    """The right answer but for what the scores are divided by."""
    return lambda X, heads, Omega_c: Omega_c @ np.concatenate(each(X, heads, divisor))


# The question that a wrong scale gets, and the answer with it
SCALES = {
    "The scores of the heads are not scaled: by what does exercise 4.2 divide them?": (
        with_divisor(lambda X, Q, V: 1)
    ),
    "The scores are divided by D_q itself: where is the root?": (
        with_divisor(lambda X, Q, V: len(Q))
    ),
    "The scores are multiplied by √D_q: is the softmax to become sharper or softer?": (
        with_divisor(lambda X, Q, V: 1 / np.sqrt(len(Q)))
    ),
    "The scores are divided by √2, the same number whatever D_q is: how long are the head's "
    "queries and keys?": with_divisor(lambda X, Q, V: np.sqrt(2)),
    "The scores are divided by √D_v: how long are the head's queries and keys?": (
        with_divisor(lambda X, Q, V: np.sqrt(len(V)))
    ),
    "The scores are divided by √D: over how many products does a dot product of one head's query "
    "and key sum?": with_divisor(lambda X, Q, V: np.sqrt(len(X))),
}

for question, mistaken in SCALES.items():
    exercise.wrong(question)(mistaken)


@exercise.wrong("biases are left out")
def without_biases(X, heads, Omega_c):
    bare = [{name: p * name.startswith("Omega") for name, p in head.items()} for head in heads]
    return multi_head(X, bare, Omega_c)


@exercise.wrong("where is beta_q")
def without_query_bias(X, heads, Omega_c):
    return multi_head(X, [head | {"beta_q": 0 * head["beta_q"]} for head in heads], Omega_c)


@exercise.wrong("Keys ask and queries answer")
def keys_asking(X, heads, Omega_c):
    exchange = dict(zip(NAMES, NAMES[2:4] + NAMES[:2] + NAMES[4:], strict=True))
    return multi_head(X, [{exchange[n]: p for n, p in h.items()} for h in heads], Omega_c)


@exercise.wrong("was the pair taken apart")
def pair_not_unpacked(X, heads, Omega_c):
    return multi_head(X, [*enumerate(heads)], Omega_c)


@exercise.wrong("added, or side by side")
def return_in_the_loop(X, heads, Omega_c):
    outputs = []
    for output in each(X, heads):
        outputs.append(output)
        return Omega_c @ np.concatenate(outputs)


@exercise.wrong("where is beta_v")
def without_value_bias(X, heads, Omega_c):
    return multi_head(X, [head | {"beta_v": 0 * head["beta_v"]} for head in heads], Omega_c)


# For D = 5, H = 3 and D_v = 2: words of NumPy's and Python's errors, and the question
MISFITS = {
    "size 2 is different from 6": "A matrix with D_v rows met Omega_c, which has H·D_v columns: "
    "were the heads' outputs put below each other, or added, or side by side, or did the loop end "
    "with the first head?",
    "size 2 is different from 5": "A matrix with D_v rows met one with D columns: does each head "
    "read the tokens X, or the output of the head before it? Or is a part of Omega_c transposed?",
    "size 6 is different from 5": "Omega_c is transposed: it is D × H·D_v; which of its two sizes "
    "meets the outputs of the heads?",
    "tuple indices must be integers": "With enumerate come pairs, a number and a head: was "
    "the pair taken apart, as in `for h, head in enumerate(heads)`?",
}


@exercise.check
def check(answer):
    # All tokens are equal, so each head's output is its value, whatever its weights.
    X, none_q, none_v = np.ones((5, 4)), np.zeros((9, 1)), np.zeros((2, 1))
    heads = [
        {
            "Omega_q": np.ones((9, 5)),
            "beta_q": none_q,
            "Omega_k": np.ones((9, 5)),
            "beta_k": none_q,
            "Omega_v": np.array([[value, 0.0, 0.0, 0.0, 0.0] for value in values]),
            "beta_v": none_v,
        }
        for values in ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))
    ]
    inputs = X, heads, np.triu(np.ones((5, 6)))  # entry i of the result: the sum from i on
    recognize(
        run(answer, *inputs, errors=MISFITS),
        np.array([[21.0, 20.0, 18.0, 15.0, 11.0]]).T * np.ones((1, 4)),
        "the outputs for three heads that found (1, 2), (3, 4) and (5, 6)",
        {
            "These are the outputs of the heads, one below the other: where is Omega_c?": (
                without_combining(*inputs)
            ),
            "The rows of your heads alternate, first rows first: which rows does Omega_c expect "
            "from one head, and do they stand together?": interleaved(*inputs),
            "The last head stands on top: the first columns of Omega_c belong to the first head; "
            "is the first head on top?": reversed_heads(*inputs),
            "This is the sum of the heads' outputs: put below each other they keep apart what "
            "each head found; how many rows are that?": summed(*inputs),
            "This is the mean of the heads' outputs: put below each other they keep apart what "
            "each head found; how many rows are that?": averaged(*inputs),
            "Your outputs are a third of the right ones, divided by H in the end: is there a mean "
            "over the heads?": mean_after_combining(*inputs),
            "All outputs come from one and the same head: does your loop use each dict in turn?": (
                tuple(first_alone(X, heads[h:] + heads[:h], inputs[2]) for h in range(3))
            ),
        },
    )
    # First sizes that all differ, so that each root tells where it comes from.
    rng = np.random.default_rng(43)
    inputs = random_inputs(rng, D=7, H=3, D_q=5, D_v=4, N=11)
    recognize(
        unchanged(answer, *inputs),
        multi_head(*inputs),
        "the outputs for D=7, H=3, D_q=5, D_v=4, N=11",
        {question: mistaken(*inputs) for question, mistaken in SCALES.items()}
        | {
            "The biases are left out: what is added to Omega_q X, Omega_k X and Omega_v X?": (
                without_biases(*inputs)
            ),
            "The bias of the queries is left out: where is beta_q?": without_query_bias(*inputs),
            "The bias of the values is left out: where is beta_v?": without_value_bias(*inputs),
            "Keys ask and queries answer in your heads, Qᵀ K: which of the two runs down the "
            "columns of the weights?": keys_asking(*inputs),
        },
    )
    # The last sizes come twice: nothing may be kept from the call before.
    for D, H, D_q, D_v, N in (4, 2, 2, 2, 3), (3, 1, 2, 4, 1), (2, 4, 3, 1, 6), (2, 4, 3, 1, 6):
        inputs = random_inputs(rng, D, H, D_q, D_v, N)
        what = f"the outputs for D={D}, H={H}, D_q={D_q}, D_v={D_v}, N={N}"
        same(unchanged(answer, *inputs), multi_head(*inputs), what)
    for keys, queries, scores, why in LARGE:
        first, second, third = np.eye(3)[:, None]  # 1 × 3: keys, queries and values
        X, parameters = np.array([keys, queries, [4.0, 8.0, 1.0]]), (second, 0, first, 0, third, 0)
        head = {name: p * np.ones((1, 1)) for name, p in zip(NAMES, parameters, strict=True)}
        inputs = X, [head], np.ones((3, 1))
        got, expected = unchanged(answer, *inputs), multi_head(*inputs)
        survives(got, expected, f"the outputs for {scores} and D_q=1", why)


def random_inputs(rng, D, H, D_q, D_v, N):
    """X, heads and Omega_c."""
    X, Omega_c = rng.normal(size=(D, N)), rng.normal(size=(D, H * D_v))
    heads = [dict(zip(NAMES, random_parameters(rng, D, D_q, D_v), strict=True)) for _ in range(H)]
    return X, heads, Omega_c


exercise.equivalent(
    "a bias of the keys adds the same number to all scores of a query",
    "multi_head: * → K = head['Omega_k'] @ X",
)
exercise.equivalent("queries and keys have the same length", "* → *np.sqrt(K.shape[*])")
exercise.equivalent(
    "there are as many blocks as heads, and every dict has the same names",
    "by_contributions: * → *each(X, heads))))",
    "by_contributions: * → *strict=False)))",
    "at_once: * → *for name in heads[-1]}",
)
exercise.equivalent("NumPy makes an array of the list", "at_once: * → stacked = {name: [*")
exercise.equivalent(
    "any negative size is filled in, and N is also the size of the scores",
    "at_once: * → *reshape(-2, X.shape[1])",
    "at_once: * → *reshape(-1, exponentials.shape[1])",
    "at_once: * → *reshape(-1, scores.shape[1])",
)
