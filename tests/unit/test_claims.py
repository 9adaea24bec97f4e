import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.claims import below, claim, close


def test_a_claim_that_holds_prints_a_tick(capsys):
    claim("two and two is four", 2 + 2 == 4)
    assert capsys.readouterr().out == "✓ two and two is four\n"


def test_a_claim_that_does_not_hold_fails_with_its_text():
    with pytest.raises(AssertionError, match=r"Not so: two and two is five$"):
        claim("two and two is five", 2 + 2 == 5)


def test_a_failed_comparison_says_by_how_much():
    with pytest.raises(
        AssertionError, match=r"columns sum to one \(largest difference 0.25, allowed"
    ):
        claim("columns sum to one", close([1.0, 1.25], 1))
    with pytest.raises(AssertionError, match=r"\(0.7 is not below 0.5\)"):
        claim("small", below(0.7, 0.5))
    with pytest.raises(AssertionError, match=r"shapes \(2, 3\) and \(3, 2\) differ"):
        claim("equal", close(np.zeros((2, 3)), np.zeros((3, 2))))


@pytest.mark.parametrize("holds", [np.array([True, True]), "yes", None, 1, torch.tensor([True])])
def test_a_claim_needs_one_truth_value(holds):
    with pytest.raises(TypeError, match="one True or False"):
        claim("?", holds)


def test_nan_equals_nothing_and_infinity_equals_infinity():
    assert not close(np.nan, np.nan)
    assert not close([1.0, np.nan], 1)
    assert close(np.inf, np.inf)
    assert not close(np.inf, 1.0) and not close(1.0, np.inf, rtol=1e-5)
    assert not close(-np.inf, np.inf, rtol=1e-5)
    assert not below(np.nan, 1)


@given(st.floats(-1e6, 1e6), st.floats(-1, 1))
def test_close_agrees_with_numpy(x, difference):
    for atol in (1e-12, 1e-3, 0.5):
        assert bool(close(x + difference, x, atol)) == bool(
            np.allclose(x + difference, x, rtol=0, atol=atol)
        )


def test_a_comparison_of_nothing_does_not_hold():
    assert not close([], []) and not close(np.zeros((0, 3)), 1)


def test_tensors_and_lists_compare_with_arrays():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert close(x, [1, 2]) and close([1, 2], np.array([1.0, 2.0]))
    assert not close(x, [1, 3])
