"""The exercise engine: whatever a learner hands in gets one clear sentence, and nothing breaks."""

import multiprocessing
import re
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

import helpers.exercises.engine.memory as memory
from helpers.exercises.__main__ import answer_faults, cell_faults
from helpers.exercises.engine.box import board_box, hint_box, solution_box, verdict_box
from helpers.exercises.engine.exercise import Exercise, Wrong, nbgrader_metadata, source_of
from helpers.exercises.engine.judge import Verdict, judge
from helpers.exercises.engine.limits import Stopped
from helpers.exercises.engine.wording import short
from helpers.exercises.shared.compare import matches, same, unchanged

SCORES = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 5.0]])
WEIGHTS = np.exp(SCORES) / np.exp(SCORES).sum(0)
STUB = "def softmax_columns(scores):\n    return ...  # your code here\n"


def softmax_exercise(seconds=5.0):
    """A small exercise, judged with the time limit given."""
    exercise = Exercise(
        "1.2", "A softmax <for> every column", 1, STUB, ("First?", "Then?"), seconds=seconds
    )

    @exercise.solution
    def softmax_columns(scores):
        return np.exp(scores) / np.exp(scores).sum(0)

    @exercise.check
    def check(answer):
        same(unchanged(answer, SCORES), WEIGHTS, "the weights")

    return exercise


def right(scores):
    return WEIGHTS


# ------------------------------------------------------------------------------- hostile answers


class HostileText:
    def __repr__(self):
        raise SystemExit("no text for you")

    __str__ = __repr__


class HostileArray:
    def __array__(self, *args, **kwargs):
        raise KeyboardInterrupt


class HostileEqual(np.ndarray):
    def __eq__(self, other):
        raise MemoryError


class HostileError(Exception):
    def __str__(self):
        raise ValueError


def divides(scores):
    total = 0
    return scores / (1 // total)


def recurses(scores):
    return recurses(scores)


def raises(error):
    def answer(scores):
        raise error

    return answer


def in_place(scores):
    scores -= scores.max(0)
    return np.exp(scores) / np.exp(scores).sum(0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "check needs the function softmax_columns itself and was given None"),
        ("softmax", "was given a str: write check("),
        (SCORES, "was given an array"),
        (HostileText, "was given a class"),
        (HostileText(), "was given a HostileText"),
        (lambda: 1, "cannot be called as in the stub, softmax_columns(scores): too many"),
        (lambda a, b: 1, "missing a required argument: 'b'"),
        (lambda s: None, "The weights: expected a value, got None: does your function end with"),
        (lambda s: "text", "The weights: expected numbers, got a str"),
        (lambda s: [[1], [2, 3]], "got a list that holds no array"),
        (lambda s: {"a": 1}, "expected numbers, got a dict"),
        (lambda s: HostileText(), "expected numbers, got a HostileText"),
        (lambda s: np.array([HostileText()] * 2), "expected numbers, got an array of object"),
        (lambda s: HostileArray(), "What it returned could not be checked: KeyboardInterrupt."),
        (lambda s: np.ones((2, 3)).view(HostileEqual), "The weights: the largest difference is"),
        (lambda s: WEIGHTS * 1j, "expected numbers, got an array of complex128"),
        (lambda s: WEIGHTS.T, "expected an array of 2 × 3, got an array of 3 × 2: is it transp"),
        (lambda s: WEIGHTS[0], "expected an array of 2 × 3, got a vector of length 3."),
        (lambda s: 1.0, "expected an array of 2 × 3, got a single number."),
        (lambda s: (WEIGHTS, WEIGHTS), "The weights: expected the result alone, got a tuple of 2."),
        (lambda s: (WEIGHTS, s[0]), "The weights: expected the result alone, got a tuple of 2."),
        (lambda s: (1, WEIGHTS, None), "expected the result alone, got a tuple of 3."),
        (lambda s: (1, 2), "expected an array of 2 × 3, got a vector of length 2."),
        (lambda s: WEIGHTS * np.nan, "NaN (not a number) occurs. Is zero divided by zero, infin"),
        (lambda s: s / 0, "The weights: infinity occurs."),
        (lambda s: 10**6000, "expected numbers, got an int"),
        (
            lambda s: WEIGHTS + np.array([[0, 0, 0], [0, 0, 0.5]]),
            "largest difference is 0.5, in row 1, column 2",
        ),
        (
            divides,
            "It stopped with ZeroDivisionError: integer division or modulo by zero, on line 3",
        ),
        (
            recurses,
            "It stopped with RecursionError: maximum recursion depth exceeded, on line 2 of",
        ),
        (raises(SystemExit(3)), "It stopped with SystemExit: 3, on line 2 of your function."),
        (raises(KeyboardInterrupt()), "It stopped with KeyboardInterrupt, on line 2"),
        (raises(HostileError()), "It stopped with HostileError, on line 2"),
        (raises(ValueError("<b>" * 999)), "It stopped with ValueError: <b><b>"),
        (in_place, "It changes its input scores in place"),
    ],
)
def test_every_strange_answer_gets_its_own_sentence(answer, words):
    verdict = judge(softmax_exercise(), answer)
    assert verdict.state == "wrong"
    assert words in verdict.sentence
    assert len(verdict.sentence) < 500
    assert "0x" not in verdict.sentence


