"""English phrases with their French and Italian translations, and which word became which.

A synchronous grammar: one derivation, a flat sequence of words from data/lexicon.csv, is written
out in three languages. Every phrase has one derivation and one translation into each language.

The lexicon's forms. `/` separates inflections: singular and plural of a noun; masculine and
feminine of a determiner; of an adjective these two and then their plurals; he and they of a verb.
`|` separates what one form becomes before different sounds, in the order of `sound`: `vieil|vieux`
is *vieil* before a vowel. A star marks a word that starts like a consonant although its letters
say otherwise: an h aspiré (`*hibou`), or `*unicorn`.
"""

import csv
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from math import prod
from pathlib import Path
from typing import ClassVar, NamedTuple
from zlib import crc32

from helpers.corpora import passages
from helpers.corpora.seeds import seeded

__all__ = ["Phrase", "count_phrases", "detokenize", "phrases", "translate"]

FILE = Path(__file__).parents[2] / "data" / "lexicon.csv"


class Phrase(NamedTuple):
    """A phrase in three languages: tokens between spaces, lower case, no final mark.

    An elided word is a token of its own (`l' arbre`); `detokenize` gives the usual spelling.
    Alignments are pairs (index of the English token, index of the other token), sorted.
    """

    english: str
    french: str
    italian: str
    to_french: tuple[tuple[int, int], ...]
    to_italian: tuple[tuple[int, int], ...]


# The grammar: words, choices and sequences. `size` counts derivations, `draw` takes one, and
# `read` finds those whose English could start `tokens`, each with the tokens left over.


@dataclass(frozen=True, eq=False)
class Word:
    """A row of the lexicon."""

    size: ClassVar[int] = 1
    english_is: ClassVar[str] = ""  # no gender, and every adjective before its noun
    kind: str  # noun, adjective, color, transitive, …
    english: tuple[str, ...]
    french: tuple[str, ...]
    french_is: str  # a noun's gender (mf: masculine, but feminine plural), an adjective's place
    italian: tuple[str, ...]
    italian_is: str
    groups: tuple[str, ...]  # a noun's group; the groups an adjective describes, a verb lets act, …
    takes: tuple[str, ...]  # the groups a verb or preposition governs; the roles of a determiner
    name: str  # the noun's singular, the verb's base form

    @property
    def determines(self):
        return self.kind.startswith(("singular", "plural"))

    def fits(self, group):
        return group in self.groups or "everything" in self.groups

    def inflect(self, language, feminine, plural):
        forms = getattr(self, language)
        if len(forms) == 4:
            return forms[2 * plural + feminine]
        return forms[0] if len(forms) == 1 else forms[feminine if self.determines else plural]

    def draw(self, random):
        return (self,)

    def read(self, tokens):
        for variant in "|".join(self.english).split("|"):
            form = variant.lstrip("*").split()
            if tokens[: len(form)] == form:
                yield (self,), tokens[len(form) :]


class Choice:
    """One of the parts; an impossible part is left out."""

    def __init__(self, parts):
        self.parts = tuple(part for part in parts if part.size)
        self.size = sum(part.size for part in self.parts)

    def draw(self, random):
        # Only random() is promised to stay the same in every version of Python.
        return self.parts[int(random() * len(self.parts))].draw(random)

    def read(self, tokens):
        for part in self.parts:
            yield from part.read(tokens)


class Sequence:
    """All parts, one after another."""

    def __init__(self, *parts):
        self.parts = parts
        self.size = prod(part.size for part in parts)

    def draw(self, random):
        return tuple(word for part in self.parts for word in part.draw(random))

    def read(self, tokens):
        readings = [((), tokens)]
        for part in self.parts:
            readings = [
                (done + more, left) for done, tokens in readings for more, left in part.read(tokens)
            ]
        yield from readings


