"""What notebook 09's longer experiments are made of, and what they have stored."""

import pytest
import torch
import torch.nn.functional as F

from helpers.blocks.cross_attention_torch import SequenceModel
from helpers.corpora.phrases import phrases
from helpers.experiments.translation import (
    DATA,
    LANGUAGES,
    MODELS,
    SIZES,
    STARTS,
    WAY_SEEDS,
    WEIGHTS,
    OneSequence,
    WithoutCross,
    both_languages,
    exact,
    exact_of_one_sequence,
    from_start,
    joined,
    load_ways,
    loss_on_both,
    number_of,
    one_sequence_loss,
    sources,
    stored,
    targets,
    vocabulary,
)

SMALL = dict(longest=24, K=2, D=8, H=2, D_mlp=12)


@pytest.fixture(scope="module")
def drawn():
    return phrases(30, 4, "train")


def in_words(row):
    return [vocabulary()[number] for number in row if number]


def test_numbers_are_the_words_of_a_phrase(drawn):
    for language in LANGUAGES:
        rows = zip(sources(drawn), targets(drawn, language), drawn, strict=True)
        for source, target, phrase in rows:
            assert in_words(source.tolist()) == phrase.english.split()
            words = getattr(phrase, language).split()
            assert in_words(target.tolist()) == [f"<{language}>", *words, "<end>"]


def test_every_held_out_word_has_a_number():
    held_out = phrases(2000, 5, "test")
    assert {word for p in held_out for side in p[:3] for word in side.split()} <= {*number_of()}
    assert [vocabulary()[start] for start in STARTS.values()] == [f"<{name}>" for name in STARTS]
    longest = max(targets(held_out, language).shape[1] for language in LANGUAGES)
    assert longest - 1 <= SIZES["longest"] and sources(held_out).shape[1] <= SIZES["longest"]


def test_rows_of_both_languages_have_the_same_sources(drawn):
    source, target = both_languages(drawn)
    assert len(source) == len(target) == 60
    assert torch.equal(source[:30], source[30:])
    for half, language in zip(target.split(30), LANGUAGES, strict=True):
        wanted = targets(drawn, language)
        assert torch.equal(half[:, : wanted.shape[1]], wanted)
        assert not half[:, wanted.shape[1] :].any()


class Given(torch.nn.Module):
    """A translator that writes known rows, each its own, whatever it reads."""

    def __init__(self, rows):
        super().__init__()
        self.rows, self.nothing = rows, torch.nn.Parameter(torch.zeros(1))

    def encode(self, source):
        return None, None

    def decode(self, ids, E, padding):
        return F.one_hot(self.rows[:, : ids.shape[1]], len(vocabulary())).float()


def test_exact_is_right_from_the_first_word_to_the_end(drawn):
    rows = F.pad(targets(drawn, "french")[:, 1:], (0, 20))
    assert all(exact(Given(rows), drawn, "french"))
    wrong = rows.clone()
    wrong[3, 0] = 7
    last = int((rows[5] == 2).nonzero())
    wrong[5, last] = 8  # no end there, and none later
    wrong[6, int((rows[6] == 2).nonzero()) + 1 :] = 9  # what follows the end does not count
    found = exact(Given(wrong), drawn, "french")
    assert [n for n, right in enumerate(found) if not right] == [3, 5]


def test_one_sequence_has_no_padding_inside(drawn):
    batch = sources(drawn), targets(drawn, "italian")
    for row, phrase in zip(joined(batch).tolist(), drawn, strict=True):
        words = [*phrase.english.split(), "<italian>", *phrase.italian.split(), "<end>"]
        assert in_words(row[: len(words)]) == words
        assert not any(row[len(words) :])


def test_the_target_begins_with_its_start():
    ids = torch.tensor([[7, 8, 1, 9, 2, 0], [7, 3, 8, 2, 0, 0]])
    assert from_start(ids).tolist() == [[0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]]


@pytest.fixture(params=[False, True])
def alone(request):
    torch.manual_seed(1)
    return OneSequence(len(vocabulary()), **SMALL, both_ways=request.param).eval()


