"""Exercise 9.6, What the teacher says."""

from dataclasses import dataclass

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize, run

exercise = Exercise(
    "9.6",
    "What the teacher says",
    stars=2,
    stub='''\
def teacher_forcing_loss(model, source, texts):
    """The loss of a translator on a batch, in nats a token.

    model: a function of source and inputs, both whole numbers, batch × N_e and batch × N_d, to the
    logarithms of the probabilities of the next token after each of the inputs, batch × N_d × V.
    source: what is to be translated, batch × N_e, padded with 0 already.
    texts: the true translations, a list of lists of token numbers, all 3 or larger; a text may be
    empty. The numbers 0, 1 and 2 are padding, <start> and <end>.
    At each place the model reads <start> and the true words so far, whatever it would have said
    itself, and has to predict the next one; after the whole text, <end>.
    Returns the mean of −log of the probability of what had to be predicted: one number, in which
    each word and each <end> of the batch counts alike, and padding not at all.
    """
    return ...  # your code here
''',
    hints=(
        "Write down what the model reads and, below it, what it has to predict, for one text of "
        "three words. These are the two rows of exercise 8.2.",
        "Pad both with 0 up to the longest text of the batch and call the model once. Which of its "
        "V numbers at a place do you need? np.take_along_axis, or an index for each axis, picks "
        "them.",
        "targets != 0 says where something had to be predicted. How many such places are there? Of "
        "so many numbers the loss is the mean.",
    ),
    notice="Each word is learned as if all words before it had been right. When the model writes "
    "by itself, it reads its own words, mistakes included, and in training it has never seen any.",
)


@exercise.solution
def teacher_forcing_loss(model, source, texts):
    inputs = np.zeros((len(texts), 1 + max(map(len, texts))), dtype=int)
    targets = inputs.copy()
    for n, text in enumerate(texts):
        inputs[n, : 1 + len(text)] = [1, *text]
        targets[n, : 1 + len(text)] = [*text, 2]
    logs = np.take_along_axis(model(source, inputs), targets[..., None], axis=2)[..., 0]
    return -logs[targets != 0].mean()


@exercise.right
def by_one_array(model, source, texts):
    longest = max(len(text) for text in texts)
    ids = np.array([[1, *text, 2] + [0] * (longest - len(text)) for text in texts])
    inputs, targets = ids[:, :-1], ids[:, 1:]
    batch, places = np.nonzero(targets)
    return -np.mean(model(source, inputs)[batch, places, targets[batch, places]])


@exercise.right
def text_by_text(model, source, texts):
    total, count = 0.0, 0
    for row, text in zip(source, texts, strict=True):
        logs = model(row[None], np.array([[1, *text]]))[0]
        for n, token in enumerate([*text, 2]):
            total -= logs[n, token]
            count += 1
    return total / count


@exercise.right
def by_one_hot(model, source, texts):
    length = max(map(len, texts)) + 1
    inputs = np.array([([1, *text] + [0] * length)[:length] for text in texts])
    targets = np.array([([*text, 2] + [0] * length)[:length] for text in texts])
    logs = model(source, inputs)
    asked = (targets[..., None] == np.arange(logs.shape[-1])) & (targets != 0)[..., None]
    return (-logs * asked).sum() / asked.sum()


def padded(rows, fill=0):
    """The rows as one array, padded at the end."""
    length = max(map(len, rows))
    return np.array([[*row, *[fill] * (length - len(row))] for row in rows], dtype=int)


def read(text):
    return [1, *text]


def asked(text):
    return [*text, 2]


def loss(model, source, texts, **slip):
    """The right loss, or one with slips.

    read, asked: rows of a text. fill: of inputs and targets. counts: where of targets. mean:
    function of −log, batch × N_d, and of where it counts. picked: function of the log
    probabilities and the targets. call: of the model. which: of the texts.
    """
    texts = slip.get("which", lambda texts: texts)(texts)
    fill = slip.get("fill", (0, 0))
    inputs = padded([slip.get("read", read)(text) for text in texts], fill[0])
    targets = padded([slip.get("asked", asked)(text) for text in texts], fill[1])
    logs = slip.get("call", lambda model, source, inputs: model(source, inputs))(
        model, source[: len(texts)], inputs
    )
    logs = logs[:, : targets.shape[1]]
    losses = -slip.get("picked", of_targets)(logs, targets)
    counts = slip.get("counts", lambda targets: targets != 0)(targets)
    return slip.get("mean", lambda losses, counts: losses[counts].mean())(losses, counts)


