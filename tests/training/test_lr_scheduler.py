"""Learning rates over epochs against rates written by hand or by PyTorch's recursions."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

import onemodel as om
from onemodel import nn, training


def optimizer(lr: float = 1.0, kind: type = training.SGD, **options) -> training.Optimizer:
    return kind([nn.Parameter(om.ones(1))], lr=lr, **options)


def rates(build: Callable[[training.Optimizer], training.LRScheduler], epochs: int) -> list[float]:
    used = optimizer()
    scheduler = build(used)
    found = []
    for _ in range(epochs):
        found.append(used.param_groups[0]["lr"])
        assert scheduler.get_last_lr() == [found[-1]]
        scheduler.step()
    return found


def cosine(epochs: int, horizon: int, low: float) -> list[float]:
    """PyTorch's recursion, which needs the rate before."""
    found = [1.0]
    for t in range(1, epochs):
        if (t - 1 - horizon) % (2 * horizon) == 0:
            change = (1.0 - low) * (1 - math.cos(math.pi / horizon)) / 2
            found.append(found[-1] + change)
            continue
        above = 1 + math.cos(math.pi * t / horizon)
        below = 1 + math.cos(math.pi * (t - 1) / horizon)
        found.append(above / below * (found[-1] - low) + low)
    return found


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda o: training.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
        (lambda o: training.MultiStepLR(o, [3, 1], 0.1), [1, 0.1, 0.1, 0.01, 0.01]),
        (lambda o: training.ExponentialLR(o, 0.5), [1, 0.5, 0.25, 0.125, 0.0625]),
        (lambda o: training.LinearLR(o, 0.25, 1.0, 3), [0.25, 0.5, 0.75, 1, 1]),
        (lambda o: training.LambdaLR(o, lambda t: 1 / (1 + t)), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
        (lambda o: training.CosineAnnealingLR(o, 4, 0.1), cosine(10, 4, 0.1)),
    ],
)
def test_rates_follow_their_plan(build, expected) -> None:
    assert rates(build, len(expected)) == pytest.approx(expected)


def test_one_cycle_rises_and_falls_with_momentum_the_other_way() -> None:
    used = optimizer(momentum=0.9)
    scheduler = training.OneCycleLR(used, max_lr=1.0, total_steps=10)
    found = []
    for _ in range(10):
        group = used.param_groups[0]
        found.append((group["lr"], group["momentum"]))
        scheduler.step()
    assert found[0] == pytest.approx((1 / 25, 0.95))
    assert found[2] == pytest.approx((1.0, 0.85))  # 0.3 * 10 - 1
    assert found[9] == pytest.approx((1 / 25e4, 0.95))
    middle = (1 / 25 + 1) / 2  # half a cosine passes its middle
    assert found[1][0] == pytest.approx(middle)
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(found[2:]))
    with pytest.raises(ValueError, match="beyond the 10 planned"):
        scheduler.step()


def test_one_cycle_in_three_phases_and_straight_lines() -> None:
    used = optimizer(kind=training.Adam)
    scheduler = training.OneCycleLR(
        used, 1.0, epochs=2, steps_per_epoch=5, pct_start=0.4, three_phase=True,
        anneal_strategy="linear", div_factor=10, final_div_factor=100,
    )  # fmt: skip
    found = []
    for _ in range(10):
        found.append(used.param_groups[0]["lr"])
        scheduler.step()
    up = [0.1, 0.4, 0.7, 1.0]
    assert found == pytest.approx([*up, 0.7, 0.4, 0.1, 0.067, 0.034, 0.001])
    assert used.param_groups[0]["betas"][1] == 0.999


def test_a_plateau_lowers_the_rate_after_patience_and_rests() -> None:
    used = optimizer()
    scheduler = training.ReduceLROnPlateau(used, patience=1, factor=0.5, cooldown=1, min_lr=0.2)
    seen = []
    for measure in [1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.5, om.tensor(0.6), 0.6, 0.6, 0.6, 0.6]:
        scheduler.step(measure)
        seen.append(used.param_groups[0]["lr"])
    assert seen == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2]


@pytest.mark.parametrize(
    ("mode", "threshold_mode", "better", "worse"),
    [
        ("min", "rel", 0.89, 0.91),
        ("min", "abs", 0.89, 0.91),
        ("max", "rel", 1.11, 1.09),
        ("max", "abs", 1.11, 1.09),
    ],
)
def test_an_improvement_must_exceed_the_threshold(mode, threshold_mode, better, worse) -> None:
    for measure, bad in ((better, 0), (worse, 1), (math.nan, 1)):
        scheduler = training.ReduceLROnPlateau(
            optimizer(), mode, threshold=0.1, threshold_mode=threshold_mode
        )
        scheduler.step(1.0)
        scheduler.step(measure)
        assert scheduler.num_bad_epochs == bad


@pytest.mark.parametrize(
    "build",
    [
        lambda o: training.StepLR(o, 2, 0.5),
        lambda o: training.CosineAnnealingLR(o, 5),
        lambda o: training.LambdaLR(o, lambda t: 0.9**t),
        lambda o: training.OneCycleLR(o, 2.0, 20),
    ],
)
def test_a_saved_scheduler_goes_on_where_it_was(build) -> None:
    first, second = optimizer(momentum=0.9), optimizer(lr=5.0, momentum=0.9)
    before = build(first)
    for _ in range(3):
        before.step()
    after = build(second)
    after.load_state_dict(before.state_dict())
    for _ in range(3):
        assert first.param_groups[0]["lr"] == second.param_groups[0]["lr"]
        before.step()
        after.step()


def test_each_group_follows_its_own_rate() -> None:
    one, two = nn.Parameter(om.ones(1)), nn.Parameter(om.ones(1))
    used = training.SGD([{"params": one, "lr": 1.0}, {"params": two, "lr": 0.1}])
    training.LambdaLR(used, [lambda t: 2.0, lambda t: 3.0])
    assert [group["lr"] for group in used.param_groups] == pytest.approx([2.0, 0.3])


def test_going_on_needs_the_initial_rate() -> None:
    with pytest.raises(KeyError, match="initial_lr"):
        training.StepLR(optimizer(), 1, last_epoch=3)
    used = optimizer(lr=0.5)
    used.param_groups[0]["initial_lr"] = 1.0
    assert training.ExponentialLR(used, 0.5, last_epoch=1).get_last_lr() == [0.25]


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda o: training.OneCycleLR(o, 1.0), "give total_steps"),
        (lambda o: training.OneCycleLR(o, 1.0, 5, anneal_strategy="sin"), "'cos' or 'linear'"),
        (lambda o: training.OneCycleLR(o, [1.0, 2.0], 5), "2 values of max_lr for 1 groups"),
        (lambda o: training.LinearLR(o, 0.0), "between 0 and 1"),
        (lambda o: training.LambdaLR(o, [abs, abs]), "2 functions for 1 groups"),
        (lambda o: training.ReduceLROnPlateau(o, factor=1.0), "below 1"),
        (lambda o: training.ReduceLROnPlateau(o, mode="best"), "'min' or 'max'"),
    ],
)
def test_a_wrong_plan_is_told(build, text) -> None:
    with pytest.raises(ValueError, match=text):
        build(optimizer())
