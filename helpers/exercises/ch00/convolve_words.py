"""Exercise 0.2, A convolution over words."""

import re

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "0.2",
    "A convolution over words",
    stars=2,
    stub='''\
def convolve_words(X, Omega, beta):
    """A convolution of odd width k: each word and its neighbors make one output.

    Output n is beta + the sum over j = 0 … k − 1 of Omega[j] times word n + j − k//2. Where there
    is no such word, before the first and after the last, zeros stand in for it.

    X: D × N, one word in each column; Omega: k × D_out × D, a matrix for each j; beta: D_out × 1.
    Returns the N outputs as columns, D_out × N.
    """
    return ...  # your code here
''',
    hints=(
        "For k = 3, which three words make output 0, and which of them does not exist? Which word "
        "does Omega[1] meet?",
        "Put k//2 columns of zeros before the first word and as many after the last. Where in this "
        "longer matrix do the words for output 0 begin?",
        "np.pad(X, ((0, 0), (half, half))) pads columns only. In the padded matrix, output n needs "
        "columns n to n + k − 1: Omega[j] meets column n + j.",
        "All outputs at once: Omega[j] @ (the N columns from j on) is one matrix, D_out × N. Add "
        "up k of these, and beta once.",
    ),
    notice="Word n meets the matrices by distance alone: whatever the words are, Omega[0] always "
    "takes the one k//2 places before. Self-attention will choose by meaning.",
)


