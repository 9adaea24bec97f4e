"""Exercise 0.4, A bag of words."""

import re
from collections import Counter

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "0.4",
    "A bag of words",
    stars=1,
    stub='''\
def bag_of_words(words, vocabulary):
    """How often each word of the vocabulary occurs in a text.

    Words are compared as they are: capital letters count.

    words: the text, a list of words; a word that is not in the vocabulary is left out.
    vocabulary: a list of different words.
    Returns the counts, shape (len(vocabulary),), in the order of the vocabulary.
    """
    return ...  # your code here
''',
    hints=(
        "The text may have any length. How long is the result, and which word does its first entry "
        "belong to?",
        "Go through the vocabulary and ask of each of its words how often it occurs in the text. "
        "Which words of the text are then never asked for?",
        "A list can count: words.count(word). Or start from zeros, go through the text, and add "
        "one at vocabulary.index(word); which words must be skipped?",
    ),
    notice="Texts of any length become vectors of one size, which a linear classifier can take. "
    "The price: every order of the same words gives the same vector.",
)


@exercise.solution
def bag_of_words(words, vocabulary):
    return np.array([words.count(word) for word in vocabulary])


@exercise.right
def by_loop(words, vocabulary):
    counts = np.zeros(len(vocabulary))
    for word in words:
        if word in vocabulary:
            counts[vocabulary.index(word)] += 1
    return counts


@exercise.right
def by_counter(words, vocabulary):
    counter = Counter(words)
    return [counter[word] for word in vocabulary]


@exercise.right
def by_one_hot(words, vocabulary):
    return sum(
        (np.array([word == known for known in vocabulary], dtype=int) for word in words),
        start=np.zeros(len(vocabulary), dtype=int),
    )


@exercise.wrong("how often does it occur")
def presence(words, vocabulary):
    return np.array([word in words for word in vocabulary], dtype=int)


@exercise.wrong("order of the text")
def in_order_of_the_text(words, vocabulary):
    return np.array(list(Counter(word for word in words if word in vocabulary).values()))


@exercise.wrong("order of the alphabet")
def in_order_of_the_alphabet(words, vocabulary):
    return np.array([words.count(word) for word in sorted(vocabulary)])


@exercise.wrong("divided by the number of words")
def frequencies(words, vocabulary):
    return np.array([words.count(word) / len(words) for word in vocabulary])


@exercise.wrong("one row for each word")
def one_hot(words, vocabulary):
    return np.array([[int(word == known) for known in vocabulary] for word in words])


@exercise.wrong("in which order are the entries of a vector")
def counter_itself(words, vocabulary):
    return Counter(words)


@exercise.wrong("stops at the word “soup”")
def looked_up(words, vocabulary):
    counts = np.zeros(len(vocabulary))
    for word in words:
        counts[vocabulary.index(word)] += 1
    return counts


@exercise.wrong("counted as “very”")
def counted_as_last(words, vocabulary):
    places = {word: place for place, word in enumerate(vocabulary)}
    counts = np.zeros(len(vocabulary))
    for word in words:
        counts[places.get(word, -1)] += 1
    return counts


@exercise.wrong("an entry of its own")
def counted_apart(words, vocabulary):
    unknown = [word for word in dict.fromkeys(words) if word not in vocabulary]
    return bag_of_words(words, vocabulary + unknown)


@exercise.wrong("inside “not”")
def in_the_joined_text(words, vocabulary):
    return np.array([" ".join(words).count(word) for word in vocabulary])


@exercise.wrong("words as they are")
def split_again(words, vocabulary):
    return bag_of_words(re.findall(r"\w+", " ".join(words)), vocabulary)


@exercise.wrong("words as they are")
def without_marks(words, vocabulary):
    return bag_of_words([re.sub(r"\W", "", word) for word in words], vocabulary)


@exercise.wrong("capital letters count")
def text_in_lower_case(words, vocabulary):
    return bag_of_words([word.lower() for word in words], vocabulary)


@exercise.wrong("capital letters count")
def all_in_lower_case(words, vocabulary):
    return text_in_lower_case(words, [word.lower() for word in vocabulary])


@exercise.wrong("capital letters count")
def in_lower_case_by_place(words, vocabulary):
    vocabulary = [word.lower() for word in vocabulary]
    counts = np.zeros(len(vocabulary))
    for word in words:
        if word.lower() in vocabulary:
            counts[vocabulary.index(word.lower())] += 1
    return counts


