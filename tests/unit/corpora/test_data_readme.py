"""What data/README.md says of the files is computed from them."""

import math

import pytest

from helpers.corpora.phrases import count_phrases, load_lexicon
from helpers.corpora.reviews import REVIEWS, TOWN
from helpers.corpora.word_vectors import load_word_vectors
from helpers.notebooks import ROOT

DATA = ROOT / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")
ROWS = [line for line in README.splitlines() if line.startswith("|")]


def row(name):
    (found,) = (line for line in ROWS if line.startswith(f"| {name} |"))
    return found


@pytest.mark.parametrize("file", [path.name for path in DATA.iterdir() if path.name != "README.md"])
def test_every_file_has_a_row(file):
    assert row(f"`{file}`").count("|") == 5


def test_word_vectors():
    vectors, names = load_word_vectors()
    stated = f" {len(vectors)} words, with {len(names)} named dimensions "
    assert stated in row("`word_vectors.csv`")


def test_lexicon():
    text = row("`lexicon.csv`")
    assert f"| {len(load_lexicon())} words " in text
    assert f" exactly {count_phrases():,} phrases " in text


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        (
            "entropy of a text",
            lambda g: f"{g.entropy:.4f} nats ({g.entropy / math.log(2):.2f} bits)",
        ),
        ("mean length, without the end mark", lambda g: f"{g.length:.2f} words"),
        (
            "entropy per word, with the end mark",
            lambda g: f"{g.entropy / (g.length + 1):.4f} nats",
        ),
        (
            f"vocabulary ({len({*REVIEWS.vocabulary, *TOWN.vocabulary})} together)",
            lambda g: f"{len(g.vocabulary)}",
        ),
    ],
)
def test_what_is_known_about_the_reviews(name, cell):
    assert row(name) == f"| {name} | {cell(REVIEWS)} | {cell(TOWN)} |"
