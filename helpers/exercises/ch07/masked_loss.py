"""Exercise 7.3, Only masked places count."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.mistakes import results
from helpers.exercises.shared.questions import OVERFLOW, differentiable, recognize, run, survives

exercise = Exercise(
    "7.3",
    "Only masked places count",
    stars=2,
    seconds=WITH_TORCH,
    stub='''\
def masked_loss(logits, labels):
    """The loss of a masked language model, in PyTorch: the mean cross-entropy of masked places.

    logits: tensor, batch × N × V, a score for each word of the vocabulary at each place; they may
    be ±1000.
    labels: tensor of whole numbers, batch × N: where a place is masked the word to be guessed, from
    0 to V − 1, and −100 where nothing is asked.
    The cross-entropy of a place is −log of the probability, by a softmax over the V words, that its
    word gets, in nats. Each masked place of the batch counts alike.
    Returns a tensor with one number through which gradients can go back; 0 if no place is masked.
    """
    return ...  # your code here
''',
    hints=(
        "How many numbers are averaged: batch · N, the number of texts, or the number of labels "
        "that are not −100?",
        "logits.log_softmax(dim=2) is safe for large scores. At the masked places alone, which of "
        "its V numbers do you need? labels != -100 picks these places out of both tensors.",
        "F.cross_entropy, for logits as rows and labels flat, leaves −100 out by itself, and gives "
        'NaN where nothing is left: its sum (reduction="sum"), divided by the number of masked '
        "places or by 1 if there is none, does not.",
    ),
    notice="Of a row of 128 tokens about 19 enter the loss: that is the price of reading both "
    "sides. A network that predicts each next word, as in the next notebook, learns from all 128.",
)


@exercise.solution
def masked_loss(logits, labels):
    from torch.nn.functional import cross_entropy

    masked = labels != -100  # batch × N
    total = cross_entropy(logits[masked], labels[masked], reduction="sum")
    return total / max(masked.sum(), 1)


@exercise.right
def by_ignored_index(logits, labels):
    import torch

    total = torch.nn.functional.cross_entropy(logits.mT, labels, reduction="sum")
    return total / (labels >= 0).sum().clamp(min=1)


@exercise.right
def by_gather(logits, labels):
    import torch

    masked = labels != -100
    chosen = torch.where(masked, labels, 0)[..., None]
    losses = -logits.log_softmax(dim=-1).gather(-1, chosen)[..., 0]
    return (losses * masked).sum() / masked.sum().clamp(min=1)


@exercise.right
def by_loops(logits, labels):
    total, count = 0 * logits.sum(), 0
    for scores, words in zip(logits, labels, strict=True):
        for n, word in enumerate(words.tolist()):
            if word != -100:
                largest = scores[n].max()
                total = total + largest + (scores[n] - largest).exp().sum().log() - scores[n, word]
                count += 1
    return total / count if count else total


@exercise.right
def by_nan_replaced(logits, labels):
    return losses(logits, labels).mean().nan_to_num(0.0)  # no place is left to get a gradient


def losses(logits, labels):
    """−log of the probability of each masked place's word, as a vector."""
    masked = labels != -100
    return -logits[masked].log_softmax(dim=1)[range(int(masked.sum())), labels[masked]]


def with_softmax(logits, labels, softmax):
    """The mean of −log of what softmax(logits), batch × N × V, says of the words to be guessed."""
    masked = labels != -100
    return -softmax(logits)[masked][range(int(masked.sum())), labels[masked]].log().mean()


def everywhere(logits, labels):
    """The cross-entropy of all places, word 0 being asked for where nothing is; batch × N."""
    import torch

    return torch.nn.functional.cross_entropy(logits.mT, labels.clamp(min=0), reduction="none")


