"""Exercise 6.8, The longest piece first."""

import functools

import numpy as np

from helpers.exercises.engine.exercise import Exercise
from helpers.exercises.shared.compare import unchanged
from helpers.exercises.shared.mistakes import register, results
from helpers.exercises.shared.tokens import exactly, not_one_text, recognize_exactly, tokens

exercise = Exercise(
    "6.8",
    "The longest piece first",
    stars=2,
    stub='''\
def wordpiece_word(word, pieces):
    """The WordPieces of a word: from its start on, always the longest piece that fits.

    word: a text of at least one character, without "#".
    pieces: a set of texts. Those that begin with "##" continue a word: "##ing" stands for "ing"
    anywhere but at its start; all others stand at its start only.
    A choice is never taken back. If at some place no piece fits, the result is ["[UNK]"] for the
    whole word.
    Returns the pieces in their order as `pieces` has them, with "##", a list.
    """
    return ...  # your code here
''',
    hints=(
        "At the start of the word: which texts can stand there, from the longest to the shortest? "
        "Which of them do you take?",
        "Two loops: an outer one over the places where a piece begins, an inner one over its end, "
        "from the end of the word backward. When is there a “##” in front?",
        "The inner loop stops at the first piece that is in `pieces`; the next piece begins where "
        "this one ends. If it has gone through all ends and found none, the word is unknown: "
        'return ["[UNK]"] at once.',
    ),
    notice="One missing character makes the whole word unknown, where byte pair encoding would "
    "still have its letters, or bytes. And greed has a price: a word may be unknown although other "
    "pieces would have made it.",
)


@exercise.solution
def wordpiece_word(word, pieces):
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):  # from the longest piece to the shortest
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in pieces:
                break
        else:  # the loop has found none
            return ["[UNK]"]
        found.append(piece)
        start = end
    return found


@exercise.right
def by_cutting_off(word, pieces):
    found, mark = [], ""
    while word:
        piece = mark + word
        while piece not in pieces:
            piece = piece[:-1]
            if len(piece) <= len(mark):
                return ["[UNK]"]
        found.append(piece)
        word = word[len(piece) - len(mark) :]
        mark = "##"
    return found


@exercise.right
def by_recursion(word, pieces):
    def cut(rest, mark):
        if not rest:
            return []
        fitting = [piece for piece in pieces if (mark + rest).startswith(piece)]
        if not fitting:
            return None
        longest = max(fitting, key=len)
        others = cut(rest[len(longest) - len(mark) :], "##")
        return None if others is None else [longest, *others]

    return cut(word, "") or ["[UNK]"]


def greedy(word, pieces, mark="##", ends=lambda start, n: range(n, start, -1), unknown=None):
    """A greedy splitter with other parts.

    mark: what stands before a piece that continues a word. ends(start, n): which ends are tried.
    unknown(found, word, start): the result where no piece fits.
    """
    found, start = [], 0
    while start < len(word):
        for end in ends(start, len(word)):
            piece = (mark if start else "") + word[start:end]
            if piece in pieces:
                break
        else:
            return unknown(found, word, start) if unknown else ["[UNK]"]
        found.append(piece)
        start = end
    return found


def shortest(word, pieces):
    return greedy(word, pieces, ends=lambda start, n: range(start + 1, n + 1))


def without_marks(word, pieces):
    return [piece.removeprefix("##") for piece in wordpiece_word(word, pieces)]


def looked_up_without_marks(word, pieces):
    return greedy(word, pieces, mark="")


def marks_everywhere(word, pieces):
    return wordpiece_word("x" + word, pieces | {"x"})[1:] or ["[UNK]"]


def without_regard_to_marks(word, pieces):
    known = {piece.removeprefix("##") for piece in pieces}
    bare = greedy(word, known, mark="")
    return bare if bare == ["[UNK]"] else [bare[0], *("##" + piece for piece in bare[1:])]


def rest_unknown(word, pieces):
    return greedy(word, pieces, unknown=lambda found, word, start: [*found, "[UNK]"])


def what_was_found(word, pieces):
    return greedy(word, pieces, unknown=lambda found, word, start: found)


def rest_as_it_is(word, pieces):
    return greedy(word, pieces, unknown=lambda found, word, start: [*found, word[start:]])


def whole_word_kept(word, pieces):
    return greedy(word, pieces, unknown=lambda found, word, start: [word])


def nothing(word, pieces):
    return greedy(word, pieces, unknown=lambda found, word, start: [])


def each_unknown(word, pieces):
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in pieces:
                break
        else:
            piece, end = "[UNK]", start + 1
        found.append(piece)
        start = end
    return found


def skipping(word, pieces):
    return [piece for piece in each_unknown(word, pieces) if piece != "[UNK]"]