def swallows_exceptions(scores):
    while True:
        try:
            sum(range(10))
        except Exception:
            pass


def swallows_everything(scores):
    while True:
        try:
            sum(range(10))
        except:  # noqa: E722
            pass


def returns_in_spite(scores):
    try:
        while True:
            pass
    finally:
        return WEIGHTS  # noqa: B012


def prints_on(scores):
    while True:
        try:
            print("more")
        except:  # noqa: E722
            pass


def sleeps_on(scores):
    while True:
        try:
            time.sleep(0.1)
        except:  # noqa: E722
            pass


def loops(scores):
    while True:
        pass


class EndlessText:
    def __repr__(self):
        while True:
            pass


def returns_endless_text(scores):
    raise Wrong("a check may show it", WEIGHTS, EndlessText())


@pytest.mark.parametrize(
    "answer",
    [
        loops,
        swallows_exceptions,
        swallows_everything,
        returns_in_spite,
        prints_on,
        sleeps_on,
        returns_endless_text,
    ],
)
def test_endless_answers_are_stopped(answer, capsys):
    threads = set(threading.enumerate())
    stdout = sys.stdout
    verdict = judge(softmax_exercise(seconds=0.2), answer)
    assert verdict.state == "wrong"
    assert verdict.sentence.startswith(
        "It did not finish within 0.2 seconds, the limit for all examples together, and was stopped"
    )
    assert wait_for(lambda: set(threading.enumerate()) <= threads), "the thread still runs"
    assert sys.stdout is stdout
    assert capsys.readouterr() == ("", "")


def test_a_thread_that_cannot_be_stopped_is_left_behind_silent(capsys):
    go_on = threading.Event()
    printed = threading.Event()

    def blocks(scores):
        try:
            threading.Event().wait() if not go_on.wait() else None
        finally:
            print("late")
            printed.set()

    streams = sys.stdout, sys.stderr
    try:
        verdict = judge(softmax_exercise(seconds=0.2), blocks)
        assert "did not finish" in verdict.sentence
        print("the notebook goes on")
        go_on.set()
        assert printed.wait(10)
        assert capsys.readouterr().out == "the notebook goes on\n"
    finally:
        sys.stdout, sys.stderr = streams


def test_nothing_is_traced_once_the_work_has_ended():
    """Raised again in the middle of threading's own functions, it would leave their locks taken."""
    tracing = sys.gettrace()
    Stopped()
    assert sys.gettrace() is tracing and sys._getframe().f_trace is None


def wait_for(holds):
    """Whether it comes to hold within ten seconds."""
    return any(holds() or time.sleep(0.05) for _ in range(200))


def test_prints_and_warnings_of_an_answer_do_not_reach_the_notebook(capsys):
    def chatty(scores):
        print("x" * 10_000)
        print("y", file=sys.stderr)
        warnings.warn("attention", stacklevel=1)
        np.array([1.0]) / 0
        return WEIGHTS

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge(softmax_exercise(), chatty).passed
        with pytest.raises(UserWarning):
            warnings.warn("the filters are as before", stacklevel=1)
    assert capsys.readouterr() == ("", "")


# ----------------------------------------------------------------------------------------- memory


