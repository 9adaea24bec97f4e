"""Our WordPiece against the reference that transformers' BertTokenizer runs on."""

import unicodedata

import pytest
import transformers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import normalizers, pre_tokenizers

from helpers.pretrained.wordpiece import SPECIAL_PIECES, WordPiece, normalize, words

CHARACTERS = [
    *map(chr, range(0x21, 0x7F)),
    *"αβσςω中国あい🙂½ßøłəя“”—…€",
    *map(chr, range(0x1100, 0x1110)),
]
VOCABULARY = [
    *SPECIAL_PIECES,
    *CHARACTERS,
    *(f"##{character}" for character in CHARACTERS),
    *("walk", "walked", "##ed", "##ing", "un", "##aff", "##able", "cafe", "##fe", "restaurant"),
]
OURS = WordPiece(VOCABULARY)
THEIRS = transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(VOCABULARY)})
NORMALIZER = normalizers.BertNormalizer(lowercase=True)
WORDS = pre_tokenizers.BertPreTokenizer()


def reference_words(text):
    return [word for word, _ in WORDS.pre_tokenize_str(NORMALIZER.normalize_str(text))]


def comparable(character):
    """Whether Python's and the reference's Unicode tables can be expected to agree.

    The reference's tables of marks and punctuation are older than Python's, its table of upper and
    lower case is newer: leave out what is unassigned here, what Unicode has reclassified, and the
    marks, punctuation and format characters added after Unicode 3.2. It also takes the 256
    ideographs from U+2B820 for letters, where BERT's own definition does not.
    """
    if 0x2B820 <= ord(character) <= 0x2B91F:
        return False
    then = unicodedata.ucd_3_2_0.category(character)
    now = unicodedata.category(character)
    if then == "Cn":
        return now != "Cn" and now[0] not in "MPC"
    return then == now != "Cs"


COMPARABLE = [character for character in map(chr, range(0x110000)) if comparable(character)]


def test_every_character_between_two_letters_splits_as_in_the_reference():
    assert len(COMPARABLE) > 250_000
    for start in range(0, len(COMPARABLE), 256):
        text = " ".join(f"A{character}B" for character in COMPARABLE[start : start + 256])
        assert words(normalize(text)) == reference_words(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.one_of(st.sampled_from([*CHARACTERS, " ", "\t", "\u0301"]), st.characters())))
@example("ΟΔΟΣ ΣΑΣ")
@example("İstanbul Ünïcödé")
def test_random_text_splits_as_in_the_reference(text):
    text = "".join(filter(comparable, text))
    assert words(normalize(text)) == reference_words(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*VOCABULARY, " ", "\n", "É", "ñ", "\u0301"])).map("".join))
@example("[[MASK]][SEP")
def test_random_text_gets_the_pieces_of_transformers(text):
    assert OURS.tokenize(text) == THEIRS.tokenize(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \t\r\n\u00a0\u3000\u2028", []),
        ("Walking, walked!", ["walk", "##ing", ",", "walked", "!"]),
        ("UNAFFABLE", ["un", "##aff", "##able"]),
        ("Café cafe\u0301", ["cafe", "cafe"]),
        ("中国walk", ["中", "国", "walk"]),
        ("wa\u0000l\u200bk \ufffd", ["walk"]),
        ("walk\ud800", ["walk"]),
        ("$2+2<5`", ["$", "2", "+", "2", "<", "5", "`"]),
        ("walkжed", ["[UNK]"]),
        ("<b>walk</b>", ["<", "b", ">", "walk", "<", "/", "b", ">"]),
        ("un[MASK]able [mask]", ["un", "[MASK]", *"a", "##b", "##l", "##e", *"[", "m", "##a"]),
    ],
)
def test_hand_picked(text, pieces):
    got = OURS.tokenize(text)
    assert got[: len(pieces)] == pieces
    if "\ud800" not in text:  # the reference refuses lone surrogates
        assert got == THEIRS.tokenize(text)


def test_a_word_of_100_characters_is_split_and_one_of_101_is_unknown():
    assert OURS.tokenize("a" * 100) == ["a", *["##a"] * 99] == THEIRS.tokenize("a" * 100)
    assert OURS.tokenize("a" * 101) == ["[UNK]"] == THEIRS.tokenize("a" * 101)
