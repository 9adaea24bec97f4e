"""The phrases: hand-written pairs for every rule, and a second, separate check of agreement."""

import csv
import re
import unicodedata
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.corpora.phrases import (
    Choice,
    Grammar,
    Sequence,
    build,
    count_phrases,
    detokenize,
    full_grammar,
    load_lexicon,
    phrases,
    translate,
)

FILE = Path(__file__).parents[3] / "data" / "lexicon.csv"
with FILE.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))

BY_HAND = """
# articles, and their sounds
a dog on a skateboard | un chien sur un skateboard | un cane su uno skateboard
the apple | la pomme | la mela
the apples | les pommes | le mele
an orange | une orange | un'arancia
the orange | l'orange | l'arancia
the oranges | les oranges | le arance
the bird | l'oiseau | l'uccello
the birds | les oiseaux | gli uccelli
a bird | un oiseau | un uccello
a squirrel | un écureuil | uno scoiattolo
the squirrels | les écureuils | gli scoiattoli
the uncle | l'oncle | lo zio
some uncles | des oncles | degli zii
some aunts | des tantes | delle zie
the gnome | le gnome | lo gnomo
the gnomes | les gnomes | gli gnomi
a pseudonym | un pseudonyme | uno pseudonimo
the pseudonyms | les pseudonymes | gli pseudonimi
the xylophone | le xylophone | lo xilofono
a yogurt | un yaourt | uno yogurt
the yogurts | les yaourts | gli yogurt
the yogurt | le yaourt | lo yogurt
a chair | une chaise | una sedia
the witch | la sorcière | la strega
the king | le roi | il re
the kings | les rois | i re
a unicorn | une licorne | un unicorno
an umbrella | un parapluie | un ombrello
# h muet and h aspiré
the man | l'homme | l'uomo
the men | les hommes | gli uomini
the owl | le hibou | il gufo
the owls | les hiboux | i gufi
the harp | la harpe | l'arpa
a harp | une harpe | un'arpa
the hero | le héros | l'eroe
the hedgehogs | les hérissons | i ricci
the story | l'histoire | la storia
the clock | l'horloge | l'orologio
the helicopter | l'hélicoptère | l'elicottero
# irregular plurals, and one change of gender
the egg | l'œuf | l'uovo
the fresh eggs | les œufs frais | le uova fresche
the mice | les souris | i topi
the horses | les chevaux | i cavalli
the newspapers | les journaux | i giornali
the hospitals | les hôpitaux | gli ospedali
two churches | deux églises | due chiese
three turtles | trois tortues | tre tartarughe
# adjectives: place, agreement, sounds
a beautiful tree | un bel arbre | un bell'albero
a beautiful garden | un beau jardin | un bel giardino
a beautiful mirror | un beau miroir | un bello specchio
the beautiful trees | les beaux arbres | i begli alberi
the beautiful mirrors | les beaux miroirs | i begli specchi
the beautiful gardens | les beaux jardins | i bei giardini
a beautiful island | une belle île | una bella isola
the mirror is beautiful | le miroir est beau | lo specchio è bello
the gardens are beautiful | les jardins sont beaux | i giardini sono belli
an old man | un vieil homme | un vecchio uomo
an old hero | un vieux héros | un vecchio eroe
the old bears | les vieux ours | i vecchi orsi
the old squirrel | le vieil écureuil | il vecchio scoiattolo
the young actress | la jeune actrice | la giovane attrice
a small black cat | un petit chat noir | un piccolo gatto nero
the big red apples | les grandes pommes rouges | le grandi mele rosse
a long letter | une longue lettre | una lunga lettera
a strange idea | une idée étrange | un'idea strana
an enormous bear | un ours énorme | un orso enorme
a pretty boat | un joli bateau | una barca carina
these white flowers | ces fleurs blanches | questi fiori bianchi
the blue chairs | les chaises bleues | le sedie blu
the tired women | les femmes fatiguées | le donne stanche
the actresses are courageous | les actrices sont courageuses | le attrici sono coraggiose
the happy actresses | les actrices heureuses | le attrici felici
some small dogs | de petits chiens | dei piccoli cani
some black dogs | des chiens noirs | dei cani neri
some beautiful stools | de beaux tabourets | dei begli sgabelli
# this and my
this tree | cet arbre | quest'albero
this hero | ce héros | quest'eroe
this man | cet homme | quest'uomo
this island | cette île | quest'isola
this stool | ce tabouret | questo sgabello
these islands | ces îles | queste isole
my sword | mon épée | la mia spada
my harp | ma harpe | la mia arpa
my idea | mon idée | la mia idea
my old sword | ma vieille épée | la mia vecchia spada
my mirror | mon miroir | il mio specchio
my hats | mes chapeaux | i miei cappelli
my swords | mes épées | le mie spade
# contractions
a dog near the garden | un chien près du jardin | un cane vicino al giardino
a dog near the stadium | un chien près du stade | un cane vicino allo stadio
a dog near the tree | un chien près de l'arbre | un cane vicino all'albero
a dog near the tower | un chien près de la tour | un cane vicino alla torre
a dog near the trees | un chien près des arbres | un cane vicino agli alberi
a dog near the gardens | un chien près des jardins | un cane vicino ai giardini
a dog near the towers | un chien près des tours | un cane vicino alle torri
a dog near an island | un chien près d'une île | un cane vicino a un'isola
a dog near the owl | un chien près du hibou | un cane vicino al gufo
a key on the table | une clé sur la table | una chiave sul tavolo
a key on the shelf | une clé sur l'étagère | una chiave sullo scaffale
a key on the stools | une clé sur les tabourets | una chiave sugli sgabelli
a key on the carpets | une clé sur les tapis | una chiave sui tappeti
a key on the chair | une clé sur la chaise | una chiave sulla sedia
a key on the chairs | une clé sur les chaises | una chiave sulle sedie
a key on my bed | une clé sur mon lit | una chiave sul mio letto
a cat in the basket | un chat dans le panier | un gatto nel cesto
a cat in the forest | un chat dans la forêt | un gatto nella foresta
a cat in the airplane | un chat dans l'avion | un gatto nell'aereo
a cat in the zoo | un chat dans le zoo | un gatto nello zoo
a cat in the gardens | un chat dans les jardins | un gatto nei giardini
a cat in the hotels | un chat dans les hôtels | un gatto negli hotel
a cat in the schools | un chat dans les écoles | un gatto nelle scuole
the girl talks to the king | la fille parle au roi | la ragazza parla al re
the girl talks to the children | la fille parle aux enfants | la ragazza parla ai bambini
the girls smile at the man | les filles sourient à l'homme | le ragazze sorridono all'uomo
the girl talks about the king | la fille parle du roi | la ragazza parla del re
the girl talks about the uncle | la fille parle de l'oncle | la ragazza parla dello zio
the girl talks about the gnomes | la fille parle des gnomes | la ragazza parla degli gnomi
the girls talk about the dreams | les filles parlent des rêves | le ragazze parlano dei sogni
the girls talk about the stories | les filles parlent des histoires |\
 le ragazze parlano delle storie
the girls talk about an elephant | les filles parlent d'un éléphant |\
 le ragazze parlano di un elefante
# verbs, prepositions, gifts
the boys eat the figs | les garçons mangent les figues | i ragazzi mangiano i fichi
the boy looks for a book | le garçon cherche un livre | il ragazzo cerca un libro
the children listen to the queen | les enfants écoutent la reine | i bambini ascoltano la regina
my cat sleeps under the table | mon chat dort sous la table | il mio gatto dorme sotto il tavolo
two actors with a sword | deux acteurs avec une épée | due attori con una spada
the dog behind the church runs | le chien derrière l'église court | il cane dietro la chiesa corre
the witch gives a key to the uncle | la sorcière donne une clé à l'oncle |\
 la strega dà una chiave allo zio
the actors offer some oranges to the women | les acteurs offrent des oranges aux femmes |\
 gli attori offrono delle arance alle donne
# negation
the girl does not sleep | la fille ne dort pas | la ragazza non dorme
the knight does not hesitate | le chevalier n'hésite pas | il cavaliere non esita
the boys do not listen to the queen | les garçons n'écoutent pas la reine |\
 i ragazzi non ascoltano la regina
the man does not see a dog | l'homme ne voit pas de chien | l'uomo non vede un cane
the man does not see a bird | l'homme ne voit pas d'oiseau | l'uomo non vede un uccello
the man does not see an owl | l'homme ne voit pas de hibou | l'uomo non vede un gufo
the man does not see the owl | l'homme ne voit pas le hibou | l'uomo non vede il gufo
the dogs do not eat any apples | les chiens ne mangent pas de pommes | i cani non mangiano mele
the dogs do not eat any oranges | les chiens ne mangent pas d'oranges |\
 i cani non mangiano arance
the queen does not talk to a knight | la reine ne parle pas à un chevalier |\
 la regina non parla a un cavaliere
the queen does not talk about an idea | la reine ne parle pas d'une idée |\
 la regina non parla di un'idea
the story is not long | l'histoire n'est pas longue | la storia non è lunga
the beds are not white | les lits ne sont pas blancs | i letti non sono bianchi
""".replace("\\\n", "")
TRIPLES = [
    [side.strip() for side in line.split("|")]
    for line in BY_HAND.splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("english", "french", "italian"), TRIPLES)
