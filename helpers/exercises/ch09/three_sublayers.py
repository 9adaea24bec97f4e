"""Exercise 9.3, A layer with three sublayers."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.cross_attention import attend_to_source, random_cross_parameters
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import recognize
from helpers.exercises.shared.reference import random_parameters, self_attention

exercise = Exercise(
    "9.3",
    "A layer with three sublayers",
    stars=2,
    stub='''\
def three_sublayers(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    """A layer of the decoder, with LayerNorm after each addition or before each sublayer.

    X: D × N_d, the tokens of the target; E: D_e × N_e, those of the source, as the encoder returns
    them.
    self_attention (masked already) and mlp: functions of a D × N_d matrix; cross_attention: a
    function of such a matrix, whose tokens ask, and of E. All return a D × N_d matrix.
    norms: a list of three LayerNorms, functions of a D × N_d matrix, one for each sublayer, in
    their order.
    pre_norm: False for LayerNorm after each addition, as in the chapter; True for LayerNorm before
    each sublayer, and nowhere else.
    Returns the layer's output, D × N_d.
    """
    return ...  # your code here
''',
    hints=(
        "Which of the three comes first? A word that is written should know what has been written "
        "before it, before it looks for something in the source.",
        "Each sublayer makes the same two lines as in exercise 5.3: an addition and a norm. Write "
        "them for a sublayer f once, for both values of pre_norm.",
        "pre_norm False: X becomes norm(X + f(X)); True: X becomes X + f(norm(X)). For "
        "cross-attention f is a function of the target's tokens alone, lambda X: "
        "cross_attention(X, E): E is passed on as it is.",
    ),
    notice="Three pairs of lines instead of two, and the encoder's output enters in one place "
    "alone. Without it, the layer is that of a GPT.",
)


@exercise.solution
def three_sublayers(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    sublayers = self_attention, lambda X: cross_attention(X, E), mlp
    for sublayer, norm in zip(sublayers, norms, strict=True):
        X = X + sublayer(norm(X)) if pre_norm else norm(X + sublayer(X))
    return X


@exercise.right
def line_by_line(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    norm_1, norm_2, norm_3 = norms
    if pre_norm:
        X = X + self_attention(norm_1(X))
        X = X + cross_attention(norm_2(X), E)
        return X + mlp(norm_3(X))
    X = norm_1(X + self_attention(X))
    X = norm_2(X + cross_attention(X, E))
    return norm_3(X + mlp(X))


@exercise.right
def by_recursion(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    def residual(X, sublayer, norm):
        if pre_norm:
            return sublayer(norm(X)) + X
        return norm(sublayer(X) + X)

    X = residual(X, self_attention, norms[0])
    X = residual(X, lambda tokens: cross_attention(tokens, E), norms[1])
    return residual(X, mlp, norms[2])


@exercise.right
def by_switches(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    def same(X):
        return X

    before = norms if pre_norm else [same] * 3
    after = [same] * 3 if pre_norm else norms
    X = after[0](X + self_attention(before[0](X)))
    X = after[1](X + cross_attention(before[1](X), E))
    X = after[2](X + mlp(before[2](X)))
    return X


def layer(X, E, self_attention, cross_attention, mlp, norms, pre_norm, **slip):
    """The right layer, or one with slips; all are dicts by the place of a sublayer but order.

    order: of the sublayers. way: "after", "before", "inside" (norm(f(X)) is added), "normalized"
    (f(norm(X)) is added to norm(X)), "twice" (norm before and after), "none". norm: which one.
    added: what the sublayer's result is added to, "X", "nothing", "input" or "kept", what X was
    before the last norm. given: what the sublayer gets, "X", "input" or "skipped", the X before the
    last sublayer. source: what is done to E.
    """
    E_of = slip.get("source", lambda E, norms: E)(E, norms)
    sublayers = self_attention, lambda X: cross_attention(X, E_of), mlp
    values = {"input": X, "kept": X, "skipped": X}
    for i, which in enumerate(slip.get("order", (0, 1, 2))):
        norm = slip.get("norm", {}).get(i, i)
        norm = (lambda X: X) if norm is None else norms[norm]
        way = slip.get("way", {}).get(i, "before" if pre_norm else "after")
        values["X"], values["nothing"] = X, 0
        added = values[slip.get("added", {}).get(i, "X")]
        given = values[slip.get("given", {}).get(i, "X")]
        values["skipped"] = X
        f = sublayers[which]
        if way == "after":
            values["kept"] = added + f(given)
            X = norm(values["kept"])
        elif way == "before":
            X = added + f(norm(given))
        elif way == "inside":
            X = added + norm(f(given))
        elif way == "normalized":
            X = norm(added) + f(norm(given))
        elif way == "twice":
            X = norm(added + f(norm(given)))
        else:
            X = added + f(given)
    return X


def slipped(**slip):
    """A wrong answer: layer with slips."""
    return lambda *inputs: layer(*inputs, **slip)


def one_way(way):
    return slipped(way=dict.fromkeys(range(3), way))


def moved(order):
    """Sublayers in another order, each with its own norm or with that of the place."""
    return slipped(order=order), slipped(order=order, norm=dict(enumerate(order)))


def of_norms(norms):
    return slipped(norm=dict(enumerate(norms)))


def side_by_side(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    """All three on the layer's input."""
    if pre_norm:
        parts = (
            self_attention(norms[0](X)),
            cross_attention(norms[1](X), E),
            mlp(norms[2](X)),
        )
        return X + sum(parts)
    return norms[2](norms[1](norms[0](X + self_attention(X)) + cross_attention(X, E)) + mlp(X))