def taken_back(word, pieces):
    @functools.cache
    def rest(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in pieces and (others := rest(end)) is not None:
                return [piece, *others]
        return None

    return rest(0) or ["[UNK]"]


def fewest(word, pieces):
    best = {0: []}
    for end in range(1, len(word) + 1):
        ways = [
            [*best[start], piece]
            for start in range(end)
            if start in best and (piece := ("##" if start else "") + word[start:end]) in pieces
        ]
        if ways:
            best[end] = min(ways, key=len)
    return best.get(len(word), ["[UNK]"])


def one_piece_short(word, pieces):
    return greedy(word, pieces, ends=lambda start, n: range(n - 1, start, -1))


def single_characters_missed(word, pieces):
    return greedy(word, pieces, ends=lambda start, n: range(n, start + 1, -1))


def in_small_letters(word, pieces):
    return wordpiece_word(word.lower(), pieces)


def first_piece_alone(word, pieces):
    return wordpiece_word(word, pieces)[:1]


def from_the_end(word, pieces):
    found = []
    while word:
        for start in range(len(word)):
            piece = ("##" if start else "") + word[start:]
            if piece in pieces:
                break
        else:
            return ["[UNK]"]
        found.insert(0, piece)
        word = word[:start]
    return found


# The question that a mistake gets, and the answers that make it. What the first four lead to is,
# for some examples, what other mistakes lead to as well; but those fail in an example before.
MISTAKES = {
    "A choice has been taken back, because it led to no end. WordPiece is greedy: what does the "
    "stub say where no piece fits?": (taken_back,),
    "Your pieces are as few as possible. WordPiece does not look ahead: which is the longest piece "
    "that fits at the start?": (fewest,),
    "Your pieces are the longest from the end of the word on: from which end is it cut?": (
        from_the_end,
    ),
    "A piece of a single character is not found: where does the inner loop end?": (
        single_characters_missed,
    ),
    "Your pieces are the shortest that fit: from which end does the inner loop come?": (shortest,),
    "The “##” is lost: what tells “##ing” from the start of a new word?": (without_marks,),
    "Within the word a piece was looked up without its “##”: which texts may stand there?": (
        looked_up_without_marks,
    ),
    "The first piece has a “##”, too: where may it stand?": (marks_everywhere,),
    "A piece is used at the start of the word that may only continue one, or the other way around: "
    "when is “##” put in front, before or after a piece is looked up?": (without_regard_to_marks,),
    "Your function finds no piece for a part of “walking”, which is walk ##ing: does the inner "
    "loop begin at the end of the word, and where does “##” stand in front?": (one_piece_short,),
    "Only the first piece is there: what becomes of the rest of the word?": (first_piece_alone,),
    "Where no piece fits, the pieces before it are kept, and [UNK] stands for the rest: the stub "
    "makes the whole word unknown.": (rest_unknown,),
    "Where no piece fits, the pieces before it are the result: what became of the rest?": (
        what_was_found,
    ),
    "Where no piece fits, the rest of the word is a token: is it in `pieces`?": (rest_as_it_is,),
    "Where no piece fits, the whole word is a token: is it in `pieces`?": (whole_word_kept,),
    "Where no piece fits, nothing is left of the word: how could the network know that there was "
    "one?": (nothing,),
    "Where no piece fits, one character is [UNK], and the rest goes on: the stub makes the whole "
    "word unknown.": (each_unknown,),
    "A character that is in no piece is left out: how could the network know that it was there?": (
        skipping,
    ),
    "Capital letters have become small ones: is “W” in `pieces`?": (in_small_letters,),
}

register(exercise, MISTAKES)


@exercise.wrong("where does one piece end")
def as_one_text(word, pieces):
    return " ".join(wordpiece_word(word, pieces))


@exercise.wrong("got None: does your function end with return")
def without_an_else(word, pieces):
    found = wordpiece_word(word, pieces)
    return None if found == ["[UNK]"] else found


@exercise.wrong("in place")
def used_up(word, pieces):
    found = wordpiece_word(word, pieces)
    pieces -= set(found)
    return found


EXAMPLES = (
    ("walking", "walk w ##walk ##al ##k ##in ##g ##ing in g"),
    ("ingot", "in ##ing ##got ##ot"),
    ("walks", "walk ##s ##ks w ##al"),
    ("unable", "un una ##able ##b ##l ##e"),
    ("wxs", "w ##s ##ws x"),
    ("unable", "un una ##able ##b ##l"),
    ("Walk", "walk"),
    ("a", "a b"),
)


@exercise.check
def check(answer):
    for word, pieces in EXAMPLES:
        pieces = set(pieces.split())
        what = f"the pieces of “{word}”"
        got, expected = unchanged(answer, word, pieces), wordpiece_word(word, pieces)
        not_one_text(got, expected, "piece")
        recognize_exactly(
            tokens(got, what),
            expected,
            what,
            results(MISTAKES, word, pieces),
        )
    # Word and pieces change one at a time: nothing may be kept from the call before.
    rng = np.random.default_rng(68)
    for length in 1, 2, 4, 9, 30:
        words = ["".join(rng.choice([*"ab"], size=length)) for _ in range(4)]
        for size in 1, 4, 8:
            parts = ["".join(rng.choice([*"ab"], size=rng.integers(1, 4))) for _ in range(size)]
            pieces = {*parts, *("##" + part for part in parts[size // 3 :])}
            for word in words:
                what = f"the pieces of “{word}” with {len(pieces)} pieces"
                got = tokens(unchanged(answer, word, pieces), what)
                exactly(got, wordpiece_word(word, pieces), what)


exercise.equivalent(
    "no piece is empty, but for its mark",
    "wordpiece_word: * → for end in range(len(word), start - 1, -1):",
    "by_cutting_off: * → if len(piece) <= first_seen(len(mark)):",
)
exercise.equivalent(
    "of texts that all begin the same one, the longest is the last in order",
    "by_recursion: * → longest = max(fitting)",
)
