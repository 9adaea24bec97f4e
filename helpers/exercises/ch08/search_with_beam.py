"""Exercise 8.7, Beam search, with a fair comparison of lengths."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import matches
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "8.7",
    "Beam search, with a fair comparison of lengths",
    stars=3,
    stub='''\
def search_with_beam(log_probabilities, width, longest, end, alpha):
    """The best finished text that a beam finds.

    log_probabilities: a function from the tokens so far, a tuple, () at first, to the logarithms
    of the probabilities of the next token, (V,); −∞ for a token that cannot come.
    width: how many beginnings are kept, at least 1; there may be fewer to keep.
    longest: how many tokens a text may have, the end counted, at least 1.
    end: the number of the token that finishes a text.
    alpha: the score of a finished text is its log probability divided by length ** alpha, where
    its length counts all its tokens, the end too; 0 or larger.
    In each step every beginning in the beam is extended by every token. Extensions by `end` are
    finished: they are set aside, whatever their probability, take no place in the beam, and are
    never extended again. Of all other extensions together, the `width` with the largest log
    probabilities are the next beam. What is not finished after `longest` steps does not count.
    Returns (score, tokens) of the finished text with the largest score, tokens as a tuple with the
    end; None if no finished text has a probability above 0.
    """
    return ...  # your code here
''',
    hints=(
        "Keep a beginning as a pair: its log probability so far and its tokens. The first beam has "
        "one beginning, without any token. What is its log probability?",
        "In a step, collect the extensions of all beginnings in one list before you cut it down to "
        "the best. Which extensions go there, and which go to the finished texts?",
        "sorted(pairs, reverse=True)[:width] keeps the best, also when there are fewer than width. "
        "Beginnings in one beam are equally long, so dividing by a length would change nothing "
        "among them.",
        "A finished text is compared by its score: total / len(tokens) ** alpha, with the end "
        "among the tokens. Replace the best one only by a larger score, and begin with −∞.",
    ),
    notice="With alpha = 0 short texts win, because each further token costs. With alpha = 1 the "
    "score is the mean log probability of a token; translators often take a value between the two. "
    "And with alpha above 0, a beginning must not be given up because a finished text is more "
    "probable: it can still win.",
)


@exercise.solution
def search_with_beam(log_probabilities, width, longest, end, alpha):
    beam, best, best_score = [(0.0, ())], None, -np.inf
    for _ in range(longest):
        grown = []
        for total, tokens in beam:
            for token, log in enumerate(log_probabilities(tokens)):
                text = (total + log, (*tokens, token))
                if token != end:
                    grown.append(text)
                elif text[0] / len(text[1]) ** alpha > best_score:
                    best_score = text[0] / len(text[1]) ** alpha
                    best = (best_score, text[1])
        beam = sorted(grown, reverse=True)[:width]
    return best


@exercise.right
def by_dict(log_probabilities, width, longest, end, alpha):
    beam, finished = {(): 0.0}, {}
    for length in range(1, longest + 1):
        grown = {
            (*tokens, token): total + log
            for tokens, total in beam.items()
            for token, log in enumerate(log_probabilities(tokens))
            if log > -np.inf
        }
        for text in [text for text in grown if text[-1] == end]:
            finished[text] = grown.pop(text) / length**alpha
        kept = sorted(grown, key=grown.get)[-width:]
        beam = {text: grown[text] for text in kept}
    if finished:
        best = max(finished, key=finished.get)
        return finished[best], best


@exercise.right
def by_matrix(log_probabilities, width, longest, end, alpha):
    texts, totals, found = [()], np.zeros(1), []
    for _ in range(longest):
        grown = totals[:, None] + np.array([log_probabilities(text) for text in texts])
        V = grown.shape[1]
        for text, total in zip(texts, grown[:, end], strict=True):
            found.append((total / (len(text) + 1) ** alpha, (*text, end)))
        grown[:, end] = -np.inf
        best = [n for n in np.argsort(-grown, axis=None)[:width] if grown.flat[n] > -np.inf]
        if not best:
            break
        texts, totals = [(*texts[n // V], n % V) for n in best], grown.flat[best]
    return max(found) if max(found)[0] > -np.inf else None


@exercise.right
def by_recursion(log_probabilities, width, longest, end, alpha):
    def finished_by(beam, length):
        grown = [
            (total + log, (*tokens, token))
            for total, tokens in beam
            for token, log in enumerate(log_probabilities(tokens))
            if log > -np.inf
        ]
        grown.sort(reverse=True)
        found = [(total / length**alpha, tokens) for total, tokens in grown if tokens[-1] == end]
        if length < longest:
            going_on = [text for text in grown if text[1][-1] != end]
            found += finished_by(going_on[:width], length + 1)
        return found

    return max(finished_by([(0.0, ())], 1), default=None)


def score_of(total, length, alpha):
    return total / length**alpha


def search(log_probabilities, width, longest, end, alpha, **slip):
    """The right search, or one with slips.

    grow: function of total and log. take: the next beam, of all extensions that are not finished
    and of those that are. finish: function of the finished texts of a step, to those that count.
    score: of total, length, alpha. steps: how many more. last: whether what is unfinished counts.
    per_beginning: each has `width` extensions. forget: only the finished texts of the last step
    count. stop: whether to stop once something has finished.
    """
    grow = slip.get("grow", lambda total, log: total + log)
    take = slip.get("take", lambda going, ended: sorted(going, reverse=True)[:width])
    beam, finished = [(0.0, ())], []
    for _ in range(longest + slip.get("steps", 0)):
        extensions = [
            [(grow(t, log), (*tokens, n)) for n, log in enumerate(log_probabilities(tokens))]
            for t, tokens in beam
        ]
        if slip.get("per_beginning"):
            extensions = [sorted(some, reverse=True)[:width] for some in extensions]
        grown = [text for some in extensions for text in some if text[0] > -np.inf]
        going = [text for text in grown if text[1][-1] != end]
        ended = [text for text in grown if text[1][-1] == end]
        if slip.get("forget"):
            finished = []
        finished += slip.get("finish", lambda ended, going: ended)(ended, going)
        beam = take(going, ended)
        if not beam or (slip.get("stop") and finished):
            break
    if slip.get("last"):
        finished += beam
    score = slip.get("score", score_of)
    by = slip.get("by", score)
    with np.errstate(all="ignore"):
        scored = [(by(t, len(x), alpha), score(t, len(x), alpha), x) for t, x in finished]
    return max(scored)[1:] if scored else None


def with_slip(**slip):
    """A wrong answer: search with slips."""
    return lambda *inputs: search(*inputs, **slip)


def best_of_all(log_probabilities, width, longest, end, alpha):
    return search(log_probabilities, 10**9, longest, end, alpha)


def greedy(log_probabilities, width, longest, end, alpha):
    """The most probable token, until it is the end."""
    total, tokens = 0.0, ()
    for _ in range(longest):
        logs = log_probabilities(tokens)
        total, tokens = total + max(logs), (*tokens, int(np.argmax(logs)))
        if tokens[-1] == end:
            return score_of(total, len(tokens), alpha), tokens


def among_the_best(log_probabilities, width, longest, end, alpha, *, stays=False):
    """Finished extensions take places in the beam; they count if they get one.

    stays: they hold it, until better ones come, and count if they are there at the end.
    """
    beam, finished = [(0.0, ())], []
    for _ in range(longest):
        held = [text for text in beam if text[1] and text[1][-1] == end]
        grown = [
            (total + log, (*tokens, token))
            for total, tokens in beam
            if (total, tokens) not in held
            for token, log in enumerate(log_probabilities(tokens))
            if log > -np.inf
        ]
        beam = sorted(grown + held, reverse=True)[:width]
        ended = [text for text in beam if text[1][-1] == end]
        finished = ended if stays else finished + ended
        beam = beam if stays else [text for text in beam if text not in ended]
    scored = [(score_of(total, len(tokens), alpha), tokens) for total, tokens in finished]
    return max(scored, default=None)


def never_ending(log_probabilities, width, longest, end, alpha):
    """The end is a token like any other."""
    beam = [(0.0, ())]
    for _ in range(longest):
        grown = [
            (total + log, (*tokens, token))
            for total, tokens in beam
            for token, log in enumerate(log_probabilities(tokens))
        ]
        beam = sorted(grown, reverse=True)[:width]
    total, tokens = beam[0]
    return (score_of(total, len(tokens), alpha), tokens) if total > -np.inf else None


def ended_and_extended(log_probabilities, width, longest, end, alpha):
    """Finished texts count, and are extended nevertheless."""
    return search(
        *(log_probabilities, width, longest, end, alpha),
        take=lambda going, ended: sorted(going + ended, reverse=True)[:width],
    )


def given_up(log_probabilities, width, longest, end, alpha):
    """Beginnings that are less probable than the best finished text are given up."""
    best = [-np.inf]

    def take(going, ended):
        best.append(max([best[-1], *(total for total, _ in ended)]))
        return sorted((text for text in going if text[0] > best[-1]), reverse=True)[:width]

    return search(log_probabilities, width, longest, end, alpha, take=take)


def given_up_by_score(log_probabilities, width, longest, end, alpha):
    """Beginnings whose score, as if they were finished, is below the best finished one's."""
    best = [-np.inf]

    def take(going, ended):
        best.append(max([best[-1], *(score_of(total, len(x), alpha) for total, x in ended)]))
        left = (text for text in going if score_of(text[0], len(text[1]), alpha) > best[-1])
        return sorted(left, reverse=True)[:width]

    return search(log_probabilities, width, longest, end, alpha, take=take)


