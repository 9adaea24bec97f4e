"""Exercise 0.7, The same bag."""

import re
from collections import Counter

import numpy as np

from helpers.corpora.passages import BURGER, words
from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import unchanged

exercise = Exercise(
    "0.7",
    "The same bag",
    stars=1,
    stub='''\
def same_bag(first, second):
    """Whether two texts have the same bag of words: each word equally often, in any order.

    Words are compared as they are: capital letters count.

    first, second: lists of words.
    Returns True or False.
    """
    return ...  # your code here
''',
    hints=(
        "Which two texts of three words have the same set of words, and yet not the same bag?",
        "Two lists with the same elements in different orders: what can be done to both of them "
        "so that they become equal?",
        "Sort both, into new lists, or count both. Two sorted lists are equal only if every word "
        "occurs equally often.",
    ),
    notice="Whatever a classifier makes of a bag of words, it says the same of both texts about "
    "the burger joint. No amount of training can change that.",
)


@exercise.solution
def same_bag(first, second):
    return sorted(first) == sorted(second)


@exercise.right
def by_counting(first, second):
    return Counter(first) == Counter(second)


@exercise.right
def by_loop(first, second):
    return all(first.count(word) == second.count(word) for word in first + second)


@exercise.right
def by_removing(first, second):
    rest = list(second)
    for word in first:
        if word not in rest:
            return False
        rest.remove(word)
    return not rest


@exercise.wrong("does the order count")
def in_order(first, second):
    return first == second


@exercise.wrong("does the order count")
def of_joined_texts(first, second):
    return " ".join(first) == " ".join(second)


@exercise.wrong("which words are they")
def of_lengths(first, second):
    return len(first) == len(second)


@exercise.wrong("how often does “very” occur")
def of_sets(first, second):
    return set(first) == set(second)


@exercise.wrong("which of the words occurs twice")
def of_sets_and_lengths(first, second):
    return set(first) == set(second) and len(first) == len(second)


@exercise.wrong("more than the first")
def first_in_second(first, second):
    return all(first.count(word) == second.count(word) for word in first)


@exercise.wrong("more than the second")
def second_in_first(first, second):
    return not Counter(second) - Counter(first)


@exercise.wrong("same letters")
def of_letters(first, second):
    return sorted("".join(first)) == sorted("".join(second))


@exercise.wrong("where one word ends")
def of_joined_words(first, second):
    return "".join(sorted(first)) == "".join(sorted(second))


@exercise.wrong("capital letters count")
def in_lower_case(first, second):
    return sorted(map(str.lower, first)) == sorted(map(str.lower, second))


@exercise.wrong("do they lose their marks")
def without_marks(first, second):
    return same_bag(*([re.sub(r"\W", "", word) for word in text] for text in (first, second)))


@exercise.wrong("do they lose their marks")
def split_again(first, second):
    return same_bag(*(re.findall(r"[\w']+", " ".join(text)) for text in (first, second)))


@exercise.wrong("in a new list")
def removed(first, second):
    for word in first:
        if word not in second:
            return False
        second.remove(word)
    return not second


@exercise.wrong("in a new list")
def sorted_in_place(first, second):
    return first.sort() == second.sort()


@exercise.wrong("True or False, got a list")
def common_words(first, second):
    return [word for word in first if word in second]


# Each pair of texts finds one mistake: (first, second, what to ask whoever gets it wrong)
PAIRS = (
    ("red wine", "wine red", "the same words stand in another order: does the order count?"),
    ("red wine", "red meat", "both have two words: which words are they?"),
    ("very good", "very very good", "the words are the same: how often does “very” occur in each?"),
    (
        "bad bad food",
        "bad food food",
        "the words are the same, and so is their number: which of the words occurs twice?",
    ),
    (
        "good",
        "not good",
        "the second has all words of the first: does it have more than the first?",
    ),
    ("not good", "good", "the first has all words of the second: has it more than the second?"),
    ("on top", "no top", "they have the same letters: do they have the same words?"),
    ("a part", "apart", "what is left of “a part” if nothing says where one word ends?"),
    *((*BURGER[::step], "is there a word that one of them has more often?") for step in (1, -1)),
    ("", "", "two texts without words have the same words."),
    ("", "soup", "does a text without words have the same words as another?"),
    ("soup", "", "does a text without words have the same words as another?"),
)


@exercise.check
def check(answer):
    for *texts, question in PAIRS:
        compare(answer, *map(words, texts), question)
    question = "words are compared as they are, capital letters count. Where do they become small?"
    compare(answer, ["Bush", "fire"], ["bush", "fire"], question)
    question = "words are compared as they are: are they split again, or do they lose their marks?"
    for first, second in ("it's fine", "its fine"), ("so-so it's", "so so it's"):
        compare(answer, first.split(), second.split(), question)
    rng = np.random.default_rng(6)
    for length in 2, 3, 5, 9:
        first = rng.choice(["a", "b", "c"], size=length).tolist()
        second = rng.permutation(first).tolist()
        compare(answer, first, second, "is there a word that one of them has more often?")
        second[0] = {"a": "b", "b": "c", "c": "a"}[second[0]]
        compare(answer, first, second, "does each word occur equally often?")


def compare(answer, first, second, question):
    """Raise Wrong unless the answer is right about two texts."""
    got, expected = unchanged(answer, first, second), sorted(first) == sorted(second)
    if not isinstance(got, (bool, np.bool_)):
        raise Wrong(f"Expected True or False, got {kind(got)}.", expected, got)
    if got != expected:
        raise Wrong(f"Of “{' '.join(first)}” and “{' '.join(second)}”: {question}", expected, got)
