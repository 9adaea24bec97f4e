"""Attention weights with their tokens, and what they say in words."""

import numpy as np

from helpers.widgets.shared.numbers import as_array, two
from helpers.widgets.shared.text import sentence, short, visible

__all__ = ["MOST_TOKENS", "SMALL", "Attention", "ranking", "two_decimals"]

MOST_TOKENS = 128  # more keys or queries than this are not drawn
SMALL = 12  # up to this many tokens a static picture can hold every number


class Attention:
    """Attention weights with their tokens: what `show` draws and `explore` lets you explore.

    weights:      K × Q, or heads × K × Q, or layers × heads × K × Q (NumPy or PyTorch), one row a
                  key, one column a query. Kept as a copy, layers × heads × K × Q, in float32 if
                  they come so, else in float64. Every weight must be finite and at least 0: give
                  weights, not scores. Columns need not sum to one, for dropout and fully masked
                  columns do not.
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
        column, masked = self.weights[layer, head][:, [query]], self.mask[:, [query]]
        keys = ranking(column, masked, min(count, len(column)))[0]
        return [(int(key), float(column[key, 0])) for key in keys if key >= 0]

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


def ranking(weights, mask, count):
    """The keys of the largest weights of every query, largest first; −1 where no more are seen.

    weights: … × keys × queries; mask: keys × queries, True where the query may not see the key.
    Returns … × queries × count. Nearly equal weights keep the order of their keys.
    """
    rest = np.ascontiguousarray(np.swapaxes(weights, -1, -2)).round(4)  # keys last: much faster
    rest[mask.T & (np.swapaxes(weights, -1, -2) <= 0)] = -1
    ranked = []
    for _ in range(count):
        best = rest.argmax(-1, keepdims=True)
        ranked.append(np.where(np.take_along_axis(rest, best, -1) < 0, -1, best))
        np.put_along_axis(rest, best, -1, -1)
    return np.concatenate(ranked, -1)


def two_decimals(weight):
    """A weight as the browser writes it, which gets it in float32."""
    return two(np.float32(weight))


def _numbers(name, x):
    """A copy of an array or tensor of finite numbers: in float32 if they come so, else float64."""
    try:
        x = np.array(x) if getattr(x, "dtype", None) == np.float32 else as_array(x)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers.") from None
    # The sum is finite unless a number is not, or many are huge: no second array is needed.
    if not np.isfinite(x.sum()) and not np.isfinite(x).all():
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


def _count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"
