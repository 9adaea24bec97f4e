"""Exercise 5.4, The pre-norm layer."""

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.transformer_layer import check_layer

exercise = Exercise(
    "5.4",
    "The pre-norm layer",
    stars=1,
    stub='''\
def pre_norm_layer(X, attention, mlp, norm_1, norm_2):
    """The transformer layer in which LayerNorm stands before attention and before the MLP.

    X: D × N, one token in each column.
    attention, mlp: multi-head self-attention and the MLP; norm_1, norm_2: the LayerNorm before
    the one and before the other. Each is a function of a D × N matrix and returns one.
    Returns the layer's output, D × N: X plus what attention adds, plus what the MLP adds.
    """
    return ...  # your code here
''',
    hints=(
        "There are two lines, one for attention and one for the MLP. What does each of them add "
        "to X?",
        "Only what attention and the MLP are given is normalized. What they return is added to X "
        "as it is, and X itself is never normalized.",
        "The second line is the first with mlp and norm_2, and starts from the sum that the first "
        "has made.",
    ),
    notice="X runs through the layer, and through a whole stack of such layers, with nothing but "
    "additions: the gradient finds the same straight path back.",
)


@exercise.solution
def pre_norm_layer(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return X + mlp(norm_2(X))


@exercise.right
def by_loop(X, attention, mlp, norm_1, norm_2):
    for sublayer, norm in (attention, norm_1), (mlp, norm_2):
        X = sublayer(norm(X)) + X
    return X


@exercise.right
def as_one_sum(X, attention, mlp, norm_1, norm_2):
    attended = attention(norm_1(X))
    return X + attended + mlp(norm_2(X + attended))


@exercise.wrong("after each addition")
def norm_after(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return norm_2(X + mlp(X))


@exercise.wrong("added to the normalized X")
def residual_from_normalized(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X)
    X = norm_2(X + attention(X))
    return X + mlp(X)


@exercise.wrong("added to norm_2(X)")
def second_residual_from_normalized(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return norm_2(X) + mlp(norm_2(X))


@exercise.wrong("norm_1 stands in both places")
def first_norm_twice(X, attention, mlp, norm_1, norm_2):
    return pre_norm_layer(X, attention, mlp, norm_1, norm_1)


@exercise.wrong("norm_2 stands in both places")
def second_norm_twice(X, attention, mlp, norm_1, norm_2):
    return pre_norm_layer(X, attention, mlp, norm_2, norm_2)


@exercise.wrong("norm_1 and norm_2 are exchanged")
def norms_exchanged(X, attention, mlp, norm_1, norm_2):
    return pre_norm_layer(X, attention, mlp, norm_2, norm_1)


@exercise.wrong("the sums are normalized as well")
def sums_normalized(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(norm_1(X)))
    return norm_2(X + mlp(norm_2(X)))


@exercise.wrong("the last sum is normalized as well")
def last_sum_normalized(X, attention, mlp, norm_1, norm_2):
    return norm_2(pre_norm_layer(X, attention, mlp, norm_1, norm_2))


@exercise.wrong("what attention and the MLP return is normalized")
def results_normalized(X, attention, mlp, norm_1, norm_2):
    X = X + norm_1(attention(X))
    return X + norm_2(mlp(X))


@exercise.wrong("Nothing is added to anything")
def without_residuals(X, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(attention(norm_1(X))))


@exercise.wrong("what is attention's result added to")
def without_first_residual(X, attention, mlp, norm_1, norm_2):
    X = attention(norm_1(X))
    return X + mlp(norm_2(X))


@exercise.wrong("what is the MLP's result added to")
def without_second_residual(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return mlp(norm_2(X))


@exercise.wrong("where has attention's result gone")
def second_residual_from_input(X, attention, mlp, norm_1, norm_2):
    return X + mlp(norm_2(X + attention(norm_1(X))))


@exercise.wrong("what has it then learned from attention")
def side_by_side(X, attention, mlp, norm_1, norm_2):
    return X + attention(norm_1(X)) + mlp(norm_2(X))


@exercise.wrong("which comes first")
def mlp_first(X, attention, mlp, norm_1, norm_2):
    return pre_norm_layer(X, mlp, attention, norm_1, norm_2)


@exercise.wrong("The MLP is given X as it is")
def without_second_norm(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return X + mlp(X)


@exercise.wrong("Attention is given X as it is")
def without_first_norm(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    return X + mlp(norm_2(X))


@exercise.wrong("Attention changes nothing")
def sum_forgotten(X, attention, mlp, norm_1, norm_2):
    X + attention(norm_1(X))
    return X + mlp(norm_2(X))


@exercise.wrong("The MLP changes nothing")
def second_sum_forgotten(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    X + mlp(norm_2(X))
    return X


@exercise.wrong("nothing is normalized")
def without_norms(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    return X + mlp(X)


@exercise.wrong("The first half is right, and the second")
def norm_after_mlp(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return norm_2(X + mlp(X))


@exercise.wrong("The second half is right, and the first")
def norm_after_attention(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return X + mlp(norm_2(X))


MISTAKES = {
    "Your layer normalizes after each addition, as in the chapter's four lines: what does pre- "
    "mean in pre-norm?": norm_after,
    "What attention returns is added to the normalized X: is it X that is normalized here, or only "
    "what attention is given?": residual_from_normalized,
    "What the MLP returns is added to norm_2(X): which matrix should run through the layer "
    "without being normalized?": second_residual_from_normalized,
    "Your norm_1 stands in both places: the two LayerNorms learn weights and biases of their own. "
    "Where does norm_2 belong?": first_norm_twice,
    "Your norm_2 stands in both places: the two LayerNorms learn weights and biases of their own. "
    "Where does norm_1 belong?": second_norm_twice,
    "Your norm_1 and norm_2 are exchanged: which of them comes before attention?": norms_exchanged,
    "Inputs are normalized, and the sums are normalized as well: how many LayerNorms does the "
    "layer have?": sums_normalized,
    "Everything is right, and then the last sum is normalized as well: how many LayerNorms does "
    "the layer have?": last_sum_normalized,
    "In your layer what attention and the MLP return is normalized: should it not be what they are "
    "given?": results_normalized,
    "Nothing is added to anything: attention and MLP are residual networks; where does X come "
    "back?": without_residuals,
    "The MLP's result is added to the layer's input: where has attention's result gone?": (
        second_residual_from_input
    ),
    "The MLP is given the layer's input, normalized: what has it then learned from attention?": (
        side_by_side
    ),
    "Attention changes nothing in your layer: is the first sum left out, or was it computed and "
    "never given a name?": sum_forgotten,
    "The MLP changes nothing in your layer: is the second sum left out, or was it computed and "
    "never given a name?": second_sum_forgotten,
    "The MLP acts before attention: which comes first?": mlp_first,
    "Attention's result goes on alone: in the first line, what is attention's result added to?": (
        without_first_residual
    ),
    "The MLP's result is returned alone: in the second line, what is the MLP's result added to?": (
        without_second_residual
    ),
    "Attention is given X as it is: where does norm_1 belong?": without_first_norm,
    "In your layer nothing is normalized: what are attention and the MLP given?": without_norms,
    "The first half is right, and the second normalizes after the addition: what is the MLP "
    "given?": norm_after_mlp,
    "The second half is right, and the first normalizes after the addition: what is attention "
    "given?": norm_after_attention,
    "The MLP is given X as it is: where does norm_2 belong?": without_second_norm,
}


@exercise.check
def check(answer):
    check_layer(answer, pre_norm_layer, MISTAKES)


exercise.equivalent(
    "X is a new matrix there, no longer the caller's",
    "pre_norm_layer: * → return in_place('add', X, mlp(norm_2(X)))",
)
