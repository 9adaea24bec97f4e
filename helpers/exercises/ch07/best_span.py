"""Exercise 7.8, The best span."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import unchanged
from helpers.exercises.shared.mistakes import register

exercise = Exercise(
    "7.8",
    "The best span",
    stars=2,
    stub='''\
def best_span(start, end, allowed, longest):
    """The answer to a question: of all possible spans of tokens, the one with the largest score.

    start, end: shape (N,), for each token the score for being the first token of the answer, and
    the score for being its last. The score of a span is their sum, start[first] + end[last].
    allowed: shape (N,), truth values, False for <cls>, <sep>, the question and padding. All tokens
    of a span, from first to last, must be allowed.
    longest: how many tokens an answer may have at most, at least 1.
    Of several spans with the largest score it is the one that begins first, and of these the
    shortest.
    Returns (first, last), two whole numbers with first ≤ last; None if no token is allowed.
    """
    return ...  # your code here
''',
    hints=(
        "Try every first token, and for each of them every last token that is possible. Which last "
        "tokens are that, if an answer of one token has first = last?",
        "Going on from a first token, there are two reasons to stop: the span would be too long, "
        "or the next token is not allowed. Is a token after that worth a look?",
        "Keep the best score so far, at the beginning -infinity, and what it was found for. "
        "Replace it only by a score that is larger: so of equals the first one found stays.",
    ),
    notice="With softmax on top, start + end is the logarithm of a product of two probabilities, "
    "up to a constant: the head treats both ends as independent of each other, and the rules are "
    "what makes a span of them.",
)


@exercise.solution
def best_span(start, end, allowed, longest):
    best, found = -np.inf, None
    for first in range(len(start)):
        for last in range(first, min(first + longest, len(start))):
            if not allowed[last]:
                break
            if start[first] + end[last] > best:
                best, found = start[first] + end[last], (first, last)
    return found


@exercise.right
def by_matrix(start, end, allowed, longest):
    N = len(start)
    scores = start[:, None] + end  # first × last
    firsts, lasts = np.indices((N, N))
    blocked = np.cumsum(~allowed)  # up to each place, how many are not allowed
    inside = allowed[:, None] & (blocked[:, None] == blocked)
    possible = inside & (firsts <= lasts) & (lasts - firsts < longest)
    if not possible.any():
        return None
    best = np.where(possible, scores, -np.inf).argmax()  # the first of equals, row by row
    return np.unravel_index(best, (N, N))


@exercise.right
def by_triangles(start, end, allowed, longest):
    N = len(start)
    possible = np.triu(np.tril(np.ones((N, N)), longest - 1))
    for place in np.flatnonzero(~allowed):
        possible[: place + 1, place:] = 0
    spans = np.argwhere(possible)
    if len(spans):
        return spans[np.argmax(start[spans[:, 0]] + end[spans[:, 1]])]


@exercise.right
def by_key(start, end, allowed, longest):
    spans = [
        (-(start[first] + end[first + more]), first, first + more)
        for first in range(len(start))
        for more in range(longest)
        if first + more < len(start) and all(allowed[first : first + more + 1])
    ]
    return min(spans)[1:] if spans else None


def search(start, end, allowed, longest, *, possible=None, score=lambda s, e: s + e, late=False):
    """The best span of all pairs for which possible(first, last) is true."""
    N = len(start)
    if possible is None:
        possible = rules(allowed, longest)
    best, found = -np.inf, None
    for first in range(N):
        for last in range(N):
            value = score(start[first], end[last])
            if possible(first, last) and (value > best or (late and value == best)):
                best, found = value, (first, last)
    return found


def rules(allowed, longest, *, order=0, more=0, between=True, ends=True):
    """possible(first, last) by the right rules, or by others."""

    def possible(first, last):
        if last - first < order or last - first >= longest + more:
            return False
        if between and not all(allowed[first : last + 1]):
            return False
        return not ends or bool(allowed[first] and allowed[last])

    return possible


def by_rules(**slip):
    """The best span, by rules with a slip."""
    return lambda start, end, allowed, longest: search(
        start, end, allowed, longest, possible=rules(allowed, longest, **slip)
    )


def independent(start, end, allowed, longest):
    """The best first and the best last, each for itself."""
    if allowed.any():
        return tuple(int(np.where(allowed, s, -np.inf).argmax()) for s in (start, end))


def first_then_last(start, end, allowed, longest):
    """The best first, and then the best last for it."""
    if allowed.any():
        first = int(np.where(allowed, start, -np.inf).argmax())
        only = np.where(np.arange(len(start)) == first, start, -np.inf)
        return search(only, end, allowed, longest)


def last_then_first(start, end, allowed, longest):
    """The best last, and then the best first for it."""
    if allowed.any():
        last = int(np.where(allowed, end, -np.inf).argmax())
        only = np.where(np.arange(len(end)) == last, end, -np.inf)
        return search(start, only, allowed, longest)


def allowed_alone(start, end, allowed, longest):
    """The best span of the allowed tokens, counted without the others."""
    return best_span(start[allowed], end[allowed], allowed[allowed], longest)


# The question to ask, and the wrong answer
MISTAKES = {
    "The two best scores, each for itself, do not make the best span: which pairs of first and "
    "last are possible at all?": independent,
    "Your span has the best first token of all, and the best last for it: may another pair have a "
    "larger sum?": first_then_last,
    "Your span has the best last token of all, and the best first for it: may another pair have a "
    "larger sum?": last_then_first,
    "Your answer ends before it begins: which last tokens are possible for a first one?": by_rules(
        order=-1000
    ),
    "No span of one token is among yours: when is first = last?": by_rules(order=1),
    "Your span is in what is not allowed, the question, padding or a special token: which tokens "
    "may an answer consist of?": by_rules(between=False, ends=False),
    "Both ends of your span are allowed, and a token between them is not: what must be asked of "
    "the tokens inside?": by_rules(between=False),
    "Your span is longer than an answer may be: what is the largest number of tokens?": by_rules(
        more=1000
    ),
    "Your span is one token too long: how many tokens are there from first to last, both "
    "included?": by_rules(more=1),
    "Spans of the largest length are not among yours: how many tokens are there from first to "
    "last, both included?": by_rules(more=-1),
    "Your last is the place after the answer, and here both belong to it: which score stands at "
    "end[last]?": lambda *inputs: (
        (found[0], found[1] + 1) if (found := best_span(*inputs)) else None
    ),
    "Your places are counted among the allowed tokens alone: which number has the first token of "
    "the answer among all N?": allowed_alone,
    "Start and end scores are exchanged: which of the two belongs to the first token?": (
        lambda start, end, allowed, longest: best_span(end, start, allowed, longest)
    ),
    "The scores are multiplied, and two that are below 0 make a large product: what is the score "
    "of a span?": lambda *inputs: search(*inputs, score=lambda s, e: s * e),
    "Your span has the largest score at its first token, and its last counts for nothing: what is "
    "the score of a span?": lambda *inputs: search(*inputs, score=lambda s, e: s),
    "Your span has the largest score at its last token, and its first counts for nothing: what is "
    "the score of a span?": lambda *inputs: search(*inputs, score=lambda s, e: e),
    "The score at last is subtracted: what is the score of a span?": lambda *inputs: search(
        *inputs, score=lambda s, e: s - e
    ),
    "Your span has the smallest score of all: what does a large score say?": lambda *inputs: search(
        *inputs, score=lambda s, e: -s - e
    ),
    "Of spans with equal scores yours is the last one found: which one is asked for?": (
        lambda *inputs: search(*inputs, late=True)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("no token is allowed, and nothing can be the answer")
def first_of_nothing(start, end, allowed, longest):
    return best_span(start, end, allowed, longest) or (0, 0)


@exercise.wrong("None, although there is an answer")
def negative_refused(start, end, allowed, longest):
    found = best_span(start, end, allowed, longest)
    return found if found and start[found[0]] + end[found[1]] > 0 else None


@exercise.wrong("Two whole numbers are expected")
def score_alone(start, end, allowed, longest):
    first, last = best_span(start, end, allowed, longest)
    return start[first] + end[last]


@exercise.wrong("Two whole numbers are expected")
def with_score(start, end, allowed, longest):
    first, last = best_span(start, end, allowed, longest)
    return first, last, start[first] + end[last]


@exercise.wrong("is a larger score")
def sum_of_all(start, end, allowed, longest):
    sums = np.cumsum(start + end)
    return best_span(-np.roll(sums, 1), sums, allowed, longest)


@exercise.wrong("in place")
def in_place(start, end, allowed, longest):
    start[~allowed] = -np.inf
    return best_span(start, end, allowed, longest)


def pair(got, inputs):
    """The result as (first, last), whole numbers, or None; or Wrong."""
    if got is None:
        return None
    values = got.tolist() if hasattr(got, "tolist") else got
    if isinstance(values, (list, tuple)) and len(values) == 2:
        try:
            whole = [int(value) for value in values]
        except (TypeError, ValueError, OverflowError):
            whole = None
        if whole == [*values]:
            return tuple(whole)
    raise Wrong(
        f"Two whole numbers are expected, (first, last), or None; got {kind(got)}.",
        best_span(*inputs),
        got,
    )


def check_rules(got, inputs):
    """Raise Wrong for a span that is not the best, with the rule that it breaks."""
    start, end, allowed, longest = inputs
    expected, N = best_span(*inputs), len(start)
    if expected is None:
        question = "Here no token is allowed, and nothing can be the answer: what is returned then?"
    elif got is None:
        question = (
            "You return None, although there is an answer: with which score does the search begin?"
        )
    elif not (0 <= got[0] < N and 0 <= got[1] < N):
        question = f"Of the {N} tokens, counted from 0, none has such a number: where do you stop?"
    elif got[0] > got[1]:
        question = (
            "Your answer ends before it begins: which last tokens are possible for a first one?"
        )
    elif not allowed[got[0] : got[1] + 1].all():
        question = "Your span has a token that is not allowed: which tokens do you look at?"
    elif got[1] - got[0] >= longest:
        question = (
            f"Your span has {got[1] - got[0] + 1} tokens and may have {longest}: how many are "
            "there from first to last, both included?"
        )
    else:
        ours, best = (start[first] + end[last] for first, last in (got, expected))
        question = (
            "Another span is as good, and begins earlier or is shorter: which one is asked for?"
            if ours == best
            else f"Your span has the score {ours:.3g}, and there is a larger score, {best:.3g}: "
            "which pairs of first and last do you look at?"
        )
    raise Wrong(question, expected, got)


@exercise.check
def check(answer):
    examples = sorted(cases(np.random.default_rng(76)), key=lambda inputs: len(inputs[0]))
    results = []
    for inputs in examples:
        results.append(pair(unchanged(answer, *inputs), inputs))
    expected = [best_span(*inputs) for inputs in examples]
    if results == expected:
        return
    n = next(n for n, result in enumerate(results) if result != expected[n])
    answer(*examples[n])  # so that these are the inputs that are shown
    for question, wrong in MISTAKES.items():
        if results == [wrong(*inputs) for inputs in examples]:
            raise Wrong(question, expected[n], results[n])
    check_rules(results[n], examples[n])


def cases(rng):
    """Inputs of all kinds: a question, <sep>, a text, perhaps in two parts, and padding."""
    for question, text, padding, longest in (
        *((2, 5, 1, 2), (3, 9, 0, 3), (1, 12, 2, 4), (4, 8, 3, 1), (2, 6, 2, 9), (5, 14, 1, 5)),
        *((0, 7, 0, 3), (3, 9, 2, 30), (1, 1, 1, 2), (2, 9, 1, 3), (2, 9, 1, 3)),
    ):
        allowed = np.array([False] * (question + 2) + [True] * text + [False] * (padding + 1))
        if text > 6:
            allowed[question + 2 + text // 2] = False  # a <sep> between two parts
        yield *rng.normal(size=(2, len(allowed))), allowed, longest
    for _ in range(20):
        N = int(rng.integers(1, 9))
        yield *rng.normal(size=(2, N)), rng.random(N) < 0.8, int(rng.integers(1, 5))
    for _ in range(20):  # scores with many equals
        N = int(rng.integers(3, 9))
        start, end = rng.integers(-2, 1, size=(2, N)).astype(float)
        yield start, end, rng.random(N) < 0.8, int(rng.integers(1, 5))
    yield *rng.normal(size=(2, 4)), np.zeros(4, dtype=bool), 2
    yield *rng.normal(size=(2, 1)) - 9, np.ones(1, dtype=bool), 1


exercise.equivalent(
    "start, end and allowed have the same length",
    "*: * → *len(allowed)*",
    "*: * → *len(end)*",
    "*: * → *len(whole(start))*",
)
exercise.equivalent("no span begins after the end", "*: * → *for first in range(len(start) + 1)*")
exercise.equivalent(
    "of two numbers the smaller, whichever comes first",
    "best_span: for last in * → for last in range(first, min(len(start), first + longest)):",
)
exercise.equivalent(
    "a token that is allowed is a span",
    "by_matrix: if * → if not allowed.any():",
    "by_matrix: if * → if not inside.any():",
    "by_matrix: if * → if not turned(possible).any():",
)
exercise.equivalent("a span has two numbers", "by_triangles: return * → *end[spans[:, -1]])]")
