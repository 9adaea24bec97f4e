"""Exercise 1.7, Design a head by hand."""

import numpy as np

from helpers.corpora.passages import PASSAGE, words
from helpers.corpora.word_vectors import embed, load_word_vectors
from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import query_and_key_matrices, unchanged
from helpers.exercises.shared.reference import softmax_columns

POINTING_BACK = "it", "they", "their"

exercise = Exercise(
    "1.7",
    "Design a head by hand",
    stars=2,
    stub='''\
def design_head(names):
    """Omega_q and Omega_k with which it, they and their find the restaurant.

    The words of the passage have the hand-made vectors of this notebook; the biases are zero and
    the scores are not scaled. Each of the three words must give restaurant at least 0.9 of its
    attention; no other word may give it more than 0.5.

    names: the D names of the vectors' dimensions ("place", "food", "pointing back" …). Look the
           dimensions up by name: the check also tries them in another order.
    Returns (Omega_q, Omega_k), each D_q × D; D_q, at least 1, is yours to choose.
    """
    return ...  # your code here
''',
    hints=(
        "Print the vectors of it, they, their and restaurant. Which dimension do the three share "
        "that no other word of the passage has? Which one sets restaurant apart?",
        "A query says what a word is looking for, a key says what a word has to offer. One number "
        "each (D_q = 1) is enough: when should the query be large, when the key?",
        "Omega_q can turn “points back” into “looks for a place”: a single entry, in the column "
        'names.index("pointing back"). Omega_k reads off “is a place” in the same way.',
        "Too weak? Restaurant competes with 36 other words: exp(score) has to be nine times the "
        "sum of all their exponentials, and ambiance is a bit of a place, too.",
    ),
    notice="Words that do not point back have the query 0: they attend to all words alike. "
    "The size of the entry is the head's sharpness.",
)


@exercise.solution
def design_head(names):
    D = len(names)
    Omega_q, Omega_k = np.zeros((1, D)), np.zeros((1, D))
    Omega_q[0, names.index("pointing back")] = 8.0  # a word that points back asks …
    Omega_k[0, names.index("place")] = 1.0  # … and a place answers
    return Omega_q, Omega_k


@exercise.right
def in_all_dimensions(names):
    Omega_q = np.zeros((len(names), len(names)))
    Omega_q[names.index("place"), names.index("pointing back")] = 10.0
    return Omega_q, np.eye(len(names))


@exercise.right
def with_lists(names):
    query = [[12.0 * (name == "pointing back") for name in names]]
    key = [[{"place": 1.0, "glue": -0.1}.get(name, 0.0) for name in names]]
    return query, key


exercise.equivalent(
    "whatever passes is such a head: the check asks for all of it, for the only passage there is",
    "design_head: D = *",
    "design_head: Omega_*",
    "in_all_dimensions: Omega_*",
    "in_all_dimensions: return *",
    "with_lists: query = *",
    "with_lists: key = *",
)


@exercise.wrong("does its query meet any key")
def all_zeros(names):
    return np.zeros((1, len(names))), np.zeros((1, len(names)))


@exercise.wrong("asks for words like itself")
def identity(names):
    return np.eye(len(names)), np.eye(len(names))


@exercise.wrong("who asks, and who answers")
def exchanged(names):
    return design_head(names)[::-1]


@exercise.wrong("but too weakly")
def weak(names):
    Omega_q, Omega_k = design_head(names)
    return Omega_q / 8, Omega_k


@exercise.wrong("which dimension do only the words that point back have")
def for_all_words(names):
    Omega_q, Omega_k = design_head(names)
    return np.full(Omega_q.shape, 8.0), Omega_k


@exercise.wrong("in another order")
def by_position(names):
    return 8 * np.eye(len(names))[[4]], np.eye(len(names))[[0]]


@exercise.check
def check(answer):
    vectors, names = load_word_vectors()
    check_head(answer, vectors, names)
    rng = np.random.default_rng(17)
    for order in rng.permutation(len(names)), np.arange(len(names))[::-1]:
        shuffled = {word: vector[order] for word, vector in vectors.items()}
        try:
            check_head(answer, shuffled, [names[i] for i in order])
        except Wrong as fault:
            raise Wrong(
                "The head works, but not with the dimensions in another order: did you find their "
                "positions by name, with names.index?"
            ) from fault


def check_head(answer, vectors, names):
    passage = words(PASSAGE)
    X = embed(passage, vectors)
    Omega_q, Omega_k = head_matrices(unchanged(answer, list(names)), len(names))
    A = softmax_columns((Omega_k @ X).T @ (Omega_q @ X))
    restaurant = passage.index("restaurant")
    pointing = [n for n, word in enumerate(passage) if word in POINTING_BACK]
    if A[pointing, restaurant].sum() > 0.5 > A[restaurant, pointing].max():
        raise Wrong(
            "With your matrices restaurant looks for it, they and their: who asks, and who "
            "answers? Whoever asks needs the query.",
        )
    for n in pointing:
        if np.allclose(A[:, n], 1 / len(passage)):
            raise Wrong(
                f"“{passage[n]}” spreads its attention evenly: does its query meet any key?"
            )
        best = A[restaurant, n] == A[:, n].max()  # argmax would name the first of equals
        strongest = restaurant if best else A[:, n].argmax()
        finds = f"“{passage[n]}” pays most attention to “{passage[strongest]}”"
        if passage[strongest] in POINTING_BACK:
            raise Wrong(
                f"{finds}, {A[strongest, n]:.2f}: it asks for words like itself. Which entry of "
                "Omega_q turns “I point back” into “I look for a place”?"
            )
        if not best:
            raise Wrong(
                f"{finds}, {A[strongest, n]:.2f}, and {A[restaurant, n]:.2f} to restaurant: which "
                "dimension sets restaurant apart from the other words, and is its score "
                "the largest?"
            )
        if A[restaurant, n] < 0.9:
            raise Wrong(
                f"{finds}, as it should, but too weakly, {A[restaurant, n]:.2f}: by how much must "
                "one score exceed 36 others for nine tenths of the attention?"
            )
    for n, word in enumerate(passage):
        if n not in pointing and A[restaurant, n] > 0.5:
            raise Wrong(
                f"“{word}” points back to nothing and still pays {A[restaurant, n]:.2f} of its "
                "attention to restaurant: which dimension do only the words that point back have?"
            )


def head_matrices(result, D):
    """Omega_q and Omega_k as arrays of equal shape, D columns each, or Wrong."""
    Omega_q, Omega_k = query_and_key_matrices(
        result,
        lambda matrix: matrix.ndim == 2 and matrix.shape[1] == D and matrix.shape[0] >= 1,
        f"have one column for each of the {D} named dimensions.",
    )
    if Omega_q.shape != Omega_k.shape:
        raise Wrong(
            "Queries and keys meet in a dot product: can Omega_q and Omega_k have different "
            "numbers of rows?"
        )
    return Omega_q, Omega_k
