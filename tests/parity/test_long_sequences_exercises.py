"""The exercises of notebook 10 against PyTorch's fused attention, its gradients and its algebra."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from helpers.exercises.ch10.attend_to_two_blocks import attend_to_two_blocks
from helpers.exercises.ch10.attend_without_matrix import attend_without_matrix, some_inputs
from helpers.exercises.ch10.count_meetings import count_meetings
from helpers.exercises.ch10.fade_memory import fade_memory
from helpers.exercises.ch10.features_in_pairs import features_in_pairs
from helpers.exercises.ch10.first_heard import first_heard
from helpers.exercises.ch10.least_rank import least_rank
from helpers.exercises.ch10.read_one_more_tile import read_one_more_tile
from helpers.exercises.ch10.see_behind import see_behind
from helpers.exercises.ch10.share_globals import share_globals
from helpers.exercises.engine.chapters import find
from helpers.exercises.engine.judge import judge


def count_by_torch(N, reach, causal):
    before = torch.arange(N).clamp(max=reach)  # keys that each query sees beside its own
    return N + before.sum() * (1 if causal else 2)


def behind_by_torch(N, reach, step):
    return torch.stack(
        [torch.eye(N).roll(n * step, 1).triu(n * step) for n in range(reach + 1)]
    ).sum(0)


def globals_by_torch(N, size, chosen):
    pattern = torch.block_diag(
        *(torch.ones(len(part), len(part)) for part in torch.arange(N).split(size))
    )
    pattern[chosen] = pattern[:, chosen] = 1
    return pattern


def rank_by_torch(A, error):
    sizes = torch.linalg.svdvals(torch.from_numpy(A))
    rest = [(sizes[P:] ** 2).sum().sqrt() for P in range(len(sizes) + 1)]
    allowed = max(error, 1e-9) * torch.linalg.norm(sizes) * (1 + 1e-9)
    return next(P for P, left in enumerate(rest) if left <= allowed)


def linear_by_torch(G_q, G_k, V, there):
    G_q, G_k, V = (torch.from_numpy(x).T for x in (G_q, G_k, V))
    G_k = G_k.masked_fill(~torch.from_numpy(there)[:, None], 0)
    return torch.chain_matmul(G_q, G_k.T, V).T / (G_q @ G_k.sum(dim=0))


def faded_by_torch(G_q, G_k, V, keep):
    G_q, G_k, V = (torch.from_numpy(x) for x in (G_q, G_k, V))
    age = torch.arange(V.shape[1]) - torch.arange(V.shape[1])[:, None]  # keys down
    weights = functional.normalize((G_k.T @ G_q) * (keep ** age.double()).triu(), p=1, dim=0)
    return V @ weights


def pairs_by_torch(X, directions):
    X, directions = torch.from_numpy(X), torch.from_numpy(directions)
    waves = directions @ X
    features = torch.cat([waves, -waves]) - torch.linalg.vector_norm(X, dim=0) ** 2 / 2
    return features.exp() / (2 * len(directions)) ** 0.5


def tile_by_torch(largest, total, mixed, scores, values):
    """The past as a key with the score log total, whose value is the mean so far."""
    largest, total, mixed, scores, values = map(
        torch.from_numpy, (largest, total, mixed, scores, values)
    )
    new = torch.maximum(largest, scores.amax(dim=0))
    safe = new.masked_fill(new == -torch.inf, 0)
    power = (scores - safe).exp()
    past = (largest - safe).exp()
    return new, torch.addcmul(power.sum(0), past, total), torch.addcmul(values @ power, past, mixed)


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("10.1", count_by_torch),
        ("10.2", behind_by_torch),
        ("10.3", globals_by_torch),
        ("10.5", rank_by_torch),
        ("10.6", linear_by_torch),
        ("10.7", faded_by_torch),
        ("10.8", pairs_by_torch),
        ("10.9", tile_by_torch),
    ],
)
def test_right_answers_in_pytorch_pass(id, answer):
    verdict = judge(find(id), answer, seconds=60)
    assert verdict.passed, verdict.sentence


@pytest.mark.parametrize(("N", "reach"), [(1, 1), (9, 2), (12, 20), (30, 7)])
def test_a_window_of_step_one_has_as_many_meetings_as_are_counted(N, reach):
    behind = see_behind(N, reach, 1)
    assert behind.sum() == count_meetings(N, reach, True)
    assert (behind | behind.T).sum() == count_meetings(N, reach, False)


@pytest.mark.parametrize("seed", range(4))
def test_news_arrives_with_the_first_layer_through_which_a_gradient_does(seed):
    rng = np.random.default_rng(seed)
    N, layers = 7, 4
    patterns = list(rng.random((layers, N, N)) < 0.25)
    expected = np.where(np.eye(N), 0, -1)
    generator = torch.Generator().manual_seed(seed)
    maps = torch.randn(layers, 3, 4, 4, generator=generator).double() / 4
    start = torch.randn(N, 4, generator=generator).double()

    def stack(x, depth):
        for pattern, (to_q, to_k, to_v) in zip(patterns[:depth], maps, strict=False):
            may_see = torch.from_numpy((pattern | np.eye(N, dtype=bool)).T)  # queries down
            q, k, v = (x @ matrix for matrix in (to_q, to_k, to_v))
            x = x + functional.scaled_dot_product_attention(q[None], k[None], v[None], may_see)[0]
        return x

    for depth in range(1, layers + 1):
        slopes = torch.autograd.functional.jacobian(lambda x, depth=depth: stack(x, depth), start)
        arrived = (slopes.abs().sum(dim=(1, 3)) > 1e-13).numpy().T  # keys down
        expected[arrived & (expected < 0)] = depth
    np.testing.assert_array_equal(first_heard(patterns), expected)


def test_global_tokens_join_all_blocks_in_two_layers():
    pattern = share_globals(23, 4, [9])
    assert first_heard([pattern] * 3).max() == 2
    assert (first_heard([share_globals(23, 4, [])] * 9) == -1).any()


@pytest.mark.parametrize("error", [0.1, 0.4, 0.8])
def test_no_other_copy_of_smaller_rank_is_as_near(error):
    rng = np.random.default_rng(5)
    A = torch.softmax(torch.from_numpy(2 * rng.normal(size=(12, 15))), dim=0).numpy()
    P = least_rank(A, error)
    assert 0 < P < 12
    for _ in range(50):  # the best copy whose columns lie in a random space of one dimension less
        space = np.linalg.qr(A @ rng.normal(size=(15, P - 1)))[0]
        assert np.linalg.norm(A - space @ space.T @ A) > error * np.linalg.norm(A)
    singular = torch.linalg.svd(torch.from_numpy(A))
    copy = singular.U[:, :P] * singular.S[:P] @ singular.Vh[:P]
    assert np.linalg.norm(A - copy.numpy()) <= error * np.linalg.norm(A)
    assert least_rank(A, 0.0) == torch.linalg.matrix_rank(torch.from_numpy(A)).item()


def test_padding_changes_nothing():
    G_q, G_k, V, there = some_inputs(np.random.default_rng(0), 4, 9, 5, 3)
    short = attend_without_matrix(G_q, G_k[:, there], V[:, there], np.ones(there.sum(), bool))
    np.testing.assert_allclose(attend_without_matrix(G_q, G_k, V, there), short, atol=1e-13)


def test_a_memory_that_does_not_fade_is_the_notebook_s_recurrence():
    from helpers.blocks.long_sequences import linear_recurrence

    G_q, G_k = np.random.default_rng(1).uniform(0.1, 2, size=(2, 3, 11))
    V = np.random.default_rng(2).normal(size=(4, 11))
    outputs, _ = linear_recurrence(G_q, G_k, V, features=lambda X: X)
    np.testing.assert_allclose(fade_memory(G_q, G_k, V, 1.0), outputs, atol=1e-12)


def test_pairs_are_right_on_average_and_nearer_than_single_features():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4, 6))
    X *= 0.5 / np.linalg.norm(X, axis=0)
    wanted = np.exp(X.T @ X)
    found = [
        features_in_pairs(X, W).T @ features_in_pairs(X, W) / wanted
        for W in rng.normal(size=(8000, 10, 4))
    ]
    square = ((X[:, :, None] + X[:, None]) ** 2).sum(axis=0)
    # The mean of e^z and e^−z, z normal with the variance `square`, over ten draws.
    known = np.expm1(square) ** 2 / np.exp(square) / 2 / 10
    np.testing.assert_allclose(np.mean(found, axis=0), 1, atol=0.015)
    np.testing.assert_allclose(np.var(found, axis=0), known, rtol=0.15)
    alone = np.expm1(square) / 10  # of ten single features
    assert (known < alone / 2).all()


@pytest.mark.parametrize("tile", [1, 4, 11])
def test_tiles_give_the_fused_attention(tile):
    rng = np.random.default_rng(tile)
    scores, values = 20 * rng.normal(size=(11, 6)), rng.normal(size=(3, 11))
    may_see = rng.random((11, 6)) < 0.5
    may_see[rng.integers(11, size=6), range(6)] = True
    kept = np.full(6, -np.inf), np.zeros(6), np.zeros((3, 6))
    for start in range(0, 11, tile):
        part = slice(start, start + tile)
        hidden = np.where(may_see[part], scores[part], -np.inf)
        kept = read_one_more_tile(*kept, hidden, values[:, part])
    q, k = torch.eye(6).double(), torch.from_numpy(scores)  # so that k qᵀ are the scores
    v, mask = torch.from_numpy(values.T.copy()), torch.from_numpy(may_see.T.copy())
    theirs = functional.scaled_dot_product_attention(q[None], k[None], v[None], mask[None], scale=1)
    np.testing.assert_allclose(kept[2] / kept[1], theirs[0].T, atol=1e-12)


def test_two_blocks_are_the_fused_attention_with_their_mask_in_outputs_and_gradients():
    torch.manual_seed(0)
    parts = [torch.randn(2, 15, D).double().requires_grad_() for D in (4, 4, 3)]
    block = torch.arange(15) // 3
    near = (block <= block[:, None]) & (block >= block[:, None] - 1)
    found = []
    for outputs in (
        attend_to_two_blocks(*parts, 3),
        functional.scaled_dot_product_attention(*parts, near),
    ):
        loss = (outputs * torch.arange(90).view(2, 15, 3).sin()).sum()
        found.append([outputs.detach(), *torch.autograd.grad(loss, parts)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
