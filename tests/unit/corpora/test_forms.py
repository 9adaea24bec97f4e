"""The reviews whose verdict hangs on a form of an adjective: what the notebook relies on."""

import pytest

from helpers.corpora.forms import FOREIGN, KINDS, KNOWN, SENTENCES, THINGS, form_reviews, inflect


def words(kind, held_back=0):
    return {review.word for review in form_reviews(5000, 1, kind, held_back)}


def test_spelling():
    assert inflect("kind") == ["kind", "kinder", "kindest", "kindness", "kindly"]
    assert inflect("nice") == ["nice", "nicer", "nicest", "niceness", "nicely"]
    assert inflect("tasty") == ["tasty", "tastier", "tastiest", "tastiness", "tastily"]


def test_a_form_is_seen_or_new_and_the_lot_decides():
    every = {form for both in KNOWN.values() for word in both for form in inflect(word)}
    assert len(every) == 200
    for lot in range(3):
        seen, new = words("seen", lot), words("new", lot)
        assert not seen & new and seen | new == every and len(new) == 80
        assert words("opposite", lot) == {word for word in new if word.startswith("un")}
        assert not words("foreign", lot) & every
    assert words("new", 0) != words("new", 1)


def test_every_adjective_has_forms_in_training():
    seen = words("seen")
    for adjective in (*KNOWN[0], *KNOWN[1]):
        assert len(seen & set(inflect(adjective))) == 3


def test_nothing_but_the_adjective_gives_the_verdict_away():
    telling = {form for word in (*KNOWN[1], *FOREIGN[1]) for form in inflect(word)}
    told = [review for kind in ("seen", "new", "foreign") for review in form_reviews(4000, 2, kind)]
    for review in told:
        assert review.sentiment == (review.word in telling)
        assert review.text.split().count(review.word) == 1
    for sentence in (sentence for both in SENTENCES for sentence in both):
        start = sentence.split("{")[0]
        praised = [r.sentiment for r in told if r.text.startswith(start)]
        assert 0.4 < sum(praised) / len(praised) < 0.6
    assert all(any(thing in review.text for review in told) for thing in THINGS)


def test_drawn_reviews_are_reproducible():
    assert form_reviews(50, 7) == form_reviews(50, 7) != form_reviews(50, 8)
    assert {review.sentiment for review in form_reviews(50, 0, "opposite")} == {0}


@pytest.mark.parametrize("wrong", ["plain", "", None])
def test_other_kinds_are_refused(wrong):
    with pytest.raises(ValueError, match="A kind is one of seen"):
        form_reviews(1, 0, wrong)
    assert "seen" in KINDS
