"""Exercise 7.7, From scores to entities."""

import itertools

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.engine.wording import kind
from helpers.exercises.shared.mistakes import register
from helpers.exercises.shared.questions import run

exercise = Exercise(
    "7.7",
    "From scores to entities",
    stars=2,
    stub='''\
def entity_spans(scores, types):
    """The entities of a sentence, from the scores that a word head gives to each of its words.

    scores: E × N, one word in each column, a score for each of E types; no column has two largest.
    types: a list of E different names, such as ["", "PERSON", "DISH"]; the type "", which may stand
    anywhere in it, is that of words which belong to no entity.
    The type of a word is the one with the largest score. Neighbors of the same type, as many as
    there are, make one entity; "" makes none.
    Returns a list of (start, end, type) in the order of the text: the words of an entity are
    words[start:end], so end is the place after its last word.
    """
    return ...  # your code here
''',
    hints=(
        "First the words' types: along which axis of scores do the types compete, so that N of "
        "them are left?",
        "An entity begins where a word's type differs from that of the word before it. Where does "
        "it end? And where does the last one end, if the sentence ends with it?",
        "Go through the words with the place where the present run began. When the type changes, "
        'or the sentence is over, note the run, unless its type is "", and begin a new one.',
    ),
    notice="Two persons who stand side by side, with nothing between them, come out as one: such "
    "tags cannot say where a second begins. Two tags for each type, B- for the first word of an "
    "entity and I- for the others, can.",
)


@exercise.solution
def entity_spans(scores, types):
    tags = [types[e] for e in scores.argmax(axis=0)]  # one for each of N words
    spans, start = [], 0
    for n in range(1, len(tags) + 1):
        if n == len(tags) or tags[n] != tags[start]:
            if tags[start]:
                spans.append((start, n, tags[start]))
            start = n
    return spans


@exercise.right
def by_groups(scores, types):
    spans, end = [], 0
    for best, group in itertools.groupby(np.argmax(scores, axis=0)):
        start, end = end, end + len(list(group))
        spans += [(start, end, types[best])] * (types[best] != "")
    return spans


@exercise.right
def by_changes(scores, types):
    best = scores.argmax(0)
    changes = np.flatnonzero(np.diff(best)) + 1
    bounds = [0, *changes.tolist(), len(best)]
    spans = [(a, b, types[best[a]]) for a, b in itertools.pairwise(bounds)]
    return [span for span in spans if span[2]]


@exercise.right
def by_lists(scores, types):
    spans = []
    for n, column in enumerate(scores.T.tolist()):
        tag = types[column.index(max(column))]
        if spans and spans[-1][1:] == [n, tag]:
            spans[-1][1] = n + 1
        elif tag:
            spans.append([n, n + 1, tag])
    return spans


def tags_of(scores, types):
    return [types[e] for e in np.argmax(scores, axis=0)]


def spans_of(tags, joined=lambda a, b: a == b, outside=("",)):
    """The spans of tags; joined(a, b): whether neighbors belong together."""
    spans, start = [], 0
    for n in range(1, len(tags) + 1):
        if n == len(tags) or not joined(tags[n - 1], tags[n]):
            if tags[start] not in outside:
                spans.append((start, n, tags[start]))
            start = n
    return spans


def until_changed(scores, types):
    """Without what runs to the end of the sentence."""
    N = len(scores[0])
    return [span for span in entity_spans(scores, types) if span[1] < N]


