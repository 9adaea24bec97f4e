"""Exercise 9.8, Word by word."""

import functools

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.examples import first_fault
from helpers.exercises.shared.mistakes import register
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "9.8",
    "Word by word",
    stars=2,
    stub='''\
def translate_greedily(encode, decode, source, longest):
    """A translation in which each next word is the one with the largest logit.

    encode: a function of the source, a list of token numbers, to what the encoder makes of it, D ×
    N_e. It is slow: call it once.
    decode: a function of what encode returned and of the tokens so far, a list that begins with
    <start>, to logits, V × N, one column for the token after each of them.
    source: a list of token numbers. longest: how many words a translation may have, at least 1.
    The numbers 0, 1 and 2 are padding, <start> and <end>.
    Returns a list of token numbers without <start> and <end>, at most `longest` of them; where no
    <end> comes, so many.
    """
    return ...  # your code here
''',
    hints=(
        "What stands in the list before the first word is chosen? And which of the columns of the "
        "logits belongs to the word that is to be chosen next?",
        "Each step appends one token and gives the whole list to decode again. What of the encoder "
        "changes from step to step?",
        "Leave the loop when the token is <end>, before it is appended. The loop makes at most "
        "`longest` steps; what is returned is the list without its first token.",
    ),
    notice="The encoder works once, on all its tokens together; the decoder works once for each "
    "word. In every step the columns before the last are computed again, which a cache would save.",
)


@exercise.solution
def translate_greedily(encode, decode, source, longest):
    E = encode(source)
    tokens = [1]
    for _ in range(longest):
        token = int(decode(E, tokens)[:, -1].argmax())
        if token == 2:
            break
        tokens.append(token)
    return tokens[1:]


@exercise.right
def by_recursion(encode, decode, source, longest):
    E = encode(source)

    def words_after(tokens):
        if len(tokens) > longest:
            return []
        token = np.argmax(decode(E, tokens), axis=0)[-1]
        return [] if token == 2 else [token, *words_after([*tokens, token])]

    return words_after([1])


@exercise.right
def cut_afterwards(encode, decode, source, longest):
    tokens, E = [1], encode(source)
    while len(tokens) <= longest:
        logits = decode(E, tokens)[:, len(tokens) - 1]
        tokens = [*tokens, max(range(len(logits)), key=lambda v: logits[v])]
    tokens.append(2)
    return tokens[1 : tokens.index(2)]


@exercise.right
def with_all_columns(encode, decode, source, longest):
    E = encode(source)
    words = np.zeros(0, dtype=int)
    while len(words) < longest and 2 not in words:
        words = np.append(words, decode(E, [1, *words])[:, -1].argmax())
    return words[words != 2].tolist()


def write(encode, decode, source, longest, **slip):
    """The right translation, or one with slips.

    first: the tokens at the beginning. choose: function of the logits, to a token. given: function
    of the tokens so far, to what decode is given. end: the tokens that stop. more: steps more.
    result: function of the tokens, the first included, and of the one that stopped it or None.
    """
    E = encode(source)
    tokens, stop = list(slip.get("first", [1])), []
    for _ in range(longest + slip.get("more", 0)):
        logits = decode(E, slip.get("given", lambda tokens, source: tokens)(tokens, source))
        token = int(slip.get("choose", lambda logits: logits[:, -1].argmax())(logits))
        if token in slip.get("end", (2,)):
            stop = [token]
            break
        tokens.append(token)
    return slip.get("result", lambda tokens, stop: tokens[1:])(tokens, stop)


def slipped(**slip):
    """A wrong answer: write with slips."""
    return lambda *inputs: write(*inputs, **slip)


def of_one_word(encode, decode, source, longest):
    return write(encode, decode, source, 1)


def in_one_pass(encode, decode, source, longest):
    """The most probable token after each token of the source."""
    logits = decode(encode(source), [1, *source])
    words = [*logits.argmax(axis=0).tolist(), 2]
    return words[: words.index(2)][:longest]


