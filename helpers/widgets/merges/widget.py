"""Byte pair encoding step by step: the text as tokens, its pairs, and the pair that is merged."""

from collections import Counter

import numpy as np
import traitlets

from helpers.widgets.shared.boxes import hue, token_text
from helpers.widgets.shared.given import as_list, function
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.text import split_words

__all__ = ["Merges", "MergesWidget", "explore_merges"]

MOST_STEPS = 100
MOST_WORDS = 80
MOST_PAIRS = 10
MOST_TOKENS = 60
MOST_ROWS = 30  # for a reader without a kernel


class Merges:
    """How pairs of tokens of a text are merged, step by step: what `explore_merges` draws.

    steps: one for the text before each merge, and one for the text at the end; each a triple of
           words:  the text, a list of words, each of which is a list of tokens;
           counts: (left, right) -> how often this pair of tokens is found;
           pair:   the pair that is merged next; None at the end.
    Raises ValueError, with what was wrong, if the words do not spell the same text at each step, if
    a pair is not among the counts, and for anything else that cannot be drawn.
    """

    def __init__(self, steps):
        steps = as_list(steps, "The steps")
        self.steps = [Step(step, number, len(steps)) for number, step in enumerate(steps)]
        if not self.steps:
            raise ValueError("There should be at least one step.")
        for step in self.steps:
            if step.text != self.steps[0].text:
                raise ValueError(f"Step {step.number} does not spell the text of step 0.")

    def __repr__(self):
        first, last = self.steps[0], self.steps[-1]
        merges = f"{last.number} merge{'' if last.number == 1 else 's'}"
        return f"Merges: {merges}, from {first.size()} to {last.size()}"


class Step:
    """One step: `words` as lists of tokens, `counts` without zeros, `pair` or None."""

    def __init__(self, step, number, steps):
        self.number, self.last = number, steps - 1
        if not isinstance(step, tuple | list) or len(step) != 3:
            raise self._fault("should be a triple of words, counts and a pair")
        words, counts, pair = step
        self.words = [
            [self._token(token) for token in as_list(word, f"Each word of step {number}")]
            for word in as_list(words, f"The words of step {number}")
        ]
        if not any(self.words):
            raise self._fault("has no tokens")
        if not isinstance(counts, dict):
            raise self._fault("should have its counts in a dictionary")
        self.counts = {self._pair(key): self._count(count) for key, count in counts.items()}
        self.counts = {key: count for key, count in self.counts.items() if count}
        self.pair = None if pair is None else self._pair(pair)
        if self.pair is None and number < self.last:
            raise self._fault("should have a pair to merge: only the last step has none")
        if self.pair is not None and self.pair not in self.counts:
            raise self._fault(f"merges {_plus(self.pair)}, which is not among its counts")
        self.tokens = Counter(token for word in self.words for token in word)
        self.length = sum(self.tokens.values())
        self.text = ["".join(word) for word in self.words]

    def ranked(self):
        """Pairs and counts, the most frequent first; among equals the one that is merged."""
        return sorted(
            self.counts.items(), key=lambda item: (-item[1], item[0] != self.pair, item[0])
        )

    def size(self):
        """The size of vocabulary and text: "19 distinct tokens, 140 in all"."""
        distinct = len(self.tokens)
        return f"{distinct:,} distinct token{'' if distinct == 1 else 's'}, {self.length:,} in all"

    def next(self):
        """What is merged next: "next s + e → se, 13 times"."""
        if self.pair is None:
            return "nothing more is merged"
        ties = list(self.counts.values()).count(self.counts[self.pair]) - 1
        others = f"; {ties} other pair{'' if ties == 1 else 's'} as often" if ties else ""
        merged = token_text("".join(self.pair))
        return f"next {_plus(self.pair)} → {merged}, {_times(self.counts[self.pair])}{others}"

    def __str__(self):
        return f"after {self.number} of {self.last} merges: {self.size()}; {self.next()}"

    def _token(self, token):
        if not isinstance(token, str):
            raise self._fault(f"should have texts as tokens, not {type(token).__name__}")
        return token

    def _pair(self, pair):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise self._fault("should have pairs (left, right) of tokens")
        return tuple(map(self._token, pair))

    def _count(self, count):
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if not whole or not 0 <= count <= 10**9:
            raise self._fault("should have counts that are whole numbers, 0 or more")
        return int(count)

    def _fault(self, sentence):
        return ValueError(f"Step {self.number} {sentence}.")


