"""The blocks of the notebook on long sequences against attention written out, and its masks."""

import itertools
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers.blocks.long_sequences import (
    big_bird,
    blocks,
    compress,
    decoder,
    encoder,
    global_tokens,
    layers_until_all_meet,
    linear_attention,
    linear_recurrence,
    linformer,
    online_attention,
    orthogonal_directions,
    positive_features,
    random_keys,
    rank_needed,
    receptive_field,
    strided,
    trigonometric_features,
    window,
)
from helpers.blocks.long_sequences_torch import (
    LinFormer,
    LongAttention,
    MemoryCompressed,
    Performer,
    big_bird_table,
    block_attention,
    causal_linear_rows,
    compress_rows,
    contenders,
    elu_features,
    linear_attention_rows,
    linear_mix,
    local_attention,
    positive_rows,
)
from helpers.blocks.scaling_and_multiple_heads import scaled_attention
from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention
from helpers.counting import largest


@pytest.fixture(autouse=True)
def in_float64():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def inputs(N, d=4, batch=2, H=3):
    return torch.randn(3, batch, H, N, d)


def outputs_and_gradients(mix, q, k, v):
    parts = [x.clone().requires_grad_() for x in (q, k, v)]
    out = mix(*parts)
    upstream = torch.arange(out.numel(), dtype=out.dtype).sin().view_as(out)
    return [out.detach(), *torch.autograd.grad(out, parts, upstream)]


def assert_same(mix, definition, q, k, v):
    pairs = zip(*(outputs_and_gradients(m, q, k, v) for m in (mix, definition)), strict=True)
    for name, (got, expected) in zip(("outputs", "q", "k", "v"), pairs, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-12, msg=name)


def written_out(may_see):
    """Attention with queries down, as PyTorch computes it with a mask."""

    def attend(q, k, v):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        return scores.masked_fill(~may_see, -torch.inf).softmax(dim=-1) @ v

    return attend


@pytest.mark.parametrize("N", [1, 2, 5, 16, 23, 48])
@pytest.mark.parametrize("causal", [False, True])
def test_windows_are_masked_attention(N, causal):
    gap = torch.arange(N)[:, None] - torch.arange(N)
    for reach, step in itertools.product((1, 2, 3, 8, 64), (1, 2, 3, 5)):
        may_see = (gap.abs() % step == 0) & (gap.abs() <= reach * step)
        may_see &= (gap >= 0) | (not causal)
        mix = partial(local_attention, reach=reach, step=step, causal=causal)
        assert_same(mix, written_out(may_see), *inputs(N))


@pytest.mark.parametrize("N, size", [(48, 4), (48, 8), (60, 5), (6, 6)])
@pytest.mark.parametrize("count", [0, 1, 2, 6])
def test_blocks_are_masked_attention(N, size, count):
    number = N // size
    generator = torch.Generator().manual_seed(1)
    for reach, drawn in ((0, 0), (1, 0), (1, 2), (0, 3)):
        if drawn > max(number - 2 * reach - 1, 0):
            with pytest.raises(ValueError, match="cannot be drawn"):
                big_bird_table(number, reach, drawn, generator)
            continue
        table = big_bird_table(number, reach, drawn, generator)
        of_blocks = torch.zeros(number, number, dtype=torch.bool)
        for query, row in enumerate(table.tolist()):
            keys = [key for key in row if key >= 0]
            assert len(set(keys)) == len(keys) and query in keys
            assert len(keys) == drawn + sum(abs(k - query) <= reach for k in range(number))
            of_blocks[query, keys] = True
        may_see = of_blocks.repeat_interleave(size, 0).repeat_interleave(size, 1)
        may_see[:count], may_see[:, :count] = True, True
        mix = partial(block_attention, size=size, table=table, count=count)
        assert_same(mix, written_out(may_see), *inputs(N))


def similar(features_q, features_k, causal):
    def attend(q, k, v):
        similarity = features_q(q) @ features_k(k).transpose(-1, -2)
        similarity = similarity.tril() if causal else similarity
        return similarity @ v / similarity.sum(dim=-1, keepdim=True)

    return attend


