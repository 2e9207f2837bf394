"""Every optimiser and schedule beside PyTorch's: weights and rates after each step.

Optional: without PyTorch the whole file is skipped, and nothing else needs it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel import nn, training

torch = pytest.importorskip("torch", reason="PyTorch is an optional oracle, and not installed")

from tests.oracle.comparison import compare  # noqa: E402

torch.set_num_threads(1)

STEPS = 8

OPTIMISERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.02, "amsgrad": True}),
    ("Adam", {"lr": 0.02, "maximize": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.02, "weight_decay": 0.2, "amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.9, "centered": True, "momentum": 0.5}),
    ("RMSprop", {"lr": 0.02, "eps": 1e-4, "weight_decay": 0.1, "momentum": 0.9}),
]

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3}),
    ("StepLR", {"step_size": 2, "gamma": 0.7}),
    ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.001}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.2, "end_factor": 0.8, "total_iters": 4}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.8**epoch}),
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 12}),
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 12, "anneal_strategy": "linear",
                    "three_phase": True, "pct_start": 0.4, "cycle_momentum": False}),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}),
    ("ReduceLROnPlateau", {"mode": "max", "patience": 0, "cooldown": 1, "threshold": 0.1,
                           "threshold_mode": "abs", "min_lr": 0.002}),
]  # fmt: skip

LOSSES = [3.0, 2.0, 2.0, 2.5, 2.1, 1.0, 1.2, 1.3, 1.1, 1.0, 1.4]

each_optimiser = pytest.mark.parametrize(
    "name, options", OPTIMISERS, ids=[f"{n}({o})" for n, o in OPTIMISERS]
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # schedules that step before the optimiser does
        yield


class Problem:
    """A small net of two layers, its data and its loss, in one of the two libraries."""

    def __init__(self, place: Any, make: Callable[[np.ndarray], Any], functional: Any) -> None:
        self.net = place.Sequential(place.Linear(3, 4), place.Tanh(), place.Linear(4, 2))
        generator = np.random.default_rng(2)
        state = {
            name: generator.standard_normal(tuple(tensor.shape)).astype(np.float32)
            for name, tensor in self.net.state_dict().items()
        }
        self.net.load_state_dict({name: make(array) for name, array in state.items()})
        self.x = make(generator.standard_normal((6, 3)).astype(np.float32))
        self.y = make(generator.standard_normal((6, 2)).astype(np.float32))
        self.functional = functional

    def loss(self) -> Any:
        return self.functional.mse_loss(self.net(self.x), self.y)

    def step(self, optimiser: Any) -> None:
        optimiser.zero_grad()
        self.loss().backward()
        optimiser.step()


def problems() -> tuple[Problem, Problem]:
    ours = Problem(nn, om.tensor, nn.functional)
    return ours, Problem(torch.nn, torch.from_numpy, torch.nn.functional)


def compare_weights(ours: Problem, theirs: Problem) -> None:
    found = ours.net.state_dict()
    for name, tensor in theirs.net.state_dict().items():
        compare(found[name], tensor)


def test_every_optimiser_and_schedule_is_compared() -> None:
    def subclasses(module: Any, base: type) -> set[str]:
        return {
            name
            for name, found in vars(module).items()
            if inspect.isclass(found) and issubclass(found, base) and found is not base
        }

    assert subclasses(training, training.Optimizer) == {name for name, _ in OPTIMISERS}
    schedules = subclasses(training, training.LRScheduler) | {"ReduceLROnPlateau"}
    assert schedules == {name for name, _ in SCHEDULES}


@each_optimiser
def test_weights_after_every_step_are_those_of_pytorch(name: str, options: dict[str, Any]) -> None:
    ours, theirs = problems()
    one = getattr(training, name)(ours.net.parameters(), **options)
    other = getattr(torch.optim, name)(theirs.net.parameters(), **options)
    for _ in range(STEPS):
        ours.step(one)
        theirs.step(other)
        compare_weights(ours, theirs)


@each_optimiser
def test_defaults_are_those_of_pytorch(name: str, options: dict[str, Any]) -> None:
    ours, theirs = problems()
    one = getattr(training, name)(ours.net.parameters(), **options)
    other = getattr(torch.optim, name)(theirs.net.parameters(), **options)
    assert one.defaults == {key: other.defaults[key] for key in one.defaults}


def test_groups_with_rates_of_their_own_step_as_in_pytorch() -> None:
    ours, theirs = problems()

    def groups(net: Any) -> list[dict[str, Any]]:
        return [
            {"params": list(net[0].parameters()), "lr": 0.01},
            {"params": list(net[2].parameters()), "weight_decay": 0.1},
        ]

    one = training.SGD(groups(ours.net), lr=0.1, momentum=0.5)
    other = torch.optim.SGD(groups(theirs.net), lr=0.1, momentum=0.5)
    for _ in range(STEPS):
        ours.step(one)
        theirs.step(other)
        compare_weights(ours, theirs)


@pytest.mark.parametrize("name, options", SCHEDULES, ids=[f"{n}({o})" for n, o in SCHEDULES])
@pytest.mark.parametrize("optimiser", ["SGD", "Adam"])
def test_rates_and_weights_along_a_schedule_are_those_of_pytorch(
    name: str, options: dict[str, Any], optimiser: str
) -> None:
    ours, theirs = problems()
    momentum = {"momentum": 0.9} if optimiser == "SGD" else {}
    one = getattr(training, optimiser)(ours.net.parameters(), lr=0.05, **momentum)
    other = getattr(torch.optim, optimiser)(theirs.net.parameters(), lr=0.05, **momentum)
    mine = getattr(training, name)(one, **options)
    yours = getattr(torch.optim.lr_scheduler, name)(other, **options)
    for loss in LOSSES:
        ours.step(one)
        theirs.step(other)
        measure = (loss,) if name == "ReduceLROnPlateau" else ()
        mine.step(*measure)
        yours.step(*measure)
        for found, wanted in zip(one.param_groups, other.param_groups, strict=True):
            for key in {"lr", "momentum", "betas"} & set(found):
                assert found[key] == pytest.approx(wanted[key], rel=1e-9)
        compare_weights(ours, theirs)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
def test_clipped_norms_are_those_of_pytorch(norm_type: float) -> None:
    ours, theirs = problems()
    ours.loss().backward()
    theirs.loss().backward()
    found = training.clip_grad_norm_(ours.net.parameters(), 0.5, norm_type)
    wanted = torch.nn.utils.clip_grad_norm_(theirs.net.parameters(), 0.5, norm_type)
    compare(found, wanted)
    pairs = zip(ours.net.parameters(), theirs.net.parameters(), strict=True)
    for one, other in pairs:
        compare(one.grad, other.grad)


def test_clipped_values_are_those_of_pytorch() -> None:
    ours, theirs = problems()
    ours.loss().backward()
    theirs.loss().backward()
    training.clip_grad_value_(ours.net.parameters(), 0.1)
    torch.nn.utils.clip_grad_value_(theirs.net.parameters(), 0.1)
    pairs = zip(ours.net.parameters(), theirs.net.parameters(), strict=True)
    for one, other in pairs:
        compare(one.grad, other.grad)