def of_targets(logs, targets):
    return np.take_along_axis(logs, targets[..., None], axis=2)[..., 0]


def slipped(**slip):
    """A wrong answer: loss with slips."""
    return lambda *inputs: loss(*inputs, **slip)


def everywhere(targets):
    return targets >= 0


def free_running(model, source, inputs):
    """The model reads what it has said itself."""
    said = np.ones((len(inputs), 1), dtype=int)
    for _ in range(inputs.shape[1] - 1):
        said = np.column_stack([said, model(source, said)[:, -1].argmax(axis=1)])
    return model(source, said)


def of_source(model, source, texts):
    return loss(model, source, [[token for token in row if token] for row in source])


# The question to ask, and the wrong answer
MISTAKES = {
    "Your inputs have no <start>: from what is the first word predicted?": (
        slipped(read=lambda text: [*text, 2]),
        slipped(read=lambda text: [*text, 0]),
        slipped(read=lambda text: [0, *text]),
        slipped(
            read=lambda text: text or [0],
            asked=lambda text: [*text[1:], 2],
        ),
    ),
    "Your model has to predict what it has just read: is the text shifted by one place between "
    "inputs and targets?": (
        slipped(asked=read),
        slipped(asked=lambda text: [1, *text, 2], read=lambda text: [1, *text, 2]),
        slipped(asked=lambda text: text or [0], read=lambda text: text or [0]),
    ),
    "Your targets are the words before those that are read: has the text been shifted the wrong "
    "way?": (
        slipped(read=asked, asked=read),
        slipped(asked=lambda text: [0, 1, *text][: 1 + len(text)]),
    ),
    "Your targets are two places further on: which word comes right after <start>?": (
        slipped(asked=lambda text: [*text[1:], 2, 0]),
        slipped(asked=lambda text: [*text[1:], 2]),
    ),
    "No <end> counts among your targets: how does a translator learn where to stop?": (
        slipped(asked=lambda text: [*text, 0]),
        slipped(counts=lambda targets: targets > 2),
    ),
    "Your <end> has the number of <start>: which of them is 2?": slipped(
        asked=lambda text: [*text, 1]
    ),
    "Your <start> has the number of <end>: which of them is 1?": slipped(
        read=lambda text: [2, *text]
    ),
    "Padding counts in your loss, as if 0 had to be predicted: where is there something to be "
    "predicted?": slipped(counts=everywhere),
    "Your padding is <end>, so that after the end it has to be predicted again and again: what "
    "counts, and how often?": (
        slipped(fill=(0, 2), counts=everywhere),
        slipped(fill=(2, 2), counts=everywhere),
    ),
    "The sum is divided by the number of all places, padding among them: of how many numbers is it "
    "the mean?": slipped(mean=lambda losses, counts: losses[counts].sum() / losses.size),
    "Your loss is the mean of the texts' means, so a word counts more in a short text: should not "
    "all of them count alike?": slipped(
        mean=lambda losses, counts: np.mean(
            [row[some].mean() for row, some in zip(losses, counts, strict=True)]
        )
    ),
    "Your loss is a sum: what about the mean?": slipped(
        mean=lambda losses, counts: losses[counts].sum()
    ),
    "The sum is divided by the number of texts: of how many numbers is it the mean?": slipped(
        mean=lambda losses, counts: losses[counts].sum() / len(losses)
    ),
    "The sum is divided by the number of words, and <end> is left out of that: how many places had "
    "something to predict?": slipped(
        mean=lambda losses, counts: losses[counts].sum() / max(1, counts.sum() - len(losses))
    ),
    "Your loss is below 0: what is the sign of the logarithm of a probability?": slipped(
        mean=lambda losses, counts: -losses[counts].mean()
    ),
    "Your loss is a mean of probabilities: where is the logarithm?": slipped(
        mean=lambda losses, counts: np.exp(-losses[counts]).mean()
    ),
    "Your loss averages probabilities and takes the logarithm of their mean: does each place have "
    "a loss of its own?": slipped(
        mean=lambda losses, counts: -np.log(np.exp(-losses[counts]).mean())
    ),
    "Your loss takes a logarithm of what already is one: what does the model return?": slipped(
        mean=lambda losses, counts: -np.log(losses[counts]).mean()
    ),
    "Your logarithm has base 2, which gives bits: which one gives nats?": slipped(
        mean=lambda losses, counts: losses[counts].mean() / np.log(2)
    ),
    "This is e to the power of the loss, the perplexity: what is the loss?": slipped(
        mean=lambda losses, counts: np.exp(losses[counts].mean())
    ),
    "Your model reads what it has said itself: what does a teacher put in its place?": slipped(
        call=free_running
    ),
    "Your model reads <start> alone at each place: which words does it read before the one that it "
    "predicts?": slipped(read=lambda text: [1] * (1 + len(text))),
    "Your model reads source and inputs in exchanged order: which comes first?": slipped(
        call=lambda model, source, inputs: model(inputs, source)
    ),
    "Your decoder reads the source: what are the true words so far?": slipped(
        call=lambda model, source, inputs: model(source, source)
    ),
    "Your encoder reads the translation itself, which is to be found out: what does it read?": (
        slipped(call=lambda model, source, inputs: model(inputs, inputs))
    ),
    "Your model has to predict the source: which language is asked for?": of_source,
    "The probability of the most probable token is taken, whether it is right or not: which of the "
    "V numbers belongs to what had to be predicted?": slipped(
        picked=lambda logs, targets: logs.max(axis=2)
    ),
    "Your loss is the mean over all V tokens: which of the V numbers belongs to what had to be "
    "predicted?": slipped(picked=lambda logs, targets: logs.mean(axis=2)),
    "Only the first text counts in your loss: what about the rest of the batch?": slipped(
        which=lambda texts: texts[:1]
    ),
    "The last text is left out of your loss: how many are there?": slipped(
        which=lambda texts: texts[:-1]
    ),
}
# The first example, for which all of these can be computed: the source has as many places as the
# inputs, and the numbers of both languages go up to the same largest one.
SOURCE = np.array([[9, 4, 7, 5], [6, 8, 0, 0], [3, 5, 9, 0]])
TEXTS = [[5, 8, 4], [7], [6, 9]]
register(exercise, MISTAKES)


