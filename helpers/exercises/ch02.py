"""The exercises of notebook 02, Matrix form: NumPy with tokens as columns, PyTorch with rows."""

import numpy as np

from helpers.exercises.ch01 import (
    LARGE,
    UNSCALED,
    check_self_attention,
    random_parameters,
    recognize,
    softmax_columns,
    survives,
)
from helpers.exercises.engine import Exercise, Wrong, matches, same, unchanged

# ----------------------------------------------------------------------------------------- 2.1

linear_exercise = Exercise(
    "2.1",
    "One linear map for all tokens",
    stars=1,
    stub='''\
def linear_columns(X, Omega, beta):
    """The same linear map applied to every token: beta 1ᵀ + Omega X.

    X: D × N, one token in each column; Omega: D_out × D; beta: D_out × 1.
    Returns the N results as columns, D_out × N.
    """
    return ...  # your code here
''',
    hints=(
        "What is column n of the product Omega @ X, in terms of column n of X?",
        "beta 1ᵀ is a matrix with beta in each of its N columns. Does NumPy need it written out?",
        "NumPy stretches a D_out × 1 column across the columns of a D_out × N matrix when the two "
        "are added.",
    ),
    notice="Broadcasting stands for the 1ᵀ of the equation: the column beta is added to every "
    "column. A flat beta of shape (D_out,) would be added to every row instead.",
)


@linear_exercise.solution
def linear_columns(X, Omega, beta):
    return beta + Omega @ X  # D_out × N


@linear_exercise.right
def linear_by_loop(X, Omega, beta):
    results = np.zeros((Omega.shape[0], X.shape[1]))
    for n in range(X.shape[1]):
        results[:, n] = beta[:, 0] + Omega @ X[:, n]
    return results


@linear_exercise.right
def linear_as_written(X, Omega, beta):
    return beta @ np.ones((1, X.shape[1])) + Omega @ X


@linear_exercise.right
def linear_with_homogeneous_tokens(X, Omega, beta):
    return np.hstack([Omega, beta]) @ np.vstack([X, np.ones(X.shape[1])])


@linear_exercise.wrong("what about the other tokens")
def linear_bias_once(X, Omega, beta):
    results = Omega @ X
    results[:, [0]] += beta
    return results


@linear_exercise.wrong("where is beta")
def linear_without_bias(X, Omega, beta):
    return Omega @ X


@linear_exercise.wrong("beta lies along the rows")
def linear_bias_in_rows(X, Omega, beta):
    return beta.T + Omega @ X


@linear_exercise.wrong("Omega stands transposed")
def linear_transposed(X, Omega, beta):
    return beta + Omega.T @ X


@linear_exercise.wrong("the factors are exchanged")
def linear_wrong_order(X, Omega, beta):
    return beta + X @ Omega


@linear_exercise.wrong("added to the tokens")
def linear_bias_before(X, Omega, beta):
    return Omega @ (X + beta)


@linear_exercise.wrong("entry by entry")
def linear_entrywise(X, Omega, beta):
    return beta + Omega * X


@linear_exercise.wrong("the result is transposed")
def linear_in_rows(X, Omega, beta):
    return (beta + Omega @ X).T


@linear_exercise.check
def check_linear(answer):
    # Square cases first: there, a wrong order runs without an error and can be named.
    X, Omega = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    beta, product = np.array([[5.0], [6.0]]), np.array([[4.0, 6.0], [3.0, 4.0]])
    recognize(
        unchanged(answer, X, Omega, 0 * beta),
        product,
        "the result for X = [[1, 2], [3, 4]], Omega = [[1, 1], [0, 1]], beta = 0",
        {
            "Omega stands transposed: which row of Omega belongs to the first entry of the "
            "result?": Omega.T @ X,
            "In X @ Omega the factors are exchanged: Omega has to act on the columns of X; on "
            "which side of X does it stand?": X @ Omega,
            "Omega * X multiplies entry by entry: which operator is the product of two matrices?": (
                Omega * X
            ),
            "The numbers are right and the result is transposed: does each token stay a column?": (
                product.T
            ),
        },
    )
    recognize(
        unchanged(answer, X, Omega, beta),
        np.array([[9.0, 11.0], [9.0, 10.0]]),
        "the result for the same X and Omega, and beta = (5, 6)",
        {
            "The result is the same as for beta = 0: where is beta?": product,
            "Only the first token got beta: what about the other tokens?": (
                np.array([[9.0, 6.0], [9.0, 4.0]])
            ),
            "Your beta lies along the rows: token 0 got 5 twice and token 1 got 6. Should "
            "beta be a row here, or a column?": np.array([[9.0, 12.0], [8.0, 10.0]]),
            "Your beta was added to the tokens, and then Omega acted on the sum: does Omega act "
            "on beta in beta 1ᵀ + Omega X?": Omega @ (X + beta),
        },
    )
    rng = np.random.default_rng(21)
    for D, D_out, N in (1, 1, 1), (3, 2, 1), (2, 4, 5), (3, 3, 3), (4, 1, 37):
        inputs = [rng.normal(size=size) for size in ((D, N), (D_out, D), (D_out, 1))]
        what = f"the result for D={D}, D_out={D_out}, N={N}"
        same(unchanged(answer, *inputs), linear_columns(*inputs), what)


# ----------------------------------------------------------------------------------------- 2.2

