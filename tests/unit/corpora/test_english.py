import re
from collections import Counter

import pytest

from helpers.corpora.english import WORD, prose, python_reference


@pytest.fixture(scope="module")
def reference():
    return python_reference()


def test_the_reference_is_long(reference):
    assert len(reference) > 150_000


def test_the_reference_is_sentences(reference):
    for paragraph in reference.split("\n"):
        assert re.fullmatch(r"[(“‘]?[A-Z].*[.?!][)”’]?", paragraph), paragraph


def test_the_reference_is_mostly_words(reference):
    pieces = reference.split()
    assert sum(bool(WORD.fullmatch(piece)) for piece in pieces) > 0.95 * len(pieces)
    common = [word for word, _ in Counter(reference.lower().split()).most_common(10)]
    assert {"the", "of", "is", "a", "to"} <= set(common)


def test_the_reference_keeps_no_markup(reference):
    markup = r"::=|>>>|\"|\*\w+\*|[-=*~^]{4}|\+--| \[\d+\]|[ \n]{2}"
    assert not re.findall(markup, reference)


def test_the_reference_repeats_no_paragraph(reference):
    paragraphs = reference.split("\n")
    assert len(set(paragraphs)) == len(paragraphs)


@pytest.mark.parametrize(
    "block, expected",
    [
        ('The "while" statement\n*********************', ""),
        ("Set types\n=========", ""),
        ('   while_stmt ::= "while" assignment_expression ":" suite', ""),
        ('   >>> "Bill. They are Bill\'s friends."', ""),
        ("   def f(arg):\n       return arg  # It may be anything.", ""),
        ("+-----+-----+\n| One | Two |\n+-----+-----+", ""),
        ("str.casefold()", ""),
        ("See also:", ""),
        ('   Changed in version 3.9: The value of "errors" is checked.', ""),
        ("Added in version 3.12.", ""),
        ("Deprecated since version 3.12, will be removed in version 3.14: Use more.", ""),
        ("The rest is\nequivalent to:", ""),
        (
            'The *value* of "x"\nis **left-\nhand**. [1]  See **PEP 448** for more.',
            "The value of x is left-hand. See PEP 448 for more.",
        ),
        ("It is about\nranges of *bytecode*s.", "It is about ranges of bytecodes."),
        ("  * Else: The object\n    must be a list.", "Else: The object must be a list."),
        ("II. It is\n    invalid.", "It is invalid."),
        ("[2] While this is true, it\n    may change.", "While this is true, it may change."),
        ("Tuples\n   The items are\n   arbitrary objects.", "The items are arbitrary objects."),
        ("They stop (see below.)  Then the form is:", "They stop (see below.)"),
        (
            'The call "f(*a, *b)" is\nallowed here, as it is there.',
            "The call f(*a, *b) is allowed here, as it is there.",
        ),
        ('The letter "\'ß\'" becomes ""ss"" in lower case. Good.', "Good."),
        ('It computes "a[0] = b[1] + c[2]" now. Good.', "Good."),
    ],
)
def test_prose_of_a_block(block, expected):
    assert prose(block) == expected