# The question to ask, and the wrong loss
MISTAKES = {
    "Every place counts in your loss, as if word 0 were asked for where the label is −100: which "
    "places have something to guess?": lambda z, y: everywhere(z, y).mean(),
    "The sum of the masked places is divided by the number of all places: of how many numbers is "
    "it the mean?": lambda z, y: losses(z, y).sum() / y.numel(),
    "Your loss is the sum over the masked places: what about the mean?": lambda z, y: losses(
        z, y
    ).sum(),
    "The sum of the masked places is divided by the number of texts: of how many numbers is it "
    "the mean?": lambda z, y: losses(z, y).sum() / len(y),
    "The sum of the masked places is divided by N, the length of the texts: of how many numbers is "
    "it the mean?": lambda z, y: losses(z, y).sum() / y.shape[1],
    "Your loss is the mean of the texts' means, so a masked place counts less in a text that has "
    "many: should not all of them count alike?": lambda z, y: (
        sum(losses(z[b : b + 1], y[b : b + 1]).mean() for b in range(len(y))) / len(y)
    ),
    "The sum of the masked places is divided by one more than there are: how can a division by 0 "
    "be prevented where it occurs, and nowhere else?": lambda z, y: (
        losses(z, y).sum() / ((y != -100).sum() + 1)
    ),
    "Your loss is below 0: what is the sign of the logarithm of a probability?": lambda z, y: (
        -losses(z, y).mean()
    ),
    "Your logarithm has base 2, which gives bits: which one gives nats?": lambda z, y: (
        losses(z, y).mean() / 0.6931471805599453
    ),
    "Your loss averages the probabilities, and takes the logarithm of their mean: does each place "
    "have a loss of its own?": lambda z, y: -(-losses(z, y)).exp().mean().log(),
    "Your loss is 1 minus a probability, on average: where is the logarithm?": lambda z, y: (
        1 - (-losses(z, y)).exp().mean()
    ),
    "Your loss is a mean of probabilities, which training would make small: where are minus and "
    "logarithm?": lambda z, y: (-losses(z, y)).exp().mean(),
    "Your loss is a mean of probabilities with a minus: where is the logarithm?": lambda z, y: (
        -(-losses(z, y)).exp().mean()
    ),
    "Your loss is minus the scores themselves: what makes the words compete?": lambda z, y: (
        -z[y != -100].gather(1, y[y != -100][:, None]).mean()
    ),
    "The softmax runs over the places of a text: which V numbers does one guess choose from?": (
        lambda z, y: with_softmax(z, y, lambda z: z.softmax(dim=1))
    ),
    "The softmax runs over the batch, so the texts compete: which V numbers does one guess choose "
    "from?": lambda z, y: with_softmax(z, y, lambda z: z.softmax(dim=0)),
    "The softmax runs over the masked places, which compete: which V numbers does one guess choose "
    "from?": lambda z, y: -z[y != -100].log_softmax(dim=0).gather(1, y[y != -100][:, None]).mean(),
    "The softmax runs over all numbers at once: which V numbers does one guess choose from?": (
        lambda z, y: with_softmax(z, y, lambda z: z.flatten().softmax(dim=0).reshape(z.shape))
    ),
    "A softmax is taken twice, and F.cross_entropy takes one of its own: does it want scores, or "
    "probabilities?": lambda z, y: losses(z.softmax(dim=2), y).mean(),
    "The scores are taken at the place after each masked one: in BERT, which place guesses a word "
    "that is hidden?": lambda z, y: losses(z.roll(-1, dims=1), y).mean(),
    "The scores are taken at the place before each masked one, as in a model of the next word: in "
    "BERT, which place guesses a word that is hidden?": (
        lambda z, y: losses(z.roll(1, dims=1), y).mean()
    ),
    "Only the first text counts in your loss: what about the rest of the batch?": lambda z, y: (
        losses(z[:1], y[:1]).mean()
    ),
    "Word 0 is left out, though it is asked for: which label says that nothing is asked?": (
        lambda z, y: losses(z, y)[y[y != -100] != 0].mean()
    ),
}


def by_formula(formula):
    """An answer that gives 0 where no place is masked, and formula(logits, labels) elsewhere."""

    def answer(logits, labels):
        return formula(logits, labels) if (labels != -100).any() else 0 * logits.sum()

    return answer


for question, formula in MISTAKES.items():
    exercise.wrong(question)(by_formula(formula))


@exercise.wrong("A mean over nothing is 0/0")
def of_nothing(logits, labels):
    import torch

    return torch.nn.functional.cross_entropy(logits.mT, labels)


