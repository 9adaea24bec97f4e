"""Exercise 7.2, Masking: 80, 10, 10."""

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.compare import matches, numbers, same, unchanged

exercise = Exercise(
    "7.2",
    "Masking: 80, 10, 10",
    stars=2,
    stub='''\
def mask_words(tokens, share, V, rng):
    """Choose words at random, hide most of them, and note which words they were.

    tokens: batch × N, whole numbers: 0 <pad>, 1 <cls>, 2 <sep>, 3 <mask>, and the words 4 to V − 1.
    share: the probability of each word to be chosen, independently of all others, from 0 to 1.
    V: how many numbers there are, words and the four special tokens together.
    rng: the np.random.Generator from which every random number comes.
    Special tokens are never chosen. What the network reads in place of a chosen word is, for each
    of them independently: <mask> with probability 0.8; with probability 0.1 a random word, the
    V − 4 words being equally likely; and with probability 0.1 the word itself.
    Returns (masked, labels), arrays of whole numbers, batch × N: what the network reads; and each
    chosen word as it was, −100 at all other places. tokens itself stays as it is.
    """
    return ...  # your code here
''',
    hints=(
        "Three random things are drawn for each place: whether it is chosen, what becomes of it, "
        "and which random word it would get. rng.random(tokens.shape) serves the first two.",
        "labels need only the first: np.where(chosen, tokens, -100). A special token is smaller "
        "than 4, so it can be excluded from chosen by a comparison.",
        "A second number per place, below 0.8, between 0.8 and 0.9, or above, decides what becomes "
        "of it: one number for the three cases, since they exclude each other. rng.integers(4, V, "
        "size) draws words, and V itself never comes.",
    ),
    notice="Of the chosen words, 1 in 10 is still there to be read. The network cannot know which, "
    "so it has to keep a guess about every word, the ones that it can read included.",
)


