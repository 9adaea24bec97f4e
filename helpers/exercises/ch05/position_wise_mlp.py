"""Exercise 5.2, The same network for every token."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "5.2",
    "The same network for every token",
    stars=1,
    stub='''\
def position_wise_mlp(X, Omega_1, beta_1, Omega_2, beta_2):
    """The same network for every token x: beta_2 + Omega_2 ReLU[beta_1 + Omega_1 x].

    X: D × N, one token in each column.
    Omega_1: D_mlp × D; beta_1: D_mlp × 1; Omega_2: D × D_mlp; beta_2: D × 1.
    ReLU[z] is z where z is above 0, and 0 elsewhere.
    Returns the N results as columns, D × N.
    """
    return ...  # your code here
''',
    hints=(
        "Exercise 2.1 applied one linear map to all columns at once. How many such maps are there "
        "here, and what stands between them?",
        "np.maximum(0, Z) compares every entry of Z with 0 and keeps the larger.",
        "First the D_mlp × N hidden units of all tokens, then a second linear map of these. After "
        "that one there is no ReLU.",
    ),
    notice="No token looks at another: shuffle the columns of X, and the results are shuffled in "
    "the same way. And N occurs in no weight, so the network takes a text of any length.",
)


@exercise.solution
def position_wise_mlp(X, Omega_1, beta_1, Omega_2, beta_2):
    hidden = np.maximum(0, beta_1 + Omega_1 @ X)  # D_mlp × N
    return beta_2 + Omega_2 @ hidden  # D × N


@exercise.right
def by_loop(X, Omega_1, beta_1, Omega_2, beta_2):
    results = []
    for x in X.T:
        hidden = [max(0.0, z) for z in beta_1[:, 0] + Omega_1 @ x]
        results.append(beta_2[:, 0] + Omega_2 @ hidden)
    return np.stack(results, axis=1)


@exercise.right
def by_gates(X, Omega_1, beta_1, Omega_2, beta_2):
    Z = np.einsum("hd,dn->hn", Omega_1, X) + beta_1
    return np.einsum("dh,hn->dn", Omega_2, Z * (Z > 0)) + beta_2


@exercise.right
def in_rows(X, Omega_1, beta_1, Omega_2, beta_2):
    Z = X.T @ Omega_1.T + beta_1.T
    return (np.where(Z < 0, 0.0, Z) @ Omega_2.T + beta_2.T).T


@exercise.wrong("does one token learn of another")
def across_tokens(X, *parameters):
    return position_wise_mlp(X.T, *parameters).T


@exercise.wrong("is a token a row of X")
def transposed_tokens(X, *parameters):
    return position_wise_mlp(X.T, *parameters)


@exercise.wrong("two linear maps in a row")
def without_relu(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ (beta_1 + Omega_1 @ X)


@exercise.wrong("can a result be negative")
def relu_again(*inputs):
    return np.maximum(0, position_wise_mlp(*inputs))


@exercise.wrong("not between the two maps")
def relu_at_the_end(*inputs):
    return np.maximum(0, without_relu(*inputs))


@exercise.wrong("a ReLU of the tokens")
def relu_first(X, *parameters):
    return without_relu(np.maximum(0, X), *parameters)


@exercise.wrong("how much of it does ReLU let through")
def leaky(X, Omega_1, beta_1, Omega_2, beta_2):
    Z = beta_1 + Omega_1 @ X
    return beta_2 + Omega_2 @ np.where(Z > 0, Z, 0.01 * Z)


@exercise.wrong("how much of it does ReLU let through")
def gelu(X, Omega_1, beta_1, Omega_2, beta_2):
    Z = beta_1 + Omega_1 @ X
    hidden = Z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (Z + 0.044715 * Z**3)))
    return beta_2 + Omega_2 @ hidden


@exercise.wrong("keeps the negative numbers")
def other_half(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ np.minimum(0, beta_1 + Omega_1 @ X)


@exercise.wrong("takes the 0 for an axis")
def largest(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ np.max(beta_1 + Omega_1 @ X, 0)


@exercise.wrong("second input of np.max is an axis")
def maximum_along_an_axis(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ np.max(0, beta_1 + Omega_1 @ X)


@exercise.wrong("ask one question of a whole array")
def maximum_of_python(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ max(0, beta_1 + Omega_1 @ X)


@exercise.wrong("makes the negative numbers positive")
def absolute(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ np.abs(beta_1 + Omega_1 @ X)


@exercise.wrong("the addition belongs to the layer")
def with_residual(X, *parameters):
    return X + position_wise_mlp(X, *parameters)


@exercise.wrong("averaged over all tokens")
def average_of_results(*inputs):
    results = position_wise_mlp(*inputs)
    return results.mean(axis=1, keepdims=True) + 0 * results


@exercise.wrong("averaged over all tokens")
def result_of_average(X, *parameters):
    return position_wise_mlp(X.mean(axis=1, keepdims=True) + 0 * X, *parameters)


@exercise.wrong("averaged over all tokens")
def one_average(*inputs):
    return position_wise_mlp(*inputs).mean(axis=1, keepdims=True)


@exercise.wrong("Which of the two maps comes first")
def maps_exchanged(X, Omega_1, beta_1, Omega_2, beta_2):
    return position_wise_mlp(X, Omega_2, beta_1, Omega_1, beta_2)


@exercise.wrong("where are beta_1 and beta_2")
def without_biases(X, Omega_1, beta_1, Omega_2, beta_2):
    return position_wise_mlp(X, Omega_1, 0, Omega_2, 0)


@exercise.wrong("where is beta_1")
def without_first_bias(X, Omega_1, beta_1, Omega_2, beta_2):
    return position_wise_mlp(X, Omega_1, 0, Omega_2, beta_2)


@exercise.wrong("where is beta_2")
def without_second_bias(X, Omega_1, beta_1, Omega_2, beta_2):
    return position_wise_mlp(X, Omega_1, beta_1, Omega_2, 0)


@exercise.wrong("added after the ReLU")
def bias_after_relu(X, Omega_1, beta_1, Omega_2, beta_2):
    return beta_2 + Omega_2 @ (beta_1 + np.maximum(0, Omega_1 @ X))


@exercise.wrong("lies along the rows")
def biases_in_rows(X, Omega_1, beta_1, Omega_2, beta_2):
    return position_wise_mlp(X, Omega_1, beta_1.T, Omega_2, beta_2.T)


# Words of errors that tell which function was taken for the ReLU, and the question
MISFITS = {
    "only integer scalar arrays": "The second input of np.max is an axis: which function "
    "compares every entry with 0?",
    "truth value of an array": "Python's max and if ask one question of a whole array, and each "
    "entry needs an answer of its own: which NumPy function compares every entry with 0?",
}


@exercise.check
def check(answer):
    # D = D_mlp = N: there, exchanged and transposed matrices run without an error.
    X = np.array([[1.0, 3.0], [5.0, -2.0]])
    Omega_1, Omega_2 = np.array([[2.0, -1.0], [3.0, 2.0]]), np.array([[1.0, -2.0], [-3.0, 5.0]])
    none = np.zeros((2, 1))
    inputs = X, Omega_1, none, Omega_2, none
    before = Omega_1 @ X  # [[-3, 8], [13, 5]]
    recognize(
        run(answer, *inputs, errors=MISFITS),
        np.array([[-26.0, -2.0], [65.0, 1.0]]),
        "the results for two tokens, two hidden units and biases of 0",
        {
            "Your network takes one dimension of all tokens at a time, a row of X: does one token "
            "learn of another here?": across_tokens(*inputs),
            "The network was applied to X transposed: is a token a row of X, or a column?": (
                transposed_tokens(*inputs)
            ),
            "There is no ReLU in your result: two linear maps in a row are one linear map. Where "
            "does the nonlinearity stand?": without_relu(*inputs),
            "There is a ReLU after the second map as well: can a result be negative?": (
                relu_again(*inputs)
            ),
            "The ReLU stands at the end, not between the two maps: to what does Omega_2 apply?": (
                relu_at_the_end(*inputs)
            ),
            "Yours is a ReLU of the tokens: should it come before or after Omega_1?": (
                relu_first(*inputs)
            ),
            "A hidden unit is −3 before the nonlinearity: how much of it does ReLU let through, "
            "and how much does yours?": (
                leaky(*inputs),
                gelu(*inputs),
                Omega_2 @ np.where(before > 0, before, 0.1 * before),
                Omega_2 @ np.where(before > 0, before, 0.2 * before),
                Omega_2 @ (before / (1 + np.exp(-before))),
            ),
            "Your ReLU keeps the negative numbers and drops the others: is ReLU[z] the larger or "
            "the smaller of 0 and z?": other_half(*inputs),
            "Your hidden units are the largest of each token: np.max(Z, 0) takes the 0 for an "
            "axis. Which function compares every entry with 0?": largest(*inputs),
            "Your nonlinearity makes the negative numbers positive, as an absolute value does: "
            "what does ReLU make of them?": absolute(*inputs),
            "Your tokens are added to the result: the addition belongs to the layer, around this "
            "network. Does X occur in the formula a second time?": with_residual(*inputs),
            "Yours is averaged over all tokens: how many results should come out?": (
                average_of_results(*inputs),
                result_of_average(*inputs),
                one_average(*inputs),
                result_of_average(*inputs)[:, :1],
            ),
            "Which of the two maps comes first? Omega_1 makes the hidden units, and Omega_2 "
            "takes them back to D numbers.": maps_exchanged(*inputs),
        },
    )
    inputs = X, Omega_1, np.array([[-4.0], [7.0]]), Omega_2, np.array([[11.0], [17.0]])
    recognize(
        unchanged(answer, *inputs),
        np.array([[-29.0, -9.0], [117.0, 65.0]]),
        "the results for the same X and Omegas, beta_1 = (−4, 7), beta_2 = (11, 17)",
        {
            "The results are the same as for biases of 0: where are beta_1 and beta_2?": (
                without_biases(*inputs)
            ),
            "The results change with beta_2 alone: where is beta_1?": without_first_bias(*inputs),
            "The results change with beta_1 alone: where is beta_2?": without_second_bias(*inputs),
            "Your beta_1 is added after the ReLU: what does the ReLU apply to, Omega_1 x or "
            "beta_1 + Omega_1 x?": bias_after_relu(*inputs),
            "A bias of yours lies along the rows, so that each token gets another number: does it "
            "belong to a token, or to a unit?": (
                biases_in_rows(*inputs),
                position_wise_mlp(X, Omega_1, inputs[2].T, Omega_2, inputs[4]),
                position_wise_mlp(X, Omega_1, inputs[2], Omega_2, inputs[4].T),
            ),
        },
    )
    rng = np.random.default_rng(52)
    for D, D_mlp, N in (3, 12, 5), (1, 4, 3), (4, 2, 1), (5, 5, 5), (2, 8, 37), (2, 8, 37):
        sizes = (D, N), (D_mlp, D), (D_mlp, 1), (D, D_mlp), (D, 1)
        inputs = [rng.normal(size=size) for size in sizes]
        what = f"the results for D={D}, D_mlp={D_mlp}, N={N}"
        same(unchanged(answer, *inputs), position_wise_mlp(*inputs), what)


exercise.equivalent(
    "of two numbers the larger, whichever comes first",
    "position_wise_mlp: * → hidden = np.maximum(beta_1 + Omega_1 @ X, 0)",
    "by_loop: * → hidden = [max(z, 0.0) *",
)
exercise.equivalent(
    "a bias is a single column", "by_loop: * → *beta_1[:, -1]*", "by_loop: * → *beta_2[:, -1]*"
)
exercise.equivalent("where z is 0, ReLU is 0", "by_gates: * → *(Z >= 0)*", "in_rows: * → *Z <= 0*")