# The question to ask, and the wrong answer
MISTAKES = {
    "Your ends are the places of the last words: which words has words[start:end], if end is the "
    "place after the last one?": lambda scores, types: (
        [(a, b - 1, tag) for a, b, tag in entity_spans(scores, types)]
    ),
    "Your places are counted from 1: which number has the first word?": lambda scores, types: (
        [(a + 1, b + 1, tag) for a, b, tag in entity_spans(scores, types)]
    ),
    "You give the length of an entity instead of its end: which words has words[start:end]?": (
        lambda scores, types: [(a, b - a, tag) for a, b, tag in entity_spans(scores, types)]
    ),
    "The entity with which the sentence ends is lost: what closes it, if no other word follows?": (
        until_changed
    ),
    "The words between the entities are in your list, too: is “” a type of entity?": (
        lambda scores, types: spans_of(tags_of(scores, types), outside=())
    ),
    "Each word is an entity of its own: what makes “ham sandwich” one?": lambda scores, types: (
        spans_of(tags_of(scores, types), joined=lambda a, b: False)
    ),
    "Where two types touch, one entity is made of both: where does the second begin?": (
        lambda scores, types: spans_of(
            tags_of(scores, types), joined=lambda a, b: bool(a) == bool(b)
        )
    ),
    "There is one entity for each type: may a sentence have two persons?": lambda scores, types: (
        list({tag: (a, b, tag) for a, b, tag in reversed(entity_spans(scores, types))}.values())[
            ::-1
        ]
    ),
    "There is one entity for each type, from its first word to its last: what stands between "
    "them?": lambda scores, types: sorted(
        (
            tags_of(scores, types).index(tag),
            len(scores[0]) - tags_of(scores, types)[::-1].index(tag),
            tag,
        )
        for tag in {*tags_of(scores, types)} - {""}
    ),
    "Your list is in the order of the types: in which order do the entities come in the text?": (
        lambda scores, types: sorted(
            entity_spans(scores, types), key=lambda span: types.index(span[2])
        )
    ),
    "Only the first entity is there: does a loop end in its first turn, with a return inside it?": (
        lambda scores, types: entity_spans(scores, types)[:1]
    ),
    "Only the longest entity is there: what about the others?": lambda scores, types: sorted(
        entity_spans(scores, types), key=lambda span: span[0] - span[1]
    )[:1],
    "Your types are numbers: what is the name of type 1?": lambda scores, types: (
        [(a, b, types.index(tag)) for a, b, tag in entity_spans(scores, types)]
    ),
    "The smallest score wins: which type is the likely one?": lambda scores, types: entity_spans(
        -scores, types
    ),
    "Your type comes first, as (type, start, end): in which order are the three asked for?": (
        lambda scores, types: [(tag, a, b) for a, b, tag in entity_spans(scores, types)]
    ),
    "Your list has one type for each word: which of them make one entity together?": tags_of,
    "The first type of the list is left out, whatever its name: which one is that of no entity?": (
        lambda scores, types: spans_of(tags_of(scores, types), outside=types[:1])
    ),
    "Words of the same type are joined across a word that lies between them: what are neighbors?": (
        lambda scores, types: bridged(entity_spans(scores, types))
    ),
    "Every score above 0 makes a type of its own: may a word have several, and what if all of its "
    "scores are below 0?": lambda scores, types: above_zero(scores, types),
    "Every word belongs to an entity: does the type “” compete with the others?": (
        lambda scores, types: without_outside(scores, types)
    ),
}


def above_zero(scores, types):
    """Entities of all scores above 0, whatever the other types of the word have."""
    rows = [
        [tag if score > 0 else "" for score in row] for row, tag in zip(scores, types, strict=True)
    ]
    return sorted(span for tags in rows for span in spans_of(tags))


def without_outside(scores, types):
    """Each word given its best type but ""."""
    rows = [e for e, name in enumerate(types) if name]
    return entity_spans(scores[rows], [types[e] for e in rows]) if rows else []


def bridged(spans):
    """Spans joined to the one before, of the same type, where one word lies between."""
    result = []
    for a, b, tag in spans:
        if result and result[-1][2] == tag and a - result[-1][1] == 1:
            a = result.pop()[0]
        result.append((a, b, tag))
    return result


register(exercise, MISTAKES)


@exercise.wrong("An index is out of range")
def over_words(scores, types):
    return spans_of([types[n] for n in scores.argmax(axis=1)])