@cache
def load_lexicon():
    """The rows of data/lexicon.csv: a tuple of Word."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for column in ("english", "french", "italian"):
            row[column] = tuple(row[column].split("/"))
        for column in ("groups", "takes"):
            row[column] = tuple(row[column].split())
        row["name"] = row["english"][0 if row["kind"] == "noun" else -1]
    return tuple(Word(**row) for row in rows)


def unchanged(verb):
    return verb


def negate(verb):
    """The same verb with *does not*, *ne … pas* and *non*."""
    does = ("is not", "are not") if verb.kind == "copula" else ("does not {}", "do not {}")
    return replace(
        verb,
        english=tuple(form.format(verb.name) for form in does),
        french=tuple(re.sub(r"^(\S+)", r"n'|ne \1 pas", form) for form in verb.french),
        italian=tuple(f"non {form}" for form in verb.italian),
    )


class Grammar:
    """The phrases over some words of the lexicon: `phrases` is their Choice."""

    def __init__(self, lexicon):
        self.lexicon = lexicon
        self.noun_phrase, self.place = cache(self.noun_phrase), cache(self.place)
        groups = dict.fromkeys(word.groups[0] for word in lexicon if word.kind == "noun")
        subjects = {group: self.noun_phrase(group, "subject") for group in groups}
        self.phrases = Choice(
            [
                Choice(subjects.values()),
                Choice(Sequence(subjects[group], self.place(group)) for group in groups),
                *(Sequence(subjects[group], self.predicate(group)) for group in groups),
                Choice(
                    Sequence(subjects[group], self.place(group), self.action(group, unchanged))
                    for group in groups
                ),
                Choice(self.quality(group) for group in groups),
            ]
        )

    def words(self, group, *kinds):
        return [word for word in self.lexicon if word.kind in kinds and word.fits(group)]

    def determiner(self, group, role):
        """The role of a noun phrase (subject, object, after …) decides which may stand."""
        articles, others = (
            [w for w in self.words(group, f"singular {kind}", f"plural {kind}") if role in w.takes]
            for kind in ("article", "determiner")
        )
        return Choice([*articles, Choice(others)])

    def noun_phrase(self, group, role):
        """*the old red boat*: no adjective, one, or one and a color."""
        adjectives, colors = self.words(group, "adjective"), self.words(group, "color")
        first = [word for word in adjectives if word.french_is == word.italian_is == "before"]
        one, two = Choice(adjectives + colors), Sequence(Choice(first), Choice(colors))
        return Sequence(
            self.determiner(group, role),
            Choice([Sequence(), Choice([one, two])]),
            Choice(self.words(group, "noun")),
        )

    def place(self, group):
        """*under the table*: where someone or something of this group can be."""
        return Choice(
            Sequence(preposition, Choice(self.noun_phrase(g, "after") for g in preposition.takes))
            for preposition in self.words(group, "preposition")
        )

    def action(self, group, polarity):
        return Choice(polarity(verb) for verb in self.words(group, "intransitive"))

    def predicate(self, group):
        """*sleeps*, *sees a dog on a sled*, *gives a key to the king* …, one in six negated."""
        transitive, gifts = self.words(group, "transitive"), self.words(group, "gift")
        affirmed, negated = (
            [
                self.action(group, polarity),
                Sequence(self.action(group, polarity), self.place(group)),
                Choice(self.with_object(verb, polarity) for verb in transitive),
                Choice(self.with_object(verb, polarity, self.place) for verb in transitive),
                Choice(self.with_object(verb, polarity, self.receiver) for verb in gifts),
            ]
            for polarity in (unchanged, negate)
        )
        return Choice([*affirmed, Choice(negated)])

    def receiver(self, _):
        return self.place("gift")

    def with_object(self, verb, polarity, *rest):
        """A verb, its object, and what `rest` adds to an object of that group."""
        role = "object" if polarity is unchanged else "negated"
        if " " in verb.french[0]:  # parle à: its object follows a preposition
            role = "after"
        objects = (
            Sequence(self.noun_phrase(group, role), *(more(group) for more in rest))
            for group in verb.takes
        )
        return Sequence(polarity(verb), Choice(objects))

    def quality(self, group):
        """*the boat is red*"""
        (copula,) = self.words(group, "copula")
        return Sequence(
            self.determiner(group, "quality"),
            Choice(self.words(group, "noun")),
            Choice([copula, negate(copula)]),
            Choice(self.words(group, "adjective", "color")),
        )


@cache
def full_grammar():
    return Grammar(load_lexicon()).phrases


# Writing a derivation out. A language differs in its sounds and its contractions.


class Language(NamedTuple):
    name: str
    sounds: tuple[str, ...]  # patterns, in the order of a form's variants; the rest comes last
    contractions: dict[tuple[str, str], str]

    def sound(self, word):
        matches = [re.match(pattern, word) is not None for pattern in (*self.sounds, "")]
        return matches.index(True)


ENGLISH = Language("english", ("[aeiou]",), {})
FRENCH = Language(
    "french",
    ("[aeiouhàâéèêîôœ]",),
    {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"},
)
ITALIAN = Language(
    "italian",
    ("[aeiouhè]", "s[^aeiou]|z|gn|ps|x|y"),  # l'amico, lo zio, il re
    {
        (preposition, article): stem + ending
        for preposition, stem in {"a": "a", "di": "de", "in": "ne", "su": "su"}.items()
        for article, ending in {
            "il": "l", "lo": "llo", "l'": "ll'", "la": "lla", "i": "i", "gli": "gli", "le": "lle",
        }.items()
    },
)  # fmt: skip


def split_pieces(words):
    """A derivation cut into noun phrases and the words between them: a list of lists."""
    pieces = []
    for word in words:
        if pieces and pieces[-1][0].determines and pieces[-1][-1].kind != "noun":
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return pieces


def features(noun_phrase, language):
    """Whether a noun phrase is feminine, and whether it is plural."""
    plural = noun_phrase[0].kind.startswith("plural")
    gender = 2 * getattr(noun_phrase[-1], f"{language.name}_is")  # mm, ff, or mfmf
    return gender[plural : plural + 1] == "f", plural


def arrange(piece, language):
    """The words of a piece in the order of the language."""
    after = [word for word in piece if getattr(word, f"{language.name}_is") == "after"]
    return [word for word in piece if word not in after] + after


def link(english, other):
    """The tokens of one word's form, each with the indices of the English tokens it renders."""
    negation = [i for i, token in enumerate(english) if token == "not"]
    verb = [i for i in range(len(english)) if i not in negation]
    particle = [verb.pop()] if len(verb) > 1 and other[-1] in {"à", "a", "d'|de", "di"} else verb
    links = []
    for token in other:
        sources = particle if token == other[-1] else verb
        links.append((token, negation if token in {"n'|ne", "pas", "non"} else sources))
    return links


