"""A beam search as a tree: which beginnings are kept, left behind, finished."""

import traitlets

from helpers.widgets.shared.given import as_list, function
from helpers.widgets.shared.live import Live, module, style, table, text_box
from helpers.widgets.shared.numbers import as_array, two, vector
from helpers.widgets.shared.text import short, visible

__all__ = ["Beams", "BeamsWidget", "explore_beams"]

MOST_NODES = 120
MOST_ROWS = 40  # for a reader without a kernel
LONGEST = 24  # letters of a token
LAST_TOKENS = 8  # of a beginning, in words
STATES = {"kept": "kept", "dropped": "left behind", "finished": "finished"}


class Beams:
    """The tree of beginnings that a beam search looked at: what `explore_beams` draws.

    nodes: 1 to 120 nodes (parent, token, log_probability, state), each after its parent:
           parent:          the number of the node that it continues, counted from 0, or None for
                            the first token after the text;
           token:           what it adds;
           log_probability: of all tokens up to this one, in nats;
           state:           "kept" in the beam, "dropped" (left behind), or "finished".
    Raises ValueError, with what was wrong, if a node continues one that was not kept, and for
    anything else that cannot be drawn.
    """

    def __init__(self, nodes):
        nodes = as_list(nodes, "The nodes")
        if not 1 <= len(nodes) <= MOST_NODES:
            raise ValueError(f"There should be 1 to {MOST_NODES} nodes; got {len(nodes)}.")
        self.nodes = []
        for number, node in enumerate(nodes):
            self.nodes.append(self._checked(number, node))
        self.children = {None: [], **{number: [] for number in range(len(self.nodes))}}
        for number, node in enumerate(self.nodes):
            self.children[node[0]].append(number)
        for numbers in self.children.values():
            numbers.sort(key=lambda number: -self.nodes[number][2])  # the best on top
        self.best = max(self._ends(), key=lambda number: self.nodes[number][2])

    def tokens(self, number):
        """The tokens from the first one to this node."""
        parent, token, *_ = self.nodes[number]
        return [*([] if parent is None else self.tokens(parent)), token]

    def says(self, number):
        """One node in words: "“… was good”: log probability −3.21, kept"."""
        tokens = [short(token, LONGEST) for token in self.tokens(number)]
        cut = "… " if len(tokens) > LAST_TOKENS else ""
        _, _, log, state = self.nodes[number]
        beginning = " ".join(tokens[-LAST_TOKENS:])
        return f"“{cut}{beginning}”: log probability {two(log)}, {STATES[state]}"

    def places(self):
        """number -> (column, row): leaves in rows of their own, others amid what follows them."""
        places, leaves = {}, 0

        def place(number, column):
            nonlocal leaves
            rows = [place(child, column + 1) for child in self.children[number]]
            if not rows:
                rows, leaves = [leaves], leaves + 1
            places[number] = column, (rows[0] + rows[-1]) / 2
            return places[number][1]

        place(None, 0)
        return places

    def summary(self):
        finished = sum(state == "finished" for *_, state in self.nodes)
        return f"{finished or 'none'} finished; the best so far: {self.says(self.best)}"

    def __repr__(self):
        count = len(self.nodes)
        return f"Beams: {count} beginning{'' if count == 1 else 's'}, {self.summary()}"

    def _ends(self):
        """What may be the answer, or become it: finished, or kept and not continued yet."""
        leaves = [number for number in range(len(self.nodes)) if not self.children[number]]
        return [number for number in leaves if self.nodes[number][3] != "dropped"] or leaves

    def _checked(self, number, node):
        if not isinstance(node, tuple | list) or len(node) != 4:
            raise ValueError(
                f"Node {number} should be a parent, a token, a log probability and a state."
            )
        parent, token, log, state = node
        whole = isinstance(parent, int) and not isinstance(parent, bool)
        if parent is not None and not (whole and 0 <= parent < number):
            raise ValueError(f"The parent of node {number} should be an earlier node, or None.")
        if parent is not None and (before := self.nodes[parent][3]) != "kept":
            raise ValueError(f"Node {number} continues node {parent}, which is {STATES[before]}.")
        what = f"The log probability of node {number}"
        log = float(vector(as_array(log, what).reshape(-1), 1, what)[0])
        if not isinstance(state, str) or state not in STATES:
            raise ValueError(f"The state of node {number} should be kept, dropped or finished.")
        return parent, visible(str(token)), log, state


class BeamsWidget(Live):
    """The widget that `explore_beams` returns; `state` holds the nodes and their places."""

    _esm = module("beams/widget")
    _css = style("beams/widget")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, search, text, sliders):
        function(search, "search")

        def for_typed(words, **values):
            return words, search(words.split(), **values)

        super().__init__(for_typed, [text_box(text), *sliders])

    def receive(self, result):
        words, beams = result
        if not isinstance(beams, Beams):
            raise TypeError(f"The function must return Beams, not {type(beams).__name__}.")
        self.beams = beams
        places = beams.places()
        last = words.split()[-1:] or ["start"]
        self.state = {
            "root": [short(visible(last[0]), LONGEST), *places.pop(None)],
            "nodes": [
                {
                    "parent": parent,
                    "token": short(token, LONGEST),
                    "log": two(log),
                    "state": state,
                    "place": list(places[number]),
                    "says": beams.says(number),
                }
                for number, (parent, token, log, state) in enumerate(beams.nodes)
            ],
            "best": beams.best,
            "summary": beams.summary(),
        }

    def describe(self):
        return repr(self.beams)

    def fallback(self):
        rows = [
            [short(" ".join(self.beams.tokens(number)[-LAST_TOKENS:]), 40), two(log), STATES[state]]
            for number, (_, _, log, state) in enumerate(self.beams.nodes)
        ]
        more = f" (the first {MOST_ROWS} of {len(rows)})" if len(rows) > MOST_ROWS else ""
        caption = f"Beginnings{more}: {self.state['summary']}"
        return table(caption, ["beginning", "log probability", "state"], rows[:MOST_ROWS])


def explore_beams(search, text, *sliders):
    """The tree of a beam search that continues a text.

    search:  the notebook's function, search(words, **values) -> Beams, called again with the list
             of words, which may be empty, and one value a slider, whenever one of these changes.
    text:    the text to start with.
    sliders: from `slider(name, low, high, value)`: the width, how far it goes.
    What the function raises at first is raised.
    Source: the chapter, “Generating text”.
    """
    return BeamsWidget(search, text, sliders)
