"""The training loop: what it computes, when it stops, and what it shows."""

import inspect
import math

import pytest
import torch
from torch import distributed, nn

from helpers.training import History, minibatches, schedule, train
from helpers.training import history as history_module
from helpers.training import loop as loop_module

X = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
Y = X.prod(dim=1, keepdim=True)


def network(dropout=0.0):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(4, 8), nn.Dropout(dropout), nn.LayerNorm(8), nn.Linear(8, 1))


def squared(model, batch):
    x, y = batch
    return ((model(x) - y) ** 2).mean()


def batches():
    return minibatches(X, Y, size=16, seed=3)


def trained(model=None, loss=squared, steps=20, **options):
    model = model or network()
    return model, train(model, loss, batches(), steps, **({"show": False} | options))


def failing_at(step, error):
    """A loss that raises `error` when it is called for the step with this number, from 0."""
    calls = iter(range(1000))

    def loss(model, batch):
        if next(calls) == step:
            raise error
        return squared(model, batch)

    return loss


def after(steps, **options):
    """Parameters after the first so many of 20 steps, made one by one in the plainest way."""
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    stream = batches()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * schedule(step, 20, 5)
        optimizer.zero_grad()
        squared(model, next(stream)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return model.state_dict()


PLAIN = dict(learning_rate=0.01, warm_up=5, clip=0.5, weight_decay=0.0)


def same(model, parameters):
    state = model.state_dict()
    return all(torch.equal(state[name], parameters[name]) for name in parameters)


# --- schedule and minibatches ------------------------------------------------------------------


def test_schedule_climbs_to_one_and_falls_along_a_cosine():
    rates = [schedule(step, 12, 4) for step in range(12)]
    assert rates[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert rates[8] == pytest.approx(0.5)
    assert rates[6] == pytest.approx((1 + math.sqrt(0.5)) / 2)
    assert 0 < rates[11] < 0.04
    assert schedule(0, 10, 0) == 1
    assert schedule(9, 10, 10) == 1


def test_every_example_comes_once_before_any_comes_again():
    numbers = torch.arange(10)
    stream = minibatches(numbers, -numbers, size=4, seed=0)
    drawn = [next(stream) for _ in range(5)]
    assert all(len(x) == 4 and torch.equal(x, -y) for x, y in drawn)
    seen = torch.cat([x for x, _ in drawn])
    epochs = seen[:10].tolist(), seen[10:].tolist()
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 2
    assert epochs[0] != epochs[1] and list(range(10)) not in epochs


def test_minibatches_may_be_larger_than_the_data():
    (x,) = next(minibatches(torch.arange(3), size=7, seed=0))
    assert len(x) == 7 and sorted(x[:3].tolist()) == sorted(x[3:6].tolist()) == [0, 1, 2]


def test_minibatches_follow_their_seed():
    first, again, other = (next(minibatches(X, size=16, seed=seed))[0] for seed in (0, 0, 1))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize(
    ("tensors", "size", "words"),
    [
        ([], 4, "at least one"),
        ([X, Y[:3]], 4, r"got \[64, 3\]"),
        ([X[:0]], 4, "at least one"),
        ([X], 0, "at least 1 example"),
    ],
)
def test_minibatches_refuse_at_once(tensors, size, words):
    with pytest.raises(ValueError, match=words):
        minibatches(*tensors, size=size, seed=0)


# --- the steps ---------------------------------------------------------------------------------


def test_steps_are_those_of_a_loop_written_by_hand():
    model, history = trained(**PLAIN)
    assert same(model, after(20, weight_decay=0.0))
    assert history.rates == [0.01 * schedule(step, 20, 5) for step in range(20)]
    untrained, (x, y) = network(), next(batches())
    assert history.losses[0] == squared(untrained, (x, y)).item()
    assert len(history.losses) == len(history.gradient_norms) == history.steps == 20
    assert history.stopped is None and history.seconds > 0


def test_a_tenth_is_warm_up_unless_told():
    rates = trained()[1].rates
    assert rates[1] == 1e-3 and rates[0] == 0.5e-3 and rates[3] < 1e-3


def test_the_same_seed_gives_the_same_numbers():
    def run(seed):
        model, history = trained(network(dropout=0.5), seed=seed)
        return history.losses, history.gradient_norms, model

    (first, norms, model), (again, norms_again, model_again), other = run(0), run(0), run(1)
    assert first == again and norms == norms_again and same(model, model_again.state_dict())
    assert first != other[0]


def test_gradients_are_clipped_after_their_norm_is_noted():
    steps = []

    class Watched(torch.optim.SGD):
        def step(self):
            gradients = [p.grad for group in self.param_groups for p in group["params"]]
            steps.append(math.sqrt(sum(g.pow(2).sum().item() for g in gradients)))
            super().step()

    _, history = trained(loss=lambda *a: 1000 * squared(*a), clip=0.1, optimizer=Watched)
    assert min(history.gradient_norms) > 10
    assert steps == pytest.approx([0.1] * 20, rel=1e-3)
    steps.clear()
    _, history = trained(clip=1e9, optimizer=Watched)
    assert steps == pytest.approx(history.gradient_norms, rel=1e-4)


def test_biases_and_norms_do_not_decay():
    model = network()
    # Without gradients worth the name, decay is all that moves a weight.
    before = {name: p.clone() for name, p in model.named_parameters()}
    trained(model, lambda *a: 0 * squared(*a), steps=5, warm_up=0, learning_rate=0.1, clip=1.0,
            weight_decay=0.5)  # fmt: skip
    shrunk = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    assert shrunk == {"0.weight", "3.weight"}
    shrink = math.prod(1 - 0.1 * schedule(step, 5, 0) * 0.5 for step in range(5))
    torch.testing.assert_close(model[0].weight, before["0.weight"] * shrink)


def test_frozen_parameters_stay():
    model = network()
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    trained(model)
    assert torch.equal(model[0].weight, before)


def test_training_happens_in_train_mode_and_ends_in_eval_mode():
    modes = []

    def loss(model, batch):
        modes.append(("step", model.training, torch.is_grad_enabled()))
        return squared(model, batch)

    def validate(model):
        modes.append(("validation", model.training, torch.is_grad_enabled()))
        return 1.0

    model, _ = trained(loss=loss, steps=4, validate=validate, every=2)
    step, validation = ("step", True, True), ("validation", False, False)
    assert modes == [step, step, validation] * 2
    assert not model.training and all(p.grad is None for p in model.parameters())


def test_batches_come_to_the_device():
    def loss(model, batch):
        assert {x.device.type for x in batch} == {"meta"}
        raise KeyboardInterrupt

    for model, device in ((network(), "meta"), (network().to("meta"), None)):
        trained(model, loss, device=device)
        assert next(model.parameters()).device.type == "meta"


# --- validation --------------------------------------------------------------------------------


def test_the_best_parameters_are_loaded():
    values = iter([3.0, 1.0, math.nan, 2.0, 1.0])
    model, history = trained(**PLAIN, validate=lambda model: next(values), every=4)
    steps, found = zip(*history.validations, strict=True)
    assert steps == (4, 8, 12, 16, 20)
    assert found == pytest.approx((3.0, 1.0, math.nan, 2.0, 1.0), nan_ok=True)
    assert history.best == 8
    assert same(model, after(8, weight_decay=0.0))


def test_validation_comes_at_the_end_too():
    _, history = trained(validate=lambda model: torch.tensor(2.0), every=8)
    assert history.validations == [(8, 2.0), (16, 2.0), (20, 2.0)]


def test_without_a_number_that_counts_the_last_parameters_stay():
    model, history = trained(**PLAIN, validate=lambda model: math.nan, every=10)
    assert history.best is None and same(model, after(20, weight_decay=0.0))


# --- stopping early ----------------------------------------------------------------------------


def test_an_interrupt_keeps_what_was_learned():
    model, history = trained(loss=failing_at(7, KeyboardInterrupt), **PLAIN)
    assert history.stopped == "Stopped by you after 7 of 20 steps."
    assert len(history.losses) == 7 and not model.training
    assert same(model, after(7, weight_decay=0.0))


def test_an_interrupt_keeps_the_best_so_far():
    values = iter([1.0, 2.0])
    model, history = trained(
        loss=failing_at(7, KeyboardInterrupt), validate=lambda m: next(values), every=3, **PLAIN
    )
    assert history.best == 3 and same(model, after(3, weight_decay=0.0))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_spoils_nothing(number):
    calls = iter(range(100))
    model, history = trained(
        loss=lambda *a: squared(*a) * (number if next(calls) == 7 else 1), **PLAIN
    )
    assert history.stopped.startswith(
        f"Stopped at step 8 of 20, which was not made: the loss is {number}."
    )
    assert "smaller learning rate (it was 0.0096)" in history.stopped
    assert len(history.losses) == 7 and same(model, after(7, weight_decay=0.0))


def test_a_gradient_that_is_not_finite_spoils_nothing():
    calls = iter(range(100))

    def loss(model, batch):  # the root's slope at zero is infinite
        extra = torch.sqrt(0 * model[0].weight.sum()) if next(calls) == 7 else 0
        return squared(model, batch) + extra

    model, history = trained(loss=loss, **PLAIN)
    assert "the gradients' norm is nan" in history.stopped
    assert same(model, after(7, weight_decay=0.0))


def test_other_errors_are_raised_and_the_bar_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr(history_module.View, "close", lambda self: closed.append(self))
    with pytest.raises(ZeroDivisionError):
        trained(loss=failing_at(3, ZeroDivisionError), show=True)
    assert len(closed) == 1


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(steps=0), "at least 1 step.*got steps=0"),
        (dict(steps=5, warm_up=6), "got steps=5, warm_up=6"),
        (dict(steps=5, warm_up=-1), "warm_up=-1"),
        (dict(steps=5, every=0), "every=0"),
        (dict(steps=5.0), "steps=5.0"),
        (dict(model=torch.nn.ReLU()), "no parameters"),
        (dict(loss=lambda m, b: m(b[0])), r"got the shape \(16, 1\)"),
        (dict(loss=lambda m, b: 1.5), "got float"),
    ],
)
def test_wrong_arguments_get_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        trained(**options)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(X, Y)] * 3, "ended after 3 of 20 steps"),
        ([X], "tuple of tensors, not Tensor"),
        ([[X, Y]], "tuple of tensors, not list"),
    ],
)
def test_wrong_batches_get_a_sentence(given, words):
    with pytest.raises(ValueError, match=words):
        train(network(), squared, given, 20, show=False)


