"""A sentence whose words can be hidden, and what a model guesses in their places."""

import numpy as np
import traitlets

from helpers.widgets.shared.bars import full_bar, in_words, probability
from helpers.widgets.shared.given import as_list, function, words_of
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import two
from helpers.widgets.shared.text import name, short, visible

__all__ = ["Gaps", "GapsWidget", "explore_gaps"]

MOST_WORDS = 80
MOST_MASKED = 6
MOST_GUESSES = 8
LONGEST = 24  # letters of a word
LARGEST = 10**6  # places, whatever is typed


class Gaps:
    """A sentence, which of its words are hidden, and the guesses: what `explore_gaps` draws.

    words:   the words of the sentence, in order, as the model was given them but for the masks.
    masked:  the places of the hidden words, counted from 0.
    guesses: for each masked place, in the same order, 1 to 8 triples (word, probability, truth):
             what the model gives the word, and what is true, or None where nobody knows.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, words, masked, guesses):
        self.words = [visible(word) for word in words_of(words, "words")]
        self.masked = _places(masked, len(self.words))
        guesses = as_list(guesses, "The guesses")
        if len(guesses) != len(self.masked):
            raise ValueError(
                f"There should be guesses for {len(self.masked)} masked places; got {len(guesses)}."
            )
        self.guesses = [_guesses(of_one) for of_one in guesses]

    def card(self, gap, full):
        """One gap as the page draws it; a bar is a share of `full`."""
        hidden = self.words[self.masked[gap]]
        return {
            "title": f"place {self.masked[gap]}, hidden “{short(hidden, LONGEST)}”",
            "guesses": [
                {
                    "word": short(word, LONGEST),
                    "right": word == hidden,
                    "model": in_words(model),
                    "bar": model / full,
                    "truth": None if truth is None else in_words(truth),
                    "mark": 0 if truth is None else truth / full,
                }
                for word, model, truth in self.guesses[gap]
            ],
            "missed": not any(word == hidden for word, _, _ in self.guesses[gap]),
        }

    def summary(self):
        """The best guess for each gap: "for “was” it guesses “is”, 0.61"."""
        if not self.masked:
            return "No word is hidden."
        best = [max(guesses, key=lambda guess: guess[1]) for guesses in self.guesses]
        gaps = [
            f"for “{short(self.words[place], LONGEST)}” it guesses “{short(word, LONGEST)}”, "
            f"{in_words(model)}"
            for place, (word, model, _) in zip(self.masked, best, strict=True)
        ]
        return "; ".join(gaps)

    def __repr__(self):
        return f"Gaps in “{name(' '.join(self.words))}”: {self.summary()}"


class GapsWidget(Live):
    """The widget that `explore_gaps` returns; `state` holds the words and the guesses."""

    _esm = module("shared/small", "shared/bars", "gaps/widget")
    _css = style("shared/bars", "gaps/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, guess, text, masked, sliders):
        function(guess, "guess")
        masked = _places(masked, max(len(str(text).split()), 1))

        def with_gaps(words, masked=masked, **values):
            words = words.split()
            if not words:
                raise ValueError("Type at least one word.")
            masked = tuple(place for place in masked if place < len(words))  # some may be gone
            if len(masked) > MOST_MASKED:
                raise ValueError(f"At most {MOST_MASKED} words can be hidden at once.")
            gaps = guess(words, masked, **values) if masked else Gaps(words, (), [])
            return len(words), masked, gaps

        super().__init__(with_gaps, [text_box(text), *sliders], values={"masked": list(masked)})

    def receive(self, result):
        count, masked, gaps = result
        if not isinstance(gaps, Gaps):
            raise TypeError(f"The function must return Gaps, not {type(gaps).__name__}.")
        if len(gaps.words) != count or gaps.masked != masked:
            raise ValueError(
                f"The guesses should be for the places {list(masked)} of {count} words; "
                f"got {list(gaps.masked)} of {len(gaps.words)}."
            )
        self.gaps = gaps
        shares = [x for guesses in gaps.guesses for _, *pair in guesses for x in pair if x]
        full = full_bar(shares)
        self.state = {
            "words": [short(word, LONGEST) for word in gaps.words[:MOST_WORDS]],
            "masked": list(masked),
            "gaps": [gaps.card(gap, full) for gap in range(len(masked))],
            "full": two(full),
            "truths": any(truth is not None for one in gaps.guesses for _, _, truth in one),
            "summary": gaps.summary(),
            "note": _cut(count),
        }

    def _checked(self):
        try:
            masked = _places(self.values.get("masked"), LARGEST)
        except ValueError:
            self.values = self.values | {"masked": self.state["masked"]}  # the last good ones
            raise
        self.values = self.values | {"masked": list(masked)}
        return super()._checked() | {"masked": masked}

    def describe(self):
        return repr(self.gaps)

    def fallback(self):
        rows = [
            [card["title"], guess["word"], guess["model"], guess["truth"] or "–"]
            for card in self.state["gaps"]
            for guess in card["guesses"]
        ]
        caption = f"{name(' '.join(self.gaps.words))}: {self.state['summary']}"
        return table(caption, ["place", "guess", "model", "true"], rows)


def explore_gaps(guess, text, *sliders, masked=()):
    """A sentence whose words can be hidden one by one, with a model's guesses for each gap.

    guess:   the notebook's function, guess(words, masked, **values) -> Gaps, with one value a
             slider; `words` are all words of the sentence, `masked` is a tuple of the places of
             those that are hidden, in order, counted from 0, at least one. It is called again
             whenever the sentence, the hidden words or a slider change.
    text:    the sentence to start with.
    sliders: from `slider(name, low, high, value)`.
    masked:  the places that are hidden at first.
    What the function raises at first is raised; ValueError if there is no word, no such place, or
    if the function answers for other places than it was asked for.
    Source: the chapter, “Encoder models: BERT”, pre-training.
    """
    return GapsWidget(guess, text, masked, sliders)


def _places(masked, count):
    """Places of words as a sorted tuple; ValueError for anything else."""
    places = as_list(masked, "The masked places")
    whole = all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in places)
    if not whole or not all(0 <= i < count for i in places) or len(set(places)) < len(places):
        raise ValueError(
            f"The masked places should be different whole numbers from 0 to {count - 1}."
        )
    return tuple(sorted(int(place) for place in places))


def _guesses(guesses):
    """The guesses for one place as a list of triples of a word and two shares."""
    guesses = as_list(guesses, "The guesses for a place")
    if not 1 <= len(guesses) <= MOST_GUESSES:
        raise ValueError(
            f"There should be 1 to {MOST_GUESSES} guesses for a place; got {len(guesses)}."
        )
    if not all(isinstance(guess, tuple | list) and len(guess) == 3 for guess in guesses):
        raise ValueError("A guess should be a triple of a word, its probability and the true one.")
    return [
        (visible(str(word)), probability(model), None if truth is None else probability(truth))
        for word, model, truth in guesses
    ]


def _cut(count):
    return "" if count <= MOST_WORDS else f"Shown: the first {MOST_WORDS} of {count} words."