matrix_exercise = Exercise(
    "2.2",
    "All weights at once",
    stars=1,
    stub='''\
def attention_matrix(Q, K):
    """All attention weights (without scaling): the softmax of KᵀQ, column by column.

    Q: D_q × N, one query in each column; K: D_q × M, one key in each column.
    Returns A, M × N: keys down, queries across, every column sums to one. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Entry [m, n] is the dot product of key m with query n. Which index counts the rows?",
        "The entries of Kᵀ Q are those dot products: rows of Kᵀ are keys, columns of Q are "
        "queries.",
        "Then a safe softmax along axis 0, the one that runs over the keys.",
    ),
    notice="M and N need not agree: each query makes a column, whatever the number of keys. "
    "Notebook 09 lets one sentence read another with this same line.",
)


@matrix_exercise.solution
def attention_matrix(Q, K):
    scores = K.T @ Q  # M × N
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


@matrix_exercise.right
def matrix_by_loops(Q, K):
    A = np.zeros((K.shape[1], Q.shape[1]))
    for n in range(Q.shape[1]):
        scores = np.array([K[:, m] @ Q[:, n] for m in range(K.shape[1])])
        A[:, n] = np.exp(scores - scores.max())
        A[:, n] /= A[:, n].sum()
    return A


@matrix_exercise.right
def matrix_by_einsum(Q, K):
    scores = np.einsum("dm,dn->mn", K, Q)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=0))


@matrix_exercise.wrong("queries run down")
def matrix_transposed(Q, K):
    return softmax_columns(Q.T @ K)


@matrix_exercise.wrong("rows sum to one and your columns do not")
def matrix_rows(Q, K):
    return softmax_columns((K.T @ Q).T).T


@matrix_exercise.wrong("the transpose of the answer")
def matrix_of_pytorch(Q, K):
    return softmax_columns(K.T @ Q).T


@matrix_exercise.wrong("pairs of features")
def matrix_of_features(Q, K):
    return softmax_columns(K @ Q.T)


@matrix_exercise.wrong("so that its rows are keys")
def matrix_untransposed(Q, K):
    return softmax_columns(K @ Q)


@matrix_exercise.wrong("scaling comes in a later notebook")
def matrix_scaled(Q, K):
    return softmax_columns(K.T @ Q / np.sqrt(Q.shape[0]))


@matrix_exercise.wrong("these are the scores")
def matrix_of_scores(Q, K):
    return K.T @ Q


@matrix_exercise.wrong("np.exp(1000) overflows")
def matrix_unstable(Q, K):
    exponentials = np.exp(K.T @ Q)
    return exponentials / exponentials.sum(axis=0)


@matrix_exercise.wrong("very exponential was 0")
def matrix_one_maximum(Q, K):
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max())
    return exponentials / exponentials.sum(axis=0)


@matrix_exercise.wrong("were large scores cut off")
def matrix_cut_off(Q, K):
    exponentials = np.exp(np.minimum(K.T @ Q, 700))
    return exponentials / exponentials.sum(axis=0)


@matrix_exercise.check
def check_matrix(answer):
    # As many tokens as features: there, a wrong product runs without an error and can be named.
    Q, K = np.array([[1.0, 0.0], [1.0, 3.0]]), np.array([[1.0, 2.0], [0.0, 1.0]])
    scores = np.array([[1.0, 0.0], [3.0, 3.0]])
    recognize(
        unchanged(answer, Q, K),
        softmax_columns(scores),
        "A for Q = [[1, 0], [1, 3]] and K = [[1, 2], [0, 1]]",
        {
            "In your scores queries run down and keys across: which of the two has to stand "
            "transposed on the left, so that the softmax of a column compares keys?": (
                softmax_columns(scores.T)
            ),
            "Your rows sum to one and your columns do not: a column belongs to one query; "
            "along which axis do its keys run?": softmax_columns(scores.T).T,
            "This is the transpose of the answer, as PyTorch lays it out: here keys run down and "
            "queries across. Do your columns sum to one?": softmax_columns(scores).T,
            "K Qᵀ compares pairs of features, summed over tokens: which transpose leaves one "
            "number for each key and query?": softmax_columns(K @ Q.T),
            "In K Q a row of K is one feature of all the keys, and a column of Q is one query: "
            "what must happen to K, so that its rows are keys?": softmax_columns(K @ Q),
            UNSCALED: softmax_columns(scores / np.sqrt(2)),
            "The products are right, but these are the scores: what makes a column sum to one?": (
                scores
            ),
        },
    )
    rng = np.random.default_rng(22)
    for D_q, M, N in (1, 1, 1), (3, 1, 1), (2, 4, 3), (1, 2, 5), (4, 4, 4), (5, 6, 1):
        Q, K = rng.normal(size=(D_q, N)), rng.normal(size=(D_q, M))
        same(unchanged(answer, Q, K), attention_matrix(Q, K), f"A for D_q={D_q}, M={M}, N={N}")
    K = np.array([[1000.0, 1001.0]])
    for query, scores, why in LARGE:
        Q = np.array([[1.0, query]])
        survives(unchanged(answer, Q, K), attention_matrix(Q, K), f"A for {scores}", why)


# ----------------------------------------------------------------------------------------- 2.3

self_attention_exercise = Exercise(
    "2.3",
    "Self-attention without a loop",
    stars=2,
    stub='''\
def attend(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Self-attention (without scaling) in matrix form: V · Softmax[KᵀQ].

    X: D × N, one token in each column.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    Returns the N outputs as columns, D_v × N. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "Write the shapes of Q, K, V, KᵀQ and the output on paper. In which order do D_v × N and "
        "N × N fit together?",
        "Three linear maps, one product for the scores, a softmax of each column, one more "
        "product. Which of the steps mixes tokens?",
        "Column n of V @ A is the sum of all values, weighted by column n of A. So V stands on "
        "the left, and A is not transposed.",
    ),
    notice="The linear maps act on each token alone; tokens meet only in KᵀQ and in V @ A.",
)


@self_attention_exercise.solution
def attend(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    Q = beta_q + Omega_q @ X  # D_q × N
    K = beta_k + Omega_k @ X  # D_q × N
    V = beta_v + Omega_v @ X  # D_v × N
    scores = K.T @ Q  # N × N, keys × queries
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)  # columns sum to one
    return V @ A  # D_v × N