# --- fast --------------------------------------------------------------------------------------


def test_fast_changes_nothing_on_the_cpu():
    plain, fast = trained(), trained(fast=True)
    assert plain[1].losses == fast[1].losses and same(fast[0], plain[0].state_dict())


def test_fast_computes_in_bfloat16_and_compiled(monkeypatch):
    """On a CPU that claims to be fast, with a compiler that only counts."""
    compiled, dtypes = [], []

    class Compiled(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model
            compiled.append(model)

        def forward(self, x):
            return self.model(x)

    def loss(model, batch):
        assert isinstance(model, Compiled)
        dtypes.append((torch.is_autocast_enabled("cpu"), model(batch[0]).dtype))
        return squared(model, batch)

    def validate(validated):
        assert validated is model and not torch.is_autocast_enabled("cpu")
        return squared(validated, (X, Y))

    class Watched(torch.optim.AdamW):
        def step(self):
            assert not torch.is_autocast_enabled("cpu")
            gradients = [p.grad for group in self.param_groups for p in group["params"]]
            assert {g.dtype for g in gradients} == {torch.float32}
            super().step()

    monkeypatch.setattr(loop_module, "can_be_fast", lambda device: True)
    monkeypatch.setattr(torch, "compile", Compiled)
    model, before = network(), network().state_dict()
    trained(model, loss, fast=True, validate=validate, every=10, optimizer=Watched)
    assert compiled == [model] and dtypes == [(True, torch.bfloat16)] * 20
    assert not same(model, before)
    assert {p.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("device", "bfloat16", "triton", "compiler", "expected"),
    [
        ("cuda", True, object(), "/usr/bin/gcc", True),
        ("cuda", False, object(), "/usr/bin/gcc", False),
        ("cuda", True, None, "/usr/bin/gcc", False),
        ("cuda", True, object(), None, False),
        ("cpu", True, object(), "/usr/bin/gcc", False),
        ("mps", True, object(), "/usr/bin/gcc", False),
    ],
)
def test_what_it_takes_to_be_fast(monkeypatch, device, bfloat16, triton, compiler, expected):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(loop_module.shutil, "which", lambda name: compiler)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bfloat16)
    monkeypatch.setattr(loop_module.importlib.util, "find_spec", lambda name: triton)
    assert loop_module.can_be_fast(torch.device(device)) is expected