@pytest.mark.parametrize("kind", ["linear", "Performer"])
def test_reassociated_products_are_the_matrix_in_the_middle(kind):
    of_q = of_k = elu_features
    if kind == "Performer":
        directions = torch.randn(16, 4)
        of_q, of_k = (partial(positive_rows, directions=directions, of_keys=x) for x in (0, 1))

    def fast(q, k, v):
        return linear_attention_rows(of_q(q), of_k(k), v)

    def pieces(q, k, v, size):
        return causal_linear_rows(of_q(q), of_k(k), v, size)

    assert_same(fast, similar(of_q, of_k, False), *inputs(30))
    for size in (1, 6, 30):
        assert_same(partial(pieces, size=size), similar(of_q, of_k, True), *inputs(30))


def test_rows_are_the_columns_of_numpy():
    q, k, v = inputs(12, batch=1, H=1)
    Q, K, V = (x[0, 0].numpy().T for x in (q, k, v))
    directions = torch.randn(32, 4)
    short, narrow = MemoryCompressed(4, 5), LinFormer(12, 3)
    performer = Performer(32, 4)
    performer.directions = directions

    def causal(q, k, v):
        return causal_linear_rows(elu_features(q), elu_features(k), v, 4)

    def of_numpy(X):
        return positive_features(X, directions.numpy())

    kernels = [kernel.detach().numpy() for kernel in (short.keys, short.values)]
    E = [matrix.detach().numpy().T for matrix in (narrow.E, narrow.F)]
    scaled = Q / 4**0.25, K / 4**0.25
    for mix, expected in (
        (linear_mix, linear_attention(Q, K, V)),
        (causal, linear_recurrence(Q, K, V)[0]),
        (performer, linear_attention(*scaled, V, of_numpy)),
        (short, scaled_attention(Q, *map(compress, (K, V), kernels))[0]),
        (narrow, linformer(Q, K, V, *E)),
    ):
        found = mix(q, k, v)[0, 0].detach().numpy().T
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_causal_performer_sees_no_future():
    q, k, v = inputs(64)
    performer = Performer(8, 4, causal=True)
    later = v.clone()
    later[:, :, 40:] += 1
    same = performer(q, k, later)[:, :, :40] - performer(q, k, v)[:, :, :40]
    assert same.abs().max() < 1e-12


def test_a_convolution_loses_no_token():
    x = torch.randn(1, 2, 7, 3)
    weight = torch.ones(3, 3, 4)
    total = x.sum(dim=(2, 3))
    torch.testing.assert_close(compress_rows(x, weight).sum(dim=2)[..., 0], total)


def test_the_layer_is_that_of_multiple_heads_with_another_mix():
    usual = MultiHeadSelfAttention(8, 2)
    long = LongAttention(8, 2, F.scaled_dot_product_attention)
    long.load_state_dict(usual.state_dict())
    x = torch.randn(2, 9, 8)
    torch.testing.assert_close(long(x), usual(x))
    for refused in (dict(hidden=torch.zeros(9, 9, dtype=torch.bool)), dict(with_weights=True)):
        with pytest.raises(ValueError, match="pattern"):
            long(x, **refused)


@pytest.mark.parametrize("name", list(contenders(256, 8)))
def test_nothing_grows_with_the_square(name):
    sizes = []
    for N in (512, 1024):
        parts = [torch.randn(1, 1, N, 8, requires_grad=True) for _ in range(3)]
        mix = contenders(N, 8)[name]
        sizes.append(largest(lambda mix=mix, p=parts: torch.autograd.grad(mix(*p).sum(), p)))
    assert sizes[1] <= 2 * sizes[0] and sizes[1] < 1024**2 / 2


def test_what_is_written_out_is_seen():
    parts = [torch.randn(1, 1, 64, 4, requires_grad=True) for _ in range(3)]
    everything = written_out(torch.ones(64, 64, dtype=torch.bool))
    assert largest(lambda: everything(*parts)) == 64 * 64
    # On the way back as well: here only the gradient is an outer product.
    vector = torch.randn(50, requires_grad=True)
    matrix = torch.randn(50, 50)
    forward = largest(lambda: vector @ matrix)
    both = largest(lambda: torch.autograd.grad((vector @ matrix.requires_grad_()).sum(), matrix))
    assert forward == 50 and both == 2500