def fills_a_list(scores):
    kept = []
    while True:
        kept.append(np.ones(10**6))


def fills_it_with_small_things(scores):
    kept = []
    while True:
        kept.append([kept])


def grows_a_text(scores):
    text = "x"
    while True:
        text += text


HUNGRY = (
    lambda scores: np.ones(10**12),
    lambda scores: torch.ones(10**12),
    lambda scores: [0] * 10**12,
    fills_a_list,
    fills_it_with_small_things,
    grows_a_text,
)


def judged_with_little_memory(number):
    """The verdict on an answer of HUNGRY, and the limits of the process before and after it."""
    import resource

    memory.ALLOWANCE = 50 * 2**20
    before = resource.getrlimit(resource.RLIMIT_DATA)
    verdict = judge(softmax_exercise(seconds=20), HUNGRY[number])
    return verdict.state, verdict.sentence, before, resource.getrlimit(resource.RLIMIT_DATA)


@pytest.fixture(scope="module")
def new_process():
    """One that has held nothing: memory that was freed is used again, and no limit counts it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
@pytest.mark.parametrize("number", range(len(HUNGRY)))
def test_an_answer_that_asks_for_all_memory_gets_a_sentence(number, new_process):
    state, sentence, before, after = new_process.submit(judged_with_little_memory, number).result()
    assert state == "wrong"
    assert sentence.startswith("There was not enough memory for it")
    assert after == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_an_answer_that_cannot_be_stopped_stays_limited_until_it_ends(monkeypatch):
    import resource

    monkeypatch.setattr(memory, "ALLOWANCE", 50 * 2**20)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    go_on = threading.Event()

    def blocks(scores):
        return scores if go_on.wait(60) else None

    streams = sys.stdout, sys.stderr
    try:
        assert "did not finish" in judge(softmax_exercise(seconds=0.1), blocks).sentence
        with pytest.raises(MemoryError):
            np.ones(10**8)
        assert judge(softmax_exercise(), right).passed
        go_on.set()
        assert wait_for(lambda: resource.getrlimit(resource.RLIMIT_DATA) == before)
    finally:
        sys.stdout, sys.stderr = streams


def limits_of(held, monkeypatch):
    """The limits that an answer gets in a process that holds so many bytes."""
    import resource

    monkeypatch.setattr(memory, "_held", lambda: held)
    seen = []

    def work():
        with memory.LimitedMemory():
            seen.append(resource.getrlimit(resource.RLIMIT_DATA))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_beside_an_answer_left_behind_the_limit_may_fall_but_not_rise(monkeypatch):
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(memory, "_held", lambda: 2**33)
    with memory.LimitedMemory():
        first = resource.getrlimit(resource.RLIMIT_DATA)
        assert limits_of(2**34, monkeypatch) == first
        assert limits_of(2**32, monkeypatch)[0] == 2**32 + memory.ALLOWANCE < first[0]
        assert resource.getrlimit(resource.RLIMIT_DATA) == first
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_an_answer_that_ended_without_a_word_leaves_no_limit_to_the_next(monkeypatch):
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(memory, "_held", lambda: 2**32)
    thread = threading.Thread(target=memory.LimitedMemory().__enter__)
    thread.start()
    thread.join()
    assert resource.getrlimit(resource.RLIMIT_DATA) != before
    assert limits_of(2**33, monkeypatch)[0] == 2**33 + memory.ALLOWANCE
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_where_memory_cannot_be_limited_answers_are_judged_all_the_same(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert judge(softmax_exercise(), right).passed


# ----------------------------------------------------------------------- right and missing answers


@pytest.mark.parametrize(
    "convert",
    [lambda x: x, np.asfortranarray, np.float32, np.ndarray.tolist, tuple, torch.tensor, np.matrix],
)
def test_the_same_numbers_pass_in_any_container(convert):
    exercise = softmax_exercise()
    exercise.check(lambda answer: same(answer(SCORES), WEIGHTS, "the weights"))
    assert judge(exercise, lambda scores: convert(WEIGHTS)).passed


def not_implemented(scores):
    raise NotImplementedError


def not_implemented_in_words(scores):
    """Weights of scores."""
    raise NotImplementedError("your code here")


UNTOUCHED_STUBS = [..., lambda scores: ..., not_implemented, not_implemented_in_words]


@pytest.mark.parametrize("answer", UNTOUCHED_STUBS)
def test_an_untouched_stub_is_not_attempted(answer):
    assert judge(softmax_exercise(), answer) == Verdict("untouched")


def softmax_of_whole_numbers(scores):
    return torch.softmax(torch.zeros(3, dtype=torch.long), dim=0)


def begun(scores):
    if len(scores) > 0:
        raise NotImplementedError("columns")


def begun_with_one_step(scores):
    scores - scores.max()
    raise NotImplementedError


@pytest.mark.parametrize(
    ("answer", "line", "words"),
    [
        (softmax_of_whole_numbers, 2, "not implemented for 'Long'"),
        (begun, 3, "columns"),
        (begun_with_one_step, 3, ""),
    ],
)
def test_another_not_implemented_error_is_told(answer, line, words):
    verdict = judge(softmax_exercise(), answer)
    assert verdict.state == "wrong" and words in verdict.sentence
    assert verdict.sentence.startswith("It stopped with NotImplementedError")
    assert verdict.sentence.endswith(f", on line {line} of your function.")


def test_an_untouched_stub_is_seen_before_a_check_looks_into_its_result():
    exercise = softmax_exercise()
    exercise.check(lambda answer: answer(SCORES).shape)
    assert judge(exercise, lambda scores: ...) == Verdict("untouched")


def module_exercise():
    exercise = Exercise(
        "2.1",
        "A layer",
        2,
        "class Doubled(torch.nn.Module):\n    def forward(self, x):\n        return ...\n",
        ("First?", "Then?"),
    )

    @exercise.check
    def check(answer):
        layer = answer()
        same(layer(torch.ones(2)), [2.0, 2.0], "the output")
        assert isinstance(layer, torch.nn.Module)

    return exercise


class Doubled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.factor * x


class Untouched(torch.nn.Module):
    def forward(self, x):
        return ...


class Stops(torch.nn.Module):
    def forward(self, x):
        return x @ torch.ones(3)


class Takes(torch.nn.Module):
    def forward(self, x, y):
        return x


def test_a_class_is_judged_like_a_function():
    exercise = module_exercise()
    assert judge(exercise, Doubled).passed
    assert judge(exercise, Untouched) == Verdict("untouched")
    assert "on line 2 of forward" in judge(exercise, Stops).sentence
    assert "missing a required argument: 'y'" in judge(exercise, Takes).sentence
    assert "needs the class Doubled itself" in judge(exercise, Doubled()).sentence
    assert "needs the class Doubled itself" in judge(exercise, lambda: 1).sentence


# ------------------------------------------------------------------------------------ comparisons


def test_whole_numbers_are_compared_exactly_and_others_relatively():
    assert matches(10**15, 10**15)
    assert not matches(10**15 + 1, 10**15)
    assert matches(1e9 + 1, 1e9)
    assert not matches(1.001, 1.0)
    assert matches([True, False], np.array([1, 0]))
    assert matches([np.inf, np.nan], np.array([np.inf, np.nan]))
    assert not matches([np.inf, 0.0], np.array([np.inf, np.nan]))
    assert not matches([0.0, 0.0], np.array([np.inf, 0.0]))
    assert matches(np.zeros((0, 3)), np.zeros((0, 3)))
    assert matches(torch.ones(2, dtype=torch.bfloat16, requires_grad=True), [1.0, 1.0])


def test_single_numbers_are_told_apart():
    for got, expected, words in (
        (24, 12, "The count: expected 12, got 24."),
        (0.50002, 0.5, "The count: expected 0.5, got 0.50002."),
        (np.array(False), True, "The count: expected True, got False."),
    ):
        with pytest.raises(Wrong, match=re.escape(words)):
            same(got, expected, "the count")


def test_a_check_may_ask_its_own_questions():
    with pytest.raises(Wrong, match=r"NaN .* occurs\. Overflow\?"):
        same(WEIGHTS * np.nan, WEIGHTS, "the weights", nan="Overflow?")
    with pytest.raises(Wrong, match=r"counted from 0\): cut off\?"):
        same(WEIGHTS + 1, WEIGHTS, "the weights", far="cut off?")


def test_dicts_are_compared_key_by_key():
    expected = {"Q": 6, "K": 8}
    same({"Q": 6, "K": 8}, expected, "the counts")
    for got, words in [
        ({"Q": 6}, "The counts: the key 'K' is missing."),
        ([6, 8], "The counts: expected a dict, got a list."),
        ({"Q": 6, "K": 9}, "The counts, 'K': expected 8, got 9."),
    ]:
        with pytest.raises(Wrong, match=re.escape(words)):
            same(got, expected, "the counts")


def test_unchanged_sees_changes_inside_containers_and_tensors():
    def inner(lists, tensor):
        tensor[0] = 5
        return 1

    def outer(lists, tensor):
        lists["a"][0] = 5
        return 1

    for answer, name in ((inner, "tensor"), (outer, "lists")):
        with pytest.raises(Wrong, match=f"its input {name} in place"):
            unchanged(answer, {"a": [1, 2]}, torch.tensor([1.0, torch.nan]))
    assert unchanged(lambda a, b: 7, {"a": [1, 2]}, torch.tensor([torch.nan])) == 7


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.arange(3) / 3, "[0.     0.3333 0.6667]"),
        (np.ones((100, 7)), "(a corner of an array of 100 × 7)"),
        (torch.ones(2, 3, 9), "(a corner of an array of 2 × 3 × 9)"),
        (torch.ones(1, 2, 2), "[1. 1.]]\n(an array of 1 × 2 × 2)"),
        (np.array(2.5), "2.5"),
        (np.float64(1 / 3), "0.333333"),
        ([np.float64(0.5), 1 / 3], "[0.5, 0.333333]"),
        ({"Q": np.ones(2)}, "{'Q': [1. 1.]}"),
        (list(range(10**6)), "[0, 1, 2, 3, 4, 5, ...]"),
        ("x" * 10**6, "..."),
        (None, "None"),
        (HostileText(), "(a HostileText that cannot be shown)"),
        ([HostileText()], "(a list that cannot be shown)"),
        (object(), "<object object>"),
        (np.array([object()]), "<object object>"),
    ],
)
def test_any_value_is_shown_short_and_without_addresses(value, words):
    text = short(value)
    assert words in text
    assert len(text) < 700 and text.count("\n") <= 6 and "0x" not in text


FAR = np.zeros((40, 50))
FAR[39, 48] = 1


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (
            np.array([1 / 3, 1.0]),
            np.array([1 / 3 + 1.2e-5, 1.0]),
            ("0.33333333 1.", "0.33334533 1."),
        ),
        (
            np.zeros((40, 50)),
            FAR,
            ("[[0. 0. 0. 0. 0.]", "(from [36, 45] on, of an array of 40 × 50)"),
        ),
        (FAR[None], 2 * FAR[None], ("0. 1. 0.]", "0. 2. 0.]")),
        (np.array([1e-7, 0]), np.array([2e-7, 0]), ("[0.0000001 0.", "[0.0000002 0.")),
        (0.5, 0.5 + 1e-9, ("0.5", "0.500000001")),
        (torch.ones(2), torch.ones(2) + 1e-6, ("[1. 1.]", "[1.00000095 1.00000095]")),
        (np.ones(2), np.ones(2, "float32"), ("(an array of float64)", "(an array of float32)")),
        (np.ones(2), torch.ones(2), ("(an array of float64)", "(a tensor of torch.float32)")),
        ("1", "1", ("(a str)", "(a str)")),
        (HostileText(), HostileText(), ("cannot be shown", "cannot be shown")),
    ],
)
def test_what_would_print_alike_is_told_apart(expected, got, words):
    texts = Wrong("No.", expected, got).example
    for text, word in zip(texts, words, strict=True):
        assert word in text
        assert len(text) < 900


# ------------------------------------------------------------------------------------------ boxes


class Tags(HTMLParser):
    """Collects the tags, attributes and text of HTML, and whether every tag is closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open[-1:] == ["style"] else data