def test_pytorch_still_takes_the_arguments_that_only_a_gpu_needs():
    assert "including_emulation" in inspect.signature(torch.cuda.is_bf16_supported).parameters


# --- shared ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1.0, math.nan])
def test_a_process_alone_learns_the_same(tmp_path, number):
    """Several of them: tests/unit/test_distributed.py."""
    calls = [iter(range(100)), iter(range(100))]

    def loss(calls):
        return lambda *batch: squared(*batch) * (number if next(calls) == 7 else 1)

    distributed.init_process_group("gloo", f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        shared, noted = trained(loss=loss(calls[0]), shared=True, **PLAIN)
    finally:
        distributed.destroy_process_group()
    alone, expected = trained(loss=loss(calls[1]), **PLAIN)
    assert noted.losses == expected.losses and noted.stopped == expected.stopped
    assert same(shared, alone.state_dict()) and not shared.training


# --- what is shown -----------------------------------------------------------------------------


@pytest.fixture
def views(monkeypatch):
    """All that is displayed, as (what, chart then), with a clock that goes 0.1 s a look."""
    seen = []

    class Output:
        def display(self, widget):
            seen.append(("display", widget.chart))
            widget.observe(lambda change: seen.append(("chart", change["new"])), "chart")

        def update(self, widget):
            seen.append(("update", widget.chart, widget.fallback()))

    clock = iter(range(10_000))
    monkeypatch.setattr(history_module, "DisplayHandle", Output)
    monkeypatch.setattr(history_module.time, "monotonic", lambda: next(clock) / 10)
    return seen


def test_the_curve_grows_while_training_runs(views, capsys):
    trained(steps=30, show=True, validate=lambda m: 0.5, every=10)
    assert [what for what, *_ in views[:2]] == ["display", "chart"]
    known = [sum(y is not None for y in chart["curves"][0]["y"]) for _, chart, *_ in views]
    assert known[0] == 0 and known[-1] == 30
    assert known[1:-2] == list(range(3, 30, 3))
    assert {len(chart["x"]) for _, chart, *_ in views} == {31}  # the axis never moves
    names = [[curve["name"] for curve in chart["curves"]] for _, chart, *_ in views]
    assert names[0] == ["training"] and names[-1] == ["training", "validation"]
    # What is stored in the notebook is the last table, not the empty one.
    assert views[-1][0] == "update" and "<td>0.5</td>" in views[-1][2]


def test_nothing_is_shown_unless_wanted(views, capsys):
    trained(loss=failing_at(3, KeyboardInterrupt))
    assert views == [] and capsys.readouterr() == ("", "")


def test_why_training_stopped_is_printed(views, capsys):
    trained(loss=failing_at(3, KeyboardInterrupt), show=True)
    assert "Stopped by you after 3 of 20 steps.\n" in capsys.readouterr().out


def test_a_long_run_is_thinned_by_averaging():
    history = History(steps=1001, losses=[float(i) for i in range(1, 1002)])
    lines = history.lines()
    assert len(lines.x) <= 202 and lines.x[-1] == 1001
    assert lines.curves["training"][1] == sum(range(1, 7)) / 6
    assert lines.x[-2] == 996 and lines.curves["training"][-1] == sum(range(997, 1002)) / 5


def test_a_run_under_way_leaves_the_rest_of_the_axis_empty():
    lines = History(steps=10, losses=[4.0, 2.0], validations=[(2, math.inf)]).lines()
    assert lines.x.tolist() == list(range(11))
    assert lines.curves["training"][1:3].tolist() == [4.0, 2.0]
    assert all(map(math.isnan, [lines.curves["training"][0], *lines.curves["training"][3:]]))
    assert all(map(math.isnan, lines.curves["validation"]))


@pytest.mark.parametrize("steps", [1, 2, 3, 199, 200, 201, 400, 777])
def test_the_axis_ends_with_the_last_step(steps):
    lines = History(steps=steps, losses=[1.0] * steps).lines()
    assert lines.x[0] == 0 and lines.x[-1] == steps
    assert (lines.curves["training"][1:] == 1).all()


def test_a_figure_tells_what_it_shows():
    _, history = trained(validate=lambda m: 0.5, every=10, learning_rate=0.01)
    words = repr(history.figure("Products of four numbers"))
    assert words.startswith("Products of four numbers: over 20 steps the training loss")
    assert "Lowest validation: 0.5 after 10 steps." in words and "its peak is 0.01" in words


def test_there_is_no_figure_of_nothing():
    with pytest.raises(ValueError, match="no step was made"):
        History(steps=5).figure("Nothing")


def test_a_history_sums_itself_up():
    history = History(steps=9, losses=[2.0, 1.0], seconds=1.23, validations=[(2, 0.5)], best=2)
    history.stopped = "Stopped by you after 2 of 9 steps."
    assert repr(history) == (
        "2 of 9 steps in 1.2 s, last loss 1. Lowest validation: 0.5 after 2 steps."
    )
    assert repr(History(steps=9, stopped="Stopped.")) == "0 of 9 steps in 0.0 s."
