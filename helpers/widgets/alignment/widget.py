"""Source words above, target words below, and how much each of these looks at each of those."""

import numpy as np
import traitlets

from helpers.widgets.shared.bars import in_words
from helpers.widgets.shared.given import as_list, function, words_of
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import as_array, two
from helpers.widgets.shared.text import name, sentence, short, visible

__all__ = ["Alignment", "AlignmentWidget", "explore_alignment"]

MOST_WORDS = 60  # of a row
STRONGEST = 3  # links of a word that are named
LEAST = 0.01  # weights below it are neither drawn nor named
LONGEST = 24  # letters of a word
ROUNDING = 1e-3  # of half precision, in sums that should be one at most


class Alignment:
    """Source and target words with the weights between them: what `explore_alignment` draws.

    source:  N_e words; target: N_d words; either may be empty.
    weights: N_e × N_d, keys (source words) down, queries (target words) across, as a NumPy array
             or a tensor: how much each target word looks at each source word. Columns sum to one
             or less: where a token that is not shown gets some of it, it is told as elsewhere.
    pairs:   the links that are known to be true, as pairs (source index, target index), counted
             from 0: those of a grammar, for example.
    right:   for each target word whether it is as it should be; None where nobody knows.
    note:    one sentence under the picture.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, source, target, weights, pairs=(), right=None, note=""):
        self.source = [visible(word) for word in words_of(source, "The source")]
        self.target = [visible(word) for word in words_of(target, "The target")]
        self.weights = _weights(weights, len(self.source), len(self.target))
        self.pairs = _pairs(pairs, len(self.source), len(self.target))
        self.right = _truths(right, len(self.target))
        self.note = sentence(note)

    def links(self):
        """What is drawn: (source index, target index, weight), with the pairs' own links."""
        drawn = {(int(s), int(t)) for s, t in np.argwhere(self.weights >= LEAST)}
        return [(s, t, float(self.weights[s, t])) for s, t in sorted(drawn | set(self.pairs))]

    def strongest(self, target):
        """The source words that a target word looks at, as (index, weight), the strongest first.

        Nearly equal weights keep the order of their words.
        """
        return _ranked(self.weights[:, target])

    def agreeing(self):
        """The target words with a pair, and those of them that look most at a word of theirs."""
        paired = sorted({t for _, t in self.pairs})
        ranked = [self.strongest(t) for t in paired]
        agree = [
            t for t, best in zip(paired, ranked, strict=True)
            if best and (best[0][0], t) in self.pairs
        ]  # fmt: skip
        return paired, agree

    def wrong(self):
        """The target words that are not as they should be."""
        return [t for t, right in enumerate(self.right) if right is False]

    def says(self, row, at):
        """One word in words: target word 2 of 3, “macchina”: looks at “car” 0.91, “red” 0.05."""
        ours, others = (self.target, self.source) if row == "target" else (self.source, self.target)
        column = self.weights[:, at] if row == "target" else self.weights[at]
        links = ", ".join(
            f"{_quoted(others[other])} {two(weight)}" for other, weight in _ranked(column)
        )
        does = "looks at" if row == "target" else "is looked at by"
        rest = 1 - column.sum() if row == "target" else 0
        known = [
            s if row == "target" else t for s, t in self.pairs if at == (t, s)[row != "target"]
        ]
        parts = [
            f"{does} {links or 'no word shown'}",
            f"{two(rest)} elsewhere" if rest >= LEAST else "",
            f"truly linked to {' and '.join(_quoted(others[other]) for other in known)}"
            if known
            else "",
        ]
        wrong = ", a wrong word" if row == "target" and self.right[at] is False else ""
        place = f"{row} word {at + 1} of {len(ours)}, {_quoted(ours[at])}{wrong}"
        return f"{place}: {'; '.join(filter(None, parts))}"

    def summary(self):
        """The whole in words: how many words look where the pairs say, and which are wrong."""
        if not self.source or not self.target:
            return "There are no words to link."
        paired, agree = self.agreeing()
        wrong = [_quoted(self.target[t]) for t in self.wrong()]
        parts = [f"{_count(self.source, 'source')}, {_count(self.target, 'target')}"]
        if paired:
            look = f"{len(agree)} of {len(paired)} target words look most"
            parts.append(f"{look} where a true link leads")
        if wrong:
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            parts.append(f"wrong: {', '.join(wrong[:3])}{more}")
        elif any(self.right):
            parts.append("no word is known to be wrong")
        return "; ".join(parts)

    def __repr__(self):
        source, target = (name(" ".join(words)) for words in (self.source, self.target))
        return f"Alignment of “{source}” and “{target}”: {self.summary()}"


