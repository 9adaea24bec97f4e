import math
import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.corpora.grammar import END, Grammar, tokens
from helpers.corpora.reviews import (
    EITHER,
    EXTRAS,
    KINDS,
    REVIEWS,
    TOWN,
    annotate,
    mirror,
    reviews,
    town,
)
from helpers.notebooks import ROOT

SMALL = """
text: 3 {dish±} . | the end .
dish±:
    the {meal} was {taste±}
    I liked the {meal} because it^meal was {taste±} , not {taste∓}  # a remark
taste+: 3 good | fine
taste-: bad
meal/DISH: Thai soup | stew
guest: Anna
? who liked the {meal} : guest
? what was it : meal
"""


@pytest.fixture(scope="module")
def some():
    return reviews(3000, seed=7)


@pytest.fixture(scope="module")
def news():
    return town(1000, seed=7)


# ---- The engine, on rules small enough for paper -------------------------------------------------


def small(start="text"):
    return Grammar(SMALL.replace("{dish±}", "{dish+}"), start)


def test_probabilities_by_hand():
    grammar = small()
    assert grammar.log_probability("the end .") == pytest.approx(math.log(1 / 4))
    assert grammar.log_probability("The stew was fine.") == pytest.approx(
        math.log(3 / 4 * 1 / 2 * 1 / 2 * 1 / 4)
    )
    assert grammar.next_word("the") == pytest.approx({"thai": 0.3, "stew": 0.3, "end": 0.4})
    assert grammar.next_word(["the", "end", "."]) == {END: 1.0}


def test_entropy_and_length_by_hand():
    def h(*p):
        return -sum(q * math.log(q) for q in p)

    grammar = small()
    # A choice of one of two texts; then of two sentences, two meals, and good or fine.
    assert grammar.entropy == pytest.approx(
        h(1 / 4, 3 / 4) + 3 / 4 * (h(1 / 2, 1 / 2) + h(1 / 2, 1 / 2) + h(1 / 4, 3 / 4))
    )
    # "the end ." has 3 words; "the M was T ." 4 and a meal's 3 / 2; the long sentence 11 and that.
    assert grammar.length == pytest.approx(1 / 4 * 3 + 3 / 4 * ((4 + 11) / 2 + 3 / 2))


def test_a_derivation_tells_all():
    grammar = small()
    (found,) = grammar.parse("i liked the thai soup because it was good , not bad .")
    assert " ".join(found.written) == "I liked the Thai soup because it was good , not bad ."
    assert grammar.tags(found) == ("",) * 3 + ("DISH",) * 2 + ("",) * 8
    assert found.pronouns == ((6, 4),)  # it, soup
    ((question, start, end),) = grammar.questions(found)
    assert (question, found.words[start:end]) == ("What was it?", ("thai", "soup"))


def test_a_question_needs_one_answer():
    grammar = Grammar("text: {meal} and {meal}\nmeal: soup | stew\n? what was it : meal", "text")
    assert grammar.questions(*grammar.parse("soup and stew")) == ()


def test_signs_are_told_apart():
    plus, minus = small("dish+"), small("dish-")
    assert math.exp(plus.log_probability("the stew was good")) == pytest.approx(3 / 16)
    assert plus.parse("the stew was bad") == []
    assert math.exp(minus.log_probability("the stew was bad")) == pytest.approx(1 / 4)


def test_ambiguity_is_seen():
    grammar = Grammar("text: {one} | {two}\none: a b\ntwo: a b | a c", "text")
    assert len(grammar.parse("a b")) == 2
    assert math.exp(grammar.log_probability("a b")) == pytest.approx(3 / 4)


def test_a_symbol_without_a_rule_is_named():
    with pytest.raises(ValueError, match="“meal”"):
        Grammar("text: the {meal}", "text")
    with pytest.raises(ValueError, match="“poem”"):
        Grammar("text: the meal", "poem")