@exercise.wrong("A mean over nothing is 0/0")
def mean_of_nothing(logits, labels):
    return losses(logits, labels).mean()


@exercise.wrong("the gradient of a batch without masks is NaN")
def nan_replaced(logits, labels):
    import torch

    masked = labels != -100
    chosen = torch.where(masked, labels, 0)[..., None]
    picked = -logits.log_softmax(dim=-1).gather(-1, chosen)[..., 0]
    return ((picked * masked).sum() / masked.sum()).nan_to_num(0.0)


@exercise.wrong("No gradient can go back through your result where no place is masked")
def new_zero(logits, labels):
    import torch

    return masked_loss(logits, labels) if (labels != -100).any() else torch.tensor(0.0)


@exercise.wrong("No gradient can go back through your result,")
def as_number(logits, labels):
    return masked_loss(logits, labels).item()


@exercise.wrong("overflows")
def naive_softmax(logits, labels):
    exponentials = logits.exp()
    probabilities = exponentials / exponentials.sum(dim=2, keepdim=True)
    return by_formula(lambda z, y: with_softmax(z, y, lambda z: probabilities))(logits, labels)


@exercise.wrong("The loss is infinite")
def log_after_softmax(logits, labels):
    return by_formula(lambda z, y: with_softmax(z, y, lambda z: z.softmax(dim=2)))(logits, labels)


@exercise.wrong("were large scores cut off")
def clipped(logits, labels):
    return masked_loss(logits.clamp(-50, 50), labels)


@exercise.wrong("used as an index")
def minus_hundred_as_index(logits, labels):
    return -logits.log_softmax(dim=2).gather(2, labels[..., None]).mean()


@exercise.wrong("used as an index")
def other_index_ignored(logits, labels):
    import torch

    return torch.nn.functional.cross_entropy(logits.mT, labels, ignore_index=-1)


@exercise.wrong("which of the two tensors holds the scores")
def softmax_of_labels(logits, labels):
    return -labels.log_softmax(dim=1).mean()


@exercise.wrong("at dimension 1")
def words_last(logits, labels):
    import torch

    return torch.nn.functional.cross_entropy(logits, labels)


@exercise.wrong("been detached from the scores")
def detached_sum(logits, labels):
    def loss(z, y):
        chosen = z[y != -100].gather(1, y[y != -100][:, None])[:, 0]
        return (z[y != -100].detach().logsumexp(dim=1) - chosen).mean()

    return by_formula(loss)(logits, labels)


ERRORS = {
    "-100 is out of bounds": "−100 was used as an index, or as the number of a word: which places "
    "must be left out first?",
    "not implemented for": "A softmax was asked for of whole numbers or truth values: which of the "
    "two tensors holds the scores?",
    "Expected target size": "F.cross_entropy looks for the V scores of a place at dimension 1: is "
    "that where they stand, or should logits and labels be flattened, or turned?",
}


@exercise.check
def check(answer):
    import torch

    generator = torch.Generator().manual_seed(73)

    def drawn(batch, N, V, share=0.5, size=1.0):
        """Logits and labels; of at least one text some place is masked."""
        logits = size * torch.randn(batch, N, V, generator=generator, dtype=torch.float64)
        labels = torch.randint(0, V, (batch, N), generator=generator)
        hidden = torch.rand(batch, N, generator=generator) < share
        hidden[0, 0] = True
        return logits, torch.where(hidden, labels, -100)

    logits = 2 * torch.randn(2, 6, 7, generator=generator, dtype=torch.float64)
    labels = torch.tensor([[-100, 2, -100, -100, -100, -100], [3, -100, 0, -100, 1, -100]])
    recognize(
        run(answer, logits, labels, errors=ERRORS),
        masked_loss(logits, labels),
        "the loss of two texts of six places, of which one and three are masked",
        results(MISTAKES, logits, labels),
    )
    check_gradient(answer, logits, labels, "two texts with one and three masked places")
    check_nothing(answer, logits)
    sizes = (1, 1, 1), (1, 1, 3), (3, 1, 4), (2, 9, 120), (4, 7, 2), (4, 7, 2)
    for batch, N, V in sizes:
        for share in 0.3, 1.0:
            logits, labels = drawn(batch, N, V, share)
            what = f"the loss for {batch} × {N} places, {int((labels >= 0).sum())} masked, V={V}"
            same(run(answer, logits, labels, errors=ERRORS), masked_loss(logits, labels), what)
    check_large(answer, *drawn(3, 4, 6, 1.0))


