"""Exercise 5.7, A residual sublayer with dropout."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise, Wrong
from helpers.exercises.shared.compare import numbers, same, unchanged
from helpers.exercises.shared.questions import differentiable, recognize

exercise = Exercise(
    "5.7",
    "A residual sublayer with dropout",
    stars=2,
    seconds=WITH_TORCH,
    stub='''\
def residual_sublayer(x, sublayer, norm, p, training):
    """Half a transformer layer in PyTorch: sublayer, dropout, addition, LayerNorm.

    x: tensor, batch × tokens × D.
    sublayer, norm: functions of such a tensor; attention or the MLP, and a LayerNorm.
    p: the probability of dropout, which comes before the addition; 0 ≤ p < 1.
    training: whether dropout acts; the survivors are then divided by 1 − p.
    Returns a tensor, batch × tokens × D, normalized after the addition.
    """
    return ...  # your code here
''',
    hints=(
        "Four things happen, in the order of the docstring's first line. What does the first of "
        "them take, and what does each of the others?",
        "torch.nn.functional.dropout takes a tensor, p and training. A new nn.Dropout is always in "
        "training, until somebody calls eval() on it.",
        "Dropout falls on what the sublayer returns, and on nothing else: x is added whole, and "
        "what norm returns is returned as it is.",
    ),
    notice="x itself is never dropped: what a token already knows gets through every layer, and "
    "only what a layer wants to add to it is disturbed.",
)


@exercise.solution
def residual_sublayer(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(x + dropout(sublayer(x), p, training))


@exercise.right
def by_module(x, sublayer, norm, p, training):
    import torch

    dropout = torch.nn.Dropout(p).train(training)
    return norm(dropout(sublayer(x)) + x)


@exercise.right
def by_hand(x, sublayer, norm, p, training):
    import torch

    added = sublayer(x)
    if training:
        added = added * (torch.rand(added.shape) >= p) / (1 - p)
    return norm(x + added)


@exercise.right
def by_bernoulli(x, sublayer, norm, p, training):
    import torch

    survival = torch.full(x.shape, 1 - p * training, dtype=x.dtype)
    return norm(torch.addcdiv(x, sublayer(x) * torch.bernoulli(survival), survival))


@exercise.wrong("At evaluation numbers are still dropped")
def new_module(x, sublayer, norm, p, training):
    import torch

    return norm(x + torch.nn.Dropout(p)(sublayer(x)))


@exercise.wrong("At evaluation numbers are still dropped")
def training_ignored(x, sublayer, norm, p, training):
    return residual_sublayer(x, sublayer, norm, p, True)


@exercise.wrong("divided by 1 − p even at evaluation")
def rescaled_at_evaluation(x, sublayer, norm, p, training):
    if training:
        return residual_sublayer(x, sublayer, norm, p, True)
    return norm(x + sublayer(x) / (1 - p))


@exercise.wrong("has p an effect")
def without_dropout(x, sublayer, norm, p, training):
    return norm(x + sublayer(x))


@exercise.wrong("dropout after the addition")
def after_addition(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(dropout(x + sublayer(x), p, training))


@exercise.wrong("dropout at the very end")
def after_norm(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return dropout(norm(x + sublayer(x)), p, training)


@exercise.wrong("Dropout falls on what the sublayer is given")
def on_input(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(x + sublayer(dropout(x, p, training)))


@exercise.wrong("Dropout falls on x, everywhere")
def on_input_and_residual(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    x = dropout(x, p, training)
    return norm(x + sublayer(x))


@exercise.wrong("Dropout falls on both")
def on_both(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(dropout(x, p, training) + dropout(sublayer(x), p, training))


@exercise.wrong("dropped twice")
def twice(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(x + dropout(dropout(sublayer(x), p, training), p, training))


@exercise.wrong("x is dropped and the sublayer's result is not")
def on_residual(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(dropout(x, p, training) + sublayer(x))


@exercise.wrong("x is added to what norm returns")
def residual_after_norm(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return x + norm(dropout(sublayer(x), p, training))


@exercise.wrong("the sublayer is given norm(x)")
def pre_norm(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return x + dropout(sublayer(norm(x)), p, training)


@exercise.wrong("where is x")
def without_residual(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(dropout(sublayer(x), p, training))


@exercise.wrong("where is norm")
def without_norm(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return x + dropout(sublayer(x), p, training)


@exercise.wrong("by what are the survivors divided")
def not_rescaled(x, sublayer, norm, p, training):
    import torch

    return norm(x + sublayer(x) * (torch.rand(x.shape) >= p * training))


@exercise.wrong("the probability to be dropped, or to be kept")
def kept_with_p(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(x + dropout(sublayer(x), 1 - p, training))


@exercise.wrong("the probability to be dropped, or to be kept")
def kept_with_p_by_hand(x, sublayer, norm, p, training):
    import torch

    survives = torch.rand(x.shape) < p if training else 1
    return norm(x + sublayer(x) * survives / (1 - p * training))


@exercise.wrong("dropped the same numbers")
def seeded(x, sublayer, norm, p, training):
    import torch

    torch.manual_seed(0)
    return residual_sublayer(x, sublayer, norm, p, training)


@exercise.wrong("dropped or kept as a whole")
def whole_tokens(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout1d

    return norm(x + dropout1d(sublayer(x), p, training))


@exercise.wrong("Every sentence of the batch loses the same numbers")
def same_in_every_sentence(x, sublayer, norm, p, training):
    import torch

    return norm(x + sublayer(x) * torch.nn.functional.dropout(torch.ones_like(x[:1]), p, training))


@exercise.wrong("Every token of a sentence loses the same numbers")
def same_in_every_token(x, sublayer, norm, p, training):
    import torch

    kept = torch.nn.functional.dropout(torch.ones_like(x[:, :1]), p, training)
    return norm(x + sublayer(x) * kept)


@exercise.wrong("expected 72, got 0: has a part of your sum been detached")
def sublayer_detached(x, sublayer, norm, p, training):
    return residual_sublayer(x, lambda x: sublayer(x).detach(), norm, p, training)


@exercise.wrong("[0, 0, 0]: has a part of your sum been detached")
def x_detached(x, sublayer, norm, p, training):
    from torch.nn.functional import dropout

    return norm(x.detach() + dropout(sublayer(x), p, training))


@exercise.wrong("No gradient can go back through your result")
def through_numpy(x, sublayer, norm, p, training):
    import torch

    added = torch.nn.functional.dropout(sublayer(x), p, training).numpy()
    return norm(torch.from_numpy(x.numpy() + added))


@exercise.wrong("No gradient can go back through your result")
def without_gradients(x, sublayer, norm, p, training):
    import torch

    with torch.no_grad():
        return residual_sublayer(x, sublayer, norm, p, training)


def output(answer, *inputs):
    """The answer's result as a tensor of the shape of x, or Wrong."""
    import torch

    got = unchanged(answer, *inputs)
    return torch.as_tensor(numbers(got, inputs[0], "the result"), dtype=torch.float64)


