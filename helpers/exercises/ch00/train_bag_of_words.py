"""Exercise 0.5, Train a bag of words."""

import numpy as np

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.engine.wording import shape_text
from helpers.exercises.shared.compare import unchanged

RIGHT, LOSS = 0.9, 0.3  # what the stub asks for

exercise = Exercise(
    "0.5",
    "Train a bag of words",
    stars=2,
    stub='''\
def train_bag_of_words(counts, labels):
    """Train a linear classifier of reviews: a logistic regression.

    The total of a review is counts @ weights + bias: above 0 means praise. The probability of
    praise is 1 / (1 + exp(−total)).

    counts: reviews × words, how often each word occurs in each review.
    labels: shape (reviews,), 1 for praise and 0 for blame.
    Both are NumPy arrays of dtype float64.
    Returns (weights, bias): shape (words,) and a number. On new reviews of the same kind, at least
    9 of 10 must be right, and the mean log loss, −log(probability of the true label), at most 0.3.
    """
    return ...  # your code here
''',
    hints=(
        "With all weights and the bias 0, what is the probability of praise? For a review that is "
        "praise, should its words' weights grow or shrink?",
        "The log loss of one review has a short gradient: (probability of praise − label), times "
        "the count of each word for the weights, times 1 for the bias.",
        "Start from zeros and repeat: probabilities of all reviews, errors = probabilities − "
        "labels, then step against the mean gradient. counts.T @ errors sums over the reviews.",
        "With the mean over reviews, steps of 0.5 times the gradient are safe here, and a few "
        "hundred of them suffice. With the sum they must be smaller by the number of reviews.",
    ),
    notice="The gradient is error times input: a word moves only in reviews that are not yet "
    "judged with certainty. The last layer of every language model learns by the same line.",
    seconds=WITH_TORCH,  # an answer may be written in PyTorch
)


@exercise.solution
def train_bag_of_words(counts, labels):
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for _ in range(1000):
        probabilities = 1 / (1 + np.exp(-(counts @ weights + bias)))  # of praise, (reviews,)
        errors = probabilities - labels
        weights = weights - 0.5 * counts.T @ errors / len(labels)
        bias = bias - 0.5 * errors.mean()
    return weights, bias


@exercise.right
def by_single_reviews(counts, labels):
    rng = np.random.default_rng(0)
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for epoch in range(40):
        for i in rng.permutation(len(labels)):
            error = 1 / (1 + np.exp(-(counts[i] @ weights + bias))) - labels[i]
            weights -= 0.2 / (1 + epoch) * error * counts[i]
            bias -= 0.2 / (1 + epoch) * error
    return weights, bias


@exercise.right
def by_newton(counts, labels):
    inputs = np.column_stack([counts, np.ones(len(counts))])  # the bias is the last weight
    weights = np.zeros(inputs.shape[1])
    for _ in range(20):
        probabilities = 1 / (1 + np.exp(-inputs @ weights))
        spread = probabilities * (1 - probabilities)
        gradient = inputs.T @ (probabilities - labels) + 0.1 * weights
        weights -= np.linalg.solve(
            inputs.T @ (spread[:, None] * inputs) + 0.1 * np.eye(len(weights)), gradient
        )
    return weights[:-1], weights[-1]


def descent(counts, labels, steps=1000, size=0.5, bias_too=True):
    """The solution with other numbers; with a probability that overflows."""
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for _ in range(steps):
        exponentials = np.exp(counts @ weights + bias)
        errors = exponentials / (1 + exponentials) - labels
        weights = weights - size * counts.T @ errors / len(labels)
        bias = bias - size * bias_too * errors.mean()
    return weights, bias


@exercise.wrong("the other way around")
def labels_exchanged(counts, labels):
    return descent(counts, 1 - labels)


@exercise.wrong("the other way around")
def uphill(counts, labels):
    return descent(counts, labels, steps=10, size=-0.5)


@exercise.wrong("does any step change them")
def never_updated(counts, labels):
    return descent(counts, labels, steps=0)


@exercise.wrong("do you train by the log loss")
def least_squares(counts, labels):
    inputs = np.column_stack([counts, np.ones(len(counts))])
    weights = np.linalg.lstsq(inputs, labels, rcond=None)[0]
    return weights[:-1], weights[-1]


@exercise.wrong("do you train by the log loss")
def least_squares_of_signs(counts, labels):
    return least_squares(counts, 2 * labels - 1)


@exercise.wrong("do you train by the log loss")
def least_squares_around_half(counts, labels):
    return least_squares(counts, labels - 0.5)


def leaps(counts, labels, steps, size):
    """Descent by the summed gradient, with a probability that does not overflow."""
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for _ in range(steps):
        errors = (1 + np.tanh((counts @ weights + bias) / 2)) / 2 - labels
        weights, bias = weights - size * counts.T @ errors, bias - size * errors.sum()
    return weights, bias


