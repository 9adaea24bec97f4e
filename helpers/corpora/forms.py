"""Reviews of one sentence whose verdict hangs on one adjective, in one of its forms.

Every adjective has five forms: kind, kinder, kindest, kindness, kindly. Some praise, and blame
with un- before them: unkind, unkinder, …. In training some forms of each adjective never occur, so
that a reader meets them for the first time in the test, and a few adjectives do not occur at all.
"""

from typing import NamedTuple

from helpers.corpora.seeds import seeded

__all__ = ["KINDS", "FormReview", "form_reviews", "inflect"]

OPPOSED = "kind clean fair friendly tidy healthy happy steady".split()
KNOWN = {
    1: [*OPPOSED, *"tasty cozy fresh warm bright fine polite nice sweet neat calm hearty".split()],
    0: [
        *("un" + adjective for adjective in OPPOSED),
        *"greasy dirty noisy salty shabby gloomy bland rude cold slow bleak dark".split(),
    ],
}
FOREIGN = {
    1: "gentle prompt smooth lively crisp tender rich swift quiet homely juicy tranquil".split(),
    0: "rotten sour stale harsh messy damp grubby rough loud tough soggy careless".split(),
}

# The sentences each form stands in, in the order of `inflect`. None of them praises or blames.
SENTENCES = (
    ("the {thing} was {word}", "we found the {thing} {word}"),
    ("the {thing} was {word} than last time", "this year the {thing} was {word}"),
    ("this was the {word} {thing} in town", "it was their {word} {thing} so far"),
    ("we will remember the {word} of the {thing}", "everyone speaks of the {word} of the {thing}"),
    ("the {thing} was made {word}", "they see to the {thing} {word}"),
)
THINGS = "food soup service staff room table music terrace bread dinner".split()

# seen: forms that occur in training; new: forms that do not, of adjectives that do; opposite: those
# of them with un-; foreign: forms of adjectives of which training has none.
KINDS = ("seen", "new", "opposite", "foreign")


class FormReview(NamedTuple):
    """A review of one sentence and the truth about it."""

    text: str  # lower case, no punctuation
    sentiment: int  # 1 praise, 0 blame
    word: str  # the form on which the verdict hangs


def inflect(adjective):
    """The five forms of an adjective: kind, kinder, kindest, kindness, kindly."""
    stem = adjective[:-1] + "i" if adjective.endswith("y") else adjective
    short = stem.removesuffix("e")
    return [adjective, short + "er", short + "est", stem + "ness", stem + "ly"]


def form_reviews(count, seed, kind="seen", held_back=0):
    """`count` reviews of one kind, for each seed the same on every machine: list of FormReview.

    kind: one of KINDS. held_back: a seed; with each, other two of the five forms of every
    adjective are those that training lacks. Praise and blame are equally likely, but for
    "opposite", which is always blame.
    Raises ValueError for another kind or a negative number, TypeError for no whole number.
    """
    if kind not in KINDS:
        raise ValueError(f"A kind is one of {', '.join(KINDS)}, not {kind!r}.")
    count, random = seeded(count, seed)
    forms = _forms(kind, seeded(0, held_back)[1])
    return [_review(forms, random) for _ in range(count)]


def _forms(kind, random):
    """For praise and for blame, whichever occur: pairs of a form's number and the word."""
    forms = {}
    for sentiment, adjectives in (FOREIGN if kind == "foreign" else KNOWN).items():
        for adjective in adjectives:
            new = sorted(range(5), key=lambda _: random.random())[:2]
            for number, word in enumerate(inflect(adjective)):
                opposite = kind == "opposite" and adjective.startswith("un")
                right = {"foreign": True, "seen": number not in new, "new": number in new}
                if right.get(kind, opposite and number in new):
                    forms.setdefault(sentiment, []).append((number, word))
    return forms


def _review(forms, random):
    # Only random() is promised to stay the same in every version of Python.
    sentiment = _one(sorted(forms), random)
    number, word = _one(forms[sentiment], random)
    sentence = _one(SENTENCES[number], random)
    return FormReview(sentence.format(thing=_one(THINGS, random), word=word), sentiment, word)


def _one(choices, random):
    return choices[int(random.random() * len(choices))]
