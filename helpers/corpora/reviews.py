"""Restaurant reviews, and the news of a small town, about which everything is known.

The rules stand in data/reviews.grammar; helpers/corpora/grammar.py reads them.
"""

import re
import zlib
from pathlib import Path
from typing import NamedTuple

from helpers.corpora.grammar import Grammar
from helpers.corpora.seeds import seeded

__all__ = ["EITHER", "REVIEWS", "TOWN", "Review", "annotate", "mirror", "reviews", "town"]

FILE = Path(__file__).parents[2] / "data" / "reviews.grammar"
RULES = FILE.read_text(encoding="utf-8")

REVIEWS = Grammar(RULES, "review")
TOWN = Grammar(RULES, "town")
EITHER = Grammar(RULES + "\neither: {review} | {town}\n", "either")  # equally likely

# The split that each tenth of all possible texts belongs to; a checksum of the words says which.
SPLITS = ("test", "validation", *["train"] * 8)

# Of reviews: a bag of words can tell the plain ones and most contrasts, and not the other two.
KINDS = ("plain", "contrast", "negated", "swapped")

# What else a text may have, news of the town too.
EXTRAS = ("pronoun", "question")

# A negated or swapped review has two texts of these symbols; see `mirror`.
EXCHANGED = {"denial", "plain-denial", "stress", "sure", "nice+", "nice-"}


class Review(NamedTuple):
    """A text and the truth about it."""

    words: tuple  # of str: lower case, punctuation marks are words too
    text: str  # the same for the eye: capitals, no space before a comma
    sentiment: int | None  # 1 praise, 0 blame, None for the news of the town
    tags: tuple  # for each word "PERSON", "PLACE", "DISH" or ""
    pronouns: tuple  # (index of a pronoun, index of the last word of what it stands for)
    questions: tuple  # of Question(text, start, end): words[start:end] answer it
    phenomena: tuple  # of str; for a review one of KINDS, then those of EXTRAS it has
    log_probability: float  # in nats; the mean over many reviews is minus REVIEWS.entropy


def reviews(count, seed, split=None, phenomenon=None):
    """`count` restaurant reviews, for each seed the same on every machine: a list of Review.

    Praise and blame are equally likely. Without a split, reviews follow the grammar's
    probabilities exactly. split: "train" (8 of 10 possible texts), "validation" or "test" (1 of 10
    each); a text belongs to one of them whatever the seed, so that splits never overlap.
    phenomenon: one of KINDS or EXTRAS, for reviews that have it and no others.
    Raises ValueError for another split or phenomenon or a negative number, TypeError for a count
    or a seed that is no whole number.
    """
    return _drawn(REVIEWS, (*KINDS, *EXTRAS), count, seed, split, phenomenon)


def town(count, seed, split=None, phenomenon=None):
    """`count` pieces of news from a small town, drawn as `reviews` are: a list of Review.

    phenomenon: one of EXTRAS; news is of no kind.
    """
    return _drawn(TOWN, EXTRAS, count, seed, split, phenomenon)


def annotate(words):
    """What is known about a review, or news of the town, that someone typed: a Review.

    words: a list of str, or a text. Raises ValueError where the grammar does not write it.
    """
    for grammar in (REVIEWS, TOWN):
        for derivation in grammar.parse(words):
            return _review(grammar, derivation)
    raise ValueError("The rules in data/reviews.grammar do not write this text.")


def mirror(review):
    """The equally likely review that says the opposite in the same words: a Review.

    "The soup was not cold, and the staff was really kind" becomes "The soup was really cold, and
    the staff was not kind". Raises ValueError for a review that is neither negated nor swapped.
    """
    if not {"negated", "swapped"} & set(review.phenomena):
        raise ValueError("Only a negated or a swapped review has a mirror.")
    words, (derivation,) = review.words, REVIEWS.parse(review.words)
    (a, b), (c, d) = (span for name, *span in derivation.spans if name in EXCHANGED)
    return annotate(words[:a] + words[c:d] + words[b:c] + words[a:b] + words[d:])


def _drawn(grammar, known, count, seed, split, phenomenon):
    if split is not None and split not in SPLITS:
        raise ValueError(f"A split is train, validation or test, not {split!r}.")
    if phenomenon is not None and phenomenon not in known:
        raise ValueError(f"A phenomenon is one of {', '.join(known)}, not {phenomenon!r}.")
    count, rng = seeded(count, seed)
    drawn = []
    while len(drawn) < count:
        derivation = grammar.draw(rng)
        if split is None or _split(derivation.words) == split:
            review = _review(grammar, derivation)
            if phenomenon is None or phenomenon in review.phenomena:
                drawn.append(review)
    return drawn


def _split(words):
    return SPLITS[zlib.crc32(" ".join(words).encode()) % len(SPLITS)]


def _review(grammar, derivation):
    names = {name for name, _, _ in derivation.spans}
    questions = grammar.questions(derivation)
    phenomena = [kind for kind in KINDS if {f"{kind}+", f"{kind}-"} & names]
    phenomena += ["pronoun"] if derivation.pronouns else []
    phenomena += ["question"] if questions else []
    return Review(
        words=derivation.words,
        text=_for_the_eye(derivation.written),
        sentiment=None if grammar is TOWN else int("review+" in names),
        tags=grammar.tags(derivation),
        pronouns=derivation.pronouns,
        questions=questions,
        phenomena=tuple(phenomena),
        log_probability=derivation.log_probability,
    )


def _for_the_eye(written):
    text = re.sub(r" (?=[.,])", "", " ".join(written))
    return re.sub(r"(^|\. )(.)", lambda match: match[1] + match[2].upper(), text)