def settle(items, language):
    """Choose each form's variant by the sound that follows, and contract: from right to left."""
    settled = []
    for form, sources in reversed(items):
        variants = form.split("|")
        following = language.sound(settled[0][0]) if settled else -1
        word = variants[min(following, len(variants) - 1)]
        contraction = settled and language.contractions.get((word, settled[0][0]))
        if contraction:
            settled[0] = (contraction, sources | settled[0][1])
        else:
            settled.insert(0, (word, sources))
    return settled


def write(words, language):
    """A derivation in one language: (tokens, sorted pairs of English and target indices)."""
    pieces = split_pieces(words)
    items, start = [], 0
    for piece in pieces:
        owner = piece if piece[0].determines else pieces[0]  # verbs agree with the subject
        in_english, here = features(owner, ENGLISH), features(owner, language)
        ordered = arrange(piece, language)
        for word in ordered:
            english = word.inflect("english", *in_english).split()
            form = word.inflect(language.name, *here)
            if form == "des" and ordered[1].kind != "noun":
                form = "d'|de"  # des chiens, but de petits chiens
            first = start + piece.index(word)
            items += [(token, {first + i for i in at}) for token, at in link(english, form.split())]
        start += len(piece) - 1 + len(english)
    settled = settle(items, language)
    pairs = sorted((i, j) for j, (_, sources) in enumerate(settled) for i in sources)
    return " ".join(token.lstrip("*") for token, _ in settled), tuple(pairs)


def build(words):
    """A derivation as a Phrase."""
    english, _ = write(words, ENGLISH)
    (french, to_french), (italian, to_italian) = write(words, FRENCH), write(words, ITALIAN)
    return Phrase(english, french, italian, to_french, to_italian)


# What a notebook calls.


def held_out(words):
    """Whether a derivation holds a pair of words that training never sees together.

    The pairs are adjective and noun, verb and object, and nouns joined by a preposition; one pair
    in ten is held out, among them the dog on a skateboard.
    """
    pieces = split_pieces(words)
    pairs, head = [], None
    for piece in pieces:
        if piece[0].determines:
            *adjectives, noun = piece[1:]
            pairs += [(adjective, noun) for adjective in adjectives]
            pairs += [(head, noun)] if head else []
            head = noun
        elif piece[0].kind in {"adjective", "color"}:
            pairs.append((piece[0], pieces[0][-1]))
        elif piece[0].kind != "preposition":
            head = piece[0]
    # A checksum, unlike hash(), is the same in every process and on every platform.
    numbers = {crc32(f"{first.name} {second.name}".encode()) % 10 for first, second in pairs}
    return crc32(b"dog skateboard") % 10 in numbers


def count_phrases():
    """The exact number of different English phrases, an int: each has exactly one derivation."""
    return full_grammar().size


def phrases(count, seed=0, split="train"):
    """`count` phrases drawn with a seed: a list of Phrase, the same on every platform.

    split: "train", or "test" for phrases with a pair of words that no training phrase has, such as
    an adjective and its noun; each word by itself occurs in training.
    Raises ValueError for another split or a negative number, TypeError for a count or a seed that
    is no whole number.
    """
    if split not in ("train", "test"):
        raise ValueError(f"The split is “train” or “test”, not “{split}”.")
    count, rng = seeded(count, seed)
    drawn = []
    while len(drawn) < count:
        words = full_grammar().draw(rng.random)
        if held_out(words) == (split == "test"):
            drawn.append(build(words))
    return drawn


def translate(english):
    """The Phrase whose English side is `english`; capitals and punctuation do not matter.

    Raises ValueError, with one sentence for the learner, if the grammar has no such phrase.
    """
    tokens = passages.words(english)
    if not tokens:
        raise ValueError("Type at least one word.")
    forms = " ".join(form for word in load_lexicon() for form in word.english)
    known = {*re.findall(r"\w+", forms), "does", "do", "not"}
    for token in tokens:
        if token not in known:
            near = get_close_matches(token, sorted(known), n=1)
            hint = f"; did you mean “{near[0]}”?" if near else "."
            raise ValueError(f"The grammar has no word “{token[:30]}”{hint}")
    for words, left in full_grammar().read(tokens):
        if not left and (phrase := build(words)).english == " ".join(tokens):
            return phrase
    raise ValueError("Every word is known, but the grammar makes no phrase of them in this order.")


def detokenize(text):
    """The usual spelling: no space after an apostrophe."""
    return text.replace("' ", "'")