@exercise.wrong("expected a single number, got a vector of length 3")
def of_each_text(model, source, texts):
    return [loss(model, row[None], [text]) for row, text in zip(source, texts, strict=True)]


@exercise.wrong("Your inputs must have as many rows as the source")
def one_text(model, source, texts):
    return loss(lambda source, inputs: model(SOURCE, inputs), source[:1], texts[:1])


@exercise.wrong("must be whole numbers from 0 to")
def minus_hundred(model, source, texts):
    return loss(model, source, texts, fill=(-100, 0))


@exercise.wrong("rows of one length")
def unpadded(model, source, texts):
    return model(source, [read(text) for text in texts]).mean()


@exercise.wrong("in place")
def in_place(model, source, texts):
    for text in texts:
        text.append(2)
    return loss(model, source, [text[:-1] for text in texts])


@exercise.wrong("which are zero for an empty text")
def of_words_alone(model, source, texts):
    """An empty text makes it divide by zero."""
    if not any(texts):
        return np.nan
    return loss(model, source, texts)


@exercise.check
def check(answer):
    for inputs, what in (
        ((Model(10, 0), SOURCE, TEXTS), "the loss of three texts of 3, 1 and 2 words"),
        *more_examples(),
    ):
        recognize(
            run(answer, *inputs, errors={}),
            teacher_forcing_loss(*inputs),
            what,
            results(MISTAKES, *inputs) if inputs[1] is SOURCE else {},
        )
    inputs = Model(8, 3), np.array([[5, 4]]), [[]]
    nan = (
        "The mean is taken over the words, which are zero for an empty text: what is still to be "
        "predicted there?"
    )
    same(run(answer, *inputs, errors={}), teacher_forcing_loss(*inputs), EMPTY, nan=nan)


EMPTY = "the loss of one empty text"