def test_the_loss_of_one_sequence_is_that_of_the_target(alone, drawn):
    batch = sources(drawn[:4]), targets(drawn[:4], "french")
    terms, every = [], []
    with torch.no_grad():
        for row in joined(batch):
            row = row[row != 0]
            start = int(from_start(row[None])[0].nonzero()[0])
            logs = alone(row[None, :-1])[0].log_softmax(dim=1)
            found = -logs.gather(1, row[1:, None])[:, 0]
            terms.append(found[start:])
            every.append(found)
        mean, of_all = one_sequence_loss(alone, batch), loss_on_both(alone, batch)
    torch.testing.assert_close(mean, torch.cat(terms).mean())
    torch.testing.assert_close(of_all, torch.cat(every).mean())


def test_a_source_is_seen_both_ways_only_if_asked_and_the_future_never(alone):
    ids = torch.tensor([[7, 8, 9, 1, 10, 11, 2]])
    with torch.no_grad():
        logits = alone(ids)[0]

        def moved(place):
            other = ids.clone()
            other[0, place] = 15
            difference = (alone(other)[0] - logits).abs().amax(dim=1)
            return (difference > 1e-7).nonzero()[:, 0].tolist()

        assert moved(5) == [5, 6]
        assert moved(2) == ([0, 1, 2, 3, 4, 5, 6] if alone.both_ways else [2, 3, 4, 5, 6])


def test_writing_in_one_sequence_goes_word_by_word(alone, drawn):
    ends = alone.embedding.weight[2]
    with torch.no_grad():
        ends += 0.4 * alone.embedding.weight[1]  # so that some texts come to an end
    pretended = []
    for phrase in drawn[:6]:
        ids = [*sources([phrase])[0].tolist(), STARTS["french"]]
        begin = len(ids)
        with torch.no_grad():
            while len(ids) < begin + 20 and ids[-1] != 2:
                ids.append(int(alone(torch.tensor([ids]))[0, -1].argmax()))
        words = " ".join(vocabulary()[token] for token in ids[begin:] if token != 2)
        pretended.append(phrase._replace(french=words) if ids[-1] == 2 else phrase)
    right = exact_of_one_sequence(alone, pretended, "french")
    assert right == [before is not after for before, after in zip(drawn, pretended, strict=False)]


def test_without_cross_attention_the_source_does_not_matter(drawn):
    torch.manual_seed(0)
    model = WithoutCross(len(vocabulary()), **SMALL).eval()
    target = targets(drawn, "french")[:, :-1]
    with torch.no_grad():
        some, others = (model(target, sources(drawn[::step])) for step in (1, -1))
    assert torch.equal(some, others)
    frozen = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert len(frozen) == 4 and all(".cross.combine." in name for name in frozen)


def test_all_ways_have_nearly_as_many_parameters():
    counts = {
        way: sum(p.numel() for p in make(len(vocabulary())).parameters())
        for way, (make, _, _) in MODELS.items()
    }
    most, least = max(counts.values()), min(counts.values())
    assert (most - least) / most < 0.01, counts


def test_the_stored_translator_is_small_and_translates():
    model = stored(SequenceModel(len(vocabulary()), **SIZES))
    count = sum(parameter.numel() for parameter in model.parameters())
    assert f" {count:,} parameters" in (DATA / "README.md").read_text(encoding="utf-8")
    assert WEIGHTS.stat().st_size < 2_000_000
    held_out = phrases(60, 12, "test")
    for language in LANGUAGES:
        assert sum(exact(model, held_out, language)) >= 57


def test_the_stored_table_has_every_way_for_each_of_its_seeds():
    rows = load_ways()
    seeds = WAY_SEEDS[: len(rows) // len(MODELS)]
    assert seeds and [(row["way"], row["seed"]) for row in rows] == [
        (way, str(seed)) for seed in seeds for way in MODELS
    ]
    assert all(0 <= float(row["share"]) <= 1 for row in rows)