@exercise.check
def check(answer):
    import torch

    with torch.random.fork_rng(devices=[]):  # the notebook's own random numbers stay as they are
        torch.manual_seed(58)
        check_places(answer)
        check_gradients(answer)
        check_sizes(answer)


def check_places(answer):
    """x is 10 everywhere, sublayer and norm act on single numbers: each place of dropout shows."""
    import torch

    def sublayer(x):
        return x**3 / 500  # 10 becomes 2

    what = "for x = 10, sublayer(x) = x³/500, norm(x) = x² and p = 0.2"
    inputs = torch.full((4, 25, 20), 10.0, dtype=torch.float64), sublayer, torch.square, 0.2
    got = output(answer, *inputs, False).unique()  # the different numbers that occur
    if len(got) > 1:
        raise Wrong(
            "At evaluation numbers are still dropped: x is 10 everywhere, and the results differ. "
            "Does your dropout know whether the network is being trained?",
            [144.0],
            got,
        )
    recognize(
        got,
        [144.0],
        f"the different numbers in the result at evaluation, {what}",
        {
            "The sublayer's result is divided by 1 − p even at evaluation: what would that make "
            "up for, when nothing is dropped?": [156.25],
            "Your x is added to what norm returns: is the sum normalized, or only what the "
            "sublayer returns?": [10 + 2.0**2],
            "In your result the sublayer is given norm(x), as in a pre-norm layer: should the norm "
            "come before the sublayer, or after the addition?": [10 + 100.0**3 / 500],
            "Only what the sublayer returns is normalized and returned: where is x?": [2.0**2],
            "The sum is returned as it is: where is norm?": [12.0],
        },
    )
    got = output(answer, *inputs, True)
    recognize(
        got.round(decimals=3).unique(),
        [10.0**2, 12.5**2],
        f"the different numbers in the result in training, {what}",
        {
            "In training nothing is dropped: has p an effect?": [12.0**2],
            "Yours is dropout after the addition, and x is dropped as well: what should get "
            "through in any case?": [0.0, 15.0**2],
            "Yours is dropout at the very end, after the norm: what should it fall on, the sum or "
            "what is added to x?": [0.0, 12.0**2 / 0.8],
            "Dropout falls on what the sublayer is given: should it not fall on what the sublayer "
            "returns?": [10.0**2, 13.90625**2],
            "Dropout falls on x, everywhere: should it not fall on what the sublayer returns?": (
                [0.0, 16.40625**2]
            ),
            "Dropout falls on both, on x and on what the sublayer returns: which of the two must "
            "get through in any case?": [0.0, 2.5**2, 12.5**2, 15.0**2],
            "What the sublayer returns is dropped twice: how often does dropout come before the "
            "addition?": [10.0**2, 13.125**2],
            "In the sum, x is dropped and the sublayer's result is not: which of the two must get "
            "through in any case?": [2.0**2, 14.5**2],
            "Some numbers are dropped and the others are as at evaluation: by what are the "
            "survivors divided?": [10.0**2, 12.0**2],
            "The survivors are divided by p: is p the probability to be dropped, or to be kept?": (
                [10.0**2, 20.0**2]
            ),
        },
    )
    if torch.equal(output(answer, *inputs, True), got):
        raise Wrong(
            "Two calls in training, one after the other, dropped the same numbers: where do your "
            "random numbers come from?"
        )
    dropped = got == 100
    if (dropped.all(dim=2) == dropped.any(dim=2)).all():
        raise Wrong(
            "Each token is dropped or kept as a whole: should not each of its D numbers have its "
            "own chance?",
            inputs[0].new_tensor([[100, 156.25, 156.25], [156.25, 156.25, 100]]),
            got,
        )
    for dim, alike in enumerate(("sentence of the batch", "token of a sentence")):
        if (dropped.all(dim) == dropped.any(dim)).all():
            raise Wrong(
                f"Every {alike} loses the same numbers: should not each number have its own "
                "chance? Which shape has what you draw?"
            )
    share = dropped.double().mean()
    # 2000 numbers: five hundredths are more than five standard deviations.
    if not 0.15 < share < 0.25:
        raise Wrong(
            f"With p = 0.2, {share:.0%} of what the sublayer returns is dropped: is p the "
            "probability to be dropped, or to be kept?"
        )