def check_gradient(answer, logits, labels, what):
    """The gradient at the scores, for inputs of which the loss is right."""
    import torch

    logits = logits.clone().requires_grad_()
    gradients = [
        torch.autograd.grad(f(logits, labels), logits)[0]
        for f in (lambda *inputs: differentiable(answer, *inputs), masked_loss)
    ]
    far = "has a part of your loss been detached from the scores?"
    same(*gradients, f"the gradient of the loss at the scores, {what}", far=far)


def check_nothing(answer, logits):
    """A batch in which no place is masked."""
    import torch

    labels = torch.full(logits.shape[:2], -100)
    got = run(answer, logits, labels, errors=ERRORS)
    nan = "A mean over nothing is 0/0: what is the loss of such a batch, and what is divided by?"
    same(got, 0.0, "the loss where no place is masked", nan=nan)
    logits = logits.clone().requires_grad_()
    got = answer(logits, labels)
    if not getattr(got, "requires_grad", False):
        raise Wrong(
            "No gradient can go back through your result where no place is masked, so training "
            "would stop with an error there: can the 0 be computed from logits?"
        )
    gradient = torch.autograd.grad(got, logits)[0]
    if gradient.isnan().any():
        raise Wrong(
            "The loss is 0 and the gradient of a batch without masks is NaN: was NaN replaced "
            "after a division by 0, where it should not have been divided at all?"
        )
    same(gradient, torch.zeros_like(logits), "the gradient where no place is masked")


def check_large(answer, logits, labels):
    """Scores around 1000 or −1000, and of both in one softmax."""
    import torch

    levels = torch.tensor([1000.0, -1000.0, 0.0, 500.0], dtype=torch.float64)
    words = torch.tensor([1000.0, -1000.0, 1.0, 0.0, 998.0, -1.0], dtype=torch.float64)
    for large, what in (
        (logits + levels[:, None], "of ±1000"),
        (words + logits, "from -1000 to 1000"),
    ):
        got = run(answer, large, labels, errors=ERRORS)
        if torch.as_tensor(got).isinf().any():
            raise Wrong(
                "The loss is infinite: a probability was so small that it became 0, and 0 has no "
                "logarithm. Is there one function for the logarithm of a softmax?"
            )
        survives(got, masked_loss(large, labels), f"the loss for scores {what}", OVERFLOW, 1000.0)


exercise.equivalent(
    "of two numbers the larger, whichever comes first",
    "masked_loss: return * → return total / max(1, masked.sum())",
)
exercise.equivalent(
    "as many, counted in any order",
    "masked_loss: return * → *turned(masked).sum(), 1)",
    "by_ignored_index: return * → *(turned(labels) >= 0).sum()*",
    "by_gather: return * → *turned(masked).sum().clamp(min=1)",
)
exercise.equivalent("−1 is no label", "by_ignored_index: return * → *(labels >= -1).sum()*")
exercise.equivalent(
    "multiplied by 0 where nothing is asked",
    "by_gather: chosen = * → chosen = torch.where(masked, labels, 1)[..., None]",
)
exercise.equivalent(
    "one number is gathered at each place", "by_gather: losses = * → *gather(-1, chosen)[..., -1]"
)
exercise.equivalent(
    "0 times any number of them, and 0 divided by it, is 0",
    "by_loops: total, count = (0 * logits.sum(), 0) → total, count = *",
)
exercise.equivalent(
    "as many texts as rows of labels",
    "by_loops: for scores, words in * → *zip(logits, labels):",
    "by_loops: for scores, words in * → *zip(logits, labels, strict=False):",
)
exercise.equivalent("a total of 0 is 0 as a mean, too", "by_loops: return * → *if total else total")
