"""The attention matrix: keys down, queries across, columns that sum to one."""

import numpy as np
import traitlets

from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import as_array, two
from helpers.widgets.shared.text import sentence, short, split_words, visible

__all__ = ["Attention", "AttentionWidget", "explore", "show"]

MOST_TOKENS = 128  # more keys or queries than this are not drawn
SMALL = 12  # up to this many tokens a static picture can hold every number


class Attention:
    """Attention weights with their tokens: what `show` draws and `explore` lets you explore.

    weights:      K × Q, or heads × K × Q, or layers × heads × K × Q (NumPy or PyTorch), one row a
                  key, one column a query. Kept as a copy, layers × heads × K × Q, in float64. Every
                  weight must be finite and at least 0: give weights, not scores. Columns need not
                  sum to one, for dropout and fully masked columns do not.
    key_tokens:   K words; query_tokens: Q words, by default the same.
    mask:         K × Q, True where the query may not see the key.
    note:         one sentence shown under the picture.
    queries, keys, values: D_q × Q, D_q × K and D_v × K, all three or none, for a single head: the
                  widget then also shows, for the chosen query, how its output V a comes about.
    Raises ValueError, with what was wrong, for anything else. The chapter, “The
    attention weights”.
    """

    def __init__(
        self,
        weights,
        key_tokens,
        query_tokens=None,
        mask=None,
        note="",
        queries=None,
        keys=None,
        values=None,
    ):
        weights = _numbers("weights", weights)
        if not 2 <= weights.ndim <= 4:
            raise ValueError(
                "weights must be (keys, queries), (heads, keys, queries) or "
                f"(layers, heads, keys, queries); their shape is {weights.shape}."
            )
        if weights.size == 0:
            raise ValueError(f"weights of shape {weights.shape} hold no number to show.")
        if weights.min() < 0:
            raise ValueError(
                "weights must not be negative: give the weights after the softmax, not the scores."
            )
        self.weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
        _, _, n_keys, n_queries = self.weights.shape
        self.key_tokens = _tokens("key", key_tokens, n_keys)
        same = query_tokens is None
        self.query_tokens = _tokens("query", key_tokens if same else query_tokens, n_queries)
        self.mask = np.zeros((n_keys, n_queries), bool)
        if mask is not None:
            mask = _numbers("mask", mask)
            if mask.shape != self.mask.shape:
                raise ValueError(
                    f"mask must be (keys, queries) = {self.mask.shape}, not {mask.shape}."
                )
            self.mask = mask != 0
        self.note = sentence(note)
        self.vectors = None
        if any(x is not None for x in (queries, keys, values)):
            self.vectors = self._checked_vectors(queries, keys, values)

    def _checked_vectors(self, queries, keys, values):
        """queries, keys, values as arrays that fit the weights and each other."""
        n_layers, n_heads, n_keys, n_queries = self.weights.shape
        if n_layers * n_heads > 1:
            raise ValueError("queries, keys and values can be shown for a single head only.")
        if any(x is None for x in (queries, keys, values)):
            raise ValueError("Give queries, keys and values together, or none of them.")
        queries, keys, values = (
            _numbers(name, x)
            for name, x in (("queries", queries), ("keys", keys), ("values", values))
        )
        for name, x, tokens in (
            ("queries", queries, n_queries),
            ("keys", keys, n_keys),
            ("values", values, n_keys),
        ):
            if x.ndim != 2 or x.shape[1] != tokens or not len(x):
                raise ValueError(
                    f"{name} must be (features, {tokens}), one column a token, not {x.shape}."
                )
        if len(queries) != len(keys):
            raise ValueError(
                f"queries have {len(queries)} features and keys {len(keys)}: these must agree."
            )
        return queries, keys, values

    def strongest(self, query, layer=0, head=0, count=3):
        """The largest weights of one query: pairs (key, weight) that are not masked, at most count.

        Nearly equal weights keep the order of their keys, so that the answer does not depend on
        the last digits, which differ between processors.
        """
        column = self.weights[layer, head, :, query]
        order = sorted(range(len(column)), key=lambda key: (-round(column[key], 4), key))
        seen = [key for key in order if not self.mask[key, query] or column[key] > 0]
        return [(key, float(column[key])) for key in seen[:count]]

    def sentence(self, query, layer=0, head=0):
        """One query in words: query 'it': restaurant 0.42, sandwich 0.21, 3 masked."""
        parts = [
            f"{short(self.key_tokens[key])} {two_decimals(weight)}"
            for key, weight in self.strongest(query, layer, head)
        ]
        masked = int(self.mask[:, query].sum())
        if masked:
            parts.append(f"{masked} masked")
        return f"query '{short(self.query_tokens[query])}': {', '.join(parts)}"

    def describe(self, layer=0, head=0):
        """One head in words: its size, and the strongest key of each of the first queries."""
        pairs = []
        for query in range(min(self.weights.shape[3], SMALL)):
            for key, weight in self.strongest(query, layer, head, count=1):
                pairs.append(
                    f"{short(self.query_tokens[query])} → {short(self.key_tokens[key])} "
                    f"{two_decimals(weight)}"
                )
        answers = f"Strongest key of each query: {', '.join(pairs)}." if pairs else "All is masked."
        return f"{self.title(layer, head)} {answers}"

    def title(self, layer=0, head=0):
        """Which head this is and how large it is, in words."""
        n_layers, n_heads, n_keys, n_queries = self.weights.shape
        where = [f"layer {layer}"] if n_layers > 1 else []
        where += [f"head {head}"] if n_heads > 1 else []
        of = f" of {', '.join(where)}" if where else ""
        keys, queries = _count(n_keys, "key"), _count(n_queries, "query", "queries")
        return f"Attention weights{of}: {keys} down, {queries} across."

    def __repr__(self):
        return self.describe()


