"""The next word: what a model expects, what is true, and what is left to draw from."""

import traitlets

from helpers.widgets.shared.bars import full_bar, in_words, probability, remainder
from helpers.widgets.shared.given import as_list, function, words_of
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import two
from helpers.widgets.shared.text import short, visible

__all__ = ["Choices", "ChoicesWidget", "explore_choices"]

MOST_CANDIDATES = 16
LAST_WORDS = 12  # of a text, for the eye
LONGEST = 24  # letters of a word


class Choices:
    """What may follow the words of a text: what `explore_choices` draws.

    words:      the words so far; none at the start of a text.
    candidates: 1 to 16 of the words that may come next, in the order in which they are drawn, each
                as (word, model, truth, chosen): its probability by the model; the true one, or None
                where nobody knows; and the one with which it is drawn after temperature and cuts,
                0 where it was cut off.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, words, candidates):
        self.words = [visible(word) for word in words_of(words, "words")]
        candidates = as_list(candidates, "The candidates")
        if not 1 <= len(candidates) <= MOST_CANDIDATES:
            raise ValueError(
                f"There should be 1 to {MOST_CANDIDATES} candidates; got {len(candidates)}."
            )
        self.candidates = [_candidate(candidate) for candidate in candidates]

    def beginning(self):
        """The last words of the text, and a gap: "… the food was ___"."""
        last = [short(word, LONGEST) for word in self.words[-LAST_WORDS:]]
        return " ".join([*(["…"] if len(self.words) > LAST_WORDS else []), *last, "___"])

    def rest(self):
        """What the words that are not among the candidates have: "all other words: model 0.03"."""
        model, chosen = (
            remainder(candidate[part] for candidate in self.candidates) for part in (1, 3)
        )
        return f"all other words: model {in_words(model)}, chosen {in_words(chosen)}"

    def summary(self):
        """What is left: "drawn from 3 of these 12, most often “was”, 0.61; all other words: …"."""
        left = [candidate for candidate in self.candidates if candidate[3]]
        count = len(self.candidates)
        if not left:
            return f"drawn from none of these {count}; {self.rest()}"
        word, *_, chosen = max(left, key=lambda candidate: candidate[3])
        return (
            f"drawn from {len(left)} of these {count}, most often “{short(word, LONGEST)}”, "
            f"{in_words(chosen)}; {self.rest()}"
        )

    def __repr__(self):
        return f"Choices for “{self.beginning()}”: {self.summary()}"


class ChoicesWidget(Live):
    """The widget that `explore_choices` returns; `state` holds the candidates."""

    _esm = module("shared/small", "shared/bars", "choices/widget")
    _css = style("shared/bars", "choices/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, choose, text, sliders):
        function(choose, "choose")

        def for_typed(words, **values):
            return choose(words.split(), **values)

        super().__init__(for_typed, [text_box(text), *sliders])

    def receive(self, choices):
        if not isinstance(choices, Choices):
            raise TypeError(f"The function must return Choices, not {type(choices).__name__}.")
        self.choices = choices
        candidates = choices.candidates
        full = full_bar([x for _, *shares in candidates for x in shares if x])
        self.state = {
            "beginning": choices.beginning(),
            "candidates": [
                {
                    "word": short(word, LONGEST),
                    "adds": word,
                    "model": [model / full, in_words(model)],
                    "truth": None if truth is None else [truth / full, in_words(truth)],
                    "chosen": [chosen / full, in_words(chosen) if chosen else "cut"],
                    "share": chosen,
                }
                for word, model, truth, chosen in candidates
            ],
            "full": two(full),
            "summary": choices.summary(),
        }

    def describe(self):
        return repr(self.choices)

    def fallback(self):
        rows = [
            [
                one["word"],
                one["model"][1],
                one["truth"][1] if one["truth"] else "–",
                one["chosen"][1],
            ]
            for one in self.state["candidates"]
        ]
        caption = f"{self.state['beginning']}: {self.state['summary']}"
        return table(caption, ["next word", "model", "true", "chosen"], rows)


def explore_choices(choose, text, *sliders):
    """The words that may come next, as bars; a click on one adds it to the text.

    choose:  the notebook's function, choose(words, **values) -> Choices, called again with the list
             of words, which may be empty, and one value a slider, whenever one of these changes.
    text:    the text to start with.
    sliders: from `slider(name, low, high, value)`: temperature, k, p.
    What the function raises at first is raised.
    Source: the chapter, “Generating text”.
    """
    return ChoicesWidget(choose, text, sliders)


def _candidate(candidate):
    if not isinstance(candidate, tuple | list) or len(candidate) != 4:
        raise ValueError(
            "A candidate should be a word and three probabilities: of the model, true, chosen."
        )
    word, model, truth, chosen = candidate
    truth = None if truth is None else probability(truth)
    return visible(str(word)), probability(model), truth, probability(chosen)