class AlignmentWidget(Live):
    """The widget that `explore_alignment` returns; `state` holds the words and their links."""

    _esm = module("alignment/widget")
    _css = style("alignment/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, align, text, controls):
        function(align, "function")

        def align_text(text, **values):
            return align(text, **values)

        super().__init__(align_text, [text_box(text, "text"), *controls])

    def receive(self, alignment):
        if not isinstance(alignment, Alignment):
            raise TypeError(
                f"The function must return an Alignment, not {type(alignment).__name__}."
            )
        self.alignment = alignment
        pairs = set(alignment.pairs)
        rows = (("source", alignment.source), ("target", alignment.target))
        cut = [
            f"the first {MOST_WORDS} of {_count(words, row)}"
            for row, words in rows
            if len(words) > MOST_WORDS
        ]
        cut = f"Shown: {' and '.join(cut)}." if cut else ""
        self.state = {
            **{row: [short(word, LONGEST) for word in words[:MOST_WORDS]] for row, words in rows},
            "says": {
                row: [alignment.says(row, at) for at in range(min(len(words), MOST_WORDS))]
                for row, words in rows
            },
            "links": [
                [s, t, round(weight, 4), in_words(weight), (s, t) in pairs]
                for s, t, weight in alignment.links()
                if max(s, t) < MOST_WORDS
            ],
            "wrong": [t for t in alignment.wrong() if t < MOST_WORDS],
            "pairs": bool(pairs),
            "summary": alignment.summary(),
            "note": " ".join(filter(None, (alignment.note, cut))),
        }

    def describe(self):
        return repr(self.alignment)

    def fallback(self):
        found = self.alignment
        pairs = bool(found.pairs)
        known = any(right is not None for right in found.right)
        columns = ["target word", "looks at", *["truly linked to"] * pairs, *["right"] * known]
        rows = []
        for t, word in enumerate(found.target[:MOST_WORDS]):
            links = ", ".join(
                f"{short(found.source[s], LONGEST)} {two(w)}" for s, w in found.strongest(t)
            )
            true = ", ".join(short(found.source[s], LONGEST) for s, at in found.pairs if at == t)
            right = {None: "–", True: "yes", False: "no"}[found.right[t]]
            rows.append(
                [short(word, LONGEST), links or "–", *[true or "–"] * pairs, *[right] * known]
            )
        return table(f"{self.describe()}.", columns, rows)


def explore_alignment(function, text, *controls):
    """A text box, and under it source and target words with links as strong as the weights.

    function: the notebook's, function(text, **values) -> Alignment, called again with the typed
              text and one value a control whenever one of these changes.
    text:     the text to start with.
    controls: from `slider`, `options` or `switches`: a layer, a head, a language.
    A word that is chosen shows its links alone, with their weights. What the function raises at
    first is raised.
    Source: the chapter, “Encoder-decoder model”.
    """
    return AlignmentWidget(function, text, controls)


def _weights(weights, n_source, n_target):
    """Weights as N_e × N_d in float64, checked; where one row has no words, none."""
    weights = as_array(weights, "The weights")
    if not n_source * n_target and not weights.size:
        return np.zeros((n_source, n_target))
    if weights.shape != (n_source, n_target):
        raise ValueError(
            f"The weights should be (source words, target words) = {(n_source, n_target)}; "
            f"got {weights.shape}."
        )
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError(
            "The weights should be finite and not negative: give them after the softmax."
        )
    sums = weights.sum(0)
    if (sums > 1 + ROUNDING).any():
        at = int(sums.argmax())
        raise ValueError(
            f"The weights of target word {at} sum to {two(min(sums[at], 1e12))}, which should be "
            "one at most; source words go down, target words across."
        )
    return weights


def _pairs(pairs, n_source, n_target):
    """Pairs of indices, in order, each once; ValueError for anything else."""
    checked = set()
    for pair in as_list(pairs, "The pairs"):
        good = isinstance(pair, tuple | list) and len(pair) == 2
        good = good and all(
            _is_index(i, n) for i, n in zip(pair, (n_source, n_target), strict=True)
        )
        if not good:
            raise ValueError(
                "A pair should be the index of a source word and that of a target word, counted "
                "from 0."
            )
        checked.add(tuple(int(i) for i in pair))
    return sorted(checked)


def _is_index(i, count):
    return isinstance(i, int | np.integer) and not isinstance(i, bool) and 0 <= i < count


def _truths(right, count):
    """One of True, False and None for each target word; ValueError for anything else."""
    if right is None:
        return [None] * count
    if hasattr(right, "tolist"):
        right = right.tolist()
    right = as_list(right, "What is right")
    if len(right) != count:
        raise ValueError(f"What is right should be told of {count} target words; got {len(right)}.")
    if not all(truth is None or isinstance(truth, bool | np.bool_) for truth in right):
        raise ValueError("What is right should be True, False or None for each target word.")
    return [None if truth is None else bool(truth) for truth in right]


def _ranked(weights):
    order = np.argsort(-weights.round(4), kind="stable")[:STRONGEST]
    return [(int(i), float(weights[i])) for i in order if weights[i] >= LEAST]


def _quoted(word):
    return f"“{short(word, LONGEST)}”"


def _count(words, row):
    return f"{len(words)} {row} word{'' if len(words) == 1 else 's'}"