class AttentionWidget(Live):
    """The widget that `explore` returns. `layer`, `head`, `query` and `key` can be read and set."""

    _esm = module("shared/cells", "attention/widget")
    _css = style("shared/cells", "attention/widget")

    shape = traitlets.List(traitlets.Int()).tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True)  # float32, layers × heads × keys × queries
    mask = traitlets.Bytes().tag(sync=True)  # one byte a cell, keys × queries
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
        for key, _ in self.attention.strongest(self.query, self.layer, self.head, count=1):
            self.key = min(key, MOST_TOKENS - 1)

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
        self.key_tokens = attention.key_tokens[keys]
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


def show(attention, layer=0, head=0):
    """A static figure of one head: keys down, queries across, masked cells hatched.

    Raises IndexError if there is no such layer or head.
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm
    from matplotlib.figure import Figure

    from helpers.plots import figure

    n_layers, n_heads, n_keys, n_queries = attention.weights.shape
    if not (0 <= layer < n_layers and 0 <= head < n_heads):
        raise IndexError(f"There is no layer {layer}, head {head}: they are numbered from 0.")
    keys, queries = min(n_keys, MOST_TOKENS), min(n_queries, MOST_TOKENS)
    weights = attention.weights[layer, head, :keys, :queries]

    fig = Figure(layout="constrained")
    fig.set_size_inches(min(2.2 + 0.36 * queries, 12), min(1.6 + 0.3 * keys, 12))
    axes = fig.add_subplot()
    # The square root lets small weights show; 0 to 1 makes equal colors mean equal weights.
    image = axes.pcolormesh(
        weights,
        cmap=LinearSegmentedColormap.from_list("attention", ["#f3f7fc", "#5b94d6", "#0b3a75"]),
        norm=PowerNorm(0.5, 0, max(1.0, weights.max())),
        edgecolor="white",
        linewidth=0.8 if max(keys, queries) <= 64 else 0,
    )
    for key, query in zip(*np.nonzero(attention.mask[:keys, :queries]), strict=True):
        axes.fill_between(
            [query, query + 1], key, key + 1, facecolor="none", edgecolor="#7b8794", hatch="////"
        )
    if max(keys, queries) <= SMALL:
        for key, query in zip(*np.nonzero(~attention.mask), strict=True):
            weight = weights[key, query]
            axes.text(
                query + 0.5,
                key + 0.5,
                two_decimals(weight),
                ha="center",
                va="center",
                fontsize=8,
                color="white" if weight > 0.25 else "#1f2933",
            )
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("queries →", loc="left", labelpad=8)
    axes.set_ylabel("← keys", loc="top", labelpad=8)
    tokens = [_label(token) for token in attention.query_tokens[:queries]]
    axes.set_xticks(np.arange(queries) + 0.5, tokens, rotation=90, fontsize=9)
    tokens = [_label(token) for token in attention.key_tokens[:keys]]
    axes.set_yticks(np.arange(keys) + 0.5, tokens, fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    fig.colorbar(image, ax=axes, label="weight", ticks=[0, 0.1, 0.25, 0.5, 1], shrink=0.8)
    axes.set_title(attention.title(layer, head).partition(":")[0], loc="left", pad=12)
    return figure(fig, attention.describe(layer, head))


def two_decimals(weight):
    """A weight as the browser writes it, which gets it in float32."""
    return two(np.float32(weight))


def _numbers(name, x):
    """A copy in float64 of an array or tensor of finite numbers."""
    try:
        x = as_array(x)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers.") from None
    if not np.isfinite(x).all():
        where = tuple(map(int, np.argwhere(~np.isfinite(x))[0]))
        raise ValueError(f"{name} must be finite; at {where} there is {x[where]}.")
    return x


def _tokens(kind, tokens, count):
    """Token texts as they can be shown; their number must fit the weights."""
    if isinstance(tokens, str):
        raise ValueError(f"{kind}_tokens must be a list of words, not one text: use text.split().")
    tokens = [visible(str(token)) for token in tokens]
    if len(tokens) != count:
        plural = "keys" if kind == "key" else "queries"
        raise ValueError(
            f"There are {len(tokens)} {kind} tokens, but weights for {count} {plural}."
        )
    return tokens


def _label(token):
    """A short text that matplotlib does not take for a formula."""
    return short(token, 16).replace("$", r"\$")


def _count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"


def _bytes(x):
    return np.ascontiguousarray(x, dtype="<f4").tobytes()
