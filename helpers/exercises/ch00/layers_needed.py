"""Exercise 0.3, How far convolutions see."""

import math

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "0.3",
    "How far convolutions see",
    stars=1,
    stub='''\
def layers_needed(distance, width):
    """How many stacked convolutions a word needs to hear of another word.

    distance: how many places apart the two words are: 0 for a word and itself, 1 for neighbors.
    width: how many words an output of each convolution sees, itself in the middle: 3, 5, 7 …
    Returns the smallest number of layers after which the output at the one word depends on the
    input at the other.
    """
    return ...  # your code here
''',
    hints=(
        "An output of width 3 sees its word and one neighbor on each side. How far to the left "
        "does it see after one layer, and how far after two?",
        "Width 5 reaches two places further with every layer. For distance 4, that makes two "
        "layers; how many does distance 5 take?",
        "Each layer adds half the width, rounded down: width // 2. Divide the distance by it, and "
        "round up.",
    ),
    notice="The number of layers depends on how far apart the words are, not on what they mean. "
    "Self-attention connects any two words in its first layer.",
)


@exercise.solution
def layers_needed(distance, width):
    return int(np.ceil(distance / (width // 2)))


@exercise.right
def by_loop(distance, width):
    layers = reach = 0
    while reach < distance:
        reach += width // 2
        layers += 1
    return layers


@exercise.right
def by_whole_numbers(distance, width):
    return -(-distance // (width // 2))


@exercise.right
def by_seen_words(distance, width):
    seen, layers = {0}, 0
    while distance not in seen:
        seen = {n + j - width // 2 for n in seen for j in range(width)}
        layers += 1
    return layers


@exercise.wrong("18 places, and the other word is 19 away")
def rounded_down(distance, width):
    return distance // (width // 2)


@exercise.wrong("a number of layers is whole")
def not_rounded(distance, width):
    return distance / (width // 2)


@exercise.wrong("half a step still needs a layer")
def rounded(distance, width):
    return round(distance / (width // 2))  # Python rounds 9.5 to 10, and 0.5 to 0


@exercise.wrong("a third of a step still needs a layer")
def halves_rounded_up(distance, width):
    return int(distance / (width // 2) + 0.5)


@exercise.wrong("how many of the 5 words lie on one side")
def by_width(distance, width):
    return math.ceil(distance / width)


@exercise.wrong("2.5 places")
def by_exact_half(distance, width):
    return math.ceil(distance / (width / 2))


@exercise.wrong("halfway")
def meeting_halfway(distance, width):
    return math.ceil(distance / (width - 1))


@exercise.wrong("does the word itself count")
def own_word_counted(distance, width):
    return math.ceil(distance / ((width + 1) // 2))


@exercise.wrong("one place for each layer")
def without_width(distance, width):
    return distance


@exercise.wrong("one layer too many: how far")
def one_too_many(distance, width):
    return math.ceil(distance / (width // 2)) + 1


@exercise.wrong("one layer too many: is there anything left")
def down_and_one(distance, width):
    return distance // (width // 2) + 1


@exercise.wrong("before any layer")
def at_least_one(distance, width):
    return max(1, math.ceil(distance / (width // 2)))


exercise.equivalent("a whole number, whatever its type", "layers_needed: * → return np.ceil(*)")
exercise.equivalent(
    "the other word lies to the right: what is seen to the left is not asked for",
    "by_seen_words: * → seen = {width // 2 - (n + j) for n in seen for j in range(width)}",
    "by_seen_words: * → seen = {n + j - j // 2 for n in seen for j in range(width)}",
    "by_seen_words: * → seen = {n + j - width // 2 for n in seen for j in range(1, width)}",
)


@exercise.check
def check(answer):
    mistakes = {
        9.5: "a number of layers is whole; how far do 9 layers see, and how far 10?",
        9: "9 layers see as far as 18 places, and the other word is 19 away: do you round up or "
        "down?",
        4: "that is 19 divided by the whole width, rounded up: how many of the 5 words lie on one "
        "side of the middle?",
        8: "that would do if a layer saw 2.5 places to one side: how far can it see?",
        5: "with these an output halfway between the two words sees both; does the output at one "
        "word see the other?",
        7: "3 of the 5 words are one side and the middle; does the word itself count towards the "
        "distance?",
        19: "that is one place for each layer: how far does width 5 see to one side?",
        11: "that is one layer too many: how far does an output see after 10 layers?",
    }
    what = "layers for distance 19 and width 5"  # there, each mistake leads to another number
    asked = {f"{number} {what}: {asks}": number for number, asks in mistakes.items()}
    recognize(answer(19, 5), 10, f"the {what}", asked)
    recognize(
        answer(8, 5),
        4,
        "the layers for distance 8 and width 5",
        {
            "5 layers for distance 8 and width 5, that is one layer too many: is there anything "
            "left to reach after 4 layers of 2 places each?": 5,
        },
    )
    recognize(
        answer(0, 3),
        0,
        "the layers for distance 0",
        {"One layer for distance 0: what does a word know of itself before any layer?": 1},
    )
    for width, part in (5, "half"), (7, "a third of"):
        what = f"layers for distance 1 and width {width}"
        asks = f"0 {what}: {part} a step still needs a layer. Do you round up, or to the nearest?"
        recognize(answer(1, width), 1, f"the {what}", {asks: 0})
    for width in 3, 5, 7, 31:
        for distance in 0, 1, 2, 9, 25, 36, 100:
            what = f"the layers for distance {distance} and width {width}"
            same(answer(distance, width), layers_needed(distance, width), what)