@exercise.solution
def mask_words(tokens, share, V, rng):
    chosen = (rng.random(tokens.shape) < share) & (tokens >= 4)
    fate = rng.random(tokens.shape)
    replaced = np.where(fate < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (fate < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.right
def by_loops(tokens, share, V, rng):
    masked, labels = tokens.copy(), np.full(tokens.shape, -100)
    for place in np.ndindex(tokens.shape):
        if tokens[place] > 3 and rng.random() < share:
            labels[place] = tokens[place]
            fate = rng.integers(10)
            if fate < 8:
                masked[place] = 3
            elif fate == 8:
                masked[place] = rng.integers(4, V)
    return masked, labels


@exercise.right
def by_choice(tokens, share, V, rng):
    chosen = rng.binomial(1, share, tokens.shape) * (tokens > 3) == 1
    words = tokens[chosen]
    candidates = np.stack([np.full(len(words), 3), rng.integers(4, V, len(words)), words])
    fates = rng.choice(3, len(words), p=[0.8, 0.1, 0.1])
    masked, labels = tokens.copy(), np.full(tokens.shape, -100)
    masked[chosen] = candidates[fates, np.arange(len(words))]
    labels[chosen] = words
    return masked, labels


@exercise.right
def by_halves(tokens, share, V, rng):
    chosen = (tokens >= 4) & (rng.random(tokens.shape) < share)
    hidden = chosen & (rng.random(tokens.shape) < 0.8)
    swapped = chosen & ~hidden & (rng.random(tokens.shape) < 0.5)
    masked = tokens.copy()
    masked[hidden] = 3
    masked[swapped] = rng.integers(4, V, swapped.sum())
    labels = tokens.copy()
    labels[~chosen] = -100
    return masked, labels


def variant(
    tokens,
    share,
    V,
    rng,
    *,
    special=False,
    bounds=(0.8, 0.9),
    low=4,
    high=0,
    mask=3,
    one_word=False,
    labels=None,
):
    """The right answer with a slip: which are chosen, what they become, from where words come."""
    chosen = rng.random(tokens.shape) < share
    if not special:
        chosen &= tokens >= 4
    fate = rng.random(tokens.shape)
    words = rng.integers(low, V + high, 1 if one_word else tokens.shape)
    replaced = np.where(fate < bounds[0], mask, words)
    masked = np.where(chosen & (fate < bounds[1]), replaced, tokens)
    if labels is not None:
        return masked, labels(tokens, masked, chosen)
    return masked, np.where(chosen, tokens, -100)


def with_slip(**slip):
    """mask_words with one mistake."""
    return lambda tokens, share, V, rng: variant(tokens, share, V, rng, **slip)


def labels_by(labels):
    """The right masking, with the labels that labels(tokens, masked, chosen) makes."""
    return with_slip(labels=labels)


for words, slip in {
    "Your labels hold a token at every place": dict(special=True),
    "it becomes <mask> each time": dict(bounds=(1.0, 1.0)),
    "none of the chosen words is still there": dict(bounds=(0.8, 1.0)),
    "no chosen word becomes another word": dict(bounds=(0.8, 0.8)),
    "no chosen word becomes <mask>": dict(bounds=(0.0, 0.9)),
    "80, 10 and 10 in 100": dict(bounds=(0.1, 0.9)),
    "a special token as a random word": dict(low=0),
    "number 4 never comes": dict(low=5),
    "does the range that you draw from end too early": dict(high=-1),
    "a number that no word has": dict(high=1),
    "the same random word": dict(one_word=True),
    "other than <mask>": dict(mask=0),
}.items():
    exercise.wrong(words)(with_slip(**slip))

for words, labels in {
    "<mask> would be guessed from <mask>": lambda t, m, c: np.where(c, m, -100),
    "Your labels hold a token at every place": lambda t, m, c: t,
    "a word at every word": lambda t, m, c: np.where(t >= 4, t, -100),
    "ask only where <mask> stands": lambda t, m, c: np.where(m == 3, t, -100),
    "ask only where something has changed": lambda t, m, c: np.where(m != t, t, -100),
    "the other way around": lambda t, m, c: np.where(c, -100, t),
    "hold 0 where nothing is asked": lambda t, m, c: np.where(c, t, 0),
    "hold -1 where nothing is asked": lambda t, m, c: np.where(c, t, -1),
    "hold other words than were there": lambda t, m, c: np.where(c, np.roll(t, 1, axis=1), -100),
    "truth values": lambda t, m, c: c,
}.items():
    exercise.wrong(words)(labels_by(labels))


@exercise.wrong("Special tokens were chosen")
def padding_alone_spared(tokens, share, V, rng):
    masked, labels = variant(tokens, share, V, rng, special=True)
    return np.where(tokens == 0, 0, masked), np.where(tokens == 0, -100, labels)


@exercise.wrong("its answer can be read")
def answers_in_sight(tokens, share, V, rng):
    return tokens.copy(), mask_words(tokens, share, V, rng)[1]


@exercise.wrong("the same places in every text")
def same_places(tokens, share, V, rng):
    chosen = (rng.random(tokens.shape[1]) < share) & (tokens >= 4)
    fate = rng.random(tokens.shape)
    replaced = np.where(fate < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (fate < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("whole texts")
def whole_texts(tokens, share, V, rng):
    chosen = (rng.random((len(tokens), 1)) < share) & (tokens >= 4)
    fate = rng.random(tokens.shape)
    replaced = np.where(fate < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (fate < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("All chosen words meet the same fate")
def one_fate(tokens, share, V, rng):
    chosen = (rng.random(tokens.shape) < share) & (tokens >= 4)
    fate = rng.random()
    replaced = np.where(fate < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (fate < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("it becomes <mask> each time")
def one_number_for_both(tokens, share, V, rng):
    chance = rng.random(tokens.shape)
    chosen = (chance < share) & (tokens >= 4)  # share is below 0.8
    replaced = np.where(chance < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (chance < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("exactly")
def exact_number(tokens, share, V, rng):
    places = np.flatnonzero(tokens >= 4)
    chosen = np.zeros(tokens.size, dtype=bool)
    chosen[rng.permutation(places)[: round(share * len(places))]] = True
    chosen = chosen.reshape(tokens.shape)
    fate = rng.random(tokens.shape)
    replaced = np.where(fate < 0.8, 3, rng.integers(4, V, tokens.shape))
    masked = np.where(chosen & (fate < 0.9), replaced, tokens)
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("to be chosen, or to be left alone")
def left_alone(tokens, share, V, rng):
    return mask_words(tokens, 1 - share, V, rng)


@exercise.wrong("of the words are chosen, and share is")
def share_of_bert(tokens, share, V, rng):
    return mask_words(tokens, 0.15, V, rng)


@exercise.wrong("in place of a word that was not chosen")
def others_replaced(tokens, share, V, rng):
    chosen = (rng.random(tokens.shape) < share) & (tokens >= 4)
    fate = rng.random(tokens.shape)
    masked = np.where(chosen & (fate < 0.8), 3, tokens)
    masked = np.where(
        (fate >= 0.8) & (fate < 0.9) & (tokens >= 4), rng.integers(4, V, tokens.shape), masked
    )
    return masked, np.where(chosen, tokens, -100)


@exercise.wrong("as likely as they are in the texts")
def from_the_texts(tokens, share, V, rng):
    masked, labels = mask_words(tokens, share, V, rng)
    others = (labels != -100) & (masked != 3) & (masked != labels)
    if others.any():
        masked[others] = rng.choice(tokens[tokens >= 4], others.sum())
    return masked, labels


@exercise.wrong("the same places each time")
def own_seed(tokens, share, V, rng):
    return mask_words(tokens, share, V, np.random.default_rng(0))


@exercise.wrong("does every random number come from rng")
def own_generator(tokens, share, V, rng):
    return mask_words(tokens, share, V, np.random.default_rng())


@exercise.wrong("in place")
def in_place(tokens, share, V, rng):
    masked, labels = mask_words(tokens, share, V, rng)
    tokens[:] = masked
    return tokens, labels


@exercise.wrong("Two arrays are expected")
def without_labels(tokens, share, V, rng):
    return mask_words(tokens, share, V, rng)[0]


@exercise.wrong("are the two exchanged")
def exchanged(tokens, share, V, rng):
    return mask_words(tokens, share, V, rng)[::-1]


def result(answer, tokens, share, V, rng):
    """(masked, labels) as arrays of whole numbers of the shape of tokens, or Wrong."""
    got = unchanged(lambda tokens: answer(tokens, share, V, rng), tokens)
    if got is None or not isinstance(got, (tuple, list)) or len(got) != 2:
        raise Wrong(
            f"Two arrays are expected, one after the other, masked and labels; got {kind(got)}."
        )
    masked, labels = (
        numbers(part, tokens, what) for part, what in zip(got, ("masked", "labels"), strict=True)
    )
    if labels.dtype == bool:
        raise Wrong("Your labels are truth values: which words stood at the chosen places?")
    for what, part in ("masked", masked), ("labels", labels):
        if (part != part.round()).any():
            raise Wrong(f"There are numbers in {what} that are not whole: what are words here?")
    return masked.astype(int), labels.astype(int)


@exercise.check
def check(answer):
    rng = np.random.default_rng(72)
    check_small(answer, rng)
    share, V = 0.3, 54
    tokens = batch_of_texts(rng, V)
    draws = [result(answer, tokens, share, V, rng) for _ in range(5)]
    check_labels(tokens, *map(np.array, zip(*draws, strict=True)))
    check_chosen(tokens, [labels != -100 for _, labels in draws], share)
    check_fates(draws, V)
    first, second = (result(answer, tokens, share, V, np.random.default_rng(1)) for _ in range(2))
    if not all(map(matches, first, second)):
        raise Wrong(
            "Two generators with the same seed lead to two different results: does every random "
            "number come from rng?"
        )
    check_extremes(answer, rng)


def check_small(answer, rng):
    """Two short texts with all of their words chosen: typical mistakes show in their labels."""
    tokens = np.array([[1, 7, 5, 2, 9, 2], [1, 6, 8, 2, 0, 0]])
    masked, labels = result(answer, tokens, 1.0, 11, rng)
    words = tokens >= 4
    right, filler = np.where(words, tokens, -100), labels[~words][0]
    mistakes = {
        "What the network reads holds −100: are the two exchanged, masked and labels?": (
            labels if (masked == -100).any() else np.nan
        ),
        "Your labels hold a token at every place, special tokens, too, so each would count in the "
        "loss: of which is something asked?": tokens,
        f"Your labels hold {filler} where nothing is asked: which number do losses in PyTorch "
        "leave out?": np.where(words, tokens, filler),
        "Your labels are the other way around: where should they be −100?": (
            np.where(words, -100, tokens)
        ),
        "Your labels hold what the network reads at these places, so <mask> would be guessed from "
        "<mask>: are they made before or after the masking?": np.where(words, masked, -100),
    }
    if not matches(labels, right):
        for question, mistaken in mistakes.items():
            if matches(labels, mistaken):
                raise Wrong(question, right, labels)


def batch_of_texts(rng, V):
    """150 rows of up to 40 tokens: two texts each, padding, and some words far more often."""
    tokens = 4 + ((V - 4) * rng.random((150, 40)) ** 2).astype(int)
    tokens[:, 0], tokens[:, 25] = 1, 2
    for row, length in zip(tokens, rng.integers(28, 41, len(tokens)), strict=True):
        row[length - 1], row[length:] = 2, 0
    return tokens


def check_labels(tokens, masked, labels):
    """What is asked, and whether it fits what is read; masked, labels: draws × batch × N."""
    tokens = np.broadcast_to(tokens, labels.shape)
    asked, changed, special = labels != -100, masked != tokens, tokens < 4
    if asked[special].any():
        raise Wrong(
            "Special tokens were chosen: what would it teach to guess <cls>, <sep> or padding?"
        )
    if asked[~special].all():
        raise Wrong(
            "Your labels hold a word at every word, so each would count in the loss: of which "
            "words is something asked?"
        )
    if not asked.any():
        raise Wrong("No word is chosen in five draws: how often is a random number below share?")
    if (labels != tokens)[asked].any():
        raise Wrong(
            "Your labels hold other words than were there at these places: where do they come from?"
        )
    if not changed.any():
        raise Wrong(
            "Every word that is asked for still stands there, so its answer can be read: what "
            "should hide it?"
        )
    if (changed & special).any():
        raise Wrong("A special token has been replaced: which places may change?")
    if (changed & ~asked).any():
        raise Wrong(
            "Your labels ask only where <mask> stands, and other words were replaced, too: is "
            "nothing asked about these?"
            if (asked == (masked == 3)).all()
            else "Another token stands in place of a word that was not chosen: which places may "
            "change?"
        )
    if (asked == changed).all() and (masked != 3)[asked].any():
        raise Wrong(
            "Your labels ask only where something has changed: is nothing asked about the chosen "
            "words that stay?"
        )


def check_chosen(tokens, draws, share):
    """Which words were chosen, in several draws: how many, and whether by chance.

    The bounds are six standard deviations wide: no right answer comes near them.
    """
    words, chosen = tokens >= 4, np.array(draws)  # batch × N, draws × batch × N
    for axis, question in (
        (
            2,
            "In some rows all words are chosen and in the others none, whole texts: is there one "
            "decision for each row, or one for each word?",
        ),
        (
            1,
            "Words are chosen at the same places in every text of a batch: is there one decision "
            "for each column, or one for each word?",
        ),
    ):
        some, every = (chosen & words).any(axis), (chosen | ~words).all(axis)
        if (some == every)[:, words.any(axis - 1)].all():
            raise Wrong(question)
    found = chosen[:, words].mean()
    allowed = 6 * np.sqrt(share * (1 - share) / chosen[:, words].size)
    if abs(found - (1 - share)) < allowed:
        raise Wrong(
            f"With share = {share}, {found:.0%} of the words are chosen: is share the probability "
            "to be chosen, or to be left alone?"
        )
    if (chosen == chosen[0]).all():
        raise Wrong(
            "Five draws, one after the other, chose the same places each time: where do your "
            "random numbers come from?"
        )
    for counts, where in (chosen.sum(axis=(1, 2)), "the batch"), (chosen.sum(axis=2), "a row"):
        if (counts == counts[0]).all():
            raise Wrong(
                f"Each of five draws chose exactly {counts[0].flat[0]} words of {where}, where "
                "chance would choose now more and now fewer: does each word decide for itself?"
            )
    if abs(found - share) > allowed:
        raise Wrong(
            f"{found:.0%} of the words are chosen, and share is {share:.0%}: how often does a "
            "random number of yours lie below share?"
        )


def check_fates(draws, V):
    """What became of the chosen words, in several draws."""
    fates = []
    for masked, labels in draws:
        asked, read = labels[labels != -100], masked[labels != -100]
        check_range(read, V)
        others = read[(read != 3) & (read != asked)]
        if len(others) > 20 and (others == others[0]).all():
            raise Wrong(
                "All words of a batch that are replaced by a random word get the same random word: "
                "how many are drawn?"
            )
        fates.append([(read == 3).mean(), len(others) / len(read), (read == asked).mean()])
    check_shares(np.array(fates), sum((labels != -100).sum() for _, labels in draws), V)
    check_random_words(draws, V)


def check_range(read, V):
    """Whether all that stands in place of chosen words is <mask> or a word."""
    outside = read[(read != 3) & ((read < 4) | (read >= V))]
    if not outside.size:
        return
    number = outside[0]
    if number < 0 or number >= V:
        raise Wrong(f"The network reads a number that no word has: {number}, for V = {V}.")
    if (outside == number).all() and outside.size > 0.2 * read.size:
        raise Wrong(
            f"Hidden words become token {number}, other than <mask>: which number has <mask>?"
        )
    raise Wrong(
        f"A chosen word became {number}, a special token as a random word: with which number do "
        "words begin?"
    )


def check_shares(fates, count, V):
    """The shares of <mask>, another word and the word itself; fates: draws × 3; of count words.

    The bounds are six standard deviations wide: no right answer comes near them.
    """
    mask, other, itself = fates.mean(axis=0)
    if mask == 1:
        raise Wrong(
            "A word that is chosen is hidden, it becomes <mask> each time: should it not be a "
            "random word for 1 in 10, and stay for 1 in 10? Which random number decides that?"
        )
    if np.isin(fates[:, 0], (0, 1)).all() and mask:
        raise Wrong(
            "All chosen words meet the same fate, in one draw this, in the next that: is there a "
            "decision for each of them?"
        )
    if mask == 0:
        raise Wrong("Chance aside, no chosen word becomes <mask>: what should 8 in 10 become?")
    if itself < 0.03:
        raise Wrong(
            "Chance aside, none of the chosen words is still there: what should 1 in 10 become?"
        )
    if other < 0.03 and V > 5:
        raise Wrong(
            "Chance aside, no chosen word becomes another word: what should 1 in 10 become?"
        )
    same_word = 0.1 / (V - 4)  # a random word that is the word itself
    allowed = 6 * np.sqrt(0.8 * 0.2 / count)
    if abs(mask - 0.8) > allowed or abs(other - 0.1 + same_word) > allowed:
        raise Wrong(
            f"Of 100 chosen words, {100 * mask:.0f} become <mask>, {100 * other:.0f} another word, "
            f"and {100 * itself:.0f} stay: is it 80, 10 and 10 in 100?"
        )


def check_random_words(draws, V):
    """Whether the words that stand in place of others are equally likely."""
    others = np.concatenate(
        [masked[(labels != -100) & (masked != 3) & (masked != labels)] for masked, labels in draws]
    )
    if V == 5:
        return  # the only word stands in place of itself
    counts = np.bincount(others, minlength=V)[4:]
    for number, question in (
        (4, "Among the random words number 4 never comes: with which number do words begin?"),
        (
            V - 1,
            f"Among the random words number V − 1, here {V - 1}, never comes: does the range that "
            "you draw from end too early?",
        ),
    ):
        if not counts[number - 4]:
            raise Wrong(question)
    expected = len(others) / (V - 4)
    # Chi-squared: seven standard deviations above its mean
    if ((counts - expected) ** 2 / expected).sum() > V - 5 + 7 * np.sqrt(2 * (V - 5)):
        raise Wrong(
            f"Among the random words, number {counts.argmax() + 4} comes {counts.max()} times and "
            f"number {counts.argmin() + 4} {counts.min()} times: are all words equally likely, or "
            "as likely as they are in the texts?"
        )


def check_extremes(answer, rng):
    """No word chosen, or all; other sizes of the vocabulary and of the batch; <mask> in a text."""
    for share, V, size in (
        *((0.0, 9, (3, 7)), (1.0, 9, (300, 11)), (1.0, 5, (40, 600)), (1.0, 30, (1, 6))),
        *((1.0, 5, (1, 1)), (0.0, 6, (7, 1))),
    ):
        tokens = rng.integers(0, V, size)
        tokens[0, 0] = 4
        what = f"for share={share:g}, V={V}, {size[0]} × {size[1]} tokens"
        masked, labels = draw = result(answer, tokens, share, V, rng)
        chosen = (tokens >= 4) & (share == 1)
        far = "are all words chosen, and special tokens left alone, <mask> too, if it is in a text?"
        same(labels, np.where(chosen, tokens, -100), f"labels {what}", far=far if share else "")
        check_range(masked[chosen], V)
        others = "masked without the places of chosen words"
        same(np.where(chosen, 3, masked), np.where(chosen, 3, tokens), f"{others}, {what}")
        if tokens.size > 1000:
            check_fates([draw], V)


exercise.equivalent(
    "a random number equals a bound once in 2^53 times",
    "mask_words: chosen = * → chosen = (rng.random(tokens.shape) <= share) & (tokens >= 4)",
    "mask_words: replaced = * → replaced = np.where(fate <= 0.8, *",
    "mask_words: masked = * → masked = np.where(chosen & (fate <= 0.9), *",
    "by_loops: * → if tokens[place] > 3 and rng.random() <= share:",
    "by_halves: * → chosen = (tokens >= 4) & (rng.random(tokens.shape) <= share)",
    "by_halves: * → hidden = chosen & (rng.random(tokens.shape) <= 0.8)",
    "by_halves: * → swapped = chosen & ~hidden & (rng.random(tokens.shape) <= 0.5)",
)
exercise.equivalent(
    "all these arrays have the shape of tokens",
    "mask_words: fate = * → fate = rng.random(chosen.shape)",
    "mask_words: replaced = * → *chosen.shape))",
    "mask_words: replaced = * → *fate.shape))",
    "by_loops: for * → for place in np.ndindex(labels.shape):",
    "by_loops: for * → for place in np.ndindex(masked.shape):",
    "by_choice: masked, labels = * → *np.full(chosen.shape, -100))",
    "by_halves: hidden = * → *rng.random(chosen.shape) < 0.8)",
    "by_halves: swapped = * → *rng.random(chosen.shape) < 0.5)",
    "by_halves: swapped = * → *rng.random(hidden.shape) < 0.5)",
)
exercise.equivalent(
    "a place is looked at before it changes",
    "by_loops: if * → if masked[place] > 3 and rng.random() < share:",
    "by_loops: labels[place] = * → labels[place] = masked[place]",
)
exercise.equivalent(
    "another tenth of the chances is as likely, and so is the other half",
    "by_loops: if fate == 8: → if fate == 9:",
    "by_loops: if fate == 8: → if fate != 8:",  # 9 alone is left
    "by_halves: swapped = * → swapped = chosen & ~hidden & (rng.random(tokens.shape) > 0.5)",
)
exercise.equivalent(
    "0/0 and 1/0 are not 1",
    "by_choice: * → chosen = rng.binomial(1, share, tokens.shape) / (tokens > 3) == 1",
)
exercise.equivalent(
    "each chosen word has its fate",
    "by_choice: masked[chosen] = * → masked[chosen] = candidates[fates, np.arange(len(fates))]",
)
exercise.equivalent(
    "as many, counted in any order",
    "by_halves: masked[swapped] = * → masked[swapped] = rng.integers(4, V, turned(swapped).sum())",
)