def without_end(*inputs):
    found = search_with_beam(*inputs)
    return found and (found[0], found[1][:-1])


# The question to ask, and the wrong answer
MISTAKES = {
    "Your score is the log probability, whatever alpha is: where is the length?": with_slip(
        score=lambda total, length, alpha: total
    ),
    "Your length leaves out the end: how many tokens has a text that is only the end?": with_slip(
        score=lambda total, length, alpha: (
            np.float64(total) / (length - 1) ** alpha if length > 1 or alpha == 0 else -np.inf
        )
    ),
    "Your length counts one token too many: is there a token before the first?": with_slip(
        score=lambda total, length, alpha: total / (length + 1) ** alpha
    ),
    "Your log probability is multiplied by length ** alpha: is that of long texts to become larger "
    "or smaller in size?": with_slip(score=lambda total, length, alpha: total * length**alpha),
    "Your score is the mean of the log probabilities, whatever alpha is: what is the power of the "
    "length?": with_slip(score=lambda total, length, alpha: total / length),
    "Your log probability is divided by alpha times the length: what does ** do?": with_slip(
        score=lambda total, length, alpha: (
            total / (length * alpha) if alpha else total / np.float64(1e-300)
        )
    ),
    "The log probability and the length are raised to the power together: what is divided by "
    "length ** alpha?": with_slip(score=lambda total, length, alpha: -((-total / length) ** alpha)),
    "The best text is the right one, and its log probability is returned: which score?": with_slip(
        by=score_of, score=lambda total, length, alpha: total
    ),
    "The most probable finished text is returned, with its score: has another a better score?": (
        with_slip(by=lambda total, length, alpha: total)
    ),
    "Your search is greedy, one token after the other: how many beginnings are kept?": greedy,
    "Your beam has one place, whatever the width is: how many beginnings are kept?": (
        lambda logs, width, *others: search(logs, 1, *others)
    ),
    "Your beam has one place too few: how many does [:width] keep?": (
        lambda logs, width, *others: search(logs, width - 1, *others)
    ),
    "Your beam has one place too many: how many does [:width] keep?": (
        lambda logs, width, *others: search(logs, width + 1, *others)
    ),
    "Your beam is too wide, or nothing is given up at all: how many beginnings are kept?": (
        best_of_all
    ),
    "In yours each beginning keeps its own `width` best extensions: should not all extensions "
    "compete together?": with_slip(
        per_beginning=True, take=lambda going, ended: going, finish=lambda ended, going: ended
    ),
    "The least probable extensions are kept: in which order does sorted list them?": (
        lambda logs, width, *others: search(
            logs, width, *others, take=lambda going, ended: sorted(going)[:width]
        )
    ),
    "Finished texts take places in your beam, and count only if they get one: what is asked for?": (
        among_the_best
    ),
    "Finished texts stay in your beam and take places there: where are they to be put?": (
        lambda *inputs: among_the_best(*inputs, stays=True)
    ),
    "The end is a token like any other in yours: what happens to a text that is finished?": (
        never_ending
    ),
    "Finished texts are extended again in yours: what comes after the end?": ended_and_extended,
    "Your search stops with the first text that is finished: can a later one not be better?": (
        with_slip(stop=True)
    ),
    "Only texts that are finished in the last step count in yours: where have the earlier ones "
    "gone?": with_slip(forget=True),
    "Yours also counts what has no end after the last step: which texts are finished?": with_slip(
        last=True
    ),
    "Your search ends one step early: how many tokens may a text have?": with_slip(steps=-1),
    "Your search makes one step too many: how many tokens may a text have, the end counted?": (
        with_slip(steps=1)
    ),
    "The log probability of a text is only that of its last token in yours: what is the logarithm "
    "of a product?": with_slip(grow=lambda total, log: log),
    "The log probabilities are multiplied: what is the logarithm of a product?": with_slip(
        grow=lambda total, log: -abs((total or 1) * log)
    ),
    "Your text has lost its end: what do the tokens of a finished text end with?": without_end,
    "Beginnings are given up in yours that could still win: with alpha above 0, can the score of a "
    "text not rise as it grows?": (given_up, given_up_by_score),
    "A finished text counts in yours only if it is more probable than all that goes on: which "
    "finished texts are set aside?": with_slip(
        finish=lambda ended, going: [text for text in ended if text >= max(going, default=text)]
    ),
    "Only the most probable beginning is ever finished in yours: which extensions by the end are "
    "set aside?": with_slip(finish=lambda ended, going: ended[:1]),
    "Your result is the worst finished text: is a larger score better or worse?": with_slip(
        by=lambda total, length, alpha: -score_of(total, length, alpha)
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("there is no text to return")
def nothing_as_a_pair(*inputs):
    return search_with_beam(*inputs) or (-np.inf, ())


@exercise.wrong("there is no text to return")
def impossible_text(log_probabilities, width, longest, end, alpha):
    found = search_with_beam(log_probabilities, width, longest, end, alpha)
    return found or (-np.inf, (end,))


@exercise.wrong("A pair is expected")
def tokens_alone(*inputs):
    found = search_with_beam(*inputs)
    return found and found[1]


@exercise.wrong("came in another order")
def other_order(*inputs):
    found = search_with_beam(*inputs)
    return found and found[::-1]


@exercise.wrong("A pair is expected")
def all_finished(log_probabilities, width, longest, end, alpha):
    found = search_with_beam(log_probabilities, width, longest, end, alpha)
    return found and [found, found, found]


@exercise.wrong("fewer extensions than the width")
def partitioned(log_probabilities, width, longest, end, alpha):
    def take(going, ended):
        best = np.argpartition([-total for total, _ in going], width - 1)[:width]
        return [going[n] for n in best]

    return search(log_probabilities, width, longest, end, alpha, take=take)


@exercise.wrong("where there is none")
def largest_of_nothing(log_probabilities, width, longest, end, alpha):
    found = search_with_beam(log_probabilities, width, longest, end, alpha)
    return max([found] if found else [])


class Language:
    """Random log probabilities of the next of V tokens after any tokens; some cannot come.

    table: the probabilities after each token, by the last one, or after none, by None.
    """

    def __init__(self, table=None, seed=0, V=3, impossible=0.0, end=None, late=0):
        self.table = table
        self.made = (seed, V, impossible, end, late)
        self._known = {}

    def __call__(self, tokens):
        tokens = tuple(int(token) for token in tokens)
        if tokens not in self._known:
            self._known[tokens] = self._probabilities(tokens)
        with np.errstate(divide="ignore"):
            return np.log(self._known[tokens])

    def _probabilities(self, tokens):
        if self.table is not None:
            return np.array(self.table.get(tokens[-1] if tokens else None, self.table[None]))
        seed, V, impossible, end, late = self.made
        rng = np.random.default_rng([seed, len(tokens), *tokens])
        weights = rng.dirichlet(np.full(V, 0.7)) + 0.01
        weights[rng.random(V) < impossible] = 0
        if len(tokens) < late:
            weights[end] = 0
        return weights / (weights.sum() or 1)

    def __deepcopy__(self, memo):  # as of a function, whose copy it is itself
        return self

    def __repr__(self):
        if self.table is not None:
            return f"log of the next token's probabilities, by the last token: {self.table}"
        return f"log probabilities of {self.made[1]} tokens, random (seed {self.made[0]})"


# Two words, 0 and 1, and the end, 2: greedy goes wrong, and so does a beam of one.
WORDS = {None: [0.5, 0.4, 0.1], 0: [0.3, 0.45, 0.25], 1: [0.05, 0.15, 0.8]}


def cases():
    """Inputs: the small language, then random ones of many kinds."""
    for width, longest, alpha in (1, 5, 0.0), (2, 4, 0.5), (1, 4, 1.0), (2, 4, 2.0):
        yield Language(WORDS), width, longest, 2, alpha
    rng = np.random.default_rng(87)
    for seed in range(30):
        V, width = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        end, longest = int(rng.integers(V)), int(rng.integers(2, 7))
        language = Language(None, seed, V, (0.0, 0.25)[seed % 2], end, (0, 0, 2)[seed % 3])
        yield language, width, longest, end, (0.0, 0.5, 0.75, 1.0, 1.5)[seed % 5]


def special_cases():
    """Inputs: wide beams, texts that are the end alone, and languages without any end."""
    for V, width, longest, alpha in (2, 9, 4, 1.0), (3, 50, 4, 0.6), (4, 7, 1, 1.0), (1, 3, 3, 0.5):
        yield Language(None, V, V), width, longest, 0, alpha
    same_language = Language(None, 107, 4)  # with one input changed at a time
    for width, longest, end in (2, 4, 0), (1, 4, 0), (2, 2, 0), (2, 4, 1):
        yield same_language, width, longest, end, 1.5
    yield Language({None: [0.5, 0.5, 0], 0: [0.25, 0.75, 0], 1: [1.0, 0, 0]}), 2, 4, 2, 1.0
    yield Language({None: [1.0, 0], 0: [1.0, 0]}), 3, 3, 1, 0.0


ERRORS = {
    "kth(=": "It stops where there are fewer extensions than the width: what does a slice [:width] "
    "of a sorted list do then?",
    "empty": "It looks for the largest where there is none: what does it do if no text is "
    "finished, or no beginning is left?",
}


@exercise.check
def check(answer):
    for examples in [*cases()], [*special_cases()]:
        found = [pair(run(answer, *inputs, errors=ERRORS), inputs) for inputs in examples]
        expected = [search_with_beam(*inputs) for inputs in examples]
        if all(map(alike, found, expected)):
            continue
        n = [*map(alike, found, expected)].index(False)
        answer(*examples[n])  # so that its inputs are shown
        for question, wrong in MISTAKES.items():
            mistaken = (results({question: wrong}, *inputs)[question][0] for inputs in examples)
            if all(map(alike, found, mistaken)):
                raise Wrong(question, expected[n], found[n])
        look_into(found[n], expected[n], examples[n])


def alike(got, expected):
    """Whether both are the same text with the same score, or None."""
    if got is None or expected is None:
        return got is expected
    return got[1] == expected[1] and matches(got[0], expected[0])


def pair(got, inputs):
    """The result as (score, tokens), or None; or Wrong."""
    if got is None:
        return None
    expected = search_with_beam(*inputs)
    if isinstance(got, (tuple, list)) and len(got) == 2:
        score, tokens = got
        if np.ndim(score) and not np.ndim(tokens):
            raise Wrong("The results came in another order: first the score, then the tokens.")
        try:
            tokens = tuple(int(token) for token in tokens)
            score = float(score)
        except (TypeError, ValueError):
            tokens = None
        if tokens is not None:
            return score, tokens
    raise Wrong(f"A pair is expected, (score, tokens), or None; got {kind(got)}.", expected, got)


def look_into(got, expected, inputs):
    """Raise Wrong for a result that no known mistake leads to, with what is wrong about it."""
    log_probabilities, width, longest, end, alpha = inputs
    if got is None:
        raise Wrong(
            "Yours is None, and there is a finished text: what has become of it?", expected, got
        )
    if expected is None:
        raise Wrong(
            "No text can be finished here, and there is no text to return: what does the stub ask "
            "for then?"
        )
    score, tokens = got
    if not tokens or tokens[-1] != end or end in tokens[:-1] or len(tokens) > longest:
        raise Wrong(
            f"Your text {tokens} is not a finished one: it must have at most {longest} tokens, the "
            f"last of them, and no other, the end, {end}.",
            expected,
            got,
        )
    total = sum(log_probabilities(tokens[:n])[token] for n, token in enumerate(tokens))
    right = score_of(total, len(tokens), alpha)
    if not matches(score, right):
        raise Wrong(
            f"Your text of length {len(tokens)} has the log probability {total:.4g}; with "
            f"alpha = {alpha} its score is {right:.4g}, and yours is {score:.4g}.",
            expected,
            got,
        )
    better = "larger" if expected[0] > score else "smaller"
    raise Wrong(
        f"A beam of {width} finds a text with a {better} score than yours: which extensions are "
        "kept in a step, and which finished texts are compared?",
        expected,
        got,
    )


exercise.equivalent(
    "a text is a pair",
    "search_with_beam: * → *text[-1]*",
    "by_recursion: * → *text[-1][-1]*",
)
exercise.equivalent(
    "NumPy adds a list as it adds an array",
    "by_matrix: * → grown = totals[:, None] + [log_probabilities(text) for text in texts]",
)
exercise.equivalent(
    "there are as many rows as texts, and what cannot come may stay in the beam",
    "by_matrix: * → for text, total in zip(texts, grown[:, end]):",
    "by_matrix: * → for text, total in zip(texts, grown[:, end], strict=False):",
    "by_matrix: * → grown[:, end] += -np.inf",
    "by_matrix: * → best = [*grown.flat[n] >= -np.inf]",
)