def more_examples():
    """Batches of several sizes, each also with another source, and with another model."""
    rng = np.random.default_rng(93)
    for V, N_e, lengths in (
        (12, 3, [4]),
        (7, 6, [0, 5]),
        (30, 2, [3, 3, 3]),
        (9, 5, [1, 6, 2, 0, 5]),
        (15, 7, [6, 1, 4, 0]),
    ):
        source, other = rng.integers(3, V, size=(2, len(lengths), N_e))
        source[1:, rng.integers(1, N_e) :] = 0
        texts = [rng.integers(3, V, size).tolist() for size in lengths]
        what = f"the loss of texts of {', '.join(map(str, lengths))} words, for V={V}"
        yield (Model(V, 1), source, texts), what
        yield (Model(V, 1), other, texts), f"{what}, with another source"
        yield (Model(V, 2), other, texts), f"{what}, with another model"


@dataclass(frozen=True)
class Model:
    """A translator whose log probabilities depend on the source and on all that was read."""

    V: int
    seed: int

    def __call__(self, source, inputs):
        source, inputs = self.ids(source, "source"), self.ids(inputs, "inputs")
        if len(source) != len(inputs):
            raise Wrong(
                "The model was given a source and inputs of different batches. Your inputs must "
                "have as many rows as the source: one for each text."
            )
        read = np.cumsum((inputs + self.seed) * (1.7 + np.arange(inputs.shape[1])) ** 1.3, axis=1)
        code = read + (source * (2.3 + np.arange(source.shape[1]))).sum(axis=1, keepdims=True)
        logits = 2 * np.sin(code[..., None] * np.linspace(1, 5, self.V))
        return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)

    def ids(self, given, name):
        """The tokens that the model was given, as an array; or Wrong."""
        try:
            ids = np.asarray(given)
        except ValueError:
            raise Wrong(
                f"The model was given {name} that are no array: have they rows of one length, once "
                "they are padded?"
            ) from None
        if ids.ndim != 2:
            raise Wrong(
                f"The model was given {name} of the shape {ids.shape}: it takes batch × tokens, "
                "also for a batch of one text."
            )
        if ids.dtype.kind not in "iu" or ids.min(initial=0) < 0 or ids.max(initial=0) >= self.V:
            raise Wrong(
                f"The model was given {name} that are no tokens: they must be whole numbers from 0 "
                f"to {self.V - 1}.",
                "whole numbers",
                ids,
            )
        return ids


exercise.equivalent(
    "there are as many texts as rows of the source",
    "teacher_forcing_loss: * → inputs = np.zeros((len(source), 1 + max(*",
    "text_by_text: * → for row, text in zip(source, texts):",
    "text_by_text: * → for row, text in zip(source, texts, strict=False):",
)
exercise.equivalent(
    "padding, and what is read after a text, is not counted",
    "teacher_forcing_loss: * → inputs = np.zeros((len(texts), 2 + max(*",
    "by_one_array: * → inputs, targets = (ids, ids[:, 1:])",
    "by_one_array: * → inputs, targets = (ids[:, :], ids[:, 1:])",
    "by_one_array: * → *model(source, ids)[batch*",
    "by_one_hot: * → length = max(map(len, texts)) + 2",
    "by_one_hot: * → inputs = *[1] * length*",
)
exercise.equivalent(
    "what is not 0 stands at the same places in inputs and targets, and −1 is no token",
    "teacher_forcing_loss: * → return -logs[inputs != 0].mean()",
    "by_one_hot: * → *(inputs != 0)[..., None]",
    "by_one_hot: * → targets = *[-1] * length*",
)
exercise.equivalent(
    "every place is written once, and one number is picked at each",
    "teacher_forcing_loss: * → inputs[n, :1 + len(text)] += [1, *text]",
    "teacher_forcing_loss: * → targets[n, :1 + len(text)] += [*text, 2]",
    "teacher_forcing_loss: * → *axis=2)",
    "teacher_forcing_loss: * → *targets[..., None])[..., 0]",
    "teacher_forcing_loss: * → *axis=2)[..., -1]",
)
exercise.equivalent(
    "0 is 0.0, a batch of one text has one row, and the model takes lists",
    "text_by_text: * → count, total = (0.0, 0)",
    "text_by_text: * → total, count = (0, 0.0)",
    "text_by_text: * → logs = model(row[None], [[1, *text]])[0]",
    "text_by_text: * → *[-1]",
    "by_one_hot: * → inputs = [([1, *text] + *",
    "by_one_hot: * → *turned(asked).sum()",
)
