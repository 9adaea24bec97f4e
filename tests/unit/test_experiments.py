"""What the longer experiments of notebooks 07 and 08 are made of, and what they have stored."""

from itertools import product

import pytest
import torch

from helpers.blocks.bert import NOTHING
from helpers.corpora.reviews import town
from helpers.corpora.tasks import FAMILIES
from helpers.experiments import gpt as gpt_experiment
from helpers.experiments.bert import (
    DATA,
    NUMBER,
    STARTS,
    TASKS,
    TYPES,
    answered,
    best_spans,
    corpus,
    cut,
    entities,
    exact,
    f1,
    judged,
    load_budgets,
    load_trained,
    share_right,
    tagged,
)

TOKEN = {number: token for token, number in NUMBER.items()}


class Given(torch.nn.Module):
    """A model whose numbers for each token are known: the same for each text."""

    def __init__(self, numbers):
        super().__init__()
        self.numbers = torch.nn.Parameter(torch.tensor(numbers))

    def forward(self, ids):
        return self.numbers.expand(len(ids), -1, -1)


def written(ids):
    return [TOKEN[n] for n in ids.tolist() if n]


def test_the_corpus_has_reviews_and_news_half_of_them_with_a_question():
    with_questions, without = (corpus(40, 0, "train", questions) for questions in (True, False))
    closed = [(ids == NUMBER["<sep>"]).sum(axis=1).tolist() for ids in (with_questions, without)]
    asked = [2 if n % 2 and text.questions else 1 for n, text in enumerate(town(40, 0, "train"))]
    assert closed == [[1] * 40 + asked, [1] * 80] and sum(asked) > 50


def test_answers_stand_where_the_spans_say():
    ids, spans = answered(60, 3, "test")
    found = []
    for row, (first, last) in zip(ids, spans.tolist(), strict=True):
        words = written(row)
        border = words.index("<sep>")
        assert border < first <= last < len(words) - 1
        found.append((words[1:border], words[first : last + 1]))
    for text, (question, answer) in zip(town(60, 3, "test", "question"), found, strict=True):
        asked = {" ".join(text.words[q.start : q.end]) for q in text.questions}
        assert " ".join(answer) in asked and question[-1] == "?"


def test_types_stand_at_words_alone():
    ids, types = tagged(20, 3, "test")
    special = ids < 4
    assert (types[special] == NOTHING).all() and (types[~special] >= 0).all()
    pairs = zip(ids[~special].tolist(), types[~special].tolist(), strict=True)
    kinds = {(TOKEN[word], TYPES[kind]) for word, kind in pairs}
    assert {("the", ""), ("anna", "PERSON"), ("street", "PLACE"), ("stew", "DISH")} <= kinds


def test_entities_are_runs_of_one_type():
    assert entities([NOTHING, 0, 1, 1, 0, 2, 3, 3, NOTHING]) == {(1, 2, 4), (2, 5, 6), (3, 6, 8)}
    assert entities([0, NOTHING, 0]) == set()


def test_the_best_span_is_the_best_of_all_that_are_possible():
    torch.manual_seed(0)
    ids = torch.tensor([[1, 9, 9, 2, 8, 8, 8, 8, 2, 0]])
    for _ in range(20):
        scores = torch.randn(10, 2)
        (found,) = best_spans(Given(scores.tolist()), ids).tolist()
        possible = [(a, b) for a, b in product(range(4, 8), repeat=2) if a <= b]
        assert tuple(found) == max(possible, key=lambda s: scores[s[0], 0] + scores[s[1], 1])


def test_measures_of_known_answers():
    ids = torch.tensor([[1, 9, 8, 2], [1, 9, 9, 2]])
    verdicts = Given([[2.0], [0.0], [0.0], [0.0]])
    assert share_right(verdicts, ids, torch.tensor([1.0, 0.0])) == 0.5
    types = torch.tensor([[NOTHING, 1, 0, NOTHING], [NOTHING, 1, 1, NOTHING]])
    says_person_none = Given([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0], [0.0, 9.0]])
    # Of two entities there and two found, one is whole.
    assert f1(says_person_none, ids, types) == 0.5
    pair = torch.tensor([[1, 2, 8, 8, 2]])
    first_to_last = Given([[0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [0.0, 0.0]])
    assert exact(first_to_last, pair, torch.tensor([[2, 3]])) == 1.0
    assert exact(first_to_last, pair, torch.tensor([[2, 2]])) == 0.0


def test_a_batch_loses_only_columns_of_padding():
    ids, types = cut((torch.tensor([[1, 5, 2, 0], [1, 2, 0, 0]]), torch.zeros(2, 4)))
    assert ids.shape == types.shape == (2, 3)
    assert cut((torch.tensor([[1, 2, 0]]), torch.zeros(1)))[1].shape == (1,)


@pytest.mark.parametrize("questions", [True, False])
def test_the_stored_models_are_small_and_whole(questions):
    model = load_trained(questions)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert f" {count:,} parameters" in (DATA / "README.md").read_text(encoding="utf-8")
    assert all(parameter.isfinite().all() for parameter in model.parameters())
    assert sum(path.stat().st_size for path in DATA.glob("bert*.safetensors")) < 2_000_000


def test_the_stored_table_has_every_row():
    for task, found in load_budgets().items():
        counts = TASKS[task][-1]
        assert set(found) == set(STARTS) - ({"texts"} if task != "answers" else set())
        for start, (labels, scores, _) in found.items():
            assert tuple(labels) == (counts[2:3] if start == "longer" else counts)
            assert scores.shape == (len(labels), 3) and (0 <= scores).all() and (scores <= 1).all()


def test_judged_texts_have_verdicts_of_both_kinds():
    ids, verdicts = judged(40, 0, "train")
    assert len(ids) == len(verdicts) and set(verdicts.tolist()) == {0.0, 1.0}


def test_examples_are_right_exchanged_or_of_another_family(monkeypatch):
    seen = []

    def noted(gpt, encoding, prompt, answer):
        seen.append((prompt, answer))
        return True

    monkeypatch.setattr(gpt_experiment, "answered", noted)
    for kind in ("right", "exchanged", "other"):
        assert gpt_experiment.right_answers(None, None, kind, "plurals", 9, seed=0) == 10
    pairs = dict(FAMILIES["plurals"])
    of_past = dict(FAMILIES["past tense"])
    for n, (prompt, answer) in enumerate(seen):
        *lines, asked = prompt.split("\n")
        examples = dict(line.split(" -> ") for line in lines)
        question = asked.removesuffix(" ->")
        assert answer == f" {pairs[question]}" and question not in examples
        if n < 10:
            assert examples == {q: a for q, a in pairs.items() if q != question}
        elif n < 20:
            assert not any(pairs[q] == a for q, a in examples.items())
            assert {*examples.values(), pairs[question]} == {*pairs.values()}
        else:
            assert examples.items() <= of_past.items() and len(examples) == 9


def test_the_stored_examples_are_of_all_kinds_and_families():
    stored = gpt_experiment.stored_examples()
    for kind, order in gpt_experiment.KINDS:
        for family in FAMILIES:
            shares = stored[kind, family, order]
            assert len(shares) == len(gpt_experiment.EXAMPLES)
            assert shares[0] == stored["right", family, 0][0]  # without examples
    mean = stored["right", "plurals"][1]
    assert mean == (stored["right", "plurals", 0][1] + stored["right", "plurals", 1][1]) / 2