def check_gradients(answer):
    """The gradients of x and of the sublayer's weight, in evaluation and in training."""
    import torch

    detached = "has a part of your sum been detached from what it was computed from?"
    for training in False, True:
        x = torch.linspace(1, 2, 24, dtype=torch.float64).reshape(2, 3, 4).requires_grad_()
        weight = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
        got = differentiable(
            answer, x, lambda x, weight=weight: weight * x, lambda x: 2 * x, 0.2, training
        )
        dx, dweight = torch.autograd.grad(
            got.sum(), (x, weight), allow_unused=True, materialize_grads=True
        )
        # The result is 2 (x + kept · weight · x): whatever was kept, it shows in the gradients.
        expected = ((got - 2 * x) / weight).sum()
        same(dweight, expected, "the gradient of a weight in the sublayer", far=detached)
        same(dx, got / x, "the gradient that reaches x", far=detached)


def check_sizes(answer):
    """A sublayer that mixes tokens and features; where it was dropped, x alone is left."""
    import torch

    def norm(x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=0.1)

    def doubled(x):
        return 2 * x

    # The last sizes come twice, and each sublayer gets two x: nothing may be kept between calls.
    for B, N, D, p in (1, 1, 1, 0.5), (3, 1, 5, 0.1), (2, 7, 3, 0.9), (2, 7, 3, 0.9):
        tokens, features = (torch.randn(n, n, dtype=torch.float64) for n in (N, D))

        def sublayer(x, tokens=tokens, features=features):
            return tokens @ x @ features

        for x in torch.randn(2, B, N, D, dtype=torch.float64):
            what = f"for {B} sentences of {N} tokens, D={D}, p={p}"
            for last in norm, doubled:
                got = output(answer, x, sublayer, last, p, False)
                same(got, last(x + sublayer(x)), f"the result at evaluation {what}")
            got = output(answer, x, sublayer, doubled, p, True)
            survived = (got - 2 * x).abs() > 1e-5
            expected = doubled(x + survived * sublayer(x) / (1 - p))
            same(got, expected, f"the result in training {what}")
            got = output(answer, x, sublayer, doubled, 0.0, True)
            same(got, doubled(x + sublayer(x)), "the result in training for p=0")


exercise.equivalent(
    "a random number is p about once in 2^24 times", "by_hand: * → *torch.rand(*) > p)*"
)
exercise.equivalent(
    "the sublayer keeps the shape, and any kind of float will do",
    "by_hand: * → *torch.rand(x.shape)*",
    "by_bernoulli: * → survival = torch.full(x.shape, 1 - p * training*)",
)
