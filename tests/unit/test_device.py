import numpy as np
import pytest
import torch

from helpers.counting import launches, multiplications
from helpers.device import describe, one_thread, peak_bytes, pick_device, seconds


def test_the_device_is_described_in_words():
    assert describe(pick_device()).startswith("PyTorch runs on ")


def test_seconds_is_the_least_of_the_calls_that_count(monkeypatch):
    # Calls of 1, 5, 3, 7, 6 and 8 seconds; the first does not count.
    ticks = iter([0, 1, 10, 15, 20, 23, 30, 37, 40, 46, 50, 58])
    monkeypatch.setattr("helpers.device.time.perf_counter", lambda: next(ticks))
    calls = []
    assert seconds(lambda: calls.append(1), at_least=20) == 3
    assert len(calls) == 6


def test_seconds_goes_on_for_as_long_as_it_was_told(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr("helpers.device.time.perf_counter", lambda: next(clock))
    calls = []
    seconds(lambda: calls.append(1), at_least=20)
    assert len(calls) == 20


def test_peak_memory_of_numpy_counts_what_is_held_at_once():
    megabyte = 2**20

    def two_then_one():
        first = np.zeros(megabyte // 8)
        second = np.zeros(megabyte // 8)
        del first, second
        return np.zeros(megabyte // 8)

    assert 2 * megabyte <= peak_bytes(two_then_one) < 2.2 * megabyte


def test_peak_memory_of_pytorch_counts_what_is_held_at_once():
    megabyte = 2**20

    def two_then_one():
        first = torch.zeros(megabyte // 4)
        second = torch.zeros(megabyte // 4)
        del first, second
        return torch.zeros(megabyte // 4)

    assert 2 * megabyte <= peak_bytes(two_then_one, torch.device("cpu")) < 2.2 * megabyte


def test_multiplications_are_counted_one_by_one():
    A, B = np.ones((2, 3)), np.ones((3, 5))
    assert multiplications(lambda A, B: A @ B, A, B) == 2 * 3 * 5
    assert multiplications(lambda A, B: (A @ B) * 2 + 1, A, B) == 2 * 3 * 5 + 2 * 5
    assert multiplications(lambda A: A + A, A) == 0


def test_orders_to_pytorch_are_counted_one_by_one():
    x = torch.ones(3)
    assert launches(lambda: (x + x) * x) == 2
    assert launches(lambda: [x * k for k in range(5)]) == 5


def test_one_thread_is_for_the_time_being():
    before = torch.get_num_threads()
    torch.set_num_threads(3)

    @one_thread()
    def inside():
        return torch.get_num_threads()

    assert inside() == 1 and inside() == 1 and torch.get_num_threads() == 3
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)
