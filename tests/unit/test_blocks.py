"""What the exported blocks do where notebooks do not look: precision, bad sizes, masks."""

import numpy as np
import pytest
import torch

from helpers.blocks.positional_encoding_torch import (
    Absolute,
    ALiBi,
    Learned,
    Positions,
    RelativeBias,
    RelativeFactor,
    Rotary,
    Sinusoidal,
)
from helpers.blocks.scaling_and_multiple_heads_torch import MultiHeadSelfAttention
from helpers.blocks.self_attention import self_attention_by_loops
from helpers.blocks.transformer_layer_torch import (
    NormAfterLayer,
    PreNormLayer,
    Transformer,
    transformer_numpy,
)


def test_far_positions_stay_apart_in_bfloat16():
    q, where = torch.randn(1, 1, 6, 8), torch.arange(1000, 1006)
    exact = Rotary().turn(q, where)
    rough = Rotary().turn(q.bfloat16(), where)
    assert rough.dtype == torch.bfloat16
    assert (rough.float() - exact).abs().max() < 0.05
    waves = Sinusoidal().encode(where, torch.randn(1, 6, 8).bfloat16())
    assert waves.dtype == torch.bfloat16 and len(waves.unique(dim=0)) == 6


@pytest.mark.parametrize("positions", [Rotary(), Sinusoidal("queries and keys")])
def test_an_odd_number_of_features_is_refused(positions):
    with pytest.raises(ValueError, match="even number"):
        MultiHeadSelfAttention(5, 5, positions)(torch.randn(1, 4, 5))


def test_bad_sizes_and_doors_are_refused():
    with pytest.raises(ValueError, match="10 features cannot be split into 4 equal heads"):
        MultiHeadSelfAttention(10, 4)
    with pytest.raises(ValueError, match="not 'window'"):
        Absolute("window")
    with pytest.raises(ValueError, match="Only 5 positions were learned"):
        Learned(8, 5).encode(torch.arange(3, 6), torch.randn(1, 3, 8))


def test_a_bias_that_numpy_would_stretch_is_refused():
    X, one_row = np.eye(4), np.ones((1, 4))
    three = np.zeros((3, 1))  # with it, every score would count three times
    with pytest.raises(ValueError, match="as many rows as its Omega"):
        self_attention_by_loops(X, one_row, three, one_row, three, one_row, np.zeros((1, 1)))


def test_whole_slopes_serve_as_well():
    x = torch.randn(2, 5, 8)
    whole, real = MultiHeadSelfAttention(8, 2, ALiBi((1, 2))), ALiBi((1.0, 2.0))
    assert torch.equal(whole.positions.bias(torch.arange(5)), real.bias(torch.arange(5)))
    assert whole(x).isfinite().all()


@pytest.mark.parametrize("positions", [Positions(), ALiBi((0.5, 0.25)), RelativeBias(3, H=2)])
@pytest.mark.parametrize("mask", ["queries, keys", "batch, 1, keys"])
def test_who_sees_nothing_gets_zero_and_finite_gradients(positions, mask):
    hidden = torch.zeros(3, 1 if mask == "batch, 1, keys" else 5, 5, dtype=torch.bool)
    hidden[1] = True  # sentence 1 holds no word at all
    hidden[:, -1, 2:] = True
    x = torch.randn(3, 5, 8, requires_grad=True)
    attention = MultiHeadSelfAttention(8, 2, positions)
    fast, (slow, weights) = attention(x, hidden), attention(x, hidden, with_weights=True)
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(fast[1], attention.combine.bias.expand(5, 8))
    assert (weights[1] == 0).all()
    fast.square().sum().backward()
    assert x.grad.isfinite().all()
    assert all(p.grad.isfinite().all() for p in attention.parameters())


@pytest.mark.parametrize("variant", [NormAfterLayer, PreNormLayer])
@pytest.mark.parametrize(
    "positions",
    [Rotary(), RelativeFactor(3), Sinusoidal("queries and keys"), Sinusoidal("every layer")],
    ids=lambda scheme: type(scheme).__name__,
)
def test_the_numpy_form_refuses_positions_it_does_not_know(variant, positions):
    stack = Transformer(variant, 2, 8, 2, 16, positions=positions).eval()
    with pytest.raises(ValueError, match="at the input or as a bias"):
        transformer_numpy(torch.randn(8, 5).numpy(), stack)


@pytest.mark.parametrize("variant", [NormAfterLayer, PreNormLayer])
@pytest.mark.parametrize("positions", [Positions(), Sinusoidal(), RelativeBias(3, H=2)])
def test_the_numpy_form_knows_positions_at_the_input_and_biases(variant, positions):
    stack = Transformer(variant, 2, 8, 2, 16, positions=positions).double().eval()
    x, where = torch.randn(1, 5, 8, dtype=torch.float64), torch.arange(5)
    X = positions.at_input(x, where)[0].T.numpy()
    torch.testing.assert_close(torch.from_numpy(transformer_numpy(X, stack)), stack(x)[0].T)