@self_attention_exercise.right
def self_attention_by_loop(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    outputs = []
    for n in range(X.shape[1]):
        q = Omega_q @ X[:, n] + beta_q[:, 0]
        weights = softmax_columns((Omega_k @ X + beta_k).T @ q)
        outputs.append(Omega_v @ (X @ weights) + beta_v[:, 0])
    return np.stack(outputs, axis=1)


@self_attention_exercise.right
def self_attention_in_rows(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    rows = X.T
    scores = (rows @ Omega_q.T + beta_q.T) @ (rows @ Omega_k.T + beta_k.T).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return (weights @ (rows @ Omega_v.T + beta_v.T)).T


@self_attention_exercise.wrong("mixed by a row of A")
def self_attention_transposed(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    A = softmax_columns((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))
    return (beta_v + Omega_v @ X) @ A.T


@self_attention_exercise.wrong("weighted the tokens themselves")
def self_attention_of_tokens(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return X @ softmax_columns((beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X))


@self_attention_exercise.wrong("where is beta_v")
def self_attention_without_biases(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return Omega_v @ X @ softmax_columns((Omega_k @ X).T @ (Omega_q @ X))


@self_attention_exercise.wrong("rows of your weights sum to one, the columns do not")
def self_attention_over_rows(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    scores = (beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X)
    return (beta_v + Omega_v @ X) @ softmax_columns(scores.T).T


@self_attention_exercise.wrong("query and key are exchanged")
def self_attention_exchanged(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return attend(X, Omega_k, beta_k, Omega_q, beta_q, Omega_v, beta_v)


@self_attention_exercise.wrong("which Omega makes a key")
def self_attention_of_queries(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return attend(X, Omega_q, beta_q, Omega_q, beta_q, Omega_v, beta_v)


@self_attention_exercise.wrong("which Omega makes a query")
def self_attention_of_keys(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    return attend(X, Omega_k, beta_k, Omega_k, beta_k, Omega_v, beta_v)


@self_attention_exercise.wrong("very exponential was 0")
def self_attention_one_maximum(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    scores = (beta_k + Omega_k @ X).T @ (beta_q + Omega_q @ X)
    exponentials = np.exp(scores - scores.max())
    return (beta_v + Omega_v @ X) @ (exponentials / exponentials.sum(axis=0))


self_attention_exercise.check(check_self_attention)


# ----------------------------------------------------------------------------------------- 2.4

count_exercise = Exercise(
    "2.4",
    "Count the multiplications",
    stars=1,
    stub='''\
def count_multiplications(N, D, D_q, D_v):
    """How many multiplications of two numbers the matrix products of self-attention need.

    N tokens of D entries; queries and keys have D_q entries, values D_v.
    Returns a dict of five whole numbers: "Q", "K" and "V" for Omega_q @ X, Omega_k @ X and
    Omega_v @ X, "scores" for K.T @ Q, "output" for V @ A. Additions and the softmax do not count.
    """
    return ...  # your code here
''',
    hints=(
        "How many multiplications does one entry of a matrix product take, and how many entries "
        "are there?",
        "A product of an a × b and a b × c matrix takes a · b · c. Write the shapes of the two "
        "factors next to each of the five products.",
        "Q: D_q × D times D × N. Scores: N × D_q times D_q × N. Which of the five grow with the "
        "square of N?",
    ),
    notice="The first three grow with N, the last two with its square: for long texts the pairs "
    "of tokens cost the most, which is the question of notebook 10.",
)


@count_exercise.solution
def count_multiplications(N, D, D_q, D_v):
    return {
        "Q": D_q * D * N,
        "K": D_q * D * N,
        "V": D_v * D * N,
        "scores": N * D_q * N,
        "output": D_v * N * N,
    }


@count_exercise.right
def count_by_shapes(N, D, D_q, D_v):
    factors = {
        "Q": ((D_q, D), (D, N)),
        "K": ((D_q, D), (D, N)),
        "V": ((D_v, D), (D, N)),
        "scores": ((N, D_q), (D_q, N)),
        "output": ((D_v, N), (N, N)),
    }
    return {name: left[0] * left[1] * right[1] for name, (left, right) in factors.items()}


@count_exercise.right
def count_one_by_one(N, D, D_q, D_v):
    count = dict.fromkeys(("output", "scores", "V", "K", "Q"), 0)
    for _ in range(N):
        for name, size in ("Q", D_q), ("K", D_q), ("V", D_v):
            count[name] += sum(D for _ in range(size))
        for _ in range(N):
            count["scores"] += D_q
            count["output"] += D_v
    return count


@count_exercise.wrong("how many pairs of a query and a key")
def count_without_square(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"scores": N * D_q, "output": N * D_v}


@count_exercise.wrong("what do the weights multiply")
def count_output_of_queries(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"output": N * N * D_q}


@count_exercise.wrong("how many rows has Omega_v")
def count_values_of_queries(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"V": N * D * D_q}


@count_exercise.wrong("are additions counted")
def count_doubled(N, D, D_q, D_v):
    return {name: 2 * count for name, count in count_multiplications(N, D, D_q, D_v).items()}


@count_exercise.wrong("how many tokens does Omega act on")
def count_of_one_token(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"Q": D * D_q, "K": D * D_q, "V": D * D_v}


@count_exercise.wrong("how many rows has Omega_k")
def count_square_maps(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"K": D * D * N}


@count_exercise.wrong("how long are queries and keys")
def count_scores_of_tokens(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"scores": D * N * N}


@count_exercise.wrong("is Omega applied to pairs of tokens")
def count_maps_of_pairs(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"V": D * N * N}


@count_exercise.wrong("how long is a value")
def count_output_of_tokens(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"output": D * N * N}


@count_exercise.wrong("expected 30, got 33")
def count_with_biases(N, D, D_q, D_v):
    return count_multiplications(N, D, D_q, D_v) | {"Q": D_q * D * N + D}


@count_exercise.check
def check_count(answer):
    N, D, D_q, D_v = 2, 3, 5, 7  # primes: every product tells where it comes from
    got, expected = answer(N, D, D_q, D_v), count_multiplications(N, D, D_q, D_v)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the counts")  # says what is missing
    pairs = "is right for one key per query: how many pairs of a query and a key are there?"
    for name, count in expected.items():
        mistakes = {2 * count: "is twice as many as needed: are additions counted as well?"}
        if name in "QKV":
            mistakes[count // N] = "is right for a single token: how many tokens does Omega act on?"
            mistakes[N * D * D] = f"has D squared in it: how many rows has Omega_{name.lower()}?"
            mistakes[N * N * D] = "has N squared in it: is Omega applied to pairs of tokens?"
        if name == "V":
            mistakes[N * D * D_q] = "has D_q in it: how many rows has Omega_v?"
        if name == "scores":
            mistakes[N * D_q] = pairs
            mistakes[N * N * D] = "has D in it: how long are queries and keys?"
        if name == "output":
            mistakes[N * D_v] = pairs
            mistakes[N * N * D_q] = "has D_q in it: what do the weights multiply?"
            mistakes[N * N * D] = "has D in it: how long is a value?"
        what = f"{name!r} for N=2, D=3, D_q=5, D_v=7"
        asked = {f"{what}: {number} {asks}": number for number, asks in mistakes.items()}
        recognize(got[name], count, what, asked)
    rng = np.random.default_rng(26)
    for sizes in (1, 1, 1, 1), (37, 1024, 64, 64), *rng.integers(1, 9, size=(5, 4)).tolist():
        what = "the counts for N={}, D={}, D_q={}, D_v={}".format(*sizes)
        same(answer(*sizes), count_multiplications(*sizes), what)


# ----------------------------------------------------------------------------------------- 2.5

masked_exercise = Exercise(
    "2.5",
    "Attention with a mask",
    stars=2,
    stub='''\
def masked_attention(Q, K, V, mask):
    """Attention (without scaling) in which some queries may not see some keys.

    Q: D_q × N; K: D_q × M; V: D_v × M, one vector in each column.
    mask: M × N of truth values; True at [m, n]: query n may not see key m.
    Returns the outputs, D_v × N. The weights of the keys that a query may see sum to one; the
    output of a query that may see no key at all is zero. Scores may be ±1000.
    """
    return ...  # your code here
''',
    hints=(
        "A key that is not seen must get the weight 0, and the others must still sum to one. Is "
        "it simpler to change the weights afterwards, or the scores before the softmax?",
        "exp(0) is 1, so a score of 0 hides nothing. Which score has the exponential 0?",
        "np.where(mask, -np.inf, scores), then the softmax of each column. What is the maximum of "
        "a column with every entry −∞, and what is −∞ minus −∞?",
        "For a column without any visible key, subtract 0 instead of its maximum, and divide by "
        "1 instead of by the sum, which is 0: its weights are then all 0.",
    ),
    notice="What a fully masked column means is a decision. Zero says “nothing was seen”; left "
    "alone, the formula gives NaN, and a large finite score in place of −∞ gives a plain average.",
)


@masked_exercise.solution
def masked_attention(Q, K, V, mask):
    scores = np.where(mask, -np.inf, K.T @ Q)  # M × N
    blind = mask.all(axis=0)  # queries that see no key
    exponentials = np.exp(scores - np.where(blind, 0.0, scores.max(axis=0)))
    A = exponentials / np.where(blind, 1.0, exponentials.sum(axis=0))
    return V @ A  # D_v × N


@masked_exercise.right
def masked_by_loop(Q, K, V, mask):
    outputs = np.zeros((V.shape[0], Q.shape[1]))
    for n in range(Q.shape[1]):
        seen = ~mask[:, n]
        if seen.any():
            outputs[:, n] = V[:, seen] @ softmax_columns(K[:, seen].T @ Q[:, n])
    return outputs


@masked_exercise.right
def masked_by_large_score(Q, K, V, mask):
    scores = np.where(mask, -1e30, K.T @ Q)
    return V @ np.where(mask, 0.0, softmax_columns(scores))


@masked_exercise.wrong("they no longer sum to one")
def masked_afterwards(Q, K, V, mask):
    return V @ np.where(mask, 0.0, softmax_columns(K.T @ Q))


@masked_exercise.wrong("a score of 0 hides nothing")
def masked_by_zero(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, 0.0, K.T @ Q))


@masked_exercise.wrong("does True mean")
def masked_inverted(Q, K, V, mask):
    return masked_attention(Q, K, V, ~mask)


@masked_exercise.wrong("does the mask's first index count")
def masked_transposed(Q, K, V, mask):
    return masked_attention(Q, K, V, mask.T)


@masked_exercise.wrong("has the mask a say")
def masked_ignored(Q, K, V, mask):
    return V @ softmax_columns(K.T @ Q)


@masked_exercise.wrong("what is −∞ minus −∞")
def masked_nan(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -np.inf, K.T @ Q))


@masked_exercise.wrong("sees every key alike")
def masked_uniform(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -1e30, K.T @ Q))


@masked_exercise.wrong("np.exp(1000) overflows")
def masked_unstable(Q, K, V, mask):
    exponentials = np.where(mask, 0.0, np.exp(K.T @ Q))
    sums = exponentials.sum(axis=0)
    return V @ (exponentials / np.where(sums == 0, 1, sums))


@masked_exercise.wrong("very exponential was 0")
def masked_one_maximum(Q, K, V, mask):
    exponentials = np.where(mask, 0.0, np.exp(K.T @ Q - (K.T @ Q).max()))
    return V @ (exponentials / np.where(mask.all(axis=0), 1.0, exponentials.sum(axis=0)))


@masked_exercise.wrong("belonged to a hidden key")
def masked_then_normalized(Q, K, V, mask):
    exponentials = np.exp(K.T @ Q - (K.T @ Q).max(axis=0)) * ~mask
    sums = exponentials.sum(axis=0)
    return V @ (exponentials / np.where(mask.all(axis=0), 1.0, sums))


@masked_exercise.wrong("is your large negative number large enough")
def masked_by_small_score(Q, K, V, mask):
    return V @ np.where(mask.all(axis=0), 0.0, softmax_columns(np.where(mask, -1e3, K.T @ Q)))


@masked_exercise.wrong("0 · ∞")
def masked_by_product(Q, K, V, mask):
    return V @ softmax_columns(K.T @ Q + mask * -np.inf)


@masked_exercise.wrong("scaling comes in a later notebook")
def masked_scaled(Q, K, V, mask):
    return masked_attention(Q / np.sqrt(Q.shape[0]), K, V, mask)


@masked_exercise.wrong("which axis runs over the keys")
def masked_over_queries(Q, K, V, mask):
    return V @ softmax_columns(np.where(mask, -np.inf, K.T @ Q).T).T


@masked_exercise.check
def check_masked(answer):
    # Scores 0 and log 3 for both queries; V = identity, so the outputs are the weights.
    Q, K, V = np.ones((2, 2)), np.array([[0.0, np.log(3)], [0.0, 0.0]]), np.eye(2)
    all_seen, none_seen = np.zeros((2, 2), dtype=bool), np.ones((2, 2), dtype=bool)
    open_A = np.array([[0.25, 0.25], [0.75, 0.75]])
    got = unchanged(answer, Q, K, V, all_seen)
    if not matches(got, open_A) and matches(answer(Q, K, V, none_seen), open_A):
        raise Wrong(
            "With nothing masked the weights come out wrong, and with everything masked right: "
            "does True mean that a key may be seen, or that it may not?",
            open_A,
            got,
        )
    recognize(
        got,
        open_A,
        "the weights with nothing masked",
        {
            "Nothing is masked, and every weight is NaN: 0 · ∞ is not a number. If you multiply "
            "the mask by −∞, what becomes of its False?": np.full((2, 2), np.nan),
            UNSCALED: V @ softmax_columns(K.T @ Q / np.sqrt(2)),
            "Your rows sum to one, over the queries: which axis runs over the keys?": (
                np.full((2, 2), 0.5)
            ),
        },
    )
    mask = np.array([[False, False], [True, False]])  # query 0 may not see key 1
    recognize(
        unchanged(answer, Q, K, V, mask),
        np.array([[1.0, 0.25], [0.0, 0.75]]),
        "the weights when query 0 may not see key 1",
        {
            "The weight of the masked key is gone and the others are as before, so they no longer "
            "sum to one: should the mask act after the softmax, or before?": (
                np.array([[0.25, 0.25], [0.0, 0.75]])
            ),
            "The masked key still gets attention. exp(0) is 1, so a score of 0 hides nothing: "
            "which score has the exponential 0?": np.array([[0.5, 0.25], [0.5, 0.75]]),
            "Query 0 may not see key 1, and in your weights query 1 cannot see key 0: does the "
            "mask's first index count keys or queries?": np.array([[0.25, 0.0], [0.75, 1.0]]),
            "The weights are the same with the mask and without: has the mask a say?": open_A,
        },
    )
    V, blind = np.array([[4.0, 8.0]]), np.array([[False, True], [False, True]])
    got = unchanged(answer, Q, K, V, blind)
    expected = np.array([[7.0, 0.0]])
    if matches(got, np.array([[7.0, np.nan]])):
        raise Wrong(
            "Query 1 may see no key, and its output is NaN: what is −∞ minus −∞, and what is 0 "
            "divided by 0? Its output should be zero.",
            expected,
            got,
        )
    recognize(
        got,
        expected,
        "the outputs when query 1 may see no key",
        {
            "Query 1 may see no key, and your query 1 sees every key alike: a softmax always sums "
            "to one, even over nothing but masked keys. What should its output be?": (
                np.array([[7.0, 6.0]])
            ),
            "Query 1 may see no key, and it sees them all: has the mask a say there?": (
                np.array([[7.0, 7.0]])
            ),
        },
    )
    rng = np.random.default_rng(24)
    for D_q, D_v, M, N in (1, 1, 1, 1), (2, 3, 4, 5), (4, 2, 3, 3), (3, 1, 7, 2):
        Q, K, V = (rng.normal(size=size) for size in ((D_q, N), (D_q, M), (D_v, M)))
        mask = rng.random((M, N)) < 0.5
        mask[:, -1] = True
        what = f"the outputs for D_q={D_q}, D_v={D_v}, M={M}, N={N}"
        same(unchanged(answer, Q, K, V, mask), masked_attention(Q, K, V, mask), what)
    K, V = np.array([[1000.0, 1001.0]]), np.array([[5.0, 7.0]])
    for query, scores, why in LARGE:
        Q = np.array([[1.0, query]])
        got, expected = unchanged(answer, Q, K, V, all_seen), masked_attention(Q, K, V, all_seen)
        survives(got, expected, f"the outputs for {scores}, with nothing masked", why)
    Q, V = np.ones((1, 1)), np.array([[5.0, 7.0, 9.0]])
    for scores, question in (
        (
            [1000.0, 0.0, 1.0],
            "The largest score belonged to a hidden key, so all visible ones became exp(−1000) = "
            "0: subtract the largest of the visible scores.",
        ),
        (
            [0.0, -1000.0, -1001.0],
            "The visible scores are −1000 and −1001, and a third key is hidden: is your large "
            "negative number large enough? What would −∞ do?",
        ),
    ):
        inputs = Q, np.array([scores]), V, np.array([[True], [False], [False]])
        got, expected = unchanged(answer, *inputs), masked_attention(*inputs)
        if not matches(got, expected):
            raise Wrong(question, expected, got)


# ----------------------------------------------------------------------------------------- 2.6

batched_exercise = Exercise(
    "2.6",
    "Batches, in PyTorch's layout",
    stars=2,
    # The first import of torch, on a slow disk, must not be mistaken for an endless loop.
    seconds=30.0,
    stub='''\
def batched_attention(Q, K, V):
    """Attention (without scaling) for a batch of sentences, as PyTorch lays them out.

    Q, K: tensors, batch × tokens × D_q; V: tensor, batch × tokens × D_v.
    With weights[b, n, m] the attention that query n of sentence b pays to key m. Scores may be
    ±1000.
    Returns the outputs, batch × tokens × D_v.
    """
    return ...  # your code here
''',
    hints=(
        "Tokens are rows now. Which product of Q[b] and K[b] has one row for each query and one "
        "column for each key?",
        "@ multiplies the last two dimensions and leaves the batch alone; K.transpose(1, 2) "
        "exchanges tokens and features and leaves the batch alone as well.",
        "With Q on the left of that, the scores are batch × queries × keys. The softmax runs over "
        "the keys: which dim is that? Then the weights stand on the left of V.",
    ),
    notice="The transpose of V @ A is Aᵀ @ Vᵀ: rows for columns, and the order turned around. "
    "The batch is a third index that no product touches.",
)


@batched_exercise.solution
def batched_attention(Q, K, V):
    scores = Q @ K.transpose(1, 2)  # batch × queries × keys
    weights = scores.softmax(dim=2)  # rows sum to one
    return weights @ V  # batch × tokens × D_v


@batched_exercise.right
def batched_by_einsum(Q, K, V):
    import torch

    weights = torch.einsum("bnd,bmd->bnm", Q, K).softmax(dim=-1)
    return torch.einsum("bnm,bmv->bnv", weights, V)


@batched_exercise.right
def batched_by_fused_kernel(Q, K, V):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, scale=1.0)


@batched_exercise.right
def batched_by_columns(Q, K, V):
    import torch

    outputs = []
    for q, k, v in zip(Q, K, V, strict=True):
        outputs.append((v.T @ (k @ q.T).softmax(dim=0)).T)
    return torch.stack(outputs)


@batched_exercise.right
def batched_in_float32(Q, K, V):
    import torch

    outputs = torch.zeros(V.shape)
    for b in range(len(Q)):
        outputs[b] = (Q[b] @ K[b].T).softmax(dim=1) @ V[b]
    return outputs


@batched_exercise.wrong("runs over the queries")
def batched_over_queries(Q, K, V):
    return (Q @ K.transpose(1, 2)).softmax(dim=1) @ V


@batched_exercise.wrong("runs over the batch")
def batched_over_batch(Q, K, V):
    return (Q @ K.transpose(1, 2)).softmax(dim=0) @ V


@batched_exercise.wrong("keys ask and queries answer")
def batched_exchanged(Q, K, V):
    return (K @ Q.transpose(1, 2)).softmax(dim=2) @ V


@batched_exercise.wrong("tokens with tokens, or features with features")
def batched_over_features(Q, K, V):
    return V @ (Q.transpose(1, 2) @ K).softmax(dim=2).transpose(1, 2)


@batched_exercise.wrong("what turns scores into weights")
def batched_without_softmax(Q, K, V):
    return Q @ K.transpose(1, 2) @ V


@batched_exercise.wrong("scaling comes in a later notebook")
def batched_scaled(Q, K, V):
    return (Q @ K.transpose(1, 2) / Q.shape[2] ** 0.5).softmax(dim=2) @ V


@batched_exercise.wrong("turns all three dimensions around")
def batched_reversed(Q, K, V):
    return (Q @ K.permute(2, 1, 0)).softmax(dim=2) @ V


@batched_exercise.wrong("reshape does not exchange")
def batched_reshaped(Q, K, V):
    B, N, D_q = K.shape
    return (Q @ K.reshape(B, D_q, N)).softmax(dim=2) @ V


def batched_with(Q, K, V, kept_maximum, kept_sum):
    """Attention in which the maximum or the sum may lose the dimension of the keys."""
    scores = Q @ K.transpose(1, 2)
    exponentials = (scores - scores.amax(dim=2, keepdim=kept_maximum)).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=kept_sum) @ V


@batched_exercise.wrong("keepdim=True")
def batched_without_keepdim(Q, K, V):
    return batched_with(Q, K, V, False, False)


@batched_exercise.wrong("keepdim=True")
def batched_without_keepdim_in_sum(Q, K, V):
    return batched_with(Q, K, V, True, False)


@batched_exercise.wrong("torch.exp(1000) overflows")
def batched_unstable(Q, K, V):
    exponentials = (Q @ K.transpose(1, 2)).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=True) @ V


@batched_exercise.wrong("very exponential was 0")
def batched_one_maximum(Q, K, V):
    scores = Q @ K.transpose(1, 2)
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=True) @ V


@batched_exercise.wrong("expected the result alone, got a tuple of 2")
def batched_with_weights(Q, K, V):
    weights = (Q @ K.transpose(1, 2)).softmax(dim=2)
    return weights @ V, weights


@batched_exercise.check
def check_batched(answer):
    import torch

    def tensor(values):
        return torch.tensor(values, dtype=torch.float64)

    float32 = 1e-5  # torch.zeros has fewer digits than the inputs, and may hold the outputs
    # As many sentences as tokens and features: there, a wrong dimension runs without an error.
    Q = tensor([[[1, 0], [0, 2]], [[1, 1], [2, 0]]])
    K = tensor([[[1, 0], [2, 1]], [[0, 1], [3, 1]]])
    V = tensor([[[4, 0], [0, 4]], [[1, 2], [3, 5]]])
    scores = Q @ K.transpose(1, 2)
    recognize(
        unchanged(answer, Q, K, V),
        batched_attention(Q, K, V),
        "the outputs for two sentences of two tokens, D_q=2, D_v=2",
        {
            "The softmax runs over the queries: the weights of one query, a row of your scores, "
            "do not sum to one. Which dim counts the keys?": batched_over_queries(Q, K, V),
            "The softmax runs over the batch: one sentence takes weight from the other. Which dim "
            "counts the keys?": batched_over_batch(Q, K, V),
            "In your scores keys ask and queries answer: which of the two has to stand transposed "
            "on the right?": batched_exchanged(Q, K, V),
            "The outputs are mixed by the columns of your weights: with weights[n, m] for query n "
            "and key m, which index is summed over?": scores.softmax(dim=2).transpose(1, 2) @ V,
            "Your weights have one row for each feature: do your scores compare tokens with "
            "tokens, or features with features?": batched_over_features(Q, K, V),
            UNSCALED: batched_scaled(Q, K, V),
            "The values are weighted with the scores themselves: what turns scores into weights?": (
                scores @ V
            ),
            "K.T turns all three dimensions around, the batch included: which call exchanges only "
            "the last two?": batched_reversed(Q, K, V),
            "A reshape does not exchange two dimensions, it deals the numbers out again in the "
            "same order: which call transposes?": batched_reshaped(Q, K, V),
            "A maximum or sum over the keys has lost its dimension and meets the wrong numbers: "
            "what does keepdim=True keep?": tuple(
                batched_with(Q, K, V, *kept)
                for kept in ((False, False), (True, False), (False, True))
            ),
        },
        float32,
    )
    generator = torch.Generator().manual_seed(25)
    for B, N, D_q, D_v in (1, 1, 1, 1), (2, 3, 4, 2), (4, 4, 4, 4), (3, 7, 2, 5), (2, 1, 3, 1):
        Q, K, V = (
            torch.randn(B, N, D, generator=generator, dtype=torch.float64) for D in (D_q, D_q, D_v)
        )
        what = f"the outputs for {B} sentences of {N} tokens, D_q={D_q}, D_v={D_v}"
        same(unchanged(answer, Q, K, V), batched_attention(Q, K, V), what, float32)
    K, V = tensor([[[1000], [1001]]]), tensor([[[5], [7]]])
    for query, scores, why in LARGE:
        Q, why = tensor([[[1], [query]]]), why.replace("np.", "torch.")
        got, expected = unchanged(answer, Q, K, V), batched_attention(Q, K, V)
        survives(got, expected, f"the outputs for {scores}", why, float32)


# ----------------------------------------------------------------------------------------- 2.7

padding_exercise = Exercise(
    "2.7",
    "A mask for padding",
    stars=2,
    stub='''\
def padding_mask(lengths, N):
    """Which places of a padded batch hold no token: PyTorch's key_padding_mask.

    lengths: a list with the number of real tokens of each sentence, from 0 to N.
    N: the length to which all sentences are padded, at the end.
    Returns truth values, batch × N, an array or a tensor: True where a place is padding.
    """
    return ...  # your code here
''',
    hints=(
        "Number the places 0, 1, …, N − 1. Which of them hold real tokens in a sentence of "
        "length 2?",
        "In a sentence of some length, is the place with that same number still a token?",
        "Comparing a row of places (1 × N) with a column of lengths (batch × 1) gives all the "
        "truth values at once.",
    ),
    notice="Libraries do not agree on what True means: nn.MultiheadAttention hides the places "
    "that are True, scaled_dot_product_attention shows them. Read the page before you mask.",
)


@padding_exercise.solution
def padding_mask(lengths, N):
    places = np.arange(N)  # (N,)
    return places >= np.array(lengths)[:, None]  # batch × N


@padding_exercise.right
def padding_by_loops(lengths, N):
    return [[place >= length for place in range(N)] for length in lengths]


@padding_exercise.right
def padding_by_assignment(lengths, N):
    mask = np.zeros((len(lengths), N), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[length:] = True
    return mask


@padding_exercise.wrong("True where a place is padding")
def padding_inverted(lengths, N):
    return np.arange(N) < np.array(lengths)[:, None]


@padding_exercise.wrong("the first place of padding")
def padding_one_late(lengths, N):
    return np.arange(N) > np.array(lengths)[:, None]


@padding_exercise.wrong("the last real token")
def padding_one_early(lengths, N):
    return np.arange(N) >= np.array(lengths)[:, None] - 1


@padding_exercise.wrong("which index counts the sentences")
def padding_transposed(lengths, N):
    return padding_mask(lengths, N).T


@padding_exercise.wrong("at the start")
def padding_at_start(lengths, N):
    return padding_mask(lengths, N)[:, ::-1]


@padding_exercise.wrong("truth values")
def padding_as_numbers(lengths, N):
    return padding_mask(lengths, N).astype(int)


@padding_exercise.wrong("got floats")
def padding_as_scores(lengths, N):
    return np.where(padding_mask(lengths, N), -np.inf, 0.0)


@padding_exercise.wrong("what does -0 select")
def padding_from_the_end(lengths, N):
    mask = np.zeros((len(lengths), N), dtype=bool)
    for i, length in enumerate(lengths):
        mask[i, -(N - length) :] = True
    return mask


@padding_exercise.check
def check_padding(answer):
    expected = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    got = unchanged(answer, [1, 2, 3], 3)
    recognize(
        got,
        expected,
        "the mask for lengths 1, 2, 3 and N=3",
        {
            "Your mask is True where a token is. What does PyTorch's convention mark? True where "
            "a place is padding.": ~expected,
            "A sentence of length 1 fills place 0 only, and your mask leaves place 1 open: is "
            "the place numbered by the length a token, or the first place of padding?": (
                padding_one_late([1, 2, 3], 3)
            ),
            "Your mask hides the last real token: which place has the last token of a sentence "
            "of length 1?": padding_one_early([1, 2, 3], 3),
            "The mask is transposed, batch × N is asked for: which index counts the sentences?": (
                expected.T
            ),
            "Your padding stands at the start of the sentences: at which end were they padded?": (
                expected[:, ::-1]
            ),
            "Expected truth values (bool), got floats: PyTorch would also accept a mask of floats, "
            "to be added to the scores, but here True means padding.": (
                np.where(expected, -np.inf, 0.0),
                np.where(expected, -1e9, 0.0),
            ),
            "The sentence that fills all places has no padding, and your mask hides all of it: "
            "what does -0 select in mask[i, -0:]?": padding_from_the_end([1, 2, 3], 3),
        },
    )
    if "bool" not in str(getattr(got, "dtype", np.asarray(got).dtype)):
        raise Wrong(
            "The mask holds ones and zeros, not truth values (bool): PyTorch refuses whole numbers "
            "here, and adds floats to the scores, where a 1 hides nothing.",
            expected,
            got,
        )
    for lengths, N in ([0], 1), ([1], 1), ([4, 0, 2, 7], 7), ([3, 5], 5), ([2, 2, 2, 2, 2], 3):
        same(unchanged(answer, lengths, N), padding_mask(lengths, N), f"the mask for {lengths}")


# ----------------------------------------------------------------------------------------- 2.8

backward_exercise = Exercise(
    "2.8",
    "The backward pass by hand",
    stars=3,
    stub='''\
def self_attention_backward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    """The gradients of a loss through Y = V · Softmax[KᵀQ] (without scaling).

    X: D × N, one token in each column.
    Omega_q, Omega_k: D_q × D; beta_q, beta_k: D_q × 1; Omega_v: D_v × D; beta_v: D_v × 1.
    dY: D_v × N, the gradient of the loss with respect to the outputs.
    Returns a dict with the gradients with respect to "X", "Omega_q", "beta_q", "Omega_k",
    "beta_k", "Omega_v" and "beta_v", each of the shape of what it belongs to.
    """
    return ...  # your code here
''',
    hints=(
        "Compute Q, K, V, the scores S and A once more, then walk back: from dY to dV and dA, "
        "from dA to dS, from dS to dQ and dK, and from these to the parameters and X. For which "
        "products in a row is C = A B, with dA = dC Bᵀ and dB = Aᵀ dC?",
        "Y = V A is such a product, and so are S = Kᵀ Q and Q = beta 1ᵀ + Omega X. For a bias: "
        "it was added to every column, so what happens to the columns of dQ?",
        "The softmax: each weight depends on every score of its column. With s for the scores "
        "and a for the weights of a column, da_m / ds_j is a_m (1 − a_m) for m = j and −a_m a_j "
        "otherwise.",
        "So dS = A ∘ (dA − c), where c is one number for each column: the sum over A ∘ dA. "
        "X is used three times, and its gradient is a sum of three terms.",
    ),
    notice="Every column of dS sums to zero, because a shift of all scores changes nothing; so "
    "the gradient of beta_k is exactly zero: the key's bias cannot be learned, and has no effect.",
)


@backward_exercise.solution
def self_attention_backward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    # Forward, once more
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    scores = K.T @ Q
    exponentials = np.exp(scores - scores.max(axis=0))
    A = exponentials / exponentials.sum(axis=0)
    # Backward: Y = V A, then the softmax, then S = KᵀQ
    dV, dA = dY @ A.T, V.T @ dY
    dS = A * (dA - (A * dA).sum(axis=0))
    dQ, dK = K @ dS, Q @ dS.T
    return {
        "X": Omega_q.T @ dQ + Omega_k.T @ dK + Omega_v.T @ dV,
        "Omega_q": dQ @ X.T,
        "beta_q": dQ.sum(axis=1, keepdims=True),
        "Omega_k": dK @ X.T,
        "beta_k": dK.sum(axis=1, keepdims=True),
        "Omega_v": dV @ X.T,
        "beta_v": dV.sum(axis=1, keepdims=True),
    }


@backward_exercise.right
def backward_by_jacobians(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    Q, K, V, A = forward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v)
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for n in range(X.shape[1]):
        a = A[:, n]
        ds = (np.diag(a) - np.outer(a, a)) @ (V.T @ dY[:, n])
        dQ[:, n] = K @ ds
        dK += np.outer(Q[:, n], ds)
        dV += np.outer(dY[:, n], a)
    return gather(X, Omega_q, Omega_k, Omega_v, dQ, dK, dV)


def forward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v):
    """Q, K, V and A."""
    Q, K, V = beta_q + Omega_q @ X, beta_k + Omega_k @ X, beta_v + Omega_v @ X
    return Q, K, V, softmax_columns(K.T @ Q)


def gather(X, Omega_q, Omega_k, Omega_v, dQ, dK, dV):
    """The dict of gradients, from those of the queries, keys and values."""
    gradients = {"X": Omega_q.T @ dQ + Omega_k.T @ dK + Omega_v.T @ dV}
    for letter, gradient in ("q", dQ), ("k", dK), ("v", dV):
        gradients[f"Omega_{letter}"] = np.einsum("rn,cn->rc", gradient, X)
        gradients[f"beta_{letter}"] = gradient.sum(axis=1, keepdims=True)
    return gradients


def backward_with(dS_rule):
    """The backward pass with another rule, dS_rule(A, dA), for the softmax."""

    def backward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
        Q, K, V, A = forward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v)
        dS = dS_rule(A, V.T @ dY)
        return gather(X, Omega_q, Omega_k, Omega_v, K @ dS, Q @ dS.T, dY @ A.T)

    return backward


# dS in place of A ∘ (dA − c), and the question it gets
SOFTMAX_MISTAKES = {
    "A ∘ dA lacks a term. A column of A sums to one, so can the weight of a single token change "
    "with its score?": backward_with(lambda A, dA: A * dA),
    "A ∘ (1 − A) is the diagonal of the softmax's Jacobian; how does one weight depend on the "
    "other scores?": backward_with(lambda A, dA: A * (1 - A) * dA),
    "dA went on as if it were dS: what stands between the scores and the weights?": (
        backward_with(lambda A, dA: dA)
    ),
    "Aᵀ dA compares every column of A with every column of dA: with which column of dA does the "
    "softmax of one query deal?": backward_with(lambda A, dA: A * (dA - A.T @ dA)),
    "dS = Aᵀ dA is the rule for a matrix product, and the softmax is none: how does a weight "
    "depend on the scores of its column?": backward_with(lambda A, dA: A.T @ dA),
}


for question, mistaken in SOFTMAX_MISTAKES.items():
    backward_exercise.wrong(question)(mistaken)


def backward_turned(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    """The backward pass with dS transposed in dQ and in dK."""
    Q, K, V, A = forward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v)
    dA = V.T @ dY
    dS = A * (dA - (A * dA).sum(axis=0))
    return gather(X, Omega_q, Omega_k, Omega_v, K @ dS.T, Q @ dS, dY @ A.T)


@backward_exercise.wrong("dQ sums over the keys")
def backward_query_turned(*inputs):
    return self_attention_backward(*inputs) | {"Omega_q": backward_turned(*inputs)["Omega_q"]}


@backward_exercise.wrong("dK sums over the queries")
def backward_key_turned(*inputs):
    return self_attention_backward(*inputs) | {"Omega_k": backward_turned(*inputs)["Omega_k"]}


@backward_exercise.wrong("counts the values alone")
def backward_by_values(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    inputs = X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v
    A = forward(*inputs)[3]
    return self_attention_backward(*inputs, dY) | {"X": Omega_v.T @ dY @ A.T}


@backward_exercise.wrong("gradients of queries and keys are exchanged")
def backward_exchanged(*inputs):
    right = self_attention_backward(*inputs)
    swapped = {"Omega_q": "Omega_k", "beta_q": "beta_k", "Omega_k": "Omega_q", "beta_k": "beta_q"}
    return right | {name: right[other] for name, other in swapped.items()}


@backward_exercise.wrong("a mean over the tokens")
def backward_mean(X, *others):
    right = self_attention_backward(X, *others)
    return right | {name: right[name] / X.shape[1] for name in ("beta_q", "beta_k", "beta_v")}


@backward_exercise.wrong("which outputs did value m go to")
def backward_untransposed(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v, dY):
    Q, K, V, A = forward(X, Omega_q, beta_q, Omega_k, beta_k, Omega_v, beta_v)
    dA = V.T @ dY
    dS = A * (dA - (A * dA).sum(axis=0))
    return gather(X, Omega_q, Omega_k, Omega_v, K @ dS, Q @ dS.T, dY @ A)


@backward_exercise.check
def check_backward(answer):
    rng = np.random.default_rng(28)
    for D, D_q, D_v, N in (3, 2, 4, 3), (4, 3, 2, 5), (2, 2, 2, 2), (1, 4, 3, 7), (2, 3, 2, 1):
        inputs = rng.normal(size=(D, N)), *random_parameters(rng, D, D_q, D_v)
        dY = rng.normal(size=(D_v, N))
        check_gradients(unchanged(answer, *inputs, dY), inputs, dY)


def check_gradients(got, inputs, dY):
    """From the values to the scores to X, so that the first fault found is the first made."""
    expected = self_attention_backward(*inputs, dY)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the gradients")  # says what is missing
    turned = backward_turned(*inputs, dY)

    def compare(name, mistakes):
        recognize(got[name], expected[name], f"the gradient of {name}", mistakes)

    compare(
        "Omega_v",
        {
            "The gradient of Omega_v: which outputs did value m go to, those of row m of A, or of "
            "column m?": backward_untransposed(*inputs, dY)["Omega_v"]
        },
    )
    for name, other, sums in (
        ("Omega_q", "Omega_k", "dQ sums over the keys"),
        ("Omega_k", "Omega_q", "dK sums over the queries"),
    ):
        mistakes = {
            "The gradients of queries and keys are exchanged: in S = KᵀQ, which factor multiplies "
            "dS to give dQ?": expected[other],
            f"The gradient of {name}: {sums}; which index of dS counts them, the row or the "
            "column?": turned[name],
        }
        for question, backward in SOFTMAX_MISTAKES.items():
            mistakes[f"The gradient of {name}: {question}"] = backward(*inputs, dY)[name]
        compare(name, mistakes)
    for name in "beta_v", "beta_q", "beta_k":
        mean = f"The gradient of {name} is a mean over the tokens: {name} was added to each of "
        compare(name, {mean + "them; do their gradients add up?": expected[name] / dY.shape[1]})
    value_path = inputs[5].T @ dY @ forward(*inputs)[3].T  # inputs[5] is Omega_v
    ways = "X reaches the outputs in three ways, and its gradient here "
    compare(
        "X",
        {
            ways + "counts the values alone: what about the queries and the keys?": value_path,
            ways + "leaves out the values: what about them?": expected["X"] - value_path,
        },
    )