@exercise.wrong("are your steps too large")
def far_too_large_steps(counts, labels):
    return leaps(counts, labels, steps=1000, size=1000)


@exercise.wrong("are your steps too large")
def too_large_steps(counts, labels):
    return leaps(counts, labels, steps=1000, size=10)


# Steps that are larger still leap about, and the last digits of a processor say where they end.
@exercise.wrong("are the steps small enough")
def too_large_steps_for_many_reviews(counts, labels):
    return leaps(counts, labels, steps=300, size=0.3)


@exercise.wrong("leave out a part of the total")
def bias_left_out_of_the_probability(counts, labels):
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for _ in range(1000):
        errors = 1 / (1 + np.exp(-counts @ weights)) - labels
        weights = weights - 0.5 * counts.T @ errors / len(labels)
        bias = bias - 0.5 * errors.mean()
    return weights, bias


@exercise.wrong("NaN")
def diverging(counts, labels):
    return descent(counts, labels, size=10_000)


@exercise.wrong("too timid")
def few_steps(counts, labels):
    return descent(counts, labels, steps=10, size=0.1)


@exercise.wrong("too sure of itself")
def perceptron(counts, labels):
    weights, bias = np.zeros(counts.shape[1]), 0.0
    for _ in range(20):
        for count, label in zip(counts, labels, strict=True):
            error = label - (count @ weights + bias > 0)
            weights, bias = weights + error * count, bias + error
    return weights, bias


@exercise.wrong("the bias speaks")
def without_bias(counts, labels):
    return descent(counts, labels, bias_too=False)


@exercise.wrong("the bias speaks")
def bias_not_returned(counts, labels):
    return train_bag_of_words(counts, labels)[0], 0.0


@exercise.wrong("fewer than 90%")
def labels_shuffled(counts, labels):
    return descent(counts, np.random.default_rng(0).permutation(labels))


@exercise.wrong("same side of 0")
def constant(counts, labels):
    return np.zeros(counts.shape[1]), 1.0


@exercise.wrong("does your function return both")
def weights_alone(counts, labels):
    return train_bag_of_words(counts, labels)[0]


@exercise.wrong("a weight for each word")
def bias_among_the_weights(counts, labels):
    weights, bias = train_bag_of_words(counts, labels)
    return np.append(weights, bias), 0.0


@exercise.wrong("in a new array")
def signs(counts, labels):
    labels[labels == 0] = -1
    return descent(counts, (labels + 1) / 2)


@exercise.wrong("does it start anew")
def remembering(counts, labels, kept={}):  # noqa: B006
    return kept.setdefault(counts.shape, train_bag_of_words(counts, labels))


exercise.equivalent(
    "whatever passes is such a classifier: the check asks for what it must do, not for one set of "
    "weights",
    *(f"train_bag_of_words: {name}*" for name in ("weights", "for", "prob", "errors", "bias")),
    *(f"by_single_reviews: {name}*" for name in ("rng", "weights", "for", "error", "bias")),
    *(f"by_newton: {name}*" for name in ("inputs", "for", "prob", "spread", "gradient", "weights")),
)


@exercise.check
def check(answer):
    # Ten reviews say good, ten bad, two of each ten with the other label; two say neither.
    counts = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [10, 10, 2], axis=0)
    labels = np.array([0.0] * 2 + [1.0] * 8 + [1.0] * 2 + [0.0] * 8 + [1.0, 0.0])
    weights, bias = trained(answer, counts, labels)
    if not weights.any() and bias == 0:
        raise Wrong("All weights and the bias are 0, as at the start: does any step change them?")
    totals = weights + bias
    good, bad = totals > 0
    expected = "good above 0, bad below 0"
    got = "good {:.3g}, bad {:.3g}".format(*totals)
    if bad and not good:
        raise Wrong(
            "Eight of ten reviews with “good” are praise, and your model has it the other way "
            "around: does a step go against the gradient, not past its goal, and does label 1 "
            "mean praise?",
            expected,
            got,
        )
    # Eight of ten is a total of log 4, about 1.4. Steps that are too large leap past it each time.
    if np.abs(totals).max() > (2 if good == bad else 10):
        raise Wrong(
            "Eight of ten reviews with “good” are praise, eight of ten with “bad” are blame: a "
            "total of 1.4 stands for that, and yours are far off. In the log loss, each step "
            "should come closer: are your steps too large, so that they leap past the goal, or is "
            "the probability not 1 / (1 + exp(−total))?",
            "good 1.4, bad -1.4",
            got,
        )
    # With the labels 0 and 1, with -1 and 1, and with -1/2 and 1/2.
    if any(np.allclose(totals, pair, atol=1e-3) for pair in ((0.8, 0.2), (0.6, -0.6), (0.3, -0.3))):
        raise Wrong(
            "Your totals for “good” and “bad” are those of least squares, which pulls the total "
            "itself to the label: do you train by the log loss of the probability?",
            "good 1.4, bad -1.4",
            got,
        )
    if good == bad:
        raise Wrong(
            "Eight of ten reviews with “good” are praise, eight of ten with “bad” are blame, and "
            "their totals lie on the same side of 0: which probability does a total of 0 stand "
            "for?",
            expected,
            got,
        )
    weights, bias = trained(answer, counts, 1 - labels)
    if weights[0] + bias > 0:
        raise Wrong(
            "With the labels exchanged, “good” is a word of blame, and for your model it is still "
            "one of praise: does it start anew from these reviews?"
        )
    # How often each word occurs in praise and in blame. In the second kind, guests only complain.
    examine(answer, [1.2] * 4 + [0.25] * 4 + [1.0] * 2, [0.25] * 4 + [1.2] * 4 + [1.0] * 2)
    examine(answer, [0.1, 0.05, 0.1, 0.05], [1.2, 1.0, 1.5, 1.0])