class MergesWidget(Live):
    """The widget that `explore_merges` returns. `step`, counted in merges, can be read and set.

    `state` holds the distinct tokens once, and each step with numbers in their place.
    """

    _esm = module("shared/small", "shared/boxes", "merges/widget")
    _css = style("shared/small", "shared/boxes", "merges/widget")
    state = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True, page=True)

    def receive(self, result):
        if not isinstance(result, Merges):
            raise TypeError(f"The function must return Merges, not {type(result).__name__}.")
        self.result = result
        numbers = {}  # of the tokens, in the order in which they appear

        def number(token):
            return numbers.setdefault(token, len(numbers))

        shown = result.steps[: MOST_STEPS + 1]
        self.state = {
            "steps": [
                _drawn(step, before.pair if before else None, number)
                for before, step in zip([None, *shown], shown, strict=False)
            ],
            "tokens": [[token_text(token), hue(token_text(token))] for token in numbers],
            "note": _cut(len(shown[0].words), len(result.steps) - 1),
        }
        self.step = self.step  # stays where it is, as far as there are so many steps

    @traitlets.validate("step")
    def _within(self, proposal):
        return min(max(proposal["value"], 0), len(self.state["steps"]) - 1)

    def describe(self):
        return f"{self.result!r}; {self.result.steps[self.step]}"

    def fallback(self):
        steps = self.result.steps
        rows = [
            [step.number, len(step.tokens), step.length, step.next().removeprefix("next ")]
            for step in steps
        ]
        hidden = f" (the first {MOST_ROWS} steps of {len(rows)})" if len(rows) > MOST_ROWS else ""
        return table(
            f"The text as tokens, merge by merge{hidden}",
            ["merges", "distinct tokens", "tokens in all", "next"],
            rows[:MOST_ROWS],
        )


def explore_merges(learn, text):
    """A text box, and under it the typed text as tokens, from one merge of a pair to the next.

    learn: the notebook's function, learn(words) -> Merges, called again with the list of words
           whenever the text changes.
    text:  the text to start with.
    What the function raises at first is raised; ValueError if there is no word.
    Source: the chapter, “Tokenization”.
    """
    function(learn, "learn")
    return MergesWidget(split_words(lambda words: learn(words)), [text_box(text)])


def _drawn(step, made, number):
    """What the page draws of a step, each token as its number; `made` is the pair merged last."""
    ranked = step.ranked()
    pairs = ranked[:MOST_PAIRS]
    if step.pair is not None and step.pair not in dict(pairs):
        pairs.append((step.pair, step.counts[step.pair]))
    common = sorted(step.tokens.items(), key=lambda item: (-item[1], item[0]))[:MOST_TOKENS]
    return {
        "words": [[number(token) for token in word] for word in step.words[:MOST_WORDS]],
        "pairs": [[number(left), number(right), count] for (left, right), count in pairs],
        "next": next((i for i, (pair, _) in enumerate(pairs) if pair == step.pair), None),
        "made": None if made is None else number("".join(made)),
        "tokens": [[number(token), count] for token, count in common],
        "morePairs": len(ranked) - len(pairs),
        "moreTokens": len(step.tokens) - len(common),
        "distinct": len(step.tokens),
        "length": step.length,
        "says": str(step),
    }


def _plus(pair):
    return " + ".join(map(token_text, pair))


def _times(count):
    return f"{count:,} time{'' if count == 1 else 's'}"


def _cut(words, merges):
    hidden = [
        f"the first {most} of {count:,} {what}"
        for most, count, what in ((MOST_WORDS, words, "words"), (MOST_STEPS, merges, "merges"))
        if count > most
    ]
    return f"Shown: {' and '.join(hidden)}; the counts count all." if hidden else ""