# The question to ask, and the wrong answer
MISTAKES = {
    "Your translation begins with <start>: is that a word?": slipped(
        result=lambda tokens, stop: tokens
    ),
    "Your translation ends with <end>: is that a word?": slipped(
        result=lambda tokens, stop: [*tokens[1:], *stop]
    ),
    "Your translation has <start> and <end>: are these words?": slipped(
        result=lambda tokens, stop: [*tokens, *stop]
    ),
    "Your first word is missing: what is the first token of the list?": slipped(
        result=lambda tokens, stop: tokens[2:]
    ),
    "Your last word is missing: had <end> been appended, so that something had to be taken off?": (
        slipped(result=lambda tokens, stop: tokens[1:-1])
    ),
    "Yours goes on after <end>: when does the loop stop?": slipped(end=()),
    "Your list begins with <end>: which number is <start>?": slipped(first=[2]),
    "Your list begins with <start> twice: what stands before the first word?": slipped(
        first=[1, 1], result=lambda tokens, stop: tokens[2:]
    ),
    "Each of your words is the one after <start> alone: does decode know what has been written, "
    "and which column of the logits predicts the next word?": (
        slipped(given=lambda tokens, source: tokens[:1]),
        slipped(choose=lambda logits: logits[:, 0].argmax()),
    ),
    "Your decoder knows only the last word: does decode get the whole list?": slipped(
        given=lambda tokens, source: [1, *tokens[1:][-1:]]
    ),
    "Your words are chosen in the last column but one: what does it predict?": slipped(
        choose=lambda logits: logits[:, -2:][:, 0].argmax()
    ),
    "Your token is the place of the largest number in all columns together: which column predicts "
    "the next word?": slipped(choose=lambda logits: logits.argmax() % len(logits)),
    "Your token is the one with the largest number in any column: which column predicts the next "
    "word?": slipped(choose=lambda logits: logits.max(axis=1).argmax()),
    "Your token is the one with the largest sum over all columns: which column predicts the next "
    "word?": slipped(choose=lambda logits: logits.sum(axis=1).argmax()),
    "Yours takes the last row, which is about one token of the vocabulary: along which axis do the "
    "V tokens run?": slipped(choose=lambda logits: logits[-1].argmax()),
    "Your tokens are the most improbable ones: which logit is taken?": slipped(
        choose=lambda logits: logits[:, -1].argmin()
    ),
    "Your tokens have the largest logits without their signs: which logit is taken?": slipped(
        choose=lambda logits: np.abs(logits[:, -1]).argmax()
    ),
    "Your token is the second best: which place of the sorted ones is the best?": slipped(
        choose=lambda logits: np.argsort(logits[:, -1])[-2]
    ),
    "Your translation has one word too many, where no <end> comes: how many steps has the loop?": (
        slipped(more=1)
    ),
    "Your translation has one word too few, where no <end> comes: how many steps has the loop?": (
        slipped(more=-1)
    ),
    "Your translation has one word: does a loop end in its first turn, with a return that stands "
    "inside it?": of_one_word,
    "Your decoder has read the source in place of its own words: which words come before the next "
    "one?": in_one_pass,
    "Your list begins with <start> and the source: which language does the decoder write?": slipped(
        given=lambda tokens, source: [1, *source, *tokens[1:]]
    ),
    "Your translation comes in reverse order: which word was chosen first?": slipped(
        result=lambda tokens, stop: tokens[:0:-1]
    ),
    "The words that were chosen twice are missing: is it a list or a set?": slipped(
        result=lambda tokens, stop: list(dict.fromkeys(tokens[1:]))
    ),
}
register(exercise, MISTAKES)


@exercise.wrong("Your encoder worked")
def encoded_again(encode, decode, source, longest):
    return write(encode, lambda E, tokens: decode(encode(source), tokens), source, longest)


@exercise.wrong("something else than encode returned")
def unencoded(encode, decode, source, longest):
    return write(lambda source: np.array([source]), decode, source, longest)


@exercise.wrong("something else than encode returned")
def transposed(encode, decode, source, longest):
    return write(lambda source: encode(source).T, decode, source, longest)


@exercise.wrong("was given no token at all")
def without_start(encode, decode, source, longest):
    return write(encode, decode, source, longest, first=[])


@exercise.wrong("that do not begin with <start>")
def last_token_alone(encode, decode, source, longest):
    return write(encode, decode, source, longest, given=lambda tokens, source: tokens[-1:])


@exercise.wrong("one number, and a list of tokens is expected")
def last_as_number(encode, decode, source, longest):
    return write(encode, decode, source, longest, given=lambda tokens, source: tokens[-1])


@exercise.wrong("in exchanged order")
def exchanged(encode, decode, source, longest):
    return write(encode, lambda E, tokens: decode(tokens, E), source, longest)


@exercise.wrong("A list of tokens is expected, got a str")
def as_text(encode, decode, source, longest):
    return " ".join(map(str, write(encode, decode, source, longest)))


@exercise.wrong("A list of tokens is expected, got None")
def nothing(encode, decode, source, longest):
    write(encode, decode, source, longest)


@exercise.wrong("in place")
def in_place(encode, decode, source, longest):
    source.append(2)
    return write(encode, decode, source[:-1], longest)


def translators():
    """An encoder for a number, a decoder for a size and a number, and what was encoded so far."""
    encoded = []

    @functools.cache
    def encoder(number):
        def encode(source):
            places = np.array([[1.3], [2.1], [3.7]])
            encoded.append(np.sin((np.asarray(source) + number) * places))  # 3 × N_e
            return encoded[-1].copy()

        return encode

    @functools.cache
    def decoder(V, number):
        return lambda E, tokens: logits(E, tokens, encoded, V, number)

    return encoder, decoder, encoded


