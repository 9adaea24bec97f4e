"""Notebook 08's longer experiments: the decoder of the reviews, and tasks given by examples.

    python -m helpers.experiments.gpt reviews    # writes data/gpt.safetensors
    python -m helpers.experiments.gpt shots      # writes data/gpt_shots.csv
    python -m helpers.experiments.gpt examples   # writes data/gpt_examples.csv

All are seeded. The notebook reads what they store, runs a part of each anew, and compares.
"""

import csv
import sys
from itertools import product
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from helpers.blocks.byte_pair_encoding import published_encoding
from helpers.blocks.gpt import answered, shown
from helpers.blocks.gpt_torch import Decoder, answer_loss, next_token_loss, tasks
from helpers.blocks.positional_encoding_torch import ALiBi
from helpers.corpora.reviews import REVIEWS, reviews
from helpers.corpora.tasks import FAMILIES
from helpers.device import one_thread
from helpers.pretrained import load_gpt, load_gpt_vocabulary
from helpers.training import minibatches, train

DATA = Path(__file__).parents[2] / "data"
WEIGHTS, SHOTS = DATA / "gpt.safetensors", DATA / "gpt_shots.csv"
GIVEN = DATA / "gpt_examples.csv"
VOCABULARY = ["<pad>", "<start>", "<end>", *REVIEWS.vocabulary]
SIZES = dict(V=len(VOCABULARY), longest=48, K=2, D=128, H=4)
STEPS, SIZE = 3000, 32
EXAMPLES = (0, 1, 2, 4, 8)  # in a prompt of the published GPT
KINDS = (("right", 0), ("right", 1), ("exchanged", 0), ("other", 0))  # with the order they have


def numbers(texts):
    """Reviews as numbers, (texts, longest + 2), from <start> to <end>, then padding."""
    number = {word: n for n, word in enumerate(VOCABULARY)}
    rows = [torch.tensor([1, *(number[word] for word in text.words), 2]) for text in texts]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)


def stored(decoder):
    """The decoder, with the stored weights of the longer run, in eval mode."""
    weights = {name: tensor.float() for name, tensor in load_file(WEIGHTS).items()}
    decoder.load_state_dict(weights, strict=False)  # the layers share the table of positions
    return decoder.eval()


@one_thread()
def pretrain():
    """Train the decoder on 96,000 reviews, once each, and store it in half precision."""
    torch.manual_seed(0)
    decoder = Decoder(**SIZES)
    batches = minibatches(numbers(reviews(SIZE * STEPS, 1, "train")), size=SIZE, seed=0)
    history = train(decoder, next_token_loss, batches, STEPS, learning_rate=4e-3, warm_up=100)
    print(history)
    weights = {name: p.detach().half().contiguous() for name, p in decoder.named_parameters()}
    save_file(weights, WEIGHTS)


@one_thread()
def learn_tasks(K, warm_up, seed, steps=400):
    """The share of right digits whose letter came before, for a decoder of K layers."""
    torch.manual_seed(seed)
    decoder = Decoder(16, 28, K, 32, 4, positions=ALiBi((1.0, 0.5, 0.25, 0.125)))
    generator = torch.Generator().manual_seed(seed)
    batches = iter(lambda: (tasks(64, generator),), None)
    options = dict(learning_rate=4e-3, warm_up=warm_up, show=False)
    train(decoder, answer_loss, batches, steps, **options)
    exam = tasks(1000, torch.Generator().manual_seed(99))
    asked, digits = exam[:, ::2], exam[:, 1::2]
    with torch.no_grad():
        right = decoder(exam[:, :-1])[:, ::2].argmax(dim=-1) == digits
    again = asked[:, :, None] == asked[:, None, :]
    return float(right[again.tril(-1).any(dim=2)].float().mean())


def shots():
    """Layers, steps of warm-up and seeds, each with what was reached, as a table."""
    rows = [("layers", "warm-up", "seed", "right")]
    for case in product((1, 2), (40, 200), (0, 1, 2)):
        rows.append((*case, f"{learn_tasks(*case):.4f}"))
        print(*rows[-1], flush=True)
    with open(SHOTS, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def right_answers(gpt, encoding, kind, family, count, seed):
    """How many of a family's ten questions are answered rightly after `count` examples.

    kind: of these. "right"; "exchanged", each has the answer of another one, which is not the one
    asked for; "other", they come from the next family.
    """
    names, found = list(FAMILIES), 0
    for query, pair in enumerate(FAMILIES[family]):
        pairs, answers = list(FAMILIES[family]), None
        if kind == "other":
            pairs = list(FAMILIES[names[(names.index(family) + 1) % len(names)]])
            pairs[query] = pair
        elif kind == "exchanged":
            answers = [answer for n, (_, answer) in enumerate(pairs) if n != query]
            answers = [*answers[1:], answers[0]]
            answers.insert(query, pair[1])
        found += answered(gpt, encoding, *shown(pairs, query, count, seed, answers))
    return found


def examples():
    """Kinds of examples, families, orders and numbers of examples, with right answers of ten."""
    gpt, encoding = load_gpt(), published_encoding(*load_gpt_vocabulary())
    rows = [("kind", "family", "order", "examples", "right of ten")]
    for (kind, seed), family in product(KINDS, FAMILIES):
        found = [right_answers(gpt, encoding, kind, family, n, seed) for n in EXAMPLES]
        rows += [(kind, family, seed, *pair) for pair in zip(EXAMPLES, found, strict=True)]
        print(kind, family, seed, *found, flush=True)
    with open(GIVEN, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def stored_examples():
    """The stored shares of right answers, by number of examples, in the order of EXAMPLES.

    From (kind, family, order) to a list, and from (kind, family) to the mean over all orders.
    """
    shares = {}
    with open(GIVEN, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            case = row["kind"], row["family"], int(row["order"])
            shares.setdefault(case, []).append(int(row["right of ten"]) / 10)
    for case in {case[:2] for case in shares}:
        orders = [found for key, found in shares.items() if key[:2] == case and len(key) == 3]
        shares[case] = [sum(column) / len(orders) for column in zip(*orders, strict=True)]
    return shares


def main(arguments):
    commands = {"reviews": pretrain, "shots": shots, "examples": examples}
    if len(arguments) != 1 or arguments[0] not in commands:
        raise SystemExit(__doc__)
    commands[arguments[0]]()


if __name__ == "__main__":
    main(sys.argv[1:])
