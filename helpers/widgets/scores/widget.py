"""What each word of a sentence adds to a classifier's score, and what the total says."""

import numpy as np
import traitlets

from helpers.widgets.shared.given import function as given_function
from helpers.widgets.shared.given import words_of
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import as_array, two, vector
from helpers.widgets.shared.text import sentence, short, split_words, visible

__all__ = ["ScoresWidget", "WordScores", "explore_scores"]

MOST_WORDS = 80
LONGEST = 24  # letters of a word


class WordScores:
    """A sentence, word by word, as a linear classifier sees it: what `explore_scores` draws.

    words:   the sentence's words, in order; at least one.
    scores:  what each word adds to the score, one number a word: above zero for praise, below it
             for blame.
    total:   the score of the sentence. What it has beyond the sum of the words is the bias.
    verdict: what the total means, in words: "negative, 14 % positive".
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, words, scores, total, verdict):
        self.words = [visible(word) for word in words_of(words, "words")]
        if not self.words:
            raise ValueError("There should be at least one word.")
        self.scores = vector(scores, len(self.words), "The scores of the words")
        self.total = float(vector(as_array(total, "The total").reshape(-1), 1, "The total")[0])
        self.verdict = sentence(verdict)

    def summary(self):
        """How the total comes about: "words −2.00 + bias 0.20 = total −1.80: negative"."""
        together = float(self.scores.sum())
        bias = two(self.total - together)
        parts = f"words {two(together)}"
        if bias != two(0):
            parts += f" {'−' if bias.startswith('−') else '+'} bias {bias.lstrip('−')}"
        return f"{parts} = total {two(self.total)}: {self.verdict}"

    def __repr__(self):
        pairs = zip(self.words[:MOST_WORDS], self.scores, strict=False)
        words = ", ".join(f"{short(word, LONGEST)} {_signed(score)}" for word, score in pairs)
        more = ", …" if len(self.words) > MOST_WORDS else ""
        return f"Word scores: {words}{more}; {self.summary()}"


class ScoresWidget(Live):
    """The widget that `explore_scores` returns; `state` holds the sentence and its scores."""

    _esm = module("scores/widget")
    _css = style("scores/widget")
    state = traitlets.Dict().tag(sync=True)

    def receive(self, result):
        if not isinstance(result, WordScores):
            raise TypeError(f"The function must return WordScores, not {type(result).__name__}.")
        self.result = result
        shown = result.scores[:MOST_WORDS]
        # A full bar is the largest score, but never less than 1: small scores look small.
        full = max(1.0, float(np.abs(shown).max()))
        self.state = {
            "words": [
                {"text": short(word, LONGEST), "bar": score / full, "score": _signed(score)}
                for word, score in zip(result.words[:MOST_WORDS], shown.tolist(), strict=True)
            ],
            "summary": result.summary(),
            "note": _cut(len(result.words)),
        }

    def describe(self):
        return repr(self.result)

    def fallback(self):
        rows = [[word["text"], word["score"]] for word in self.state["words"]]
        caption = " ".join(filter(None, ("What each word adds to the score.", self.state["note"])))
        return table(caption, ["word", "adds"], [*rows, ["all", self.state["summary"]]])


def explore_scores(function, text):
    """A text box, and under it what each word of its sentence adds to a classifier's score.

    function: the notebook's function, function(words) -> WordScores, called again with the list of
              words whenever the text changes.
    text:     the sentence to start with.
    What the function raises at first is raised; ValueError if there is no word.
    """
    return ScoresWidget(split_words(given_function(function, "function")), [text_box(text)])


def _signed(score):
    """Two decimals with the sign always shown; a zero has none."""
    words = two(score)
    return words if words.startswith("−") or words == two(0) else f"+{words}"


def _cut(count):
    if count <= MOST_WORDS:
        return ""
    return f"Shown: the first {MOST_WORDS} of {count} words; the total counts all."