@exercise.wrong("An index is out of range")
def beyond_the_end(scores, types):
    tags, spans, start = tags_of(scores, types), [], 0
    for n in range(len(tags)):
        if tags[n] != tags[n + 1]:
            spans.append((start, n + 1, tags[n]))
            start = n + 1
    return spans


@exercise.wrong("A list of (start, end, type) is expected")
def as_dict(scores, types):
    return {tag: (a, b) for a, b, tag in entity_spans(scores, types)}


@exercise.wrong("in place")
def in_place(scores, types):
    scores -= scores.max(axis=0)
    return spans_of([types[e] for e in (scores == 0).argmax(axis=0)])


OUT_OF_RANGE = (
    "An index is out of range: is it that of a word, n + 1 after the last, or that of a type, "
    "because the words compete along a row where the types of a word should?"
)
ERRORS = {"out of range": OUT_OF_RANGE, "out of bounds": OUT_OF_RANGE}


def plain(value):
    """Lists, tuples and arrays as tuples, with Python's own numbers and text."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def sentence(rng, tags, types):
    """Scores, E × N, by which the words have these tags; some columns are all below 0."""
    scores = rng.normal(size=(len(types), len(tags)))
    best = [types.index(tag) for tag in tags]
    scores[best, range(len(tags))] = scores.max(axis=0) + rng.uniform(0.1, 1, len(tags))
    return scores - rng.integers(0, 3, len(tags))


def found_by(answer, scores, types):
    """The answer's list with Python's own numbers and text, or Wrong."""
    got = run(answer, scores, types, errors=ERRORS)
    if not isinstance(got, (list, tuple, np.ndarray)):
        raise Wrong(
            f"A list of (start, end, type) is expected, one for each entity, got {kind(got)}."
        )
    return plain(got)


@exercise.check
def check(answer):
    examples = sorted(cases(np.random.default_rng(75)), key=lambda inputs: inputs[0].shape)
    results = [found_by(answer, *inputs) for inputs in examples]
    expected = [plain(entity_spans(*inputs)) for inputs in examples]
    if results == expected:
        return
    n = next(n for n, result in enumerate(results) if result != expected[n])
    got, right = map(list, (results[n], expected[n]))
    answer(*examples[n])  # so that these are the inputs that are shown
    for question, wrong in MISTAKES.items():
        if results == [plain(wrong(*inputs)) for inputs in examples]:
            raise Wrong(question, right, got)
    if not all(isinstance(span, tuple) and len(span) == 3 for span in got):
        raise Wrong("Your list holds something else than (start, end, type).", right, got)
    if len(got) != len(right):
        raise Wrong(
            f"Here the number of entities is {len(right)}, and in your list {len(got)}: where does "
            "one begin, and where does it end?",
            right,
            got,
        )
    first = next(k for k, span in enumerate(right) if got[k] != span)
    raise Wrong(f"Entity {first} (counted from 0) is another.", right, got)


def cases(rng):
    """Scores and types of sentences of many lengths; the type of no entity stands anywhere."""
    names = ["", "DISH", "PERSON", "PLACE"]
    for text in (
        "PERSON PERSON - DISH - PLACE",
        "- PERSON DISH DISH - PERSON",
        "PERSON PERSON - PERSON DISH DISH DISH - - PLACE - PERSON",
    ):
        tags = ["" if tag == "-" else tag for tag in text.split()]
        for types in names, [*names[::-1], "DATE"]:
            yield sentence(rng, tags, types), types
    for types, N in (
        *((["", "A"], 1), (["A", ""], 1), ([""], 3), (["A"], 4), (["A", "B", "C"], 12)),
        *((["B", "", "A"], 25), (["B", "", "A"], 25), (["", *"ABCDEFGH"], 40)),
    ):
        tags = [tag for tag in rng.choice(types, N) for _ in range(rng.integers(1, 4))][:N]
        yield sentence(rng, tags, types), types


exercise.equivalent(
    "at the first word nothing has changed", "entity_spans: for n in * → for n in range(0, *"
)