def test_text_of_the_learner_stays_text_and_both_forms_say_the_same():
    exercise = softmax_exercise()
    evil = "</pre><script>alert(1)</script>`<img src=x>`"
    verdict = judge(exercise, raises(ValueError(evil)))
    box = verdict_box(
        exercise, Verdict("wrong", verdict.sentence, (evil, evil)), "Stuck? `this`", ["A note."]
    )
    bundle = box._repr_mimebundle_()
    page = Tags(bundle["text/html"])
    assert page.tags == {"style", "div", "strong", "span", "p", "code", "pre"}
    assert evil in page.text
    plain = repr(box)
    assert plain == bundle["text/plain"]
    for words in (
        "✗ Not yet",
        "1.2 A softmax <for> every column",
        "★",
        "on line 2 of your function",
        "expected",
        "got",
        "Stuck? this",
        "A note.",
    ):
        assert words in page.text and words in plain


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        (Verdict("passed"), "✓ Passed"),
        (Verdict("wrong", "No."), "✗ Not yet"),
        (Verdict("untouched"), "○ Not attempted yet"),
    ],
)
def test_every_state_has_a_symbol_and_a_word(verdict, mark):
    box = verdict_box(softmax_exercise(), verdict, "Stuck? `hint(1)`")
    assert repr(box).startswith(f"{mark}: 1.2")
    assert mark in Tags(box._repr_mimebundle_()["text/html"]).text
    assert ("hint(" in repr(box)) == (not verdict.passed)