def test_by_hand(english, french, italian):
    phrase = translate(english)
    assert phrase.english == english
    assert (detokenize(phrase.french), detokenize(phrase.italian)) == (french, italian)


ALIGNED_BY_HAND = """
a small black cat
a-un small-petit cat-chat black-noir
a-un small-piccolo cat-gatto black-nero
a dog near the garden
a-un dog-chien near-près near-du the-du garden-jardin
a-un dog-cane near-vicino near-al the-al garden-giardino
my key on the table
my-ma key-clé on-sur the-la table-table
my-la my-mia key-chiave on-sul the-sul table-tavolo
the girl does not look for the book
the-la girl-fille not-ne does-cherche look-cherche for-cherche not-pas the-le book-livre
the-la girl-ragazza not-non does-cerca look-cerca for-cerca the-il book-libro
the girl does not talk to the man
the-la girl-fille not-ne does-parle talk-parle not-pas to-à the-l' man-homme
the-la girl-ragazza not-non does-parla talk-parla to-all' the-all' man-uomo
the dog does not eat any eggs
the-le dog-chien not-ne does-mange eat-mange not-pas any-d' eggs-œufs
the-il dog-cane not-non does-mangia eat-mangia eggs-uova
"""


def test_alignments_by_hand():
    lines = ALIGNED_BY_HAND.split("\n")[1:-1]
    for english, french, italian in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        phrase = translate(english)
        assert named(phrase, "french") == french.split()
        assert named(phrase, "italian") == italian.split()