@exercise.solution
def convolve_words(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    padded = np.pad(X, ((0, 0), (k // 2, k // 2)))  # D × (N + k − 1)
    return beta + sum(Omega[j] @ padded[:, j : j + N] for j in range(k))  # D_out × N


@exercise.right
def by_loops(X, Omega, beta):
    return filled(np.zeros((Omega.shape[1], X.shape[1])), X, Omega, beta)


def filled(outputs, X, Omega, beta):
    """The columns of `outputs` set to the convolution's, one product at a time."""
    k, N = len(Omega), X.shape[1]
    for n in range(N):
        outputs[:, n] = beta[:, 0]
        for j in range(k):
            if 0 <= n + j - k // 2 < N:
                outputs[:, n] += Omega[j] @ X[:, n + j - k // 2]
    return outputs


@exercise.right
def by_windows(X, Omega, beta):
    k = len(Omega)
    padded = np.pad(X, ((0, 0), (k // 2, k // 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, k, axis=1)  # D × N × k
    return beta + np.einsum("jod,dnj->on", Omega, windows)


@exercise.right
def as_a_dense_layer(X, Omega, beta):
    (D, N), (k, D_out, _) = X.shape, Omega.shape
    # Place m is next to place n, and Omega[j] between them, where m = n + j − k//2.
    weights = sum(np.kron(Omega[j], np.eye(N, k=j - k // 2)) for j in range(k))
    return beta + (weights @ X.reshape(D * N)).reshape(D_out, N)


def with_padding(X, Omega, beta, before, after, mode="constant"):
    """The sum over the columns of X after padding by some other numbers of columns."""
    padded = np.pad(X, ((0, 0), (before, after)), mode)
    N = padded.shape[1] - len(Omega) + 1
    if N < 1:
        return np.zeros((len(beta), 0))
    return beta + sum(Omega[j] @ padded[:, j : j + N] for j in range(len(Omega)))


@exercise.wrong("stand in reverse")
def reversed_kernel(X, Omega, beta):
    return convolve_words(X, Omega[::-1], beta)


@exercise.wrong("the word itself and those before it")
def looking_back(X, Omega, beta):
    return with_padding(X, Omega, beta, len(Omega) - 1, 0)


@exercise.wrong("the word itself and those after it")
def looking_ahead(X, Omega, beta):
    return with_padding(X, Omega, beta, 0, len(Omega) - 1)


@exercise.wrong("what stands in for a neighbor that does not exist")
def unpadded(X, Omega, beta):
    return with_padding(X, Omega, beta, 0, 0)


@exercise.wrong("how many columns of zeros")
def padded_too_far(X, Omega, beta):
    return with_padding(X, Omega, beta, len(Omega) - 1, len(Omega) - 1)


@exercise.wrong("stands in for its own neighbor")
def padded_by_copies(X, Omega, beta):
    return with_padding(X, Omega, beta, len(Omega) // 2, len(Omega) // 2, "edge")


@exercise.wrong("wraps around")
def rolled(X, Omega, beta):
    k = len(Omega)
    return beta + sum(Omega[j] @ np.roll(X, k // 2 - j, axis=1) for j in range(k))


@exercise.wrong("what does index -1 select")
def negative_index(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    outputs = beta + np.zeros((Omega.shape[1], N))
    for n in range(N):
        for j in range(k):
            if n + j - k // 2 < N:
                outputs[:, n] += Omega[j] @ X[:, n + j - k // 2]
    return outputs


@exercise.wrong("there is no word after the last")
def beyond_the_end(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    outputs = beta + np.zeros((Omega.shape[1], N))
    for n in range(N):
        for j in range(k):
            if n + j - k // 2 >= 0:
                outputs[:, n] += Omega[j] @ X[:, n + j - k // 2]
    return outputs


@exercise.wrong("above and below")
def padded_all_around(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    padded = np.pad(X, k // 2)
    return beta + sum(Omega[j] @ padded[:, j : j + N] for j in range(k))


@exercise.wrong("does each further j replace")
def replaced(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    padded = np.pad(X, ((0, 0), (k // 2, k // 2)))
    for j in range(k):
        outputs = beta + Omega[j] @ padded[:, j : j + N]
    return outputs


@exercise.wrong("where is beta")
def without_bias(X, Omega, beta):
    return convolve_words(X, Omega, 0 * beta)


@exercise.wrong("beta was added 3 times")
def bias_for_each_j(X, Omega, beta):
    return convolve_words(X, Omega, len(Omega) * beta)


@exercise.wrong("for each neighbor that exists")
def bias_for_each_neighbor(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    outputs = np.zeros((Omega.shape[1], N))
    for n in range(N):
        for j in range(k):
            if 0 <= n + j - k // 2 < N:
                outputs[:, [n]] += beta + Omega[j] @ X[:, [n + j - k // 2]]
    return outputs


@exercise.wrong("transposed")
def transposed(X, Omega, beta):
    return convolve_words(X, Omega.transpose(0, 2, 1), beta)


@exercise.wrong("make a square")
def squares_stacked(X, Omega, beta):
    k, N = len(Omega), X.shape[1]
    padded = np.pad(X, ((0, 0), (k // 2, k // 2)))
    return np.stack(
        [beta + sum(Omega[j] @ padded[:, n + j] for j in range(k)) for n in range(N)], axis=-1
    )


@exercise.wrong("make a square")
def squares_stored(X, Omega, beta):
    outputs = np.zeros((Omega.shape[1], X.shape[1]))
    for n, square in enumerate(squares_stacked(X, Omega, beta).transpose(2, 0, 1)):
        outputs[:, n] = square
    return outputs


@exercise.wrong("D_out need not be D")
def as_many_rows_as_inputs(X, Omega, beta):
    return filled(np.zeros_like(X), X, Omega, beta)


@exercise.wrong("D_out need not be D")
def as_many_rows_as_inputs_at_once(X, Omega, beta):
    outputs = np.zeros_like(X)
    outputs += convolve_words(X, Omega, beta)
    return outputs


@exercise.wrong("D_out need not be D")
def rows_of_inputs_alone(X, Omega, beta):
    outputs, right = np.zeros_like(X), convolve_words(X, Omega, beta)
    for d in range(len(X)):
        outputs[d] = right[d]
    return outputs


@exercise.wrong("k need not be 3")
def three_products(X, Omega, beta):
    padded = np.pad(X, ((0, 0), (1, 1)))
    return beta + sum(Omega[j] @ padded[:, j : j + X.shape[1]] for j in range(3))


@exercise.wrong("k need not be 3")
def three_matrices(X, Omega, beta):
    before, itself, after = Omega
    return convolve_words(X, np.stack([before, itself, after]), beta)


@exercise.wrong("k need not be 3")
def one_column_of_zeros(X, Omega, beta):
    padded = np.pad(X, ((0, 0), (1, 1)))
    return beta + sum(Omega[j] @ padded[:, j : j + X.shape[1]] for j in range(len(Omega)))


@exercise.wrong("k need not be 3")
def one_place_each_way(X, Omega, beta):
    return with_padding(X, Omega, beta, 1, 1)


@exercise.wrong("a return that stands inside it")
def returned_early(X, Omega, beta):
    outputs = np.zeros((Omega.shape[1], X.shape[1]))
    for n in range(X.shape[1]):
        outputs[:, n] = convolve_words(X, Omega, beta)[:, n]
        return outputs


exercise.equivalent(
    "of the same size",
    "*: k* = * → k* = *len(turned(Omega))*",
    "*: k* = * → k* = *len(whole(Omega))*",
    "as_a_dense_layer: * → return beta + (weights @ X.reshape(_ * N)).reshape(D_out, N)",
)
exercise.equivalent(
    "more zeros after the last word than are needed",
    "convolve_words: padded = * → padded = np.pad(X, ((0, 0), (k // 2, k)))",
    "convolve_words: padded = * → padded = np.pad(X, ((0, 0), (k // 2, k // 1)))",
)
exercise.equivalent(
    "every column is set", "by_loops: * → return filled(np.ones((Omega.shape[1], X.shape[1])), *)"
)


@exercise.check
def check(answer):
    # As many outputs as inputs: there, a transposed Omega runs without an error and can be named.
    rng = np.random.default_rng(3)
    X, other_X = rng.normal(size=(2, 2, 5)).round(1)
    Omega, beta = rng.normal(size=(3, 2, 2)).round(1), np.array([[1.5], [-2.3]])
    inputs = X, Omega, 0 * beta
    squares = squares_stacked(*inputs)
    recognize(
        convolved(answer, *inputs),
        convolve_words(*inputs),
        "the outputs for five words, D = D_out = 2, k=3 and beta = 0",
        {
            "Your Omega stand in reverse: Omega[0] met the word after and Omega[2] the word "
            "before. For j = 0, is n + j − k//2 before n, or after it?": reversed_kernel(*inputs),
            "Your outputs see the word itself and those before it: which matrix does the word "
            "itself meet, and what does − k//2 do to the place?": looking_back(*inputs),
            "Your outputs see the word itself and those after it: which matrix does the word "
            "itself meet, and what does − k//2 do to the place?": looking_ahead(*inputs),
            "Only the three words in the middle have an output, N are asked for: what stands in "
            "for a neighbor that does not exist?": unpadded(*inputs),
            "There are 7 outputs for 5 words: how many columns of zeros does k = 3 need on each "
            "side?": padded_too_far(*inputs),
            "At the ends, a word stands in for its own neighbor: what should stand in for a word "
            "that does not exist?": padded_by_copies(*inputs),
            "The text wraps around: the last word serves as the neighbor before the first, and the "
            "first as the one after the last. What should stand there?": rolled(*inputs),
            "The last word serves as the neighbor before the first: what does index -1 select?": (
                negative_index(*inputs)
            ),
            SQUARE: tuple(np.moveaxis(squares, -1, axis) for axis in range(3)),
            "Only the last of the three products came out: is each added to the sum so far, or "
            "does each further j replace it?": replaced(*inputs),
            "Your Omega[j] are transposed: which of its rows belongs to the first entry of an "
            "output?": transposed(*inputs),
        },
    )
    inputs = other_X, Omega, beta
    recognize(
        convolved(answer, *inputs),
        convolve_words(*inputs),
        "the outputs for five other words, with beta",
        {
            "The outputs are the same as for beta = 0: where is beta?": without_bias(*inputs),
            "In each output, beta was added 3 times, once for each j: how often should it be?": (
                bias_for_each_j(*inputs)
            ),
            "Your beta was added for each neighbor that exists, so that the ends got less of it: "
            "how often should it be added?": bias_for_each_neighbor(*inputs),
        },
    )
    inputs = X, Omega[:1], beta  # every word by itself
    recognize(
        convolved(answer, *inputs),
        convolve_words(*inputs),
        "the outputs for k=1",
        {
            "For k = 1, your outputs do not stand at the places of their words: k need not be 3. "
            "How many columns of zeros does k = 1 need on each side?": (
                with_padding(*inputs, 1, 1),
                with_padding(X[:, :-1], *inputs[1:], 1, 0),
            ),
        },
    )
    sizes = (2, 3, 6, 1), (1, 1, 1, 1), (2, 3, 6, 3), (3, 2, 9, 5), (2, 2, 2, 7), (4, 1, 37, 7)
    for D, D_out, N, k in 2 * sizes:  # the first D_out that is not D, and nothing else is new
        inputs = [rng.normal(size=size) for size in ((D, N), (k, D_out, D), (D_out, 1))]
        what = f"the outputs for D={D}, D_out={D_out}, N={N}, k={k}"
        same(convolved(answer, *inputs), convolve_words(*inputs), what)


SQUARE = (
    "Where one column was to be, D_out × D_out numbers came: beta is D_out × 1 and "
    "Omega[j] @ X[:, n] is flat, and together they make a square. Is each word still a column?"
)


def convolved(answer, X, Omega, beta):
    """unchanged(answer, X, Omega, beta), with a question where NumPy stops at a known mistake."""
    (k, D_out, D), N = Omega.shape, X.shape[1]
    rows = (
        f"Here a word has D = {D} numbers and an output D_out = {D_out}: D_out need not be D. "
        "How many rows does the array for the outputs have?"
    )
    width = "Here Omega holds one matrix, Omega[0]: k need not be 3. Over which j do you sum?"
    try:
        result = unchanged(answer, X, Omega, beta)
        if D_out != D and getattr(result, "shape", None) == X.shape:
            raise Wrong(rows)
        return result
    except IndexError as error:
        if k == 1 < D and "axis 0 with size 1" in str(error):  # no input but Omega is so short
            raise Wrong(width) from None
        if f"index {N} is out of bounds for axis 1 with size {N}" not in str(error):
            raise
        raise Wrong(
            f"It asks for word {N}, and there is no word after the last, {N - 1}: what stands in "
            "for it?"
        ) from None
    except ValueError as error:
        if f"size {D + k - 1} is different from {D}" in str(error):
            raise Wrong(
                f"Omega[j] met columns of {D + k - 1} numbers instead of {D}: did the zeros also "
                "come above and below the words?"
            ) from None
        if k == 1 and "expected 3, got 1" in str(error):
            raise Wrong(width) from None
        # "… shapes (2,6) (3,6)": the numbers of rows that do not fit
        if "broadcast" in str(error):
            if D_out != D and set(re.findall(r"\((\d+)", str(error))) == {str(D), str(D_out)}:
                raise Wrong(rows) from None
            if f"({D_out},{D_out})" in str(error) and "operands could" not in str(error):
                raise Wrong(SQUARE) from None
        raise
