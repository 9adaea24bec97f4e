"""One text cut into tokens in several ways: a row of colored boxes for each."""

import re
import unicodedata

import traitlets

from helpers.widgets.shared.boxes import hue, hues, token_text
from helpers.widgets.shared.given import as_list, function
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import two
from helpers.widgets.shared.text import name, sentence, short

__all__ = ["TokenRows", "TokensWidget", "explore_tokens"]

MOST_ROWS = 8
MOST_TOKENS = 200  # boxes of a row
MOST_WRITTEN = 60  # tokens of a row for a reader without a kernel
# What tokenizers add to the letters of the text: the start, or the end, of a word.
MARKS = re.compile("^(##|▁|Ġ)|(_|</w>)$")


class TokenRows:
    """The same text as tokens, in one or several ways: what `explore_tokens` draws.

    rows: 1 to 8 pairs of a name and its tokens, in order. A token is a text, or bytes, or a pair of
          one of these and its kind ("person"), or None for no kind.
    by:   "letters" where the tokens are pieces of the text; "place" where the rows are compared
          token by token: several translations of the text, for example.
    Raises ValueError, with what was wrong, for anything else.
    """

    def __init__(self, rows, by="letters"):
        if by not in ("letters", "place"):
            raise ValueError('Rows are compared by "letters" or by "place".')
        self.by = by
        self.rows = [_row(row) for row in as_list(rows, "The rows")]
        if not 1 <= len(self.rows) <= MOST_ROWS:
            raise ValueError(f"There should be 1 to {MOST_ROWS} rows; got {len(self.rows)}.")

    def __repr__(self):
        return "Tokens. " + "; ".join(f"{name}: {len(tokens)}" for name, tokens in self.rows)


class TokensWidget(Live):
    """The widget that `explore_tokens` returns; `state` holds the rows and their sizes in words."""

    _esm = module("shared/boxes", "tokens/widget")
    _css = style("shared/boxes", "tokens/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, split, text, sliders):
        function(split, "split")

        def split_text(text, **values):
            return text, split(text, **values)

        super().__init__(split_text, [text_box(text, "text"), *sliders])

    def receive(self, result):
        text, found = result
        if not isinstance(found, TokenRows):
            raise TypeError(f"The function must return TokenRows, not {type(found).__name__}.")
        longest = max(len(tokens) for _, tokens in found.rows)
        colors = hues(kind for _, tokens in found.rows for _, kind in tokens if kind)
        in_place = found.by == "place"
        words = 0 if in_place else len(text.split())
        self.text = text
        self.state = {
            "by": found.by,
            "rows": [
                {
                    "name": row,
                    "size": _size(len(tokens), words),
                    "share": len(tokens) / longest if longest else 0,
                    "tokens": _boxes(tokens, None if in_place else text, colors),
                    "kinds": any(kind for _, kind in tokens),
                    "note": _cut(len(tokens)),
                }
                for row, tokens in found.rows
            ],
        }

    def describe(self):
        sizes = "; ".join(f"{row['name']}: {row['size']}" for row in self.state["rows"])
        return f"Tokens of “{name(self.text)}”. {sizes}"

    def fallback(self):
        rows = [[row["name"], _written(row), row["size"]] for row in self.state["rows"]]
        return table("The text as tokens.", ["cut into", "tokens", "size"], rows)


def explore_tokens(split, text, *sliders):
    """A text box, and under it the typed text as tokens, in several ways one below the other.

    split:   the notebook's function, split(text, **values) -> TokenRows, called again with the
             typed text, as it was typed, and one value a slider whenever one of these changes.
    text:    the text to start with.
    sliders: from `slider(name, low, high, value)`.
    A token that is chosen shows what stands for the same letters, or at the same place, in the
    other rows.
    What the function raises at first is raised.
    Source: the chapter, “Tokenization”.
    """
    return TokensWidget(split, text, sliders)


def _row(row):
    if not isinstance(row, tuple | list) or len(row) != 2:
        raise ValueError("Each row should be a pair of a name and a list of tokens.")
    tokens = as_list(row[1], f"The tokens of row “{name(row[0])}”")
    return name(row[0]), [_token(token) for token in tokens]


def _token(token):
    """A token as a pair: its text or bytes, and its kind, "" for none."""
    if isinstance(token, tuple | list) and len(token) == 2:
        token, kind = token
    else:
        kind = None
    if not isinstance(token, str | bytes):
        raise ValueError(
            f"A token should be a text, or bytes, or a pair of that and a kind; "
            f"got a {type(token).__name__}."
        )
    return token, "" if kind is None else short(sentence(kind), 24)


def _size(count, words):
    """How many tokens there are, in words: "31 tokens, 7.75 a word"."""
    tokens = f"{count:,} token{'' if count == 1 else 's'}"
    return f"{tokens}, {two(count / words)} a word" if words else tokens


def _boxes(tokens, text, colors):
    """What the page draws of a row: text, color, kind, and where it stands, of each token.

    text: what the tokens are pieces of; None where they are numbered instead.
    """
    kinds = any(kind for _, kind in tokens)
    shown = tokens[:MOST_TOKENS]
    if text is None:
        places = [[at, at + 1] for at in range(len(tokens))]
    else:
        places = _places([token for token, _ in tokens], text)
    return [
        [written := token_text(token), colors.get(kind) if kinds else hue(written), kind, place]
        for (token, kind), place in zip(shown, places, strict=False)
    ]


def _cut(count):
    if count <= MOST_TOKENS:
        return ""
    return f"Shown: the first {MOST_TOKENS} of {count:,} tokens; the count counts all."


def _written(row):
    """The tokens of a row in one line, with a line between them."""
    tokens = [f"{text} ({kind})" if kind else text for text, _, kind, _ in row["tokens"]]
    more = ["…"] if len(tokens) > MOST_WRITTEN or row["note"] else []
    return " | ".join([*tokens[:MOST_WRITTEN], *more])


def _places(tokens, text):
    """Which bytes of the text each token stands for, as [first, end], or None if none is found.

    Tokens that make up the text are counted off. Others, which may lack blanks, capitals and
    accents, are looked for one after the other.
    """
    if b"".join(map(_bytes, tokens)) == _bytes(text):
        places, end = [], 0
        for token in tokens:
            places.append([end, end := end + len(_bytes(token))])
        return places
    plain, first, last, size = "", [], [], 0  # each letter: where its bytes begin, where they end
    for letter in text:
        begin, size = size, size + len(_bytes(letter))
        for part in _plain(letter):
            plain += part
            first.append(begin)
            last.append(size)
    places, at, lost = [], 0, False
    for token in tokens:
        letters = _bytes(token).decode("utf-8", "replace")
        for wanted in filter(None, map(_plain, (letters, MARKS.sub("", letters)))):
            found = plain.find(wanted, at)
            # After a token that was not found, an unknown word perhaps, some letters are left out.
            if found >= 0 and (lost or not plain[at:found].strip()):
                at, lost = found + len(wanted), False
                places.append([first[found], last[at - 1]])
                break
        else:
            lost = True
            places.append(None)
    return places


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _plain(text):
    """Letters as tokenizers without capitals and accents see them."""
    parts = unicodedata.normalize("NFD", text.casefold())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")