def named(phrase, language):
    """The alignment as english-other, in the order of the other language."""
    source, target = phrase.english.split(), getattr(phrase, language).split()
    pairs = sorted(getattr(phrase, f"to_{language}"), key=lambda pair: (pair[1], pair[0]))
    return [f"{source[i]}-{target[j]}" for i, j in pairs]


# The lexicon, checked a second time: genders from lists written by hand, plurals by rule.

FRENCH_FEMININE = """
    actress apple aunt box car chair church clock fig flower forest girl harp idea
    island key letter mouse orange queen school shelf statue story suitcase sword table
    tower turtle unicorn witch woman
"""
ITALIAN_FEMININE = """
    actress apple aunt bicycle boat box cake car chair church duck forest girl harp idea island
    key letter monkey onion orange poem queen school sled statue story suitcase sword tower
    turtle witch woman zebra
"""


@pytest.mark.parametrize(
    ("column", "feminine"), [("french_is", FRENCH_FEMININE), ("italian_is", ITALIAN_FEMININE)]
)
def test_genders(column, feminine):
    found = [
        row["english"].split("/")[0].strip("*")
        for row in ROWS
        if row["kind"] == "noun" and row[column] == "f"
    ]
    assert sorted(found) == feminine.split()
    genders = {row[column] for row in ROWS if row["kind"] == "noun"}
    assert genders <= {"m", "f", "mf"}
    assert [row["italian"] for row in ROWS if "mf" in row.values()] == ["uovo/uova"]


