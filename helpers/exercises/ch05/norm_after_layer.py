"""Exercise 5.3, The layer's four lines."""

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.transformer_layer import check_layer

exercise = Exercise(
    "5.3",
    "The layer's four lines",
    stars=2,
    stub='''\
def norm_after_layer(X, attention, mlp, norm_1, norm_2):
    """The chapter's transformer layer: LayerNorm after each addition.

    X: D × N, one token in each column.
    attention, mlp: multi-head self-attention and the MLP; norm_1, norm_2: the LayerNorm after the
    one and after the other. Each is a function of a D × N matrix and returns one.
    Returns the layer's output, D × N.
    """
    return ...  # your code here
''',
    hints=(
        "Each of the chapter's four lines can be one line of code: X = … Which X stands on the "
        "right of the second arrow, the layer's input or the result of the first line?",
        "The first and the third line add to X what a function makes of X. The second and the "
        "fourth normalize what the line before has made: the sum.",
        "Write the four lines with the name X throughout, and X += nowhere: that would change the "
        "caller's matrix. Which of them takes norm_1, which norm_2?",
    ),
    notice="The arrow of the chapter is Python's =: each line takes the X of the line before. "
    "Everything that leaves the layer has passed a LayerNorm, the residual path included.",
)


@exercise.solution
def norm_after_layer(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    X = norm_1(X)
    X = X + mlp(X)
    return norm_2(X)


@exercise.right
def in_two_lines(X, attention, mlp, norm_1, norm_2):
    between = norm_1(X + attention(X))
    return norm_2(between + mlp(between))


@exercise.right
def by_loop(X, attention, mlp, norm_1, norm_2):
    for sublayer, norm in (attention, norm_1), (mlp, norm_2):
        X = norm(sublayer(X) + X)
    return X


@exercise.right
def token_by_token(X, attention, mlp, norm_1, norm_2):
    outputs = X.copy()
    attended = attention(X)
    for n in range(X.shape[1]):
        x = norm_1(X[:, [n]] + attended[:, [n]])
        outputs[:, [n]] = norm_2(x + mlp(x))
    return outputs


@exercise.wrong("before attention and before the MLP")
def pre_norm(X, attention, mlp, norm_1, norm_2):
    X = X + attention(norm_1(X))
    return X + mlp(norm_2(X))


@exercise.wrong("added after the normalization")
def residual_after_norm(X, attention, mlp, norm_1, norm_2):
    X = X + norm_1(attention(X))
    return X + norm_2(mlp(X))


@exercise.wrong("is added to the normalized rest")
def second_residual_after_norm(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return X + norm_2(mlp(X))


@exercise.wrong("Attention's result is normalized alone")
def first_residual_after_norm(X, attention, mlp, norm_1, norm_2):
    X = X + norm_1(attention(X))
    return norm_2(X + mlp(X))


@exercise.wrong("what attention and the MLP return is added to the normalized X")
def added_to_normalized(X, attention, mlp, norm_1, norm_2):
    X = attention(X) + norm_1(X)
    return mlp(X) + norm_2(X)


@exercise.wrong("added to the normalized X, after it was given to attention")
def normalized_first(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X)
    X = norm_2(X + attention(X))
    return X + mlp(X)


@exercise.wrong("is added twice")
def added_twice(X, attention, mlp, norm_1, norm_2):
    X = X + norm_1(X + attention(X))
    return X + norm_2(X + mlp(X))


@exercise.wrong("normalized one by one")
def summands_normalized(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X) + norm_1(attention(X))
    return norm_2(X) + norm_2(mlp(X))


@exercise.wrong("norm_1 stands in both places")
def first_norm_twice(X, attention, mlp, norm_1, norm_2):
    return norm_after_layer(X, attention, mlp, norm_1, norm_1)


@exercise.wrong("norm_2 stands in both places")
def second_norm_twice(X, attention, mlp, norm_1, norm_2):
    return norm_after_layer(X, attention, mlp, norm_2, norm_2)


@exercise.wrong("norm_1 and norm_2 are exchanged")
def norms_exchanged(X, attention, mlp, norm_1, norm_2):
    return norm_after_layer(X, attention, mlp, norm_2, norm_1)


@exercise.wrong("Nothing is added to anything")
def without_residuals(X, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(attention(X))))


@exercise.wrong("what is attention's result added to")
def without_first_residual(X, attention, mlp, norm_1, norm_2):
    X = norm_1(attention(X))
    return norm_2(X + mlp(X))


@exercise.wrong("what is the MLP's result added to")
def without_second_residual(X, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(X + attention(X))))


@exercise.wrong("added to the layer's input")
def second_residual_from_input(X, attention, mlp, norm_1, norm_2):
    return norm_2(X + mlp(norm_1(X + attention(X))))


