"""Notebook 07's longer experiments: pre-training, and fine-tuning with few labels and with many.

    python -m helpers.experiments.bert pretrain    # writes data/bert.safetensors
    python -m helpers.experiments.bert budgets     # writes data/bert_budgets.csv

Both are seeded. The notebook builds on what they store, runs a part of each anew, and compares.
"""

import csv
import sys
from itertools import groupby, product
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from helpers.blocks.bert import NOTHING, marked, padded, vocabulary
from helpers.blocks.bert_torch import (
    Bert,
    Head,
    MaskedWords,
    gap_loss,
    gapped,
    span_loss,
    span_scores,
    tag_loss,
    verdict_loss,
)
from helpers.corpora.grammar import tokens
from helpers.corpora.reviews import REVIEWS, TOWN, reviews, town
from helpers.training import minibatches, train

NUMBER = vocabulary([*REVIEWS.vocabulary, *TOWN.vocabulary, *TOWN.question_words])
SIZES = dict(V=len(NUMBER), D=64, H=4, K=2, longest=64)
STEPS = 12_000  # of pre-training
DATA = Path(__file__).parents[2] / "data"
TYPES = ("", "PERSON", "PLACE", "DISH")


def corpus(count, seed, split, questions=True):
    """Texts for pre-training, as numbers: `count` reviews and as many pieces of the town's news.

    questions: every second piece of news has one of its questions in front of it.
    """
    rows = [marked(review.words) for review in reviews(count, seed, split)]
    for n, news in enumerate(town(count, seed, split)):
        ask = questions and n % 2 and news.questions
        rows.append(
            marked(tokens(news.questions[n // 2 % len(news.questions)].text), news.words)
            if ask
            else marked(news.words)
        )
    return padded(rows, NUMBER)


def judged(count, seed, split):
    """Reviews, and whether they praise: (ids, 1.0 or 0.0)."""
    found = reviews(count, seed, split)
    ids = torch.from_numpy(padded([marked(text.words) for text in found], NUMBER))
    return ids, torch.tensor([float(text.sentiment) for text in found])


def tagged(count, seed, split):
    """Reviews and news by turns, and each word's number in TYPES: (ids, types or NOTHING)."""
    half = reviews(count, seed, split), town(count, seed, split)
    found = [text for pair in zip(*half, strict=True) for text in pair][:count]
    ids = torch.from_numpy(padded([marked(text.words) for text in found], NUMBER))
    types = torch.full_like(ids, NOTHING)
    for line, text in zip(types, found, strict=True):
        line[1 : 1 + len(text.tags)] = torch.tensor([TYPES.index(tag) for tag in text.tags])
    return ids, types


def answered(count, seed, split):
    """Questions about news, and the places of the answer's first and last word: (ids, spans)."""
    rng, rows, spans = np.random.default_rng(seed), [], []
    for text in town(count, seed, split, "question"):
        question = text.questions[rng.integers(len(text.questions))]
        asked = tokens(question.text)
        rows.append(marked(asked, text.words))
        spans.append((len(asked) + 2 + question.start, len(asked) + 1 + question.end))
    return torch.from_numpy(padded(rows, NUMBER)), torch.tensor(spans)


@torch.no_grad()
def outputs(model, ids):
    """model(ids) on the CPU, computed where the model is, a hundred texts at a time."""
    device = next(model.parameters()).device
    return torch.cat([model(part.to(device)).cpu() for part in ids.split(100)])


def share_right(model, ids, sentiments):
    """Share of texts whose verdict is right."""
    return float(((outputs(model, ids)[:, 0, 0] > 0) == (sentiments > 0)).float().mean())


def entities(types):
    """The runs of words of one type in a row of types: a set of (type, start, end)."""
    found, place = set(), 0
    for kind, run in groupby(types):
        length = len(list(run))
        if kind > 0:
            found.add((kind, place, place + length))
        place += length
    return found


def f1(model, ids, types):
    """F1 of whole entities: twice those found rightly, by those found and those there."""
    found = outputs(model, ids).argmax(dim=-1).masked_fill(types == NOTHING, 0)
    pairs = [
        (entities(a), entities(b)) for a, b in zip(found.tolist(), types.tolist(), strict=True)
    ]
    return 2 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


def best_spans(model, ids):
    """The likeliest possible span of each text: (batch, 2)."""
    start, end = span_scores(lambda ids: outputs(model, ids), ids)
    scores = start[:, :, None] + end[:, None, :]
    scores = scores.masked_fill(~torch.ones_like(scores[0]).triu().bool(), -torch.inf)
    best = scores.flatten(1).argmax(dim=1)
    return torch.stack([best // ids.shape[1], best % ids.shape[1]], dim=1)


def exact(model, ids, spans):
    """Share of questions whose answer is found exactly."""
    return float((best_spans(model, ids) == spans).all(dim=1).float().mean())


# task: (examples, numbers a token, loss, measure, numbers of labels)
TASKS = {
    "text": (judged, 1, verdict_loss, share_right, (100, 300, 1000, 3000)),
    "words": (tagged, len(TYPES), tag_loss, f1, (3, 10, 30, 100)),
    "answers": (answered, 2, span_loss, exact, (30, 100, 300, 1000)),
}


def pretrain(questions):
    """Train a MaskedWords for STEPS steps, and store its parameters as float16."""
    torch.manual_seed(0)
    model = MaskedWords(Bert(**SIZES))
    batches = gapped(corpus(20_000, 0, "train", questions), SIZES["V"], size=32, seed=0)
    history = train(model, gap_loss, batches, STEPS, learning_rate=4e-3, show=False)
    halves = {name: tensor.half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(halves, file_of(questions))
    print(f"{file_of(questions).name}: {history!r}")


def load_trained(questions=True):
    """The stored MaskedWords in float32, pre-trained with questions among its texts or without."""
    model = MaskedWords(Bert(**SIZES))
    model.load_state_dict(load_file(file_of(questions)))
    return model.eval()


def file_of(questions):
    return DATA / ("bert.safetensors" if questions else "bert_without_questions.safetensors")


# How an encoder starts and for how many steps it is tuned: from random parameters, also for longer,
# or pre-trained, without or with questions among the texts.
STARTS = {"scratch": 300, "longer": 1200, "texts": 300, "questions": 300}
RATES = (1e-3, 4e-3)


def measured(task, start, count, rate, seed, split="test"):
    """How well a Head does on texts of a split, tuned on `count` labeled examples.

    start: one of STARTS; rate: the peak of the learning rate.
    """
    examples, E, loss, measure, _ = TASKS[task]
    torch.manual_seed(seed)
    random = start in ("scratch", "longer")
    model = Head(Bert(**SIZES) if random else load_trained(start == "questions").bert, E)
    tuned(model, loss, examples(count, 100 + seed, "train"), rate, seed, STARTS[start])
    return measure(model, *examples(500, 9, split))


def tuned(model, loss, labeled, rate=4e-3, seed=0, steps=300):
    """The Head, trained in place on labeled examples, with a tenth of all entries dropped."""
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.1
    batches = map(cut, minibatches(*labeled, size=16, seed=seed))
    train(model, loss, batches, steps, learning_rate=rate, seed=seed, show=False)
    return model


def cut(batch):
    """The batch without the columns in which every text has padding."""
    ids, labels = batch
    longest = int((ids > 0).sum(dim=1).max())
    return ids[:, :longest], labels[:, :longest] if labels.shape == ids.shape else labels


def budgets():
    """Rows of the table: task, start, number of labels, rate, seed, score.

    The rate is the better of RATES for this task and start: on validation texts, and another seed.
    """
    for task, start in product(TASKS, STARTS):
        if start == "texts" and task != "answers":
            continue  # questions among the texts are of no interest there
        counts = TASKS[task][-1]
        if start != "longer":  # which keeps the rate of scratch
            rate = max(RATES, key=lambda r: measured(task, start, counts[2], r, 3, "validation"))
        for count, seed in product(counts[2:3] if start == "longer" else counts, range(3)):
            yield task, start, count, rate, seed, f"{measured(task, start, count, rate, seed):.4f}"


def load_budgets():
    """The stored table: from task to start to (numbers of labels, scores: labels × seeds, rate)."""
    scores, rates = {}, {}
    with open(DATA / "bert_budgets.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            of_start = scores.setdefault(row["task"], {}).setdefault(row["start"], {})
            of_start.setdefault(int(row["labels"]), []).append(float(row["score"]))
            rates[row["task"], row["start"]] = float(row["rate"])
    return {
        task: {
            start: (list(found), np.array(list(found.values())), rates[task, start])
            for start, found in of.items()
        }
        for task, of in scores.items()
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:] == ["pretrain"]:
        pretrain(questions=True)
        pretrain(questions=False)
    elif sys.argv[1:] == ["budgets"]:
        with open(DATA / "bert_budgets.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["task", "start", "labels", "rate", "seed", "score"])
            table.writerows(budgets())
    else:
        raise SystemExit(__doc__)
