"""The attention matrix: keys down, queries across, columns that sum to one."""

import numpy as np
import traitlets

from helpers.widgets.attention.data import MOST_TOKENS, SMALL, Attention, ranking, two_decimals
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.text import short, split_words

__all__ = ["AttentionWidget", "explore"]

STRONGEST = 3  # keys of a query that are named


class AttentionWidget(Live):
    """The widget that `explore` returns. `layer`, `head`, `query` and `key` can be read and set."""

    _esm = module("shared/cells", "attention/widget")
    _css = style("shared/cells", "attention/widget")

    shape = traitlets.List(traitlets.Int()).tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True)  # float32, layers × heads × keys × queries
    mask = traitlets.Bytes().tag(sync=True)  # one byte a cell, keys × queries
    # Of all keys, also those not drawn: what the status line tells of every query.
    strongest_keys = traitlets.Bytes().tag(sync=True)  # int32, … × queries × at most 3
    strongest_weights = traitlets.Bytes().tag(sync=True)  # float32
    masked = traitlets.List(traitlets.Int()).tag(sync=True)
    key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    features = traitlets.List(traitlets.Int()).tag(sync=True)  # D_q and D_v, or empty
    vectors = traitlets.Bytes().tag(sync=True)  # float32: queries, keys, values, outputs
    note = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True, page=True)
    head = traitlets.Int(0).tag(sync=True, page=True)
    query = traitlets.Int(0).tag(sync=True, page=True)
    key = traitlets.Int(0).tag(sync=True, page=True)

    def __init__(self, compute, controls=(), **chosen):
        super().__init__(compute, controls, **chosen)
        for name, index in chosen.items():
            if getattr(self, name) != index:
                raise IndexError(f"There is no {name} {index}: they are numbered from 0.")
        weights = self.attention.weights[self.layer, self.head, :MOST_TOKENS, [self.query]]
        self.key = int(weights.argmax())

    def receive(self, attention):
        if not isinstance(attention, Attention):
            raise TypeError(
                f"The function must return an Attention, not {type(attention).__name__}."
            )
        self.attention = attention
        n_keys, n_queries = attention.mask.shape
        keys, queries = slice(MOST_TOKENS), slice(MOST_TOKENS)
        shown = attention.weights[:, :, keys, queries]
        self.shape = list(shown.shape)
        self.weights = _bytes(shown)
        self.mask = attention.mask[keys, queries].tobytes()
        seen = attention.weights[..., queries]
        strongest = ranking(seen, attention.mask[:, queries], min(STRONGEST, n_keys))
        there = np.take_along_axis(np.swapaxes(seen, -1, -2), strongest, -1)
        self.strongest_keys = strongest.astype("<i4").tobytes()
        self.strongest_weights = _bytes(there)
        self.masked = attention.mask[:, queries].sum(0).tolist()
        self.key_tokens = attention.key_tokens
        self.query_tokens = attention.query_tokens[queries]
        cut = [
            f"the first {MOST_TOKENS} of {n} {name}"
            for n, name in ((n_keys, "keys"), (n_queries, "queries"))
            if n > MOST_TOKENS
        ]
        cut = f"Shown: {' and '.join(cut)}." if cut else ""
        self.note = " ".join(filter(None, (attention.note, cut)))
        if attention.vectors is None:
            self.features, self.vectors = [], b""
        else:
            q, k, v = attention.vectors
            outputs = v @ attention.weights[0, 0]  # of all keys, also those not shown
            self.features = [len(q), len(v)]
            self.vectors = b"".join(
                map(_bytes, (q[:, queries], k[:, keys], v[:, keys], outputs[:, queries]))
            )
        # What was chosen stays chosen, as far as it still exists.
        for name in ("layer", "head", "query", "key"):
            setattr(self, name, getattr(self, name))

    @traitlets.validate("layer", "head", "query", "key")
    def _within(self, proposal):
        size = dict(zip(("layer", "head", "key", "query"), self.shape, strict=True))
        return min(max(proposal["value"], 0), size[proposal["trait"].name] - 1)

    def describe(self):
        at = self.layer, self.head
        sentence = self.attention.sentence(self.query, *at)
        return f"{self.attention.title(*at)} {sentence[0].upper()}{sentence[1:]}."

    def fallback(self):
        attention, at = self.attention, (self.layer, self.head)
        n_keys, n_queries = attention.mask.shape
        if max(n_keys, n_queries) > SMALL:
            rows = [
                [
                    short(attention.query_tokens[query]),
                    attention.sentence(query, *at).partition(": ")[2],
                ]
                for query in range(min(n_queries, MOST_TOKENS))
            ]
            return table(attention.title(*at), ["query", "strongest keys"], rows)
        rows = [
            [
                short(attention.key_tokens[key]),
                *(
                    "masked" if attention.mask[key, query] else two_decimals(weight)
                    for query, weight in enumerate(attention.weights[at][key])
                ),
            ]
            for key in range(n_keys)
        ]
        return table(
            attention.title(*at), ["keys ↓ queries →", *map(short, attention.query_tokens)], rows
        )


def explore(attention, *controls, text=None, layer=0, head=0, query=0):
    """A widget to explore attention: hover, click, or use the keyboard.

    attention: an Attention, or a function of the notebook that returns one. The function is called
               again whenever a control changes, with one argument for every `slider(...)` in
               `controls` and, if `text` is given, with `words`, the list of words in the text box.
    layer, head, query: what is chosen at first, numbered from 0.
    Raises IndexError if that does not exist; what the function raises at first is raised.
    """
    if text is not None:
        attention, controls = split_words(attention), (text_box(text), *controls)
    return AttentionWidget(attention, controls, layer=layer, head=head, query=query)


def _bytes(x):
    return np.ascontiguousarray(x, dtype="<f4").tobytes()