@exercise.wrong("added to the sum before norm_1")
def second_residual_from_sum(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    return norm_2(X + mlp(norm_1(X)))


@exercise.wrong("which comes first")
def mlp_first(X, attention, mlp, norm_1, norm_2):
    return norm_after_layer(X, mlp, attention, norm_1, norm_2)


@exercise.wrong("what has it then learned from attention")
def side_by_side(X, attention, mlp, norm_1, norm_2):
    return norm_2(norm_1(X + attention(X)) + mlp(X))


@exercise.wrong("side by side")
def parallel(X, attention, mlp, norm_1, norm_2):
    return norm_2(norm_1(X + attention(X) + mlp(X)))


@exercise.wrong("side by side")
def parallel_with_first_norm(X, attention, mlp, norm_1, norm_2):
    return norm_1(X + attention(X) + mlp(X))


@exercise.wrong("side by side")
def parallel_with_second_norm(X, attention, mlp, norm_1, norm_2):
    return norm_2(X + attention(X) + mlp(X))


@exercise.wrong("side by side")
def parallel_halves(X, attention, mlp, norm_1, norm_2):
    return norm_1(X + attention(X)) + norm_2(X + mlp(X))


@exercise.wrong("Attention changes nothing")
def sum_forgotten(X, attention, mlp, norm_1, norm_2):
    X + attention(X)
    X = norm_1(X)
    X = X + mlp(X)
    return norm_2(X)


@exercise.wrong("The MLP changes nothing")
def second_sum_forgotten(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(X))
    X + mlp(X)
    return norm_2(X)


@exercise.wrong("nothing is normalized")
def without_norms(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    return X + mlp(X)


@exercise.wrong("after the second line's arrow")
def without_first_norm(X, attention, mlp, norm_1, norm_2):
    X = X + attention(X)
    return norm_2(X + mlp(X))


@exercise.wrong("the fourth line")
def without_second_norm(X, attention, mlp, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return X + mlp(X)


MISTAKES = {
    "Your layer normalizes before attention and before the MLP, which is the pre-norm layer. "
    "Where does LayerNorm stand in the chapter's four lines?": pre_norm,
    "X is added after the normalization, to norm(f(X)): does the chapter normalize what f returns, "
    "or the sum?": residual_after_norm,
    "The MLP's result is normalized alone and is added to the normalized rest: in the first half "
    "you normalized the sum; and in the second?": second_residual_after_norm,
    "Attention's result is normalized alone and then added to X: in the second half you normalized "
    "the sum; and in the first?": first_residual_after_norm,
    "In your layer what attention and the MLP return is added to the normalized X: does the norm "
    "take X alone, or the sum?": added_to_normalized,
    "Attention's result is added to the normalized X, after it was given to attention: does norm_1 "
    "act before attention, or after the addition?": normalized_first,
    "Your X is added twice, before the norm and once more after it: how often does X stand in the "
    "first line?": added_twice,
    "X and what is added to it are normalized one by one: is it the summands or the sum that goes "
    "through the norm?": summands_normalized,
    "Your norm_1 stands in both places: the two LayerNorms learn weights and biases of their own. "
    "Where does norm_2 belong?": first_norm_twice,
    "Your norm_2 stands in both places: the two LayerNorms learn weights and biases of their own. "
    "Where does norm_1 belong?": second_norm_twice,
    "Your norm_1 and norm_2 are exchanged: which of them follows attention?": norms_exchanged,
    "Nothing is added to anything: attention and MLP are residual networks; where does X come "
    "back?": without_residuals,
    "Attention's result goes on alone: in the first line, what is attention's result added to?": (
        without_first_residual
    ),
    "The MLP's result goes on alone: in the third line, what is the MLP's result added to?": (
        without_second_residual
    ),
    "The MLP's result is added to the layer's input: which X is it that stands in the third line, "
    "after two arrows?": second_residual_from_input,
    "The MLP's result is added to the sum before norm_1: which X is it that stands in the third "
    "line, after the second arrow?": second_residual_from_sum,
    "Attention changes nothing in your layer: is the first line's sum left out, or was it computed "
    "and never given a name?": sum_forgotten,
    "The MLP changes nothing in your layer: is the third line's sum left out, or was it computed "
    "and never given a name?": second_sum_forgotten,
    "The MLP acts before attention: in the four lines, which comes first?": mlp_first,
    "The MLP is given the layer's input: what has it then learned from attention?": side_by_side,
    "Attention and MLP work side by side on the layer's input: in the third line, what does the "
    "MLP get?": (
        parallel,
        parallel_with_first_norm,
        parallel_with_second_norm,
        parallel_halves,
    ),
    "In your layer nothing is normalized: what are the second and the fourth line?": without_norms,
    "Your norm_1 does not act: what becomes of X after the second line's arrow, and was the result "
    "given a name?": (without_first_norm),
    "Your norm_2 does not act: what is the fourth line?": without_second_norm,
}


@exercise.check
def check(answer):
    check_layer(answer, norm_after_layer, MISTAKES)


exercise.equivalent(
    "X is a new matrix there, no longer the caller's",
    "norm_after_layer: * → X = in_place('add', X, mlp(X))",
)
exercise.equivalent(
    "X and its copies are alike there",
    "token_by_token: * → attended = attention(outputs)",
    "token_by_token: * → *range(*.shape[1]):",
    "token_by_token: * → x = norm_1(outputs[:, [n]] + attended[:, [n]])",
)