exercise.equivalent(
    "counts in a list, or as floats, are the same counts",
    "bag_of_words: * → return [words.count(word) for word in vocabulary]",
    "by_one_hot: * → return sum((np.array([word == known for known in vocabulary]) *",
    "by_one_hot: * → return sum(*, start=np.zeros(len(vocabulary)))",
)


@exercise.check
def check(answer):
    words, vocabulary = "not very very good not very".split(), ["wine", "not", "good", "very"]
    expected = np.array([0, 2, 1, 3])
    got = unchanged(answer, words, vocabulary)
    if isinstance(got, dict):
        raise Wrong(
            "A dict holds the counts under their words, a classifier needs them as a vector: in "
            "which order are the entries of a vector?",
            expected,
            got,
        )
    not_the_text = "entry 0 belongs to “wine”, the first word of the vocabulary, not to "
    recognize(
        got,
        expected,
        "the counts of wine, not, good, very in “not very very good not very”",
        {
            "Your result says whether a word occurs: how often does it occur?": expected > 0,
            "Your counts stand in the order of the text, and a word that does not occur has none: "
            f"{not_the_text}“not”. Over which of the two lists does the loop run?": (
                np.array([2, 3, 1])
            ),
            f"Your counts stand in the order of the alphabet: {not_the_text}“good”. What has been "
            "sorted?": (np.array([1, 2, 3, 0]), np.array([1, 2, 3])),
            "Your counts are divided by the number of words: what is the count of a word that "
            "occurs twice?": expected / 6,
            "Your result has one row for each word of the text, with a single 1: over which axis "
            "does the sum run that makes one vector of them?": one_hot(words, vocabulary),
        },
    )
    words, expected = "very good soup".split(), np.array([0, 0, 1, 1])
    try:
        got = unchanged(answer, words, vocabulary)
    except (LookupError, ValueError):
        raise Wrong(
            "Your function stops at the word “soup”, which is not in the vocabulary: where does "
            "it ask whether a word is there?"
        ) from None
    recognize(
        got,
        expected,
        "the counts of wine, not, good, very in “very good soup”",
        {
            "The word “soup” is not in the vocabulary and was counted as “very”, the last word: "
            "what does index -1 stand for?": np.array([0, 0, 1, 2]),
            "The word “soup” is not in the vocabulary and got an entry of its own: how long is the "
            "result?": np.array([0, 0, 1, 1, 1]),
        },
    )
    recognize(
        unchanged(answer, ["not", "bad"], ["no", "bad"]),
        np.array([0, 1]),
        "the counts of no, bad in “not bad”",
        {
            "The text has no “no”; you found it inside “not”: do you count words, or pieces of a "
            "text?": np.array([1, 1])
        },
    )
    recognize(
        unchanged(answer, ["Bush", "bush"], ["bush", "Bush"]),
        np.array([1, 1]),
        "the counts of bush, Bush in “Bush bush”",
        {
            "“Bush” and “bush” were taken for the same word: words are compared as they are, "
            "capital letters count. Where do they become small?": (
                *map(np.array, ([2, 0], [2, 2], [0, 2])),
            )
        },
    )
    words, vocabulary = ["it's", "it", "not", "so-so"], ["it", "so", "it's", "so-so", "its"]
    recognize(
        unchanged(answer, words, vocabulary),
        np.array([1, 0, 1, 1, 0]),
        "the counts of it, so, it's, so-so, its in the words it's, it, not, so-so",
        {
            "“it's” and “so-so” are words as they are: does your function split the words of the "
            "list again, or drop their marks?": (
                *map(np.array, ([2, 2, 0, 0, 0], [1, 0, 0, 0, 1], [2, 2, 1, 1, 0])),
            )
        },
    )
    rng = np.random.default_rng(2)
    known = ["tea", "ham", "bread", "a", "the"]
    for length in 0, 1, 5, 37:
        words = rng.choice([*known, "jam", "egg"], size=length).tolist()
        vocabulary = rng.permutation(known).tolist()
        what = f"the counts in a text of {length} words"
        for asked in vocabulary, vocabulary[::-1], ["jam"]:
            same(unchanged(answer, words, asked), bag_of_words(words, asked), what)
