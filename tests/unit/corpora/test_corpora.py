import numpy as np
import pytest

from helpers.corpora.passages import BALL, BURGER, PASSAGE, RACCOON, TERRIBLE, words
from helpers.corpora.word_vectors import embed, load_word_vectors


def test_the_passage_is_the_chapters():
    passage = words(PASSAGE)
    assert len(passage) == 37
    # The chapter's words, counted from 1: restaurant 2nd, it 11th, their 27th.
    assert (passage[1], passage[10], passage[26]) == ("restaurant", "it", "their")


def test_words_leave_out_punctuation_and_keep_other_letters():
    assert words("It's <b>über</b> 3 caffè!") == ["it's", "b", "über", "b", "caffè"]
    assert words("") == []


def test_every_running_sentence_has_vectors():
    vectors, names = load_word_vectors()
    for text in (PASSAGE, TERRIBLE, BALL, *BURGER, *RACCOON):
        X = embed(words(text), vectors)
        assert X.shape == (len(names), len(words(text)))
    assert all(np.abs(v).max() <= 1 and v.any() for v in vectors.values())


def test_no_two_words_share_a_vector():
    vectors, _ = load_word_vectors()
    assert len({tuple(v) for v in vectors.values()}) == len(vectors)


def test_unknown_words_get_one_sentence():
    vectors, _ = load_word_vectors()
    with pytest.raises(ValueError, match="did you mean “restaurant”"):
        embed(["resturant"], vectors)
    with pytest.raises(ValueError, match="at least one word"):
        embed([], vectors)