def french_plural(word):
    if word[-1] in "sx":
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith("eau") or word == "*hibou" else "s")


ITALIAN_IRREGULAR = {"uomo": "uomini", "uovo": "uova", "arancia": "arance"}
ITALIAN_INVARIABLE = {"re", "yogurt", "skateboard", "hotel", "zoo"}


def italian_plural(word):
    if word in ITALIAN_INVARIABLE:
        return word
    if word in ITALIAN_IRREGULAR:
        return ITALIAN_IRREGULAR[word]
    if word.endswith("zio"):  # stressed on the i
        return word[:-1] + "i"
    if word.endswith("io"):
        return word[:-1]
    if word.endswith(("co", "go", "ca", "ga")):
        return word[:-1] + ("hi" if word[-1] == "o" else "he")
    return word[:-1] + {"o": "i", "e": "i", "a": "e"}[word[-1]]


def test_plurals():
    for row in ROWS:
        if row["kind"] == "noun":
            one, many = row["french"].split("/")
            assert many == french_plural(one)
            one, many = row["italian"].split("/")
            assert many == italian_plural(one)


def test_stars_mark_the_words_that_belie_their_first_letter():
    starred = set(re.findall(r"\*(\w+)", FILE.read_text("utf-8")))
    assert starred == {*H_ASPIRE, "unicorn", "unicorns"}
    # Every other French h in the lexicon is mute.
    mute = {w for row in ROWS for w in re.findall(r"(?<![\w*])h\w+", row["french"])}
    assert mute == set(
        "homme hommes histoire histoires horloge horloges hôtel hôtels hôpital hôpitaux "
        "hélicoptère hélicoptères heureux heureuse heureuses hésite hésitent".split()
    )


# A second, separate checker: it knows forms and features from the table, and the determiners and
# the sounds from the lists below; nothing of the grammar.

H_ASPIRE = set("harpe harpes hérisson hérissons héros hibou hiboux".split())


def starts_with_vowel(word):
    first = unicodedata.normalize("NFD", word)[0]
    return first in "aeiouœh" and word not in H_ASPIRE


def italian_start(word):
    first = unicodedata.normalize("NFD", word)[0]
    if first in "aeiouh":
        return "vowel"
    impure = first in "xyz" or word[:2] in ("gn", "ps") or (first == "s" and word[1] not in "aeiou")
    return "impure" if impure else "plain"


MS, FS, MP, FP = ("m", 0), ("f", 0), ("m", 1), ("f", 1)
FRENCH_DETERMINERS = {
    word: features
    for words, features in [
        ("le un ce cet du au", {MS}),
        ("la une cette ma", {FS}),
        ("l' mon", {MS, FS}),
        ("les des ces mes aux deux trois", {MP, FP}),
        ("de d'", {MS, FS, MP, FP}),
    ]
    for word in words.split()
}
ITALIAN_ARTICLES = {  # features, and the sounds they stand before
    "il": ({MS}, "plain"),
    "lo": ({MS}, "impure"),
    "l'": ({MS, FS}, "vowel"),
    "i": ({MP}, "plain"),
    "gli": ({MP}, "impure vowel"),
    "la": ({FS}, "plain impure"),
    "le": ({FP}, "plain impure vowel"),
}
ITALIAN_DETERMINERS = {
    **ITALIAN_ARTICLES,
    "un": ({MS}, "plain vowel"),
    "uno": ({MS}, "impure"),
    "una": ({FS}, "plain impure"),
    "un'": ({FS}, "vowel"),
    "questo": ({MS}, "plain impure"),
    "questa": ({FS}, "plain impure"),
    "quest'": ({MS, FS}, "vowel"),
    "questi": ({MP}, "plain impure vowel"),
    "queste": ({FP}, "plain impure vowel"),
    "due": ({MP, FP}, "plain impure vowel"),
    "tre": ({MP, FP}, "plain impure vowel"),
}
for contracted in (
    "al allo all' ai agli alla alle del dello dell' dei degli della delle "
    "nel nello nell' nei negli nella nelle sul sullo sull' sui sugli sulla sulle"
).split():
    article = re.sub(r"^(a|de|ne|su)l?(?=.)", "", contracted)
    ITALIAN_DETERMINERS[contracted] = ITALIAN_ARTICLES["il" if article == "l" else article]


