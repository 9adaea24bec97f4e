"""What notebook 10's experiments are made of, and what they have stored."""

import numpy as np
import pytest
import torch

from helpers.experiments import long_sequences, recall
from helpers.experiments.recall import (
    COUNTS,
    DISTANCES,
    FARTHEST,
    GLOBAL,
    MIXES,
    PAIRS,
    SEEDS,
    VALUES,
    WAYS,
    N,
    Recaller,
    load_many,
    load_recall,
    many,
    steps_until,
    texts,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("distance", [None, 1, 9, FARTHEST])
def test_every_text_tells_the_answer_once(distance):
    keys, values, answers = texts(200, generator(), distance)
    assert keys.shape == values.shape == (200, N)
    real = keys[:, :-1] < 2 * PAIRS
    assert (real.sum(dim=1) == PAIRS).all() and (keys[:, -1] < 2 * PAIRS).all()
    asked = keys[:, :-1] == keys[:, -1:]
    assert (asked.sum(dim=1) == 1).all()
    assert torch.equal(values[:, :-1][asked], answers)
    assert (values[:, -1] == VALUES).all() and (values[:, GLOBAL:-1] < VALUES).all()
    last = [row.nonzero()[-1].item() for row in real]
    away = N - 1 - np.array(last)
    if distance:
        assert (away == distance).all()
    else:
        assert away.min() == 1 and away.max() == FARTHEST
    assert (real[:, GLOBAL:].sum(dim=1) == PAIRS).all()  # none among the global tokens


def test_among_many_the_answer_stands_once():
    keys, values, answers = many(100, generator(), 16)
    assert keys.shape == (100, 17)
    asked = keys[:, :-1] == keys[:, -1:]
    assert (asked.sum(dim=1) == 1).all()
    assert torch.equal(values[:, :-1][asked], answers)


@pytest.mark.parametrize("way", list(WAYS))
def test_only_what_may_arrive_changes_the_answer(way):
    """With one layer: a token that the question does not see changes nothing, any other does."""
    torch.manual_seed(0)
    (layer,) = WAYS[way][0](1)
    model = Recaller([layer]).eval()
    keys, values, _ = texts(1, generator())
    for place in (3, 12, N - 3):
        other = values.clone()
        other[0, place] = (other[0, place] + 1) % VALUES
        with torch.no_grad():
            moved = (model(keys, other) - model(keys, values)).abs().max() > 1e-7
        sees = layer[place, N - 1] if isinstance(layer, np.ndarray) else True
        assert bool(moved) == bool(sees), place


def test_steps_until_half_of_the_loss():
    falling = [np.log(VALUES)] * 100 + [0.0] * 100
    assert steps_until(falling) == 126  # when more than half of the last 50 are zero
    assert steps_until([np.log(VALUES)] * 100) is None


def test_the_stored_tables_have_every_row():
    wanted = [(way, K) for way, (_, numbers) in WAYS.items() for K in numbers]
    found = load_recall()
    assert list(found) == wanted
    for right, steps in found.values():
        assert right.shape == (len(SEEDS), len(DISTANCES)) and len(steps) == len(SEEDS)
        assert (0 <= right).all() and (right <= 1).all()
    for mix, (counts, right) in load_many().items():
        assert mix in MIXES and tuple(counts) == COUNTS
        assert right.shape == (len(COUNTS), len(SEEDS))


def test_the_other_tables():
    ranks = long_sequences.load_ranks()
    assert {model: len(rows) for model, rows in ranks.items()} == {"encoder": 6, "GPT": 30}
    assert all(least <= median <= most for rows in ranks.values() for least, median, most in rows)
    for rows in long_sequences.load_linformer().values():
        assert rows[:, 0].tolist() == list(long_sequences.MIXTURES)
    for lengths, mebibytes, milliseconds in long_sequences.load_times().values():
        assert tuple(lengths) == long_sequences.LENGTHS
        assert milliseconds.shape == (len(lengths), long_sequences.SWEEPS)
        assert (mebibytes > 0).all() and (milliseconds > 0).all()


def test_exponents_and_crossings_of_known_curves():
    lengths = np.array([256.0, 512, 1024, 2048, 4096])
    square, line = 1e-3 * lengths**2, 2.0 * lengths
    both = np.stack([line, 3 * line], axis=1)
    slope, spread = long_sequences.exponent(lengths, both)
    assert abs(slope - 1) < 1e-12 and spread < 1e-12
    assert abs(long_sequences.exponent(lengths, square[:, None].repeat(2, 1))[0] - 2) < 1e-12
    assert abs(long_sequences.cheaper_from(lengths, line, square) - 2000) < 1e-6
    assert long_sequences.cheaper_from(lengths, square, line) is None
    assert long_sequences.cheaper_from(lengths, line, 2 * line) == 256


def test_commands_are_named():
    for module in (recall, long_sequences):
        with pytest.raises(
            SystemExit, match=f"helpers.experiments.{module.__name__.split('.')[-1]}"
        ):
            module.main(["nothing"])