# ------------------------------------------------------------------------------ the proof itself


def test_the_proof_finds_each_fault():
    exercise = softmax_exercise()
    assert answer_faults(exercise) == ["it needs at least three wrong answers"]
    for name, words in (("first", "2 × 3"), ("second", "other words"), ("third", "2 × 3")):
        mistake = (lambda s: WEIGHTS) if name == "third" else (lambda s: WEIGHTS.T)
        mistake.__name__ = name
        exercise.wrong(words)(mistake)
    exercise.right(in_place)
    faults = " ".join(answer_faults(exercise))
    assert "right answer in_place is refused: It changes" in faults
    assert "wrong answer first" not in faults
    assert "wrong answer second is told “The weights: expected" in faults
    assert "wrong answer third counts as passed" in faults
    exercise.wrong("got an array")(exercise.wrong_answers[0][0])  # as the first, in other words
    assert "is told of “got an array” and of “2 × 3”" in " ".join(answer_faults(exercise))
    exercise.stub = "def softmax_columns(scores):\n    return 1\n"
    assert "the untouched stub counts as wrong" in " ".join(answer_faults(exercise))

    @exercise.check
    def check(answer):
        raise Wrong("2 × 3")

    assert "“2 × 3” is not a sentence" in " ".join(answer_faults(exercise))