def forms(kinds, column):
    """Every form of the lexicon's words of these kinds: a dict to the sets of its features."""
    found = {}
    for row in ROWS:
        if row["kind"] not in kinds:
            continue
        cells = row[column].replace("*", "").split("/")
        for i, cell in enumerate(cells):
            if row["kind"] == "noun":
                gender = row[f"{column}_is"]
                features = (gender[-1] if i else gender[0], i)
            else:  # four of an adjective, two of a verb
                features = ("mf"[i % 2], i // 2) if len(cells) == 4 else i
            for form in cell.split()[0].split("|"):
                found.setdefault(form, set()).add(features)
    return found


VERBS = {"copula", "intransitive", "transitive", "gift"}
LEXICON = {
    column: (forms({"noun"}, column), forms({"adjective", "color"}, column), forms(VERBS, column))
    for column in ("french", "italian")
}


ITALIAN_MY = {"mio": MS, "mia": FS, "miei": MP, "mie": FP}


def check_agreement(text, column, determiners):
    """Nouns agree with their determiners and adjectives, verbs and qualities with the subject."""
    nouns, adjectives, verbs = LEXICON[column]
    tokens = text.split()
    subject, i = None, 0
    while i < len(tokens):
        features = {MS, FS, MP, FP}
        # de before a determiner is a preposition.
        if tokens[i] in determiners and tokens[i + 1] not in determiners:
            features, i = determiners[tokens[i]], i + 1
        elif tokens[i] in verbs:
            assert {number for _, number in subject} & verbs[tokens[i]], text
        if tokens[i] in ITALIAN_MY:
            features, i = features & {ITALIAN_MY[tokens[i]]}, i + 1
        start, noun = i, False
        while i < len(tokens) and (tokens[i] in adjectives or (tokens[i] in nouns and not noun)):
            if tokens[i] in verbs and i == start and subject and tokens[i - 1] not in determiners:
                break  # lit: he reads, not a bed
            noun = noun or tokens[i] in nouns
            features = features & (nouns | adjectives)[tokens[i]]
            i += 1
        if i == start:
            i += 1
            continue
        features = features if noun else features & subject
        assert features, text
        subject = subject or features


def check_french_sounds(text):
    nouns, adjectives, _ = LEXICON["french"]
    tokens = text.split()
    for before, after in pairwise(tokens):
        vowel = starts_with_vowel(after)
        assert not (vowel and before in {"le", "la", "de", "ne", "ce", "ma"}), text
        assert vowel or before not in {"l'", "d'", "n'", "cet", "bel", "vieil"}, text
        assert not (before in {"de", "à"} and after in {"le", "les"}), text
        if before == "mon" and not vowel:
            assert MS in (adjectives.get(after) or nouns[after]), text
    for determiner, adjective, noun in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if determiner in {"le", "un", "ce", "du", "au", "mon"} and adjective in {"beau", "vieux"}:
            assert not starts_with_vowel(noun), text


def check_italian_sounds(text):
    bello = {"bel": "plain", "bello": "impure", "bell'": "vowel", "bei": "plain",
             "begli": "impure vowel"}  # fmt: skip
    for before, after in pairwise(text.split()):
        if before in ITALIAN_DETERMINERS:
            assert italian_start(after) in ITALIAN_DETERMINERS[before][1].split(), text
        if before in bello:
            assert italian_start(after) in bello[before].split(), text
        assert not (before in {"a", "di", "in", "su"} and after in ITALIAN_ARTICLES), text
        assert before != "belli", text


ITALIAN_FEATURES = {word: features for word, (features, _) in ITALIAN_DETERMINERS.items()}


def check(phrase):
    check_agreement(phrase.french, "french", FRENCH_DETERMINERS)
    check_agreement(phrase.italian, "italian", ITALIAN_FEATURES)
    check_french_sounds(phrase.french)
    check_italian_sounds(phrase.italian)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64), st.sampled_from(["train", "test"]))