def examine(answer, in_praise, in_blame):
    """Train on 500 reviews in which words occur that often on average, and judge by 1000 others.

    The counts are Poisson distributed. So the best possible classifier is a logistic regression.
    """
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, size=1500).astype(float)
    means = np.where(labels[:, None] == 1, in_praise, in_blame)  # 1500 × words
    counts = rng.poisson(means).astype(float)
    weights, bias = trained(answer, counts[:500], labels[:500])
    kind = f"reviews with {len(in_praise)} different words"
    totals, labels_of_new = counts[500:] @ weights + bias, labels[500:]
    silent = labels[:500][~counts[:500].any(axis=1)]
    if bias <= 0 and silent.mean() > 0.9:
        raise Wrong(
            f"Of {len(silent)} reviews in which no word of the vocabulary occurs, "
            f"{silent.sum():.0f} are praise; their total is your bias, {bias:.3g}, which does "
            "not say so. Where all counts are 0, only the bias speaks: do you train it, against "
            "the gradient, and return it?"
        )
    right = ((totals > 0) == labels_of_new).mean()
    loss = log_loss(totals, labels_of_new)
    if right < RIGHT and loss > 1:
        raise Wrong(
            f"Of new {kind}, {right:.1%} are judged right, with a mean log loss of {loss:.2f}; to "
            "guess by a coin would cost 0.69. Do your steps go too far for many reviews, as the "
            "sum of their gradients does where the mean would not, or does the probability leave "
            "out a part of the total, such as the bias?"
        )
    if right < RIGHT:
        raise Wrong(
            f"Of new {kind}, {right:.1%} are judged right, fewer than {RIGHT:.0%}: is the loss "
            "still falling when you stop, and does each review keep its own label?"
        )
    if not loss <= LOSS:
        model = f"{right:.0%} of new {kind} are judged right, and their mean log loss is {loss:.3f}"
        if log_loss(totals / 2, labels_of_new) < loss:
            raise Wrong(
                f"{model}: the model is too sure of itself where it is wrong. Does a step grow "
                "with the error of the same review's probability, and are the steps small enough?"
            )
        raise Wrong(
            f"{model}: the model is right and too timid, its probabilities stay near one half. "
            "More steps, or larger ones? And are they steps down the log loss?"
        )


def log_loss(totals, labels):
    """The mean of −log(probability of the true label)."""
    return np.logaddexp(0, np.where(labels == 1, -totals, totals)).mean()


def trained(answer, counts, labels):
    """The answer's weights, shape (words,), and bias, finite numbers; or Wrong."""
    result = unchanged(answer, counts, labels)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Wrong("Two results are expected, weights and bias: does your function return both?")
    try:
        weights, bias = map(numbers, result)
    except (TypeError, ValueError):
        raise Wrong("The weights and the bias must be numbers.") from None
    wanted = counts.shape[1:]
    if weights.shape != wanted:
        raise Wrong(
            f"The weights: expected {shape_text(wanted)}, a weight for each word, got "
            f"{shape_text(weights.shape)}."
        )
    if bias.size != 1:
        raise Wrong(f"The bias: expected a single number, got {shape_text(bias.shape)}.")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise Wrong(
            "NaN (not a number) or infinity occurs. Do your steps go too far, so that the next "
            "ones are larger still? Does np.exp overflow?",
            "finite weights and bias",
            result,
        )
    return weights, bias.item()


def numbers(value):
    """An array of the numbers in an array, a list or a tensor, or a single number."""
    if hasattr(value, "detach"):  # a tensor, perhaps on a GPU, perhaps with a gradient
        value = value.detach().cpu()
    return np.asarray(value, dtype=float)
