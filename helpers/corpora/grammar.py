"""Texts from weighted rules: draw them, and know exactly how likely each of them is.

A rules file names symbols and lists, for each, the ways to write it:

    opinion±:
        2 the {meal} was {taste±} , and it^meal was gone in a minute
        I liked the {meal}
    meal/DISH: tomato soup | lamb stew

{meal} stands for any text of the symbol meal, a number is a weight (1 if left out), a new line or
| parts the ways. Every word of a meal carries the tag DISH. A name that ends in ± is two symbols,
one with + and one with -; inside, ± is the same sign and ∓ the other. "it^meal" is a pronoun whose
antecedent is the last word of the meal before it. "? what was gone : meal" is a question that the
meal answers, in every text with one meal. Capitals are for the eye: words are lower case.

No symbol may contain itself, and every text must have one derivation, which the tests check. Then
the entropy is a sum over symbols, and one pass over a text finds its probability and that of every
word that may come next.
"""

import math
import re
from bisect import bisect
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate
from typing import NamedTuple

__all__ = ["END", "Derivation", "Grammar", "Question", "tokens"]

END = "<end>"  # comes after the last word of every text


def tokens(text):
    """The words and punctuation marks of a text, in lower case and in order: a list of str."""
    return re.findall(r"\w+(?:['’-]\w+)*|[^\w\s]", text.lower())


class Question(NamedTuple):
    """A question about a text; words[start:end] of the text are its answer."""

    text: str
    start: int
    end: int


class Derivation(NamedTuple):
    """A text, and how the rules wrote it."""

    words: tuple  # of str, in lower case
    written: tuple  # the same words with their capitals
    spans: tuple  # (name of a symbol, start, end): it wrote words[start:end]
    pronouns: tuple  # (index of a pronoun, index of its antecedent)
    log_probability: float  # natural logarithm


class Word(NamedTuple):
    """A word in a rule, and for a pronoun the name of the symbol it points back to."""

    word: str
    written: str
    to: str


class Symbol:
    """The ways to write a symbol, each a tuple of words and symbols, with their weights."""

    def __init__(self, name):
        self.name, self.tag, self.weights, self.ways = name, "", [], []

    @cached_property
    def bounds(self):
        return list(accumulate(self.weights))

    @cached_property
    def logs(self):
        return [math.log(weight / self.bounds[-1]) for weight in self.weights]

    @cached_property
    def entropy(self):
        """Of its texts, in nats: that of the choice of a way, and of what the way leads to."""
        return self._expected(lambda log, way: sum(part.entropy for part in _symbols(way)) - log)

    @cached_property
    def length(self):
        """The expected number of words."""
        return self._expected(
            lambda _, way: sum(part.length if isinstance(part, Symbol) else 1 for part in way)
        )

    def _expected(self, value):
        return sum(
            math.exp(log) * value(log, way) for log, way in zip(self.logs, self.ways, strict=True)
        )

    @cached_property
    def first(self):
        """From each word a text may begin with to its ways: (what follows, probability, choices).

        The choices are those of the leftmost derivation down to the word.
        """
        table = {}
        for choice, (head, *rest) in enumerate(self.ways):
            for word, ways in _first(head).items():
                table.setdefault(word, []).extend(
                    ((*more, *rest), math.exp(self.logs[choice]) * p, (choice, *choices))
                    for more, p, choices in ways
                )
        return table