def test_agreement_and_sounds(seed, split):
    for phrase in phrases(20, seed, split):
        check(phrase)


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("french", "le pomme"),
        ("french", "les pomme"),
        ("french", "une pomme vert"),
        ("french", "la petit pomme"),
        ("french", "les chiens dort"),
        ("french", "la pomme est verts"),
        ("french", "le arbre"),
        ("french", "l' hibou"),
        ("french", "un beau arbre"),
        ("french", "mon harpe"),
        ("french", "un chien près de le jardin"),
        ("italian", "il mela"),
        ("italian", "le uovo fresche"),
        ("italian", "la mio mela"),
        ("italian", "i cani dorme"),
        ("italian", "la mela è rosso"),
        ("italian", "il zio"),
        ("italian", "un chiave su un skateboard"),
        ("italian", "un bel albero"),
        ("italian", "un cane su il tavolo"),
    ],
)
def test_the_checker_sees_mistakes(column, wrong):
    phrase = translate("a dog")._replace(**{column: wrong})
    with pytest.raises(AssertionError):
        check(phrase)


def content(column):
    """The forms of content words: a dict to the numbers of their rows."""
    found = {}
    for number, row in enumerate(ROWS):
        if row["kind"] in {"noun", "adjective", "color"} | VERBS:
            for form in row[column].replace("*", "").split("/"):
                for variant in form.split()[0].split("|"):
                    found.setdefault(variant, set()).add(number)
    return found


CONTENT = {column: content(column) for column in ("english", "french", "italian")}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64))
def test_alignments_cover_every_content_word_once_and_join_translations(seed):
    for phrase in phrases(20, seed):
        source = phrase.english.split()
        for column in ("french", "italian"):
            target, pairs = getattr(phrase, column).split(), getattr(phrase, f"to_{column}")
            assert list(pairs) == sorted(set(pairs))
            assert all(i < len(source) and j < len(target) for i, j in pairs)
            words = [i for i, token in enumerate(source) if token in CONTENT["english"]]
            joined = [(i, j) for i, j in pairs if i in words]
            assert [i for i, _ in joined] == words
            assert len({j for _, j in joined}) == len(words)
            for i, j in joined:
                assert CONTENT["english"][source[i]] & CONTENT[column][target[j]]
            # Only Italian leaves a word without a partner: any, which it does not say.
            alone = {source[i] for i in range(len(source))} - {source[i] for i, _ in pairs}
            assert alone <= ({"any"} if column == "italian" else set())
            assert {j for _, j in pairs} == set(range(len(target)))


# Counts, splits, repeatability, and what is typed.


def every(node):
    """All derivations of a part of a grammar."""
    if isinstance(node, Choice):
        return [words for part in node.parts for words in every(part)]
    if isinstance(node, Sequence):
        return [sum(parts, ()) for parts in product(*(every(part) for part in node.parts))]
    return [(node,)]


def test_the_count_is_exact():
    kept = {
        "talk to",
        *"an|a any the dog apple king chair sleep eat give are small red on to".split(),
    }
    lexicon = [word for word in load_lexicon() if word.name in kept]
    grammar = Grammar(lexicon).phrases
    english = [build(words).english for words in every(grammar)]
    assert len(english) == len(set(english)) == grammar.size > 5_000


def test_over_a_million_phrases_and_120_words_a_side():
    assert count_phrases() > 10**6
    drawn = phrases(4000)
    for column in ("english", "french", "italian"):
        dictionary = {row[column].replace("*", "").split("/")[0] for row in ROWS}
        assert len(dictionary) >= 120
        seen = {token for phrase in drawn for token in getattr(phrase, column).split()}
        assert len(seen) >= 240  # with plurals and agreement


