"""The attention widget in Python: what it accepts, says, sends, and survives."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.widgets import Attention, explore, show, slider
from helpers.widgets.attention.data import two_decimals

WORDS = ["The", "ball", "sinks"]
WEIGHTS = np.array([[0.5, 0.125, 0.0], [0.25, 0.625, 0.0], [0.25, 0.25, 1.0]])


def softmax_columns(scores):
    weights = np.exp(scores - scores.max(-2, keepdims=True))
    return weights / weights.sum(-2, keepdims=True)


def random_attention(*shape, seed=0):
    weights = softmax_columns(np.random.default_rng(seed).normal(size=shape))
    n_keys, n_queries = shape[-2:]
    return Attention(weights, [f"k{i}" for i in range(n_keys)], [f"q{i}" for i in range(n_queries)])


def sent_weights(widget):
    return np.frombuffer(widget.weights, "<f4").reshape(widget.shape)


# Attention


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5, 2, 3, 4), (1, 1)])
def test_weights_are_kept_as_layers_heads_keys_queries(shape):
    attention = random_attention(*shape)
    assert attention.weights.shape == (1,) * (4 - len(shape)) + shape
    assert np.allclose(attention.weights.sum(-2), 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_tensors_are_welcome_with_and_without_a_gradient(dtype):
    tensor = torch.tensor(WEIGHTS, dtype=dtype, requires_grad=True)
    assert np.allclose(Attention(tensor, WORDS).weights[0, 0], WEIGHTS)


def test_weights_are_a_copy():
    weights = WEIGHTS.copy()
    attention = Attention(weights, WORDS)
    weights[:] = 0
    assert attention.weights[0, 0, 0, 0] == 0.5


def test_columns_need_not_sum_to_one():
    Attention(np.zeros((3, 3)), WORDS, mask=np.ones((3, 3), bool))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(weights=[0.5, 0.5]), "their shape is (2,)"),
        (dict(weights=np.ones((1, 1, 1, 3, 3))), "their shape is (1, 1, 1, 3, 3)"),
        (dict(weights=np.ones((0, 3))), "hold no number"),
        (dict(weights=np.ones((0, 3, 3))), "hold no number"),
        (dict(weights=[["a"]]), "weights must be an array of numbers"),
        (dict(weights=None), "weights must be"),
        (dict(weights=[[1.0, 0], [np.nan, 1]]), "at (1, 0) there is nan"),
        (dict(weights=[[1.0, 0], [np.inf, 1]]), "at (1, 0) there is inf"),
        (dict(weights=-WEIGHTS), "not be negative"),
        (dict(key_tokens=["The", "ball"]), "2 key tokens, but weights for 3 keys"),
        (dict(query_tokens=["The", "ball"]), "2 query tokens, but weights for 3 queries"),
        (dict(key_tokens="abc"), "not one text"),
        (dict(mask=np.zeros((2, 3))), "mask must be (keys, queries) = (3, 3), not (2, 3)"),
        (dict(queries=np.ones((2, 3))), "together"),
        (
            dict(queries=np.ones((2, 3)), keys=np.ones((2, 4)), values=np.ones((2, 3))),
            "keys must be (features, 3), one column a token, not (2, 4)",
        ),
        (
            dict(queries=np.ones((2, 3)), keys=np.ones((4, 3)), values=np.ones((2, 3))),
            "queries have 2 features and keys 4",
        ),
        (
            dict(
                weights=np.stack([WEIGHTS] * 2),
                queries=np.ones((2, 3)),
                keys=np.ones((2, 3)),
                values=np.ones((2, 3)),
            ),
            "single head",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Attention(**{"weights": WEIGHTS, "key_tokens": WORDS, **arguments})


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("", "∅"),
        (" ", "␣"),
        ("\n", "↵"),
        ("a\tb", "a⇥b"),
        ("\u202eevil", "\ufffdevil"),
        ("\u200b", "U+200B"),
        ("\x85x", "\ufffdx"),
        ("\ud800", "?"),
        ("<b>", "<b>"),
        ("שלום", "שלום"),
        ("👩\u200d👧", "👩\u200d👧"),
        (7, "7"),
    ],
)
def test_every_token_can_be_seen(token, shown):
    assert Attention([[1.0]], [token]).key_tokens == [shown]


def test_the_strongest_keys_do_not_depend_on_last_digits():
    column = np.full((4, 1), 0.25)
    column[2] += 1e-9
    attention = Attention(column, list("abcd"), ["q"])
    assert [key for key, _ in attention.strongest(0)] == [0, 1, 2]


def test_words():
    mask = np.tril(np.ones((3, 3), bool), -1)
    attention = Attention(np.where(mask, 0, WEIGHTS), WORDS, mask=mask)
    assert attention.sentence(1) == "query 'ball': ball 0.63, The 0.13, 1 masked"
    assert repr(attention) == (
        "Attention weights: 3 keys down, 3 queries across. Strongest key of each query: "
        "The → The 0.50, ball → ball 0.63, sinks → sinks 1.00."
    )
    nothing = Attention(np.zeros((1, 1)), ["a"], mask=[[True]])
    assert nothing.sentence(0) == "query 'a': 1 masked"
    assert "All is masked." in repr(nothing)


@given(st.floats(0, 4, width=32))
def test_two_decimals_are_the_nearest_and_halves_go_up(weight):
    text = two_decimals(weight)
    assert re.fullmatch(r"\d\.\d\d", text)
    assert abs(float(text) - weight) <= 0.005 + 1e-12
    if (weight * 100) % 1 == 0.5:
        assert float(text) > weight


# The widget's data


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (7, 3), (12, 6, 6), (6, 12, 9, 9)])
def test_bytes_are_the_weights_given(shape):
    attention = random_attention(*shape)
    sent = sent_weights(explore(attention))
    assert np.allclose(sent, attention.weights, atol=1e-7)
    assert np.allclose(sent.sum(2), 1, atol=1e-5)


def test_mask_and_tokens_are_sent():
    mask = np.array([[False, True], [True, False], [False, False]])
    widget = explore(Attention(np.ones((3, 2)) / 3, WORDS, ["la", "palla"], mask=mask))
    assert (np.frombuffer(widget.mask, bool).reshape(3, 2) == mask).all()
    assert (widget.key_tokens, widget.query_tokens) == (WORDS, ["la", "palla"])


def test_more_than_128_tokens_are_cut_and_it_says_so():
    widget = explore(random_attention(200, 150), query=127)
    assert widget.shape == [1, 1, 128, 128]
    assert (len(widget.key_tokens), len(widget.query_tokens)) == (200, 128)
    assert widget.note == "Shown: the first 128 of 200 keys and the first 128 of 150 queries."
    assert explore(random_attention(128, 128)).note == ""
    with pytest.raises(IndexError):
        explore(random_attention(200, 200), query=128)


@pytest.mark.parametrize("n_keys", [1, 2, 40, 200])
def test_the_strongest_keys_of_all_are_sent_also_those_that_are_not_drawn(n_keys):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, (2, 3, n_keys, 130)) / 4  # many are equal
    mask = rng.random((n_keys, 130)) < 0.5
    attention = Attention(weights, [f"k{i}" for i in range(n_keys)], [*"q" * 130], mask=mask)
    widget = explore(attention)
    keys = np.frombuffer(widget.strongest_keys, "<i4").reshape(2, 3, 128, -1)
    sent = np.frombuffer(widget.strongest_weights, "<f4").reshape(keys.shape)
    for layer, head, query in np.ndindex(2, 3, 128):
        pairs = zip(keys[layer, head, query], sent[layer, head, query], strict=True)
        told = [(key, weight) for key, weight in pairs if key >= 0]
        column, hidden = weights[layer, head, :, query], mask[:, query]
        order = sorted(range(n_keys), key=lambda key, column=column: (-column[key], key))
        seen = [(key, column[key]) for key in order if not hidden[key] or column[key] > 0]
        assert told == seen[:3] == attention.strongest(query, layer, head)
    assert widget.masked == mask[:, :128].sum(0).tolist()


def test_of_many_keys_the_one_chosen_at_first_is_drawn():
    weights = np.zeros((200, 1))
    weights[[7, 150], 0] = 0.3, 0.7
    widget = explore(Attention(weights, [f"k{i}" for i in range(200)], ["q"]))
    assert widget.key == 7
    assert "k150 0.70, k7 0.30" in widget.describe()


def test_weights_in_float32_stay_so_and_are_copied():
    weights = np.eye(2, dtype=np.float32)
    attention = Attention(weights, ["a", "b"])
    weights[0, 0] = 9
    assert attention.weights.dtype == np.float32 and attention.weights[0, 0, 0, 0] == 1
    assert Attention(np.eye(2, dtype=np.float16), ["a", "b"]).weights.dtype == np.float64
    with pytest.raises(ValueError, match="finite"):
        Attention(np.array([[1, np.inf]], np.float32), ["k"], ["a", "b"])


def test_vectors_and_the_output_they_make_are_sent():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(2, 5)), rng.normal(size=(2, 140)), rng.normal(size=(3, 140))
    weights = softmax_columns(k.T @ q)
    tokens = [str(i) for i in range(140)]
    widget = explore(Attention(weights, tokens, tokens[:5], queries=q, keys=k, values=v))
    assert widget.features == [2, 3]
    numbers = np.frombuffer(widget.vectors, "<f4")
    parts = np.split(numbers, np.cumsum([2 * 5, 2 * 128, 3 * 128]))
    expected = (q, k[:, :128], v[:, :128], v @ weights)  # the output of all 140 keys
    for part, matrix in zip(parts, expected, strict=True):
        assert np.allclose(part, matrix.ravel(), atol=1e-6)


# What is chosen


def test_first_choice():
    widget = explore(random_attention(6, 12, 5, 5), layer=3, head=11, query=4)
    assert (widget.layer, widget.head, widget.query) == (3, 11, 4)
    assert widget.key == widget.attention.strongest(4, 3, 11)[0][0]


@pytest.mark.parametrize("chosen", [dict(layer=6), dict(head=12), dict(query=5), dict(layer=-1)])
def test_a_first_choice_that_does_not_exist_is_refused(chosen):
    with pytest.raises(IndexError, match=f"no {next(iter(chosen))}"):
        explore(random_attention(6, 12, 5, 5), **chosen)


@pytest.mark.parametrize("name", ["layer", "head", "query", "key"])
@pytest.mark.parametrize(("value", "share"), [(-(2**70), 0), (-1, 0), (2**70, 1)])
def test_a_choice_stays_within_the_matrix(name, value, share):
    widget = explore(random_attention(2, 3, 4, 5))
    widget.set_state({name: value})
    last = dict(layer=1, head=2, key=3, query=4)[name]
    assert getattr(widget, name) == share * last


# Recomputing


def live(words, sharpness):
    """Words attend by their length; too much sharpness is an error."""
    if sharpness > 4:
        raise ValueError("too sharp\nand a second line")
    lengths = np.array([len(word) for word in words], float)
    scores = sharpness * np.minimum.outer(lengths, lengths)
    return Attention(softmax_columns(scores), words)


def live_widget():
    return explore(live, slider("sharpness", 0.0, 5.0, 1.0), text="The ball sinks")


def send(widget, **values):
    """What the browser sends when a control has moved."""
    widget.set_state({"values": {**widget.values, **values}, "asked": widget.asked + 1})
    assert widget.answered == widget.asked


def test_controls_recompute_with_the_notebook_function():
    widget = live_widget()
    send(widget, words="a bb ccc dddd", sharpness=2.0)
    assert widget.query_tokens == ["a", "bb", "ccc", "dddd"]
    expected = live(["a", "bb", "ccc", "dddd"], 2.0).weights
    assert np.allclose(sent_weights(widget), expected, atol=1e-6)


def test_an_error_is_one_sentence_and_the_picture_stays():
    widget = live_widget()
    before = widget.weights
    send(widget, sharpness=4.5)
    assert (widget.problem, widget.weights) == ("too sharp", before)
    send(widget, words=" ", sharpness=1.0)
    assert (widget.problem, widget.weights) == ("Type at least one word.", before)
    send(widget, words="The ball sinks")
    assert widget.problem == ""


def test_a_function_that_returns_something_else_is_refused():
    with pytest.raises(TypeError, match="must return an Attention, not ndarray"):
        explore(lambda: WEIGHTS)


def test_an_interrupted_function_still_answers():
    calls = iter([Attention(WEIGHTS, WORDS), KeyboardInterrupt()])

    def compute(s):
        if isinstance(result := next(calls), KeyboardInterrupt):
            raise result
        return result

    widget = explore(compute, slider("s", 0.0, 1.0, 0.5))
    send(widget, s=0.6)
    assert widget.problem == "KeyboardInterrupt"


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.just([])
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["layer", "head", "query", "key"]), st.integers()),
            st.tuples(st.sampled_from(["words", "sharpness", "other"]), ANYTHING),
            st.tuples(st.just("words"), st.text("ab <\u202e", max_size=40)),
            st.tuples(st.just("sharpness"), st.floats(0, 5)),
        ),
        max_size=12,
    )
)
def test_no_order_of_events_breaks_the_state(events):
    widget = live_widget()
    for name, value in events:
        if name in ("layer", "head", "query", "key"):
            widget.set_state({name: value})
        else:
            send(widget, **{name: value})
        n_layers, n_heads, n_keys, n_queries = widget.shape
        assert sent_weights(widget).shape == widget.attention.weights.shape
        assert (len(widget.key_tokens), len(widget.query_tokens)) == (n_keys, n_queries)
        assert 0 <= widget.layer < n_layers and 0 <= widget.head < n_heads
        assert 0 <= widget.key < n_keys and 0 <= widget.query < n_queries
        assert np.allclose(sent_weights(widget).sum(2), 1, atol=1e-4)
        assert "\n" not in widget.problem
        assert repr(widget) and widget.fallback()


# Without a browser


def test_the_widget_in_words():
    widget = explore(random_attention(6, 12, 5, 4), layer=3, head=1, query=2)
    best = ", ".join(f"k{k} {two_decimals(w)}" for k, w in widget.attention.strongest(2, 3, 1))
    assert repr(widget) == (
        f"Attention weights of layer 3, head 1: 5 keys down, 4 queries across. Query 'q2': {best}."
    )


def test_the_fallback_shows_every_number_of_a_small_matrix():
    mask = np.tril(np.ones((3, 3), bool), -1)
    html = explore(Attention(np.where(mask, 0, WEIGHTS), WORDS, mask=mask)).fallback()
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    assert len(rows) == 4
    assert re.findall(r"<td>(.*?)</td>", rows[2]) == ["masked", "0.63", "0.00"]


def test_the_fallback_of_a_large_matrix_shows_the_strongest_keys_of_each_query():
    widget = explore(random_attention(13, 200))
    rows = re.findall(r"<tr>(.*?)</tr>", widget.fallback())
    assert len(rows) == 129
    assert rows[8].endswith(f"<td>{widget.attention.sentence(7).partition(': ')[2]}</td></tr>"[:-5])


def test_hostile_tokens_are_escaped_in_the_fallback():
    html = explore(Attention(np.eye(2), ["<script>alert(1)</script>", '"><img src=x>'])).fallback()
    assert "<script" not in html and "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_what_a_notebook_stores_is_the_same_every_time():
    bundles = [explore(random_attention(4, 6, 6))._repr_mimebundle_() for _ in range(2)]
    for kind in ("text/plain", "text/html"):
        assert bundles[0][kind] == bundles[1][kind]
    assert "application/vnd.jupyter.widget-view+json" in bundles[0]


def test_show_draws_any_head_and_any_token():
    hostile = ["$x$", "$", "", "\n", "<b>", "a" * 300]
    weights = softmax_columns(np.random.default_rng(0).normal(size=(2, 6, 6)))
    mask = np.eye(6, dtype=bool)
    picture = show(Attention(weights, hostile, mask=mask), head=1)
    assert repr(picture) == Attention(weights, hostile, mask=mask).describe(0, 1)
    show(random_attention(200, 1))
    with pytest.raises(IndexError, match="no layer 0, head 2"):
        show(Attention(weights, hostile), head=2)