def test_a_name_without_a_rule_in_a_question_is_told_with_its_line():
    rules = "text: the {meal}\nmeal: stew\n\n# asked\n? "
    with pytest.raises(ValueError, match=r"“dish”, asked for in line 5\."):
        Grammar(rules + "what was it : dish", "text")
    with pytest.raises(ValueError, match=r"“guest”, asked for in line 5\."):
        Grammar(rules + "what did {guest} have : meal", "text")


def test_a_symbol_that_contains_itself_is_told_with_the_way():
    with pytest.raises(ValueError, match=r"“(\w+)” contains itself: \1 → \w+ → \1\."):
        Grammar("text: the {meal}\nmeal: stew | {side}\nside: rice and {meal}", "text")
    with pytest.raises(ValueError, match=r"“meal\+” contains itself: meal\+ → meal\+\."):
        Grammar("text: the end\nmeal±: stew | big {meal±}", "text")
    with pytest.raises(ValueError, match=r": (text → )?meal → side → text( → meal)?( → side)?\."):
        Grammar("text: the {meal}\nmeal: {side}\nside: {text}", "text")


def test_an_indented_line_above_all_headings_is_told():
    with pytest.raises(ValueError, match=r"^Line 3 is indented"):
        Grammar("# rules\n\n    the stew\ntext: the end", "text")


# ---- What is known exactly -----------------------------------------------------------------------


def test_every_text_has_one_derivation(some, news):
    for grammar, texts in ((REVIEWS, some), (TOWN, news)):
        for text in texts:
            (found,) = grammar.parse(text.words)
            assert found.log_probability == pytest.approx(text.log_probability, abs=1e-9)
            assert grammar.log_probability(text.words) == pytest.approx(found.log_probability)


@pytest.mark.parametrize("grammar", [REVIEWS, TOWN], ids=["reviews", "town"])
def test_entropy_is_the_mean_negative_log_probability(grammar):
    # A sampled text knows its log-probability; the test above holds it to that of the words.
    def distance(seed, n):
        """Of the mean from the entropy, in standard errors."""
        rng = random.Random(seed)
        drawn = [-grammar.draw(rng).log_probability for _ in range(n)]
        mean = sum(drawn) / n
        error = math.sqrt(sum((x - mean) ** 2 for x in drawn) / (n - 1) / n)
        assert error < 0.002 * grammar.entropy
        return abs(mean - grammar.entropy) / error

    # One standard error is what is promised. One seed in three would miss it by chance, so the seed
    # is fixed, and a change of the rules may need another.
    assert distance(seed=6, n=100_000) < 1
    # This would hold for nearly every seed: one in 16,000 misses it.
    assert distance(seed=4, n=100_000) < 4


def test_length_is_the_mean_length(some):
    assert sum(len(r.words) for r in some) / len(some) == pytest.approx(REVIEWS.length, rel=0.02)


def test_next_words_multiply_to_the_texts_probability(some, news):
    for grammar, texts in ((REVIEWS, some[:60]), (TOWN, news[:60])):
        for text in texts:
            total = 0.0
            for n, word in enumerate((*text.words, END)):
                chances = grammar.next_word(text.words[:n])
                assert sum(chances.values()) == pytest.approx(1)
                total += math.log(chances[word])
            assert total == pytest.approx(text.log_probability)


# ---- Outside the grammar -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "The", "the soup was", "soup the was cold .", "💥", "<end>", "a" * 10_000, ["the soup"]],
)
def test_outside_has_probability_zero(text):
    assert REVIEWS.log_probability(text) == -math.inf
    assert REVIEWS.parse(text) == []
    with pytest.raises(ValueError, match="do not write this text"):
        annotate(text)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.lists(st.sampled_from(REVIEWS.vocabulary) | st.text(max_size=3)))
def test_no_text_crashes(text):
    assert REVIEWS.log_probability(text) <= 0
    try:
        assert sum(REVIEWS.next_word(text).values()) == pytest.approx(1)
    except ValueError as error:
        assert "cannot" in str(error)