def self_attention_twice(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    return layer(X, E, self_attention, lambda X, E: self_attention(X), mlp, norms, pre_norm)


def normed_output(*inputs):
    return inputs[5][2](layer(*inputs))


SUBLAYERS = "self-attention", "cross-attention", "the MLP"
CAPITAL = "Self-attention", "Cross-attention", "The MLP"


def for_each(sentence, slip):
    """A mistake at each of the three places: dict from its question to its wrong answer."""
    return {
        sentence.format(low=SUBLAYERS[i], high=CAPITAL[i], i=i): slip(i)
        for i in range(len(CAPITAL))
    }


# The question to ask, and the wrong answer, whatever pre_norm is
MISTAKES = {
    "Cross-attention comes before self-attention in yours: what should a word know of the words "
    "before it, when it looks for something in the source?": moved((1, 0, 2)),
    "The MLP comes before cross-attention in yours: where does the third sublayer stand?": (
        moved((0, 2, 1))
    ),
    "The MLP comes first in yours: in which order do the sublayers stand?": (
        *moved((2, 0, 1)),
        *moved((2, 1, 0)),
    ),
    "The MLP comes before self-attention in yours: in which order do the sublayers stand?": moved(
        (1, 2, 0)
    ),
    "Cross-attention has no part in yours: where does the source come in?": (
        *moved((0, 2)),
        slipped(order=(0, 2), norm={0: 0, 1: 1}, way={}),
    ),
    "Self-attention has no part in yours: how does a word know of those before it?": (
        slipped(order=(1, 2), norm={0: 1, 1: 2}),
        slipped(order=(1, 2)),
    ),
    "The MLP has no part in yours: what is the third sublayer?": slipped(order=(0, 1)),
    "Self-attention acts twice in yours and cross-attention not at all: which of the sublayers "
    "reads the source?": self_attention_twice,
    "Nothing is normalized in yours: where do the three norms stand?": one_way("none"),
    "Nothing is added to anything in yours: each sublayer is a residual network, so where does X "
    "come back?": slipped(added=dict.fromkeys(range(3), "nothing")),
    "Your three sublayers work side by side on the layer's input: what does the second get, and "
    "the third?": side_by_side,
    "Your norms[0] stands in all three places: each sublayer has a norm of its own, so which is "
    "for "
    "cross-attention?": of_norms((0, 0, 0)),
    "Your norms[0] and norms[2] are exchanged: in which order do they stand in the list?": of_norms(
        (2, 1, 0)
    ),
    "Your norms[0] and norms[1] are exchanged: in which order do they stand in the list?": of_norms(
        (1, 0, 2)
    ),
    "Your norms[1] and norms[2] are exchanged: in which order do they stand in the list?": of_norms(
        (0, 2, 1)
    ),
    "Your norms[0] stands for cross-attention, too: which norm is its own?": of_norms((0, 0, 2)),
    "Your norms[1] stands for the MLP, too: which norm is its own?": of_norms((0, 1, 1)),
    "Your norms[2] stands for cross-attention, too: which norm is its own?": of_norms((0, 2, 2)),
    "Your norms[1] stands for self-attention, too: which norm is its own?": of_norms((1, 1, 2)),
    **for_each(
        "Your norms[{i}] does not act in yours: where does the norm of {low} stand?",
        lambda i: slipped(way={i: "none"}),
    ),
    **for_each(
        "{high}'s result goes on alone in yours: to what is it added?",
        lambda i: slipped(added={i: "nothing"}),
    ),
    "What cross-attention returns is added to the layer's input: what has self-attention made of "
    "it meanwhile?": slipped(added={1: "input"}),
    "What the MLP returns is added to the layer's input: what have the two attentions made of it "
    "meanwhile?": slipped(added={2: "input"}),
    "What the MLP returns is added to the X before cross-attention: what has cross-attention made "
    "of it?": slipped(added={2: "skipped"}),
    "Cross-attention asks with the layer's input in yours: what has self-attention added to it?": (
        slipped(given={1: "input"})
    ),
    "The MLP is given the layer's input: what has it then learned from the source?": slipped(
        given={2: "input"}
    ),
    "The MLP is given the X before cross-attention: what has it then learned from the source?": (
        slipped(given={2: "skipped"})
    ),
    "What a sublayer returns is normalized alone, and then added: before which of the two, the "
    "sublayer or the addition, or after which, does a norm stand?": one_way("inside"),
    "Yours normalizes both before each sublayer and after each addition: which of the two does "
    "pre_norm ask for?": one_way("twice"),
    "The source goes through a norm in yours: E comes as the encoder returns it, so which tokens "
    "do the three norms take?": (
        slipped(source=lambda E, norms: norms[0](E)),
        slipped(source=lambda E, norms: norms[1](E)),
        slipped(source=lambda E, norms: norms[2](E)),
    ),
}
# The same, for LayerNorm after the addition
AFTER = {
    "This is the pre-norm layer, and pre_norm is False: where does LayerNorm stand in the "
    "chapter's layer?": one_way("before"),
    "Your norms[1] and norms[2] normalize before their sublayers, and pre_norm is False: where "
    "does "
    "LayerNorm stand in the chapter's layer?": slipped(way={1: "before", 2: "before"}),
    **for_each(
        "Your norms[{i}] acts before {low} in yours, and pre_norm is False: where does it stand in "
        "the "
        "chapter's layer?",
        lambda i: slipped(way={i: "before"}),
    ),
    **for_each(
        "{high}'s result is normalized alone, and then added: is it the summand or the sum that "
        "goes through norms[{i}]?",
        lambda i: slipped(way={i: "inside"}),
    ),
    "What cross-attention returns is added to the sum before norms[0]: which X is it that was "
    "normalized?": slipped(added={1: "kept"}),
    "What the MLP returns is added to the sum before norms[1]: which X is it that was "
    "normalized?": slipped(added={2: "kept"}),
}
# The same, for LayerNorm before the sublayer
BEFORE = {
    **for_each(
        "Your norms[{i}] acts after the addition of {low} in yours, and pre_norm is True: where "
        "does it "
        "stand then?",
        lambda i: slipped(way={i: "after"}),
    ),
    **for_each(
        "{high}'s result is normalized alone, and then added, and pre_norm is True: what does "
        "norms[{i}] take then?",
        lambda i: slipped(way={i: "inside"}),
    ),
    "What each sublayer returns is added to the normalized X: in the pre-norm layer, does the path "
    "past a sublayer meet any norm?": one_way("normalized"),
    **for_each(
        "What {low} returns is added to the normalized X: in the pre-norm layer, does the path "
        "past a sublayer meet any norm?",
        lambda i: slipped(way={i: "normalized"}),
    ),
    "The layer's output is normalized once more at the end: how many norms are there, and where "
    "does each stand?": normed_output,
}


def only_if(pre_norm, wrong):
    """A wrong answer that is right for the other value of pre_norm."""
    return lambda *inputs: (wrong if inputs[-1] is pre_norm else three_sublayers)(*inputs)


register(exercise, MISTAKES)
register(exercise, AFTER)
for pre_norm, mistakes in (False, AFTER), (True, BEFORE | MISTAKES):
    for question, wrongs in mistakes.items():
        for wrong in wrongs if isinstance(wrongs, tuple) else (wrongs,):
            exercise.wrong(question)(only_if(pre_norm, wrong))


SOURCE_FIRST = (
    "Your cross_attention was given the source first: whose tokens ask, and stand first in "
    "cross_attention(X, E)?"
)
TARGET_TWICE = (
    "Your cross_attention was given the target twice: what is read in cross-attention, and where "
    "does E "
    "come in?"
)


@exercise.wrong("Your cross_attention was given the source first")
def source_first(X, E, self_attention, cross_attention, *others):
    return layer(X, E, self_attention, lambda X, E: cross_attention(E, X), *others)


@exercise.wrong("Your cross_attention was given the target twice")
def target_twice(X, E, self_attention, cross_attention, *others):
    return layer(X, E, self_attention, lambda X, E: cross_attention(X, X), *others)


@exercise.wrong("self_attention was given the source")
def source_attends(X, E, self_attention, cross_attention, *others):
    return layer(X, self_attention(E), self_attention, cross_attention, *others)


@exercise.wrong("in place")
def in_place(X, E, self_attention, cross_attention, mlp, norms, pre_norm):
    X += self_attention(norms[0](X)) if pre_norm else self_attention(X)
    X = X if pre_norm else norms[0](X)
    parts = lambda X: 0 * X, cross_attention, mlp
    norms = [lambda X: X, *norms[1:]]
    return layer(X, E, *parts, norms, pre_norm)


@exercise.wrong("Is pre_norm asked at all")
def same_for_both(X, E, *others):
    return three_sublayers(X, E, *others[:-1], False) + 0 * others[-1]


NAMED = (
    "X = [[4, 1]] and E = [[3, 1, 4]], where self_attention adds 2, cross_attention adds the "
    "largest number of E to 2X, mlp squares, norms[0] subtracts 2X from 8, norms[1] triples and "
    "adds 5, and norms[2] triples and subtracts 2"
)


def paper_parts():
    """Parts that can be followed on paper; no order of them has the same result as another."""

    def self_attention(X):
        if X.shape[1] == 3:
            raise Wrong(
                "Your self_attention was given the source: which tokens are those of the decoder?"
            )
        return X + 2

    def cross_attention(X, E):
        if X.shape[1] == 3:
            raise Wrong(SOURCE_FIRST)
        if E.shape[1] == 2:
            raise Wrong(TARGET_TWICE)
        return 2 * X + E.max()

    norms = [lambda X: 8 - 2 * X, lambda X: 3 * X + 5, lambda X: 3 * X - 2]
    return self_attention, cross_attention, lambda X: X**2, norms


@exercise.check
def check(answer):
    X, E = np.array([[4.0, 1.0]]), np.array([[3.0, 1.0, 4.0]])
    parts = paper_parts()
    first = unchanged(answer, X, E, *parts, False)
    for pre_norm, mistakes in (False, AFTER | MISTAKES), (True, BEFORE | MISTAKES):
        inputs = X, E, *parts, pre_norm
        got = unchanged(answer, *inputs)
        if pre_norm and np.array_equal(got, first):
            raise Wrong(
                "Your layer is the same for pre_norm True and False, and right for False. Is "
                "pre_norm asked at all?",
                three_sublayers(*inputs),
                got,
            )
        what = f"the layer, pre_norm {pre_norm}, of {NAMED}"
        recognize(got, three_sublayers(*inputs), what, results(mistakes, *inputs))
    for name, others in replaced(*parts):
        inputs = X, E, *others, True
        what = f"the same with pre_norm True and another {name}, which triples"
        same(unchanged(answer, *inputs), three_sublayers(*inputs), what)
    rng = np.random.default_rng(92)
    for D, D_e, N_d, N_e in (3, 4, 2, 5), (4, 2, 1, 3), (1, 3, 6, 1), (5, 5, 4, 7):
        parts = random_parts(rng, D, D_e)
        for pre_norm in True, False, False:
            X, E = rng.normal(size=(D, N_d)), rng.normal(size=(D_e, N_e))
            inputs = X, E, *parts, pre_norm
            what = f"the layer for D={D}, D_e={D_e}, N_d={N_d}, N_e={N_e}, pre_norm {pre_norm}"
            same(unchanged(answer, *inputs), three_sublayers(*inputs), what)


def replaced(self_attention, cross_attention, mlp, norms):
    """The parts with one of them replaced, and its name."""

    def triple(X):
        return 3 * X

    yield "self_attention", (triple, cross_attention, mlp, norms)
    yield "cross_attention", (self_attention, lambda X, E: 3 * X + E.min(), mlp, norms)
    yield "mlp", (self_attention, cross_attention, triple, norms)
    for i in range(3):
        others = [*norms[:i], triple, *norms[i + 1 :]]
        yield f"norms[{i}]", (self_attention, cross_attention, mlp, others)


def random_parts(rng, D, D_e):
    """Attention to itself and to a source, an MLP with 4D hidden units, and three LayerNorms."""
    own = random_parameters(rng, D, D, D)
    cross = random_cross_parameters(rng, D, D_e, D, D)
    Omega_1, Omega_2 = rng.normal(size=(4 * D, D)), rng.normal(size=(D, 4 * D))

    def norm(gamma, beta):
        return lambda X: beta + gamma * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + 0.1)

    return (
        lambda X: self_attention(X, *own),
        lambda X, E: attend_to_source(X, E, np.zeros(E.shape[1], bool), cross),
        lambda X: Omega_2 @ np.maximum(0, Omega_1 @ X),
        [norm(*rng.normal(size=(2, D, 1))) for _ in range(3)],
    )


exercise.equivalent(
    "there are as many norms as sublayers",
    "three_sublayers: * → for sublayer, norm in zip(sublayers, norms):",
    "three_sublayers: * → for sublayer, norm in zip(sublayers, norms, strict=False):",
)
exercise.equivalent(
    "X is a new matrix there, no longer the caller's",
    "line_by_line: * → *in_place('add', X, cross_attention(*",
    "line_by_line: * → *in_place('add', X, mlp(*",
    "by_switches: * → *in_place('add', X, cross_attention(*",
    "by_switches: * → *in_place('add', X, mlp(*",
)
exercise.equivalent(
    "what is more than three is never asked for",
    "by_switches: * → *[same] * 4*",
    "by_switches: * → *[same] * 6*",
)