class Grammar:
    """All texts of one symbol, with the probability of each.

    rules:   the text of a rules file, as described at the top of this module.
    start:   the name of the symbol.
    entropy: of a text, in nats.
    length:  the expected number of words of a text, without the end mark.
    Raises ValueError for a symbol that is used, in a rule or a question, but has no rule; for one
    that contains itself; and for an indented line above all headings.
    """

    def __init__(self, rules, start):
        self._symbols, self._questions = {}, []
        heads, asked = (), []
        for number, line in enumerate(re.sub("#.*", "", rules).splitlines(), 1):
            if not line.strip():
                continue
            if line.startswith("?"):
                question, answers = line[1:].split(":")
                named = re.findall("{(.*?)}", question)
                self._questions.append((question.strip(), named, answers.split()))
                asked += [(number, name) for name in (*named, *answers.split())]
                continue
            if not line.startswith(" "):
                head, line = line.split(":", 1)
                heads = self._heads(*head.strip().partition("/")[::2])
            elif not heads:
                raise ValueError(f"Line {number} is indented, but there is no heading above it.")
            for symbol, same, other in heads:
                for way in filter(str.strip, line.split("|")):
                    self._add(symbol, way.replace("±", same).replace("∓", other))
        missing = [name for name in (start, *self._symbols) if not self._symbol(name).ways]
        if missing:
            raise ValueError(f"No rule says how to write “{missing[0]}”.")
        for number, name in asked:
            if name not in self._symbols:
                raise ValueError(f"No rule says how to write “{name}”, asked for in line {number}.")
        self._refuse_cycles()
        self._start = self._symbols[start]
        self.entropy, self.length = self._start.entropy, self._start.length

    @cached_property
    def vocabulary(self):
        """Every word of its texts, sorted: a list of str."""
        parts = {part for symbol in self._reached for way in symbol.ways for part in way}
        return sorted({part.word for part in parts if isinstance(part, Word)})

    @cached_property
    def question_words(self):
        """Every word that its questions bring along, sorted: a list of str."""
        reached = {symbol.name for symbol in self._reached}
        asked = [
            re.sub("{.*?}", "", question)
            for question, named, answers in self._questions
            if reached.issuperset(named) and reached.intersection(answers)
        ]
        return sorted({*tokens(" ".join(asked)), "?"})

    @cached_property
    def _reached(self):
        """The symbols that the texts are made of."""
        reached = [self._start]
        for symbol in reached:  # grows on the way
            parts = [part for way in symbol.ways for part in _symbols(way)]
            reached += [part for part in dict.fromkeys(parts) if part not in reached]
        return reached

    def draw(self, rng):
        """A text, drawn with the random.Random `rng`: a Derivation.

        Uses rng.random() alone, which gives the same numbers on every machine.
        """
        return self._derive(lambda symbol: bisect(symbol.bounds, rng.random() * symbol.bounds[-1]))

    def parse(self, words):
        """Every way the rules can write these words: a list of Derivation.

        One, or none where the words are not a text of this grammar.
        words: a list of str, or a text. Raises ValueError for anything else.
        """
        done = [iter(choices) for ahead, _, choices in self._read(words)[-1] if not ahead]
        return [self._derive(lambda _, made=made: next(made)) for made in done]

    def log_probability(self, words):
        """The natural logarithm of the probability of this text, −inf if it is not one.

        words: a list of str, or a text. Raises ValueError for anything else.
        """
        p = sum(p for ahead, p, _ in self._read(words)[-1] if not ahead)
        return math.log(p) if p else -math.inf

    def next_word(self, prefix):
        """The distribution of the word after `prefix`: a dictionary from word to probability.

        The end of the text counts as the word END. prefix: a list of str or a text, may be empty.
        Raises ValueError, with one sentence for the learner, where no text begins so.
        """
        read = self._read(prefix)
        if not read[-1]:
            words, n = _words(prefix), len(read) - 2
            after = f"follow “{' '.join(words[max(n - 3, 0) : n])}”" if n else "begin a text"
            likely = sorted(_distribution(read[n]).items(), key=lambda pair: -pair[1])[:3]
            raise ValueError(
                f"“{words[n][:30]}” cannot {after} here; "
                f"“{'”, “'.join(word for word, _ in likely)}” can."
            )
        return _distribution(read[-1])

    def hidden_words(self, words):
        """The distribution of each hidden word, given all others, to its left and to its right.

        words: a list of str, with None for each hidden word. Returns, for each None in order, a
        dictionary from word to probability: of all texts of this grammar that agree with the words
        that are there, the share that has the word in this place.
        Raises ValueError where no text agrees with them.
        """
        if not isinstance(words, (list, tuple)) or not all(
            word is None or isinstance(word, str) for word in words
        ):
            raise ValueError("Give the words as a list of text, with None for a hidden word.")
        # From what may stand ahead to its probability, for each number of words read; a hidden
        # word is read as every word that could stand there.
        reached = [{(self._start,): 1.0}]
        for word in words:
            after = {}
            for ahead, p in reached[-1].items():
                for _, left, q in _steps(ahead, word):
                    after[left] = after.get(left, 0.0) + p * q
            reached.append(after)
        # And back: how likely the words that follow are to be all that then stands ahead.
        rest, chances = {(): 1.0}, []
        for word, before in zip(reversed(words), reversed(reached[:-1]), strict=True):
            here, found = {}, {}
            for ahead, p in before.items():
                for read, left, q in _steps(ahead, word):
                    here[ahead] = here.get(ahead, 0.0) + q * rest.get(left, 0.0)
                    found[read] = found.get(read, 0.0) + p * q * rest.get(left, 0.0)
            rest = here
            if word is None:
                chances.append(found)
        total = rest.get((self._start,), 0.0)
        if not total:
            raise ValueError("The rules write no text that agrees with these words.")
        return [{word: p / total for word, p in found.items() if p} for found in reversed(chances)]

    def tags(self, derivation):
        """The tag of each word, "" for most: a tuple of str."""
        tags = [""] * len(derivation.words)
        for name, start, end in derivation.spans:
            if tag := self._symbols[name].tag:
                tags[start:end] = [tag] * (end - start)
        return tuple(tags)

    def questions(self, derivation):
        """The questions that a text answers, each with its one answer: a tuple of Question."""
        spans = {}
        for name, start, end in derivation.spans:
            spans[name] = None if name in spans else (start, end)  # None: more than one
        asked = []
        for question, named, answers in self._questions:
            found = [spans[name] for name in answers if name in spans]
            if len(found) == 1 and found[0] and all(spans.get(name) for name in named):
                for name in named:
                    words = derivation.written[slice(*spans[name])]
                    question = question.replace(f"{{{name}}}", " ".join(words))
                asked.append(Question(question[0].upper() + question[1:] + "?", *found[0]))
        return tuple(asked)

    def _refuse_cycles(self):
        inside = {
            name: [part.name for way in symbol.ways for part in _symbols(way)]
            for name, symbol in self._symbols.items()
        }
        try:
            TopologicalSorter(inside).prepare()
        except CycleError as error:
            path = error.args[1][::-1]  # the sorter names the inner symbol first
            raise ValueError(
                f"The symbol “{path[0]}” contains itself: {' → '.join(path)}."
            ) from None

    def _symbol(self, name):
        return self._symbols.setdefault(name, Symbol(name))

    def _heads(self, name, tag):
        """The symbols that a heading defines, each with its own sign and the other one."""
        heads = []
        for same, other in ["+-", "-+"] if name.endswith("±") else [("", "")]:
            symbol = self._symbol(name.replace("±", same))
            symbol.tag = tag
            heads.append((symbol, same, other))
        return heads

    def _add(self, symbol, way):
        weight, parts = re.fullmatch(r"\s*(\d*)(.*)", way).groups()
        symbol.weights.append(int(weight or 1))
        symbol.ways.append(tuple(map(self._part, parts.split())))

    def _part(self, part):
        if part.startswith("{"):
            return self._symbol(part[1:-1])
        written, _, to = part.partition("^")
        return Word(written.lower(), written, to)

    def _read(self, words):
        """What the rules may be doing after 0, 1, 2 … words: a list of lists.

        Each entry is (what stands ahead, its probability, the choices made). A word that cannot
        stand where it does leaves an empty list, which is then the last.
        """
        read = [[((self._start,), 1.0, ())]]
        for word in _words(words):
            read.append(
                [
                    (more + ahead[1:], p * q, choices + made)
                    for ahead, p, choices in read[-1]
                    if ahead
                    for more, q, made in _first(ahead[0]).get(word, ())
                ]
            )
            if not read[-1]:
                break
        return read

    def _derive(self, choose):
        """Write a text from left to right, each symbol the way number choose(symbol)."""
        words, spans, pronouns, latest, log_probability = [], [], [], {}, 0.0
        todo = [self._start]
        while todo:
            part = todo.pop()
            if part.__class__ is Word:
                if part.to:
                    pronouns.append((len(words), latest[part.to]))
                words.append(part)
            elif part.__class__ is Symbol:
                choice = choose(part)
                log_probability += part.logs[choice]
                todo.append((part.name, len(words)))
                todo.extend(reversed(part.ways[choice]))
            else:  # all words of a symbol are written
                name, start = part
                latest[name] = len(words) - 1
                spans.append((name, start, len(words)))
        return Derivation(
            tuple(part.word for part in words),
            tuple(part.written for part in words),
            tuple(spans),
            tuple(pronouns),
            log_probability,
        )


def _words(words):
    words = tokens(words) if isinstance(words, str) else words
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise ValueError("Give the words as a list of text, or as one text.")
    return words


def _symbols(way):
    return [part for part in way if isinstance(part, Symbol)]


def _first(part):
    return part.first if isinstance(part, Symbol) else {part.word: [((), 1.0, ())]}


def _steps(ahead, word):
    """What reading a word, or any word for None, makes of what stands ahead.

    Yields the word, what then stands ahead, and the probability of this way to read it.
    """
    first = _first(ahead[0]) if ahead else {}
    for read in first if word is None else first.keys() & {word}:
        for more, q, _ in first[read]:
            yield read, more + ahead[1:], q


def _distribution(reached):
    """The next word's distribution, given one list of `_read`."""
    chances, total = {}, sum(p for _, p, _ in reached)
    for ahead, p, _ in reached:
        for word, ways in (_first(ahead[0]) if ahead else {END: [((), 1.0, ())]}).items():
            share = p / total * sum(q for _, q, _ in ways)
            chances[word] = chances.get(word, 0.0) + share
    return chances
