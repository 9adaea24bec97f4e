"""Exercise 7.9, The gradient of a gap."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, same, unchanged
from helpers.exercises.shared.questions import NOT_THE_LARGEST, survives

exercise = Exercise(
    "7.9",
    "The gradient of a gap",
    stars=3,
    stub='''\
def masked_loss_backward(tokens, labels, Omega_e, beta, encode):
    """The gradients of the masked-word loss of one text, where both ends share an embedding.

    tokens: (N,), whole numbers: what the network reads. Its input is X = Omega_e[:, tokens].
    labels: (N,), whole numbers: the word to be guessed where a place is masked, −100 elsewhere.
    Omega_e: D × V, a column for each of V tokens; beta: V × 1.
    encode: the encoder. encode(X) returns (Y, backward): its outputs, D × N; and a function that
    takes a gradient at Y, dY, back to X: backward(dY) is D × N.
    The scores are Omega_e.T @ Y + beta, V × N, and may be in the thousands. The loss is the mean,
    over the masked places, of −log of the probability that the softmax of a column of scores gives
    to the word to be guessed; it is 0 if no place is masked.
    Returns a dict with the gradients at "Omega_e", D × V, and at "beta", V × 1.
    """
    return ...  # your code here
''',
    hints=(
        "From the end: for one column of scores z with the word w to be guessed, the gradient of "
        "−log softmax is softmax[z] minus a 1 at w. What is it at a place that is not masked?",
        "The scores are a product and a sum: dbeta adds up over the places, and each factor of "
        "Omega_eᵀ Y gets a gradient through the other. Which one goes into backward?",
        "A look-up copies columns: the gradient of each copy is added to the column that it came "
        "from. A token that was read twice gets both. M[:, tokens] += dX keeps only one of them; "
        "np.add.at, or a loop over the places, does not.",
    ),
    notice="The column of <mask> gets a gradient from every gap, and words that the text does not "
    "have get one, too: through the softmax, which makes them less likely. Through the look-up "
    "alone they would get none.",
)


@exercise.solution
def masked_loss_backward(tokens, labels, Omega_e, beta, encode):
    Y, backward = encode(Omega_e[:, tokens])
    scores = Omega_e.T @ Y + beta  # V × N
    exponentials = np.exp(scores - scores.max(axis=0))
    dscores = exponentials / exponentials.sum(axis=0)
    masked = np.flatnonzero(labels != -100)
    dscores[labels[masked], masked] -= 1
    dscores = dscores * (labels != -100) / max(len(masked), 1)
    # One matrix, two ends: the scores, and the look-up
    dOmega_e = Y @ dscores.T  # D × V
    dX = backward(Omega_e @ dscores)
    for n, token in enumerate(tokens):
        dOmega_e[:, token] += dX[:, n]
    return {"Omega_e": dOmega_e, "beta": dscores.sum(axis=1, keepdims=True)}


@exercise.right
def by_one_hot(tokens, labels, Omega_e, beta, encode):
    identity = np.eye(Omega_e.shape[1])
    T = identity[:, tokens]  # V × N, so that X = Omega_e T
    Y, backward = encode(Omega_e @ T)
    masked = labels != -100
    scores = Omega_e.T @ Y + beta
    logarithms = scores - scores.max(axis=0)
    logarithms = logarithms - np.log(np.exp(logarithms).sum(axis=0))
    dscores = (np.exp(logarithms) - identity[:, np.where(masked, labels, 0)]) * masked
    if masked.any():
        dscores = dscores / masked.sum()
    dX = backward(Omega_e @ dscores)
    return {"beta": dscores @ np.ones((len(tokens), 1)), "Omega_e": Y @ dscores.T + dX @ T.T}


@exercise.right
def by_places(tokens, labels, Omega_e, beta, encode):
    Y, backward = encode(Omega_e[:, tokens])
    dOmega_e, dbeta, dY = np.zeros(Omega_e.shape), np.zeros(beta.shape), np.zeros(Y.shape)
    masked = [n for n, label in enumerate(labels) if label >= 0]
    for n in masked:
        z = Omega_e.T @ Y[:, n] + beta[:, 0]
        weights = np.exp(z - max(z))
        slope = weights / sum(weights) / len(masked)
        slope[labels[n]] -= 1 / len(masked)
        dOmega_e += np.outer(Y[:, n], slope)
        dbeta[:, 0] += slope
        dY[:, n] = Omega_e @ slope
    np.add.at(dOmega_e.T, tokens, backward(dY).T)
    return {"Omega_e": dOmega_e, "beta": dbeta}


def loss(tokens, labels, Omega_e, beta, encode):
    """The loss itself; its input and its output may have different embeddings, a pair of them."""
    looked_up, scoring = Omega_e if isinstance(Omega_e, tuple) else (Omega_e, Omega_e)
    masked = labels != -100
    scores = (scoring.T @ encode(looked_up[:, tokens])[0] + beta)[:, masked]
    right = scores[labels[masked], np.arange(masked.sum())]
    largest = scores.max(axis=0)
    return (largest + np.log(np.exp(scores - largest).sum(axis=0)) - right).sum() / max(
        masked.sum(), 1
    )


@exercise.right
def by_differences(tokens, labels, Omega_e, beta, encode):
    gradients = {"Omega_e": np.zeros(Omega_e.shape), "beta": np.zeros(beta.shape)}
    for name, gradient in gradients.items():
        for place in np.ndindex(gradient.shape):
            step = np.zeros(gradient.shape)
            step[place] = 1e-5
            ahead, behind = (
                loss(
                    tokens,
                    labels,
                    Omega_e + sign * step if name == "Omega_e" else Omega_e,
                    beta + sign * step if name == "beta" else beta,
                    encode,
                )
                for sign in (1, -1)
            )
            gradient[place] = (ahead - behind) / 2e-5
    return gradients


def backward_with(tokens, labels, Omega_e, beta, encode, slip=""):
    """The gradients with the mistake that slip names."""
    read = np.where(labels != -100, labels, tokens) if slip == "answers read" else tokens
    Y, backward = encode(Omega_e[:, read])
    scores = Omega_e.T @ Y + beta
    masked = labels != -100
    if slip == "everywhere":
        masked = np.ones_like(masked)
    if slip == "over places":
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        dscores = weights / weights.sum(axis=1, keepdims=True)
    else:
        weights = np.exp(scores - scores.max(axis=0))
        dscores = weights / weights.sum(axis=0)
    asked = np.where(labels == -100, tokens, labels)
    hot = np.arange(len(beta))[:, None] == (tokens if slip == "token guessed" else asked)
    if slip != "no label":
        dscores = dscores - hot
    if slip == "label alone":
        dscores = -hot.astype(float)
    if slip == "squares":
        dscores = dscores * weights / weights.sum(axis=0)
    if slip != "not masked":
        dscores = dscores * masked
    count = {"sum": 1, "by N": len(tokens), "by V": len(beta)}.get(slip, max(masked.sum(), 1))
    dscores = dscores / count * (-1 if slip == "negative" else 1)
    dY = Omega_e @ dscores
    dX = dY if slip == "past the encoder" else backward(dY)
    if slip == "gaps not read":
        dX = dX * (labels == -100)
    if slip == "gaps alone read":
        dX = dX * (labels != -100)
    at_scores, at_input = Y @ dscores.T, np.zeros_like(Omega_e)
    if slip == "overwritten":
        at_input[:, tokens] += dX
    else:
        np.add.at(at_input.T, asked if slip == "added to the words" else tokens, dX.T)
    parts = {"scores alone": at_scores, "look-up alone": at_input, "input for output": at_input}
    dOmega_e = parts.get(slip, at_scores + at_input)
    if slip == "last written":
        dOmega_e = at_scores.copy()
        dOmega_e[:, tokens] = dX
    if slip == "mean of both":
        dOmega_e = (at_scores + at_input) / 2
    if slip == "input for output":
        dOmega_e = Omega_e[:, tokens] @ dscores.T + at_input
    dbeta = dscores.sum(axis=1, keepdims=True)
    if slip == "beta mean":
        dbeta = dbeta / len(tokens)
    return {"Omega_e": dOmega_e, "beta": dbeta}


MISTAKES = {
    "negative": "It has the wrong sign: is it the gradient, or already the step downhill?",
    "sum": "It is too large by the number of masked places: is the loss their sum, or their mean?",
    "by N": "It was divided by all N places: how many enter the mean?",
    "by V": "It was divided by the number of words: of how many losses is it the mean?",
    "everywhere": "Every place counts, as if each had to guess what it reads: what enters "
    "the loss where the label is −100?",
    "not masked": "Places that are not masked have a gradient, too, each that of a guess: what "
    "enters the loss where the label is −100?",
    "no label": "The softmax is there, and nothing says which word is right: what is subtracted at "
    "the word to be guessed?",
    "label alone": "Only the word to be guessed gets a gradient: what do the other words of the "
    "softmax do?",
    "squares": "The gradient passed through a softmax once too often: softmax and logarithm "
    "together are p minus a 1 at the right word.",
    "over places": "Your softmax runs over the places of the text: which numbers does one guess "
    "choose from?",
    "token guessed": "The 1 is subtracted at the token that is read, so <mask> is guessed from "
    "itself: which word should be guessed?",
    "answers read": "Your network reads the words that it should guess: what does tokens hold at "
    "the masked places?",
    "past the encoder": "The gradient went from the outputs to the embedding past the encoder: "
    "which function takes it back to X?",
    "scores alone": "The gradient comes back through the scores alone: where else does the loss "
    "depend on Omega_e?",
    "look-up alone": "The gradient comes back through the look-up alone: where else does the loss "
    "depend on Omega_e?",
    "overwritten": "A token that is read more than once, such as <mask>, gets the gradient of one "
    "of its places: what does += do where an index occurs twice?",
    "last written": "At the tokens that were read, the look-up's gradient has overwritten that of "
    "the scores: what becomes of two gradients of one number?",
    "added to the words": "The gradient of a masked place was added to the word to be guessed: "
    "which column was looked up there?",
    "gaps not read": "What was read at the masked places gets no gradient: has <mask> no column of "
    "its own?",
    "gaps alone read": "Only what was read at the masked places gets a gradient through the look-"
    "up: does a guess not depend on the other words?",
    "mean of both": "Yours is the mean of the two ways back: do gradients of one number add up?",
    "input for output": "In the gradient through the scores, the other factor is X in yours: "
    "what are the scores made of?",
    "beta mean": "Yours is a mean over the places, and beta was used at each of them: do their "
    "gradients add up?",
}


def with_slip(slip):
    """The gradients with one mistake."""
    return lambda *inputs: backward_with(*inputs, slip)


for slip, question in MISTAKES.items():
    exercise.wrong(question)(with_slip(slip))


@exercise.wrong("a column for each place")
def beta_not_summed(tokens, labels, Omega_e, beta, encode):
    scores = Omega_e.T @ encode(Omega_e[:, tokens])[0] + beta
    weights = np.exp(scores - scores.max(axis=0))
    gradients = masked_loss_backward(tokens, labels, Omega_e, beta, encode)
    return gradients | {"beta": weights / weights.sum(axis=0) * (labels != -100)}


@exercise.wrong("is it transposed")
def transposed(*inputs):
    gradients = masked_loss_backward(*inputs)
    return gradients | {"Omega_e": gradients["Omega_e"].T}


@exercise.wrong("the key 'beta' is missing")
def without_beta(*inputs):
    return {"Omega_e": masked_loss_backward(*inputs)["Omega_e"]}


@exercise.wrong("where no place is masked: NaN")
def mean_of_nothing(tokens, labels, Omega_e, beta, encode):
    gradients = masked_loss_backward(tokens, labels, Omega_e, beta, encode)
    some = (labels != -100).sum()
    return {name: gradient * (some / some) for name, gradient in gradients.items()}


@exercise.wrong("for scores that are not small: NaN")
def naive_softmax(tokens, labels, Omega_e, beta, encode):
    scores = Omega_e.T @ encode(Omega_e[:, tokens])[0] + beta
    overflow = np.exp(scores) / np.exp(scores).sum(axis=0)
    gradients = masked_loss_backward(tokens, labels, Omega_e, beta, encode)
    return {name: gradient + 0 * overflow.sum() for name, gradient in gradients.items()}


@exercise.wrong("in place")
def in_place(tokens, labels, Omega_e, beta, encode):
    gradients = masked_loss_backward(tokens, labels, Omega_e, beta, encode)
    Omega_e -= 0.1 * gradients["Omega_e"]
    return gradients


@exercise.check
def check(answer):
    rng = np.random.default_rng(79)
    for D, V, N in (3, 7, 9), (5, 6, 8), (2, 4, 1), (1, 9, 3), (4, 4, 4):
        *_, encode = inputs = random_inputs(rng, D, V, N)
        check_gradients(answer, inputs, f"D={D}, V={V}, N={N}")
    # The same encoder for another text: nothing may be kept from the call before.
    *others, _ = random_inputs(rng, D, V, N)
    check_gradients(answer, (*others, encode), f"D={D}, V={V}, N={N}")
    check_none(answer, (others[0], np.full(N, -100), *others[2:], encode))
    tokens, labels, Omega_e, beta, encode = random_inputs(rng, 3, 8, 6)
    inputs = tokens, labels, 40 * Omega_e, beta, encode  # scores from −4700 to 4500
    got, expected = unchanged(answer, *inputs), masked_loss_backward(*inputs)
    for name in "beta", "Omega_e":
        what = f"the gradient of {name} for scores that are not small"
        survives(got[name], expected[name], what, NOT_THE_LARGEST, size=100.0)


def encoder(rng, D, N):
    """A random encoder, in which tokens meet: Y = tanh(A X B) + X."""
    A, B = rng.normal(size=(D, D)), rng.normal(size=(N, N)) / np.sqrt(N)

    def encode(X):
        hidden = np.tanh(A @ X @ B)
        return hidden + X, lambda dY: A.T @ (dY * (1 - hidden**2)) @ B.T + dY

    return encode


def random_inputs(rng, D, V, N):
    """A text with <mask>, 3, at most of the gaps; one token twice, if it is long enough."""
    tokens = rng.integers(V - 3 if V > 6 else 0, V, N)
    labels = np.full(N, -100)
    masked = rng.permutation(N)[: max(1, N // 3)]
    labels[masked] = rng.integers(0, V, len(masked))
    tokens[masked] = 3
    return tokens, labels, rng.normal(size=(D, V)), rng.normal(size=(V, 1)), encoder(rng, D, N)


def check_gradients(answer, inputs, what):
    """First beta, where less can go wrong, then Omega_e."""
    got, expected = unchanged(answer, *inputs), masked_loss_backward(*inputs)
    if not isinstance(got, dict) or expected.keys() - got.keys():
        same(got, expected, "the gradients")  # says what is missing
    shape = tuple(getattr(got["beta"], "shape", ()))
    if shape == (len(inputs[3]), len(inputs[0])) and shape[1] > 1:
        raise Wrong(
            "The gradient of beta has a column for each place, and beta was used for all of them: "
            "what becomes of the N gradients?",
            expected["beta"],
            got["beta"],
        )
    for name, far in (
        ("beta", "is it softmax minus a 1 at the right word, for masked places alone?"),
        ("Omega_e", "which two ways lead from Omega_e to the loss?"),
    ):
        if not matches(got[name], expected[name]):
            for slip, question in MISTAKES.items():
                if matches(got[name], backward_with(*inputs, slip)[name]):
                    sentence = f"The gradient of {name}: {question}"
                    raise Wrong(sentence, expected[name], got[name])
        same(got[name], expected[name], f"the gradient of {name} for {what}", far=far)


def check_none(answer, inputs):
    """A text in which no place is masked."""
    got, expected = unchanged(answer, *inputs), masked_loss_backward(*inputs)
    for name in "beta", "Omega_e":
        what = f"the gradient of {name} where no place is masked"
        nan = "The loss is 0 there, whatever the parameters: by what is divided?"
        same(got[name], expected[name], what, nan=nan)


exercise.equivalent(
    "of two numbers the larger, whichever comes first",
    "masked_loss_backward: dscores = * → *max(1, len(masked))",
)
exercise.equivalent("the identity is its own transpose", "by_one_hot: * → *turned(identity)*")
exercise.equivalent(
    "multiplied by 0 where nothing is asked",
    "by_one_hot: dscores = * → *np.where(masked, labels, -1)]) * masked",
    "by_one_hot: dscores = * → *np.where(masked, labels, 1)]) * masked",
)
exercise.equivalent(
    "without masked places all is 0, whatever it is divided by",
    "by_one_hot: if masked.any(): → if dscores.any():",
)
exercise.equivalent(
    "tokens, labels and masked have the same length",
    "by_one_hot: return * → *np.ones((len(labels), 1))*",
    "by_one_hot: return * → *np.ones((len(masked), 1))*",
)
exercise.equivalent("−1 is no label", "by_places: masked = * → *if label >= -1]")
exercise.equivalent(
    "beta has one column",
    "by_places: z = * → *beta[:, -1]",
    "by_places: dbeta[:, 0] += * → dbeta[:, -1] += slope",
)
exercise.equivalent(
    "every entry is written once",
    "by_places: dY[:, n] = * → dY[:, n] += Omega_e @ slope",
    "by_differences: gradients = * → *np.ones(*",
    "by_differences: step[place] = * → step[place] += *",
    "by_differences: gradient[place] = * → gradient[place] += *",
)