@pytest.mark.parametrize("nothing", [None, 3, [None], [["the"]], {"the"}, float("nan"), b"the"])
def test_what_is_no_text_gets_one_sentence(nothing):
    for function in (REVIEWS.log_probability, REVIEWS.next_word, REVIEWS.parse, annotate):
        with pytest.raises(ValueError, match=r"^Give the words"):
            function(nothing)


def test_an_impossible_prefix_is_explained():
    with pytest.raises(ValueError, match="“sailor” cannot follow “ate at the” here; “"):
        REVIEWS.next_word("We ate at the sailor yesterday")
    with pytest.raises(ValueError, match="“sailor” cannot begin a text here; “"):
        REVIEWS.next_word("Sailor soup")
    complete = list(reviews(1, seed=0)[0].words)
    with pytest.raises(ValueError, match="“<end>” can"):
        REVIEWS.next_word([*complete, "the"])


def test_hidden_words_of_a_small_grammar():
    """Counted by hand: the word on the right decides as well as the word on the left."""
    grammar = Grammar("text: a {x} c | 3 b {y} c | b e d\nx: e | f\ny: e | 2 f", "text")
    for words, wanted in [
        ([None, "e", "c"], [{"a": 1 / 3, "b": 2 / 3}]),  # 1/2 and 3 · 1/3 of five
        (["b", "e", None], [{"c": 1 / 2, "d": 1 / 2}]),
        (["b", None, None], [{"e": 1 / 2, "f": 1 / 2}, {"c": 3 / 4, "d": 1 / 4}]),
        (["a", "e", "c"], []),
    ]:
        found = grammar.hidden_words(words)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert one == pytest.approx(other)


@pytest.mark.parametrize("grammar", [REVIEWS, TOWN], ids=["reviews", "town"])
def test_hidden_words_are_what_all_texts_say(grammar):
    """By the definition: each word in turn in the gap, and the text's probability."""
    rng = random.Random(2)
    for _ in range(12):
        words = list(grammar.draw(rng).words)
        place = rng.randrange(len(words))
        filled = {
            word: math.exp(grammar.log_probability([*words[:place], word, *words[place + 1 :]]))
            for word in grammar.vocabulary
        }
        total = sum(filled.values())
        (found,) = grammar.hidden_words([*words[:place], None, *words[place + 1 :]])
        assert found == pytest.approx({w: p / total for w, p in filled.items() if p})


@pytest.mark.parametrize("grammar", [REVIEWS, TOWN], ids=["reviews", "town"])
def test_two_hidden_words_follow_the_chain_rule(grammar):
    """P(first) · P(second, given the first) summed over the first is P(second)."""
    rng = random.Random(3)
    for _ in range(6):
        words = list(grammar.draw(rng).words)
        a, b = sorted(rng.sample(range(len(words)), 2))
        words[a] = words[b] = None
        first, second = grammar.hidden_words(words)
        summed = dict.fromkeys(second, 0.0)
        for word, p in first.items():
            (given,) = grammar.hidden_words([*words[:a], word, *words[a + 1 :]])
            for other, q in given.items():
                summed[other] += p * q
        assert summed == pytest.approx(second)
        assert sum(first.values()) == pytest.approx(1)


def test_either_is_a_fair_mixture(some, news):
    for grammar, texts in ((REVIEWS, some[:20]), (TOWN, news[:20])):
        for text in texts:
            half = grammar.log_probability(text.words) - math.log(2)
            assert EITHER.log_probability(text.words) == pytest.approx(half)
    first = EITHER.next_word([])
    for word in ("the", "i", "children"):
        parts = (REVIEWS.next_word([]).get(word, 0), TOWN.next_word([]).get(word, 0))
        assert first[word] == pytest.approx(sum(parts) / 2)


def test_hidden_words_refuse_what_is_no_text():
    with pytest.raises(ValueError, match="no text that agrees"):
        TOWN.hidden_words(["the", None, "peanut", "."])
    with pytest.raises(ValueError, match="no text that agrees"):
        TOWN.hidden_words(["the", "train", "pulled", None])  # it goes on
    with pytest.raises(ValueError, match="with None for a hidden word"):
        TOWN.hidden_words("the train")
    with pytest.raises(ValueError, match="with None for a hidden word"):
        TOWN.hidden_words(["the", 3])