def test_one_derivation_each():
    for phrase in phrases(100, 5) + phrases(100, 5, "test"):
        tokens = phrase.english.split()
        readings = [words for words, left in full_grammar().read(tokens) if not left]
        assert [build(w) for w in readings if build(w).english == phrase.english] == [phrase]
        assert translate(phrase.english.capitalize() + ".") == phrase


def related(phrase):
    """Adjective and noun, verb and object, noun and noun: found in the English text alone."""
    kinds = {
        form.split()[0]: (row["kind"], row["english"].replace("*", "").split("/")[0])
        for row in ROWS
        if row["kind"] in {"noun", "adjective", "color"} | VERBS
        for form in row["english"].replace("*", "").split("/")
    }
    tokens = phrase.english.split()
    found, adjectives, head = set(), [], None
    for token, following in pairwise([*tokens, ""]):
        kind, name = kinds.get(token, (None, None))
        if kind in ("adjective", "color"):
            adjectives.append(name)
        elif kind == "noun":
            found |= {(adjective, name) for adjective in adjectives} | {(head, name)}
            adjectives, head = [], name
        elif kind:
            particle = f"{name.split()[0]} {following}"
            head = particle if following in ("for", "to", "at", "about") else name.split()[0]
    subject = next(kinds[token][1] for token in tokens if kinds.get(token, " ")[0] == "noun")
    return found | {(adjective, subject) for adjective in adjectives}


def test_splits_share_no_held_out_pair_and_training_has_every_word():
    train = phrases(12_000, 1)
    seen = set().union(*map(related, train))
    test = phrases(1000, 2, "test")
    assert all(related(phrase) - seen for phrase in test)
    known = {token for phrase in train for token in phrase.english.split()}
    assert {token for phrase in test for token in phrase.english.split()} <= known
    english = " ".join(row["english"] for row in ROWS)
    assert {*re.findall(r"\w+", english)} <= known
    assert not {phrase.english for phrase in test} & {phrase.english for phrase in train}


def test_the_dog_on_a_skateboard_is_held_out():
    assert ("dog", "skateboard") in related(translate("a dog on a skateboard"))
    for phrase in phrases(3000, 3):
        assert ("dog", "skateboard") not in related(phrase)


def test_the_same_phrases_everywhere():
    assert [phrase.english for phrase in phrases(3)] == [
        "a squirrel in the schools hesitates",
        "the intelligent children do not offer any big red cakes to this courageous girl",
        "the small blue sleds",
    ]
    assert phrases(50, 7) == phrases(60, 7)[:50] != phrases(50, 8)


def test_wrong_calls():
    with pytest.raises(ValueError, match="not “dev”"):
        phrases(1, split="dev")
    assert phrases(0) == []


@pytest.mark.parametrize("wrong", [None, "1", 1.5, -1])
def test_count_and_seed_are_whole_numbers_from_0_on(wrong):
    error = ValueError if wrong == -1 else TypeError
    with pytest.raises(error, match=f"^The seed is a whole number from 0 on, not {wrong!r}"):
        phrases(1, wrong)
    with pytest.raises(error, match=f"^The count is a whole number from 0 on, not {wrong!r}"):
        phrases(wrong)


def test_a_seed_of_numpy_is_a_whole_number():
    assert phrases(np.int64(2), np.int64(7)) == phrases(2, 7)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "at least one word"),
        ("123 !?", "at least one word"),
        ("a dogg", "did you mean “dog”"),
        ("qqqq", "no word “qqqq”."),
        ("dog a", "in this order"),
        ("a dogs", "in this order"),
        ("a orange", "in this order"),
        ("the dogs sleeps", "in this order"),
        ("the dog does not sees a cat", "in this order"),
        ("<b>dog</b>", "no word “b”"),
    ],
)
def test_typed_text_outside_the_grammar(typed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        translate(typed)


def test_detokenize():
    assert detokenize("l' arbre près d' une île") == "l'arbre près d'une île"