def logits(E, tokens, encoded, V, number):
    """What a decoder makes of E and the tokens so far, or Wrong if they are not what they are."""
    if np.ndim(E) == 1 and np.ndim(tokens) == 2:
        raise Wrong("Your decoder was given its inputs in exchanged order: which comes first?")
    if not encoded or np.shape(E) != encoded[-1].shape or not np.allclose(E, encoded[-1]):
        raise Wrong(
            "Your decoder was given something else than encode returned: what does the decoder "
            "read of "
            "the source?"
        )
    if np.ndim(tokens) == 0:
        raise Wrong("Your decoder was given one number, and a list of tokens is expected.")
    tokens = np.asarray(tokens)
    if not tokens.size:
        raise Wrong(
            "Your decoder was given no token at all: from what is the first word predicted, and "
            "where "
            "does <start> stand?"
        )
    if tokens[0] not in (1, 2):
        raise Wrong(
            f"Your decoder was given the tokens {tokens.tolist()}, that do not begin with <start>: "
            f"which "
            "tokens come before the next one?"
        )
    places = np.arange(len(tokens))
    code = np.cumsum(tokens * (1.1 + 0.37 * places)) + 5 * E.mean()
    code += E[0] @ np.arange(1, 1 + E.shape[1])
    result = 3 * np.sin(code * np.linspace(0.9, 4.3, V)[:, None] + number)  # V × N
    result[:2] = -1.0  # neither padding nor <start> is ever written
    result[2] += places + (9 if number == 7 else -2)  # sooner or later, or at once, a text ends
    return result


# The encoder's number, the decoder's size and number, the source, and the most words; the first
# ones differ from each other in one of these alone
EXAMPLES = (
    *((1, 9, 1, [4, 7, 5], 8), (3, 9, 1, [4, 7, 5], 8), (1, 9, 2, [4, 7, 5], 8)),
    *((1, 9, 1, [4, 7, 5], 2), (1, 9, 1, [3, 6, 8], 8), (2, 9, 2, [6, 3, 8, 5], 8)),
    *((3, 12, 3, [5], 7), (4, 12, 4, [9, 4], 3), (5, 30, 5, [21, 7, 14, 3, 9], 6)),
    *((5, 30, 5, [21, 7], 6), (6, 30, 6, [8, 17], 1), (8, 7, 8, [3, 6], 9), (7, 9, 7, [8, 3], 5)),
)


@exercise.check
def check(answer):
    encoder, decoder, encoded = translators()
    found = []
    for number, V, seed, source, longest in EXAMPLES:
        encoded.clear()
        inputs = encoder(number), decoder(V, seed), source, longest
        found.append(as_tokens(run(answer, *inputs, errors={})))
        if len(encoded) > 1:
            raise Wrong(
                f"Your encoder worked {len(encoded)} times for one source: what of it changes from "
                "word to word?"
            )
    fault = first_fault(found, of_example(translate_greedily), MISTAKES_BY_EXAMPLE, EXAMPLES)
    if fault is None:
        return
    n, question = fault
    number, V, seed, source, longest = EXAMPLES[n]
    answer(encoder(number), decoder(V, seed), [*source], longest)  # so that its inputs are shown
    expected = of_example(translate_greedily)(*EXAMPLES[n])
    if question:
        raise Wrong(question, expected, found[n])
    pairs = [*zip(found[n], expected, strict=False)]
    right = [a == b for a, b in pairs] + [False]
    raise Wrong(
        f"Your translation of {source} is right for {right.index(False)} words, and then it "
        "differs: which token has the largest logit there?",
        expected,
        found[n],
    )


def of_example(answer):
    """The answer as a function of what stands in EXAMPLES."""

    def translation(number, V, seed, source, longest):
        encoder, decoder, _ = translators()
        return as_tokens(answer(encoder(number), decoder(V, seed), [*source], longest))

    return translation


MISTAKES_BY_EXAMPLE = {
    question: tuple(map(of_example, wrongs if isinstance(wrongs, tuple) else (wrongs,)))
    for question, wrongs in MISTAKES.items()
}


def as_tokens(got):
    """The result as a list of whole numbers, or Wrong."""
    if got is ...:
        return got
    if isinstance(got, (list, tuple)) or (hasattr(got, "tolist") and np.ndim(got) == 1):
        try:
            return [int(token) for token in got]
        except (TypeError, ValueError):
            pass
    raise Wrong(f"A list of tokens is expected, got {kind(got)}.")


exercise.equivalent(
    "whole numbers of any type are tokens, and no numbers are none",
    "translate_greedily: * → token = decode(E, tokens)[:, -1].argmax()",
    "with_all_columns: * → words = np.zeros(0)",
    "with_all_columns: * → words = np.ones(0, dtype=int)",
    "with_all_columns: * → return words[words != 2]",
)
exercise.equivalent(
    "padding is never written", "cut_afterwards: * → tokens = [*tokens, max(range(1, len(logits))*"
)