# ---- Drawing -------------------------------------------------------------------------------------


def test_the_same_reviews_everywhere():
    """The checksum was computed once: a change of the rules changes it, nothing else may."""
    code = (
        "import zlib; from helpers.corpora.reviews import reviews, town;"
        "drawn = reviews(200, 1) + reviews(50, 1, 'train') + town(50, 1);"
        "print(zlib.crc32(repr([r[:3] for r in drawn]).encode()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(run.stdout) == 942949782


def test_seeds_count():
    assert reviews(20, seed=1) == reviews(30, seed=1)[:20] != reviews(20, seed=2)


@pytest.mark.parametrize("draw", [reviews, town])
@pytest.mark.parametrize("wrong", [None, "1", 1.5, -1])
def test_count_and_seed_are_whole_numbers_from_0_on(draw, wrong):
    error = ValueError if wrong == -1 else TypeError
    with pytest.raises(error, match=f"^The seed is a whole number from 0 on, not {wrong!r}"):
        draw(1, wrong)
    with pytest.raises(error, match=f"^The count is a whole number from 0 on, not {wrong!r}"):
        draw(wrong, 1)
    assert draw(0, 0) == []


def test_splits_never_overlap():
    texts = {
        split: {r.text for r in reviews(1500, seed, split)}
        for seed, split in enumerate(("train", "validation", "test"))
    }
    assert not texts["train"] & texts["validation"]
    assert not texts["train"] & texts["test"]
    assert not texts["validation"] & texts["test"]
    with pytest.raises(ValueError, match="train, validation or test"):
        reviews(1, 0, "dev")


def test_a_split_has_its_share(some):
    train = {r.text for r in reviews(6000, 7, "train")}
    kept = sum(r.text in train for r in some)
    assert 0.77 < kept / len(some) < 0.83


@pytest.mark.parametrize(
    ("draw", "phenomenon"),
    [(reviews, name) for name in (*KINDS, *EXTRAS)] + [(town, name) for name in EXTRAS],
)
def test_a_phenomenon_keeps_exactly_the_texts_that_have_it(draw, phenomenon):
    texts = draw(400, 5, "test")
    having = [text for text in texts if phenomenon in text.phenomena]
    assert 20 < len(having) < len(texts)
    assert draw(len(having), 5, "test", phenomenon) == having


def test_an_unknown_phenomenon_is_answered_with_the_known_ones():
    known = "plain, contrast, negated, swapped, pronoun, question, not 'irony'"
    with pytest.raises(ValueError, match=known):
        reviews(1, 0, phenomenon="irony")
    with pytest.raises(ValueError, match="one of pronoun, question, not 'plain'"):
        town(1, 0, phenomenon="plain")


def test_praise_and_blame_are_equally_frequent(some, news):
    assert sum(r.sentiment for r in some) / len(some) == pytest.approx(0.5, abs=0.03)
    assert {r.sentiment for r in news} == {None}


# ---- The texts -----------------------------------------------------------------------------------


def test_sizes(some, news):
    assert 250 <= len(set(REVIEWS.vocabulary) | set(TOWN.vocabulary)) <= 500
    for text in (*some, *news):
        *sentences, rest = " ".join(text.words).split(" .")
        assert rest == "" and 1 <= len(sentences) <= 3
        for sentence in sentences:
            assert 4 <= len(sentence.replace(",", "").split()) <= 25


def test_every_rule_is_used():
    names = {symbol.name for grammar in (REVIEWS, TOWN) for symbol in grammar._reached}
    assert names == set(REVIEWS._symbols)


def test_the_text_for_the_eye_has_the_same_words(some, news):
    for text in (*some, *news):
        assert tokens(text.text) == list(text.words)
        assert text.text[0].isupper() and " ," not in text.text and " ." not in text.text


@pytest.mark.parametrize(
    ("text", "sentiment", "phenomenon"),
    [
        ("This is not a real restaurant, it is a filthy burger joint.", 0, "swapped"),
        ("This is not a filthy burger joint, it is a real restaurant.", 1, "swapped"),
        ("Instead of a tourist trap we found a little gem.", 1, "swapped"),
        ("We expected a little gem and found a tourist trap.", 0, "swapped"),
        (
            "This restaurant was not too terrible, and the lamb stew was really good.",
            1,
            "negated",
        ),
        (
            "This is hardly the best restaurant in town, and the staff was truly rude.",
            0,
            "negated",
        ),
        (
            "The food could not have been better, and our waiter was certainly kind.",
            1,
            "negated",
        ),
        (
            "The food could certainly have been better, and our waiter was not kind.",
            0,
            "negated",
        ),
        (
            "We ate at the Old Mill yesterday. The staff was rather slow, but the food was so "
            "good.",
            1,
            "contrast",
        ),
        (
            "We ate at the Old Mill yesterday. The staff was rather kind, but the food was so bad.",
            0,
            "contrast",
        ),
        ("I ordered the steak, and it was disgusting.", 0, "plain"),
    ],
)
def test_sentiments_as_a_reader_hears_them(text, sentiment, phenomenon):
    review = annotate(text)
    assert review.sentiment == sentiment
    assert phenomenon in review.phenomena
    assert review.text == text


def test_a_bag_of_words_cannot_tell_negated_and_swapped_reviews(some):
    """For each there is one with the same words, as likely, that says the opposite."""
    hard = [r for r in some if {"negated", "swapped"} & set(r.phenomena)]
    assert len(hard) > 900
    for review in hard:
        other = mirror(review)
        assert Counter(other.words) == Counter(review.words)
        assert other.sentiment == 1 - review.sentiment
        assert other.log_probability == pytest.approx(review.log_probability, abs=1e-9)
        assert other.phenomena[0] == review.phenomena[0]
        assert mirror(other).words == review.words
    with pytest.raises(ValueError, match="Only a negated or a swapped"):
        mirror(annotate("I ordered the steak, and it was disgusting."))


# The symbols whose words say what the guests think of it, openly or by what happened to them. No
# other word should give a verdict away.
TELLING = {
    *("simple-taste", "clear-taste", "extreme", "kind", "cozy", "warm", "fair"),
    *("general", "best", "better", "pleased", "nice", "verdict"),
    *("food", "service", "room", "mood", "price", "alike"),
    *("ordered", "served", "kitchen-story", "on-steak", "in-the-end", "gift"),
}


def test_no_word_gives_the_verdict_away_by_accident():
    """A hedge heard only in blame once let a bag of words read every contrast."""
    rng = random.Random(5)
    seen = {True: Counter(), False: Counter()}  # praise, blame: (kind, word) with its texts
    for _ in range(8000):
        drawn = REVIEWS.draw(rng)
        writer = [""] * len(drawn.words)  # the innermost symbol that wrote the word
        for name, start, end in reversed(drawn.spans):  # a symbol stands after those inside it
            writer[start:end] = [name] * (end - start)
        names = set(writer) | {name for name, *_ in drawn.spans}
        (kind,) = (kind for kind in KINDS if {f"{kind}+", f"{kind}-"} & names)
        pairs = zip(drawn.words, writer, strict=True)
        told = {word for word, name in pairs if name.rstrip("+-") not in TELLING}
        seen["review+" in names].update((kind, word) for word in told)
    both = seen[True] + seen[False]
    share = {key: seen[True][key] / n for key, n in both.items() if n >= 40}
    assert len(share) > 300
    assert {key: round(p, 2) for key, p in share.items() if not 0.25 < p < 0.75} == {}


def test_every_review_is_of_one_kind(some):
    assert all(len(set(r.phenomena) & set(KINDS)) == 1 for r in some)
    counts = Counter(p for r in some for p in r.phenomena)
    assert min(counts[p] for p in (*KINDS, *EXTRAS)) > len(some) / 10
    assert all(("pronoun" in r.phenomena) == bool(r.pronouns) for r in some)
    assert all(("question" in r.phenomena) == bool(r.questions) for r in some)


VEGETARIAN = (
    "The restaurant refused to serve me a ham sandwich because it only cooks vegetarian food. "
    "In the end, they just gave me two slices of bread."
)
SOLD_OUT = (
    "The restaurant refused to serve me a ham sandwich because it was sold out. "
    "In the end, they just gave me two slices of bread."
)


@pytest.mark.parametrize(("text", "it"), [(VEGETARIAN, "restaurant"), (SOLD_OUT, "sandwich")])
def test_it_depends_on_what_follows(text, it):
    review = annotate(text)
    pairs = [(review.words[i], review.words[j]) for i, j in review.pronouns]
    assert pairs == [("it", it), ("they", "restaurant")]


def test_pronouns_point_back(some, news):
    words = Counter()
    for text in (*some, *news):
        for pronoun, antecedent in text.pronouns:
            assert antecedent < pronoun
            words[text.words[pronoun]] += 1
    assert set(words) == {"it", "its", "he", "his", "she", "her", "they", "their", "them"}


def test_tags():
    review = annotate(
        "Anna took me to the Old Mill because she loves Thai food. "
        "I sent the roast duck back, and the staff was rude."
    )
    assert {w: t for w, t in zip(review.words, review.tags, strict=True) if t} == {
        "anna": "PERSON",
        "old": "PLACE",
        "mill": "PLACE",
        "roast": "DISH",
        "duck": "DISH",
    }


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (
            VEGETARIAN,
            {
                "Does the restaurant serve steak?": "it only cooks vegetarian food",
                "What did they give me?": "two slices of bread",
            },
        ),
        ("Marco served us, and he was kind.", {"Who served us?": "marco"}),
        (
            "Mei had the lamb stew, and it was cold.",
            {"What did Mei have?": "the lamb stew", "Who had the lamb stew?": "mei"},
        ),
        ("The train pulled into the station.", {"What pulled into the station?": "train"}),
        (  # a journey's end is no answer to where it began
            "The last train to Oslo left the station at noon.",
            {"Where did the train go?": "oslo"},
        ),
        (  # each color, street and name has a question of its own
            "The blue house on Mill Street is for sale. "
            "Omar walked along Church Lane with a red guitar.",
            {
                "Who walked along Church Lane?": "omar",
                "Where did Omar walk?": "church lane",
                "Where is the house?": "mill street",
                "What color was the guitar?": "red",
                "What color is the house?": "blue",
            },
        ),
        (
            "A gray dog slept on the steps of the bank. "
            "A white bus stopped in front of the bank at noon.",
            {
                "What stopped in front of the bank?": "a white bus",
                "What slept on the steps?": "a gray dog",
                "What color was the bus?": "white",
            },
        ),
        ("We expected a little gem and found a tourist trap.", {}),
    ],
)
def test_questions(text, answers):
    text = annotate(text)
    assert {q.text: " ".join(text.words[q.start : q.end]) for q in text.questions} == answers


def test_the_station_and_the_colors(news):
    chances = TOWN.next_word("The")
    assert chances["train"] > 0.1 and "peanut" not in chances
    assert "peanut" in TOWN.vocabulary
    colors = {"red", "blue", "green", "yellow", "white", "black", "gray", "brown"}
    after = {b for text in news for a, b in pairwise(text.words) if a in colors}
    assert after and after <= {
        *("train", "express", "tram", "bus", "taxi", "truck", "van", "bicycle"),
        *("umbrella", "suitcase", "guitar", "hat", "scarf", "ticket", "coat", "raincoat"),
        *("shoes", "boots", "ribbons", "apples", "roses", "tulips", "balloon", "house", "flag"),
        *("cat", "dog"),
    }