def test_patterns_against_their_definition_in_words():
    rng = np.random.default_rng(0)
    for N in (1, 2, 7, 12):
        places = range(N)
        for name, pattern, rule in (
            ("encoder", encoder(N), lambda k, q: True),
            ("decoder", decoder(N), lambda k, q: k <= q),
            ("window", window(N, 2), lambda k, q: abs(k - q) in (0, 1, 2)),
            ("dilated", window(N, 2, 3), lambda k, q: abs(k - q) in (0, 3, 6)),
            ("strided", strided(N, 3), lambda k, q: (k - q) % 3 == 0),
            ("blocks", blocks(N, 5), lambda k, q: k // 5 == q // 5),
            ("global", global_tokens(N, 2), lambda k, q: k < 2 or q < 2),
        ):
            expected = [[rule(k, q) for q in places] for k in places]
            np.testing.assert_array_equal(pattern, expected, err_msg=name)
        drawn = random_keys(N, 3, rng)
        assert (drawn.sum(axis=0) == min(3, N)).all()
        bird = big_bird(N, 1, 1, 2, rng)
        assert (bird >= (window(N, 1) | global_tokens(N, 1))).all()


def test_receptive_fields_by_paths():
    rng = np.random.default_rng(1)
    for _ in range(20):
        patterns = [rng.random((6, 6)) < 0.3 for _ in range(3)]
        first, second, third = patterns
        by_paths = np.zeros((6, 6), bool)
        for k, m, n, q in itertools.product(range(6), repeat=4):
            by_paths[k, q] |= first[k, m] and second[m, n] and third[n, q]
        np.testing.assert_array_equal(receptive_field(patterns), by_paths)
    assert layers_until_all_meet([window(10, 3)]) == 3
    assert layers_until_all_meet([blocks(8, 4)]) is None
    assert layers_until_all_meet([blocks(8, 4), encoder(8)]) == 2


def test_tiles_are_exact():
    rng = np.random.default_rng(2)
    for N, M, tile in ((1, 1, 1), (5, 9, 2), (9, 5, 4), (8, 8, 8), (3, 7, 50)):
        Q, K, V = rng.normal(size=(4, N)), rng.normal(size=(4, M)), rng.normal(size=(3, M))
        for scale in (1, 200):
            expected = scaled_attention(scale * Q, K, V)[0]
            found = online_attention(scale * Q, K, V, tile)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_random_features_are_unbiased_and_orthogonal_ones_uniform():
    rng = np.random.default_rng(3)
    x, y = 0.5 * rng.normal(size=(2, 4, 1))
    for draw in (lambda m: rng.normal(size=(m, 4)), lambda m: orthogonal_directions(m, 4, rng)):
        W = draw(100_000)
        assert abs(W.mean(axis=0)).max() < 0.02  # without signs, QR prefers a half of space
        np.testing.assert_allclose(W.T @ W / len(W), np.eye(4), atol=0.03)
        for features in (positive_features, trigonometric_features):
            found = (features(x, W).T @ features(y, W)).item()
            assert abs(found / np.exp(x.T @ y).item() - 1) < 0.02
    group = orthogonal_directions(6, 6, rng)
    cosines = group @ group.T
    np.testing.assert_allclose(cosines, np.diag(np.diag(cosines)), atol=1e-12)


def test_the_performer_survives_large_entries():
    q, k, v = 30 * inputs(20)
    assert Performer(16, 4)(q, k, v).isfinite().all()


def test_ranks_of_known_matrices():
    A = np.diag([3.0, 2, 1, 0])
    assert [rank_needed(A, share) for share in (0.6, 0.9, 0.95)] == [1, 2, 3]
    assert rank_needed(np.stack([A, np.eye(4)]), 0.7).tolist() == [2, 3]