class Cell:
    def __init__(self, source, tag, metadata):
        self.source, self.metadata = source, {"tags": [tag], "nbgrader": metadata}


def test_the_proof_compares_the_notebook():
    exercise = softmax_exercise()
    stub, check = nbgrader_metadata(exercise)
    good = [
        Cell(STUB, "exercise", stub),
        Cell('check("1.2", softmax_columns)', "check", check),
    ]
    assert cell_faults([exercise], good) == []
    assert "0 stub and check cells instead of 2" in cell_faults([exercise], [])[0]
    assert len(cell_faults([exercise], good[::-1])) == 4
    edited = [Cell(STUB + "x", "exercise", stub), good[1]]
    assert cell_faults([exercise], edited) == [
        "1.2: the exercise cell of the notebook is not the file's"
    ]
    assert "nbgrader metadata" in cell_faults([exercise], [Cell(STUB, "exercise", {}), good[1]])[0]


def test_the_source_is_shown_without_decorators():
    def keep(function):
        return function

    @keep
    @keep
    def answer(x):
        return x

    assert source_of(answer) == "def answer(x):\n    return x\n"


def test_boxes_of_hints_solutions_and_boards_are_whole():
    exercise = softmax_exercise()
    exercise.notice = "The columns sum to one."
    Tags(hint_box(exercise, 1)._repr_mimebundle_()["text/html"])
    board = board_box([("01 <attention>", [exercise])], {})
    assert "01 <attention>" in Tags(board._repr_mimebundle_()["text/html"]).text
    bundle = solution_box(exercise)._repr_mimebundle_()
    assert "```python\ndef softmax_columns(scores):" in bundle["text/markdown"]
    assert "What to notice: The columns sum to one." in bundle["text/plain"]
