"""Exercise 7.6, A verdict from the first token."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import differentiable, recognize, run, survives

exercise = Exercise(
    "7.6",
    "A verdict from the first token",
    stars=1,
    seconds=WITH_TORCH,
    stub='''\
def text_probability(outputs, weight, bias):
    """The probability that each text is praise, from what the encoder makes of it, in PyTorch.

    outputs: tensor, batch × N × D; the first token of each text is <cls>, which stands for all of
    it. What follows are its words, and padding.
    weight: tensor (D,); bias: tensor with one number. The score of a text is their linear map of
    the output at <cls>; it may be ±1000.
    Returns the logistic sigmoid of the scores, a tensor (batch,), through which gradients can go
    back.
    """
    return ...  # your code here
''',
    hints=(
        "outputs has three dimensions, texts, tokens and features. Which index along which of them "
        "picks <cls> for every text at once?",
        "outputs[:, 0] is batch × D. Its product with weight is one number for each text.",
        "torch.sigmoid turns each score into a probability of its own: what other texts of the "
        "batch have for scores plays no part.",
    ),
    notice="One vector has to hold what the verdict needs, and attention is what brings it there. "
    "Averaging the outputs of the words, as notebook 05 did, is the other common choice.",
)


@exercise.solution
def text_probability(outputs, weight, bias):
    cls = outputs[:, 0]  # batch × D
    return (cls @ weight + bias).sigmoid()


@exercise.right
def by_linear(outputs, weight, bias):
    import torch

    scores = torch.nn.functional.linear(outputs, weight[None], bias.reshape(1))  # of every token
    return torch.sigmoid(scores[:, 0, 0])


@exercise.right
def by_einsum(outputs, weight, bias):
    import torch

    return 1 / (1 + torch.exp(-torch.einsum("bnd,d->bn", outputs, weight)[:, 0] - bias))


@exercise.right
def by_two_classes(outputs, weight, bias):
    import torch

    scores = torch.stack([text[0] @ weight + bias for text in outputs])
    return torch.stack([scores, 0 * scores], dim=1).softmax(dim=1)[:, 0]


def of(pooled):
    """The probability from another vector of each text, pooled(outputs), batch × D."""
    return lambda outputs, weight, bias: (pooled(outputs) @ weight + bias).sigmoid()


def score(outputs, weight, bias):
    """The right score of each text."""
    return outputs[:, 0] @ weight + bias


# The question to ask, and the wrong answer; where shapes differ it is met by the next dict
MISTAKES = {
    "You read the last token, which is a word or padding: where does <cls> stand?": (
        of(lambda outputs: outputs[:, -1])
    ),
    "You read the token after <cls>: from which number are tokens counted?": (
        of(lambda outputs: outputs[:, 1])
    ),
    "You average all tokens, padding among them: which one stands for the text here?": (
        of(lambda outputs: outputs.mean(dim=1))
    ),
    "You average all tokens but <cls>: which one stands for the text here?": (
        of(lambda outputs: outputs[:, 1:].mean(dim=1))
    ),
    "You add up all tokens: which one stands for the text here?": (
        of(lambda outputs: outputs.sum(dim=1))
    ),
    "You take the largest number that any token has in a dimension: which token stands for the "
    "text here?": of(lambda outputs: outputs.amax(dim=1)),
    "Your softmax runs over the batch, so the texts compete, and one more praise makes the others "
    "blame: is a verdict not each text's own?": (
        lambda outputs, weight, bias: score(outputs, weight, bias).softmax(dim=0)
    ),
    "Your results are the scores themselves: what turns a score into a probability?": score,
    "The bias is missing in your score: where does it enter?": (
        lambda outputs, weight, bias: score(outputs, weight, 0).sigmoid()
    ),
    "The bias is added to the probability: should it not be part of the score?": (
        lambda outputs, weight, bias: score(outputs, weight, 0).sigmoid() + bias
    ),
    "The bias is subtracted: what is the score of a text whose <cls> is 0?": (
        lambda outputs, weight, bias: score(outputs, weight, -bias).sigmoid()
    ),
    "Your result is the probability of blame: which sign has the score in the sigmoid?": (
        lambda outputs, weight, bias: (-score(outputs, weight, bias)).sigmoid()
    ),
    "Your result is the logarithm of the probability: what is asked for?": (
        lambda outputs, weight, bias: score(outputs, weight, bias).sigmoid().log()
    ),
    "Your result is yes or no, which has no slope to learn by: how probable is praise?": (
        lambda outputs, weight, bias: (score(outputs, weight, bias) > 0).to(outputs.dtype)
    ),
    "The sigmoid comes before the linear map: which numbers should lie between 0 and 1?": (
        lambda outputs, weight, bias: outputs[:, 0].sigmoid() @ weight + bias
    ),
    "You use tanh, which lies between −1 and 1: which function gives a probability?": (
        lambda outputs, weight, bias: score(outputs, weight, bias).tanh()
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("one for each token")
def every_token(outputs, weight, bias):
    return (outputs @ weight + bias).sigmoid()


@exercise.wrong("one for each token of the first text")
def first_text(outputs, weight, bias):
    return (outputs[0] @ weight + bias).sigmoid()


@exercise.wrong("outputs[0] is the first text")
def first_of_first_text(outputs, weight, bias):
    return (outputs[0, 0] @ weight + bias).sigmoid()


@exercise.wrong("outputs[..., 0]")
def first_feature(outputs, weight, bias):
    return (outputs[:, :, 0] @ weight + bias).sigmoid()


@exercise.wrong("before they are added up")
def without_sum(outputs, weight, bias):
    return (outputs[:, 0] * weight + bias).sigmoid()


@exercise.wrong("batch × 1")
def as_column(outputs, weight, bias):
    return (outputs[:, 0] @ weight[:, None] + bias).sigmoid()


@exercise.wrong("overflows")
def naive_sigmoid(outputs, weight, bias):
    exponentials = score(outputs, weight, bias).exp()
    return exponentials / (1 + exponentials)


@exercise.wrong("No gradient can go back")
def detached(outputs, weight, bias):
    return text_probability(outputs.detach(), weight.detach(), bias.detach())


@exercise.wrong("The gradient")
def weight_detached(outputs, weight, bias):
    return text_probability(outputs, weight.detach(), bias)


ERRORS = {
    "size mismatch": "The shapes do not fit: weight has one number for each feature of <cls>. Does "
    "outputs[..., 0] pick a token, or a feature?",
    "mat1 and mat2 shapes": "The shapes do not fit: weight has one number for each feature of "
    "<cls>. Does outputs[..., 0] pick a token, or a feature?",
}
# By the shape of the result for 3 texts of 5 tokens with 4 features
SHAPES = {
    (3, 5): "Your results are 3 × 5, one for each token: which token of a text is asked?",
    (5,): "You have one result for each of 5 tokens, one for each token of the first text: which "
    "index of outputs counts the texts?",
    (): "You have a single result for 3 texts: outputs[0] is the first text, so which index counts "
    "the tokens?",
    (3, 4): "Your results are 3 × 4, one for each feature: did products become probabilities "
    "before they are added up?",
    (3, 1): "Your results are batch × 1, a column: which product of <cls> with weight, (D,), "
    "leaves one number for each text?",
}


@exercise.check
def check(answer):
    import torch

    generator = torch.Generator().manual_seed(74)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    inputs = drawn(3, 5, 4), drawn(4), torch.tensor(-0.7, dtype=torch.float64)
    got, expected = run(answer, *inputs, errors=ERRORS), text_probability(*inputs)
    shape = tuple(getattr(got, "shape", (0, 0)))
    if shape in SHAPES:
        raise Wrong(SHAPES[shape], expected, got)
    recognize(
        got,
        expected,
        "the probabilities of three texts",
        results(MISTAKES, *inputs),
    )
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    weights = torch.tensor([1.0, -2.0, 5.0], dtype=torch.float64)  # no text's gradient is lost
    ours, theirs = (
        torch.autograd.grad(f(*leaves), leaves, weights, allow_unused=True, materialize_grads=True)
        for f in (lambda *leaves: differentiable(answer, *leaves), text_probability)
    )
    for name, got, expected in zip(("outputs", "weight", "bias"), ours, theirs, strict=True):
        same(got, expected, f"the gradient of {name}", far="has something been detached?")
    for B, N, D in (1, 1, 1), (1, 7, 2), (6, 1, 3), (2, 9, 33), (4, 4, 4), (4, 4, 4):
        inputs = drawn(B, N, D), drawn(D), drawn(1)[0]
        what = f"the probabilities of {B} texts with {N} tokens, D={D}"
        same(run(answer, *inputs, errors=ERRORS), text_probability(*inputs), what)
    inputs = drawn(4, 2, 1), torch.tensor([1.0], dtype=torch.float64), inputs[2]
    inputs[0][:, 0, 0] = torch.tensor([1000.0, -1000.0, 800.0, 3.0])
    why = (
        "exp(1000) overflows, and infinity divided by infinity is no number: which other form of "
        "the sigmoid has no such quotient?"
    )
    what = "the probabilities for scores of ±1000"
    survives(run(answer, *inputs, errors=ERRORS), text_probability(*inputs), what, why)


exercise.equivalent(
    "one number, or one for each token, in either order of the last two dimensions",
    "by_linear: scores = * → *bias.reshape(-1))",
    "by_linear: return * → return torch.sigmoid(turned(scores)[:, 0, 0])",
    "by_linear: return * → return torch.sigmoid(scores[:, 0, -1])",
)
exercise.equivalent(
    "a dot product, with its factors in either order, and 0 either way",
    "by_two_classes: scores = * → *weight @ text[0] + bias*",
    "by_two_classes: return * → *torch.stack([scores, 0 / scores], dim=1)*",
)
