"""Branches on sizes that became plain numbers, and on who follows the run, are found."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from onemodel.tensors.tensor import Tensor

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)
BATCH = [{0: "batch"}]
LIMIT = 30

Condition = Callable[[Tensor], Any]

# Each is False at six rows, and at the few sizes next to it.
BRANCHES: dict[str, Condition] = {
    "size > float": lambda x: x.shape[0] > 30.5,
    "float < size": lambda x: operator.lt(30.5, x.shape[0]),
    "NumPy float < size": lambda x: np.float64(30.5) < x.shape[0],
    "size >= NumPy float": lambda x: x.shape[0] >= np.float32(30.5),
    "size > array": lambda x: x.shape[0] > np.array(30),
    "array < size": lambda x: np.array(30.5) < x.shape[0],
    "size == float": lambda x: x.shape[0] == 31.0,
    "quotient > float": lambda x: x.shape[0] / 2 > 20.3,
    "float < quotient": lambda x: operator.lt(20.1, x.shape[0] / 3),
    "a multiple": lambda x: x.shape[0] % 97 == 0,
    "a product": lambda x: x.numel() == 68,
    "len": lambda x: len(x) > 30,
    "len against a global": lambda x: len(x) > LIMIT,
    "int": lambda x: int(x.shape[0]) > 30,
    "float": lambda x: float(x.shape[0]) > 30,
    "log2": lambda x: math.log2(x.shape[0]) > 5,
    "half": lambda x: x.shape[0] * 0.5 > 30,
    "root": lambda x: x.shape[0] ** 0.5 > 6,
    "bits": lambda x: x.shape[0] & 64,
    "shift": lambda x: x.shape[0] >> 5,
    "bit_length": lambda x: x.shape[0].bit_length() > 5,
    "array of sizes": lambda x: np.array(x.shape)[0] > 30,
    "range": lambda x: range(x.shape[0])[-1] > 30,
    "dict": lambda x: {31: True}.get(x.shape[0]),
    "set": lambda x: x.shape[0] in {31, 100},
    "text": lambda x: len(f"{x.shape[0]}") > 1,
    "text compared": lambda x: f"{x.shape[0]}" == "31",
    "gcd": lambda x: math.gcd(x.shape[0], 31) > 1,
    "rounded": lambda x: round(x.shape[0] / 3) > 20,
}


@pytest.mark.parametrize("condition", BRANCHES.values(), ids=BRANCHES)
def test_a_branch_that_only_far_sizes_take_is_refused(condition):
    def model(x: Tensor) -> Tensor:
        return x * 2 if condition(x) else x * 3

    assert not condition(om.tensor(X))
    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X, axes=BATCH)
    assert caught.value.code in ("OM401", "OM402", "OM405")


ATTEMPTS: dict[str, Callable[[Tensor], Tensor]] = {
    "a row": lambda x: x + x[30],
    "a row from the end": lambda x: x + x[-31],
    "a shape": lambda x: x.reshape(31, -1)[0] + x,
    "a broadcast": lambda x: x + om.ones(31, 4),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_an_error_that_a_model_catches_is_a_branch_on_the_sizes(attempt):
    def model(x: Tensor) -> Tensor:
        try:
            return attempt(x)
        except (IndexError, ValueError):
            return x * 3

    with pytest.raises(om.TraceException):
        om.trace(model, X, axes=BATCH)


class Limited(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.most = 777

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if len(x) == self.most else x * 3


def test_a_number_that_an_attribute_holds_is_tried():
    with pytest.raises(om.TraceException, match="at batch=777"):
        om.trace(Limited(), X, axes=BATCH)


@pytest.mark.parametrize(
    "condition",
    [
        lambda x: x.shape[0] < math.inf,
        lambda x: x.shape[0] != np.float64(math.nan),
        lambda x: x.shape[0] > 0.5,
        lambda x: x.shape[0] != 6.5,
        lambda x: x.shape[0] / 2 > 0.1,
    ],
)
def test_a_comparison_with_a_fraction_that_no_size_changes_is_no_branch(condition):
    traced = om.trace(lambda x: x * 2 if condition(x) else x, X, axes=BATCH, strict_sizes=True)
    assert traced.specialisations == []


WHO_FOLLOWS: dict[str, Condition] = {
    "the active tracer": lambda x: om.Tracer.active() is not None,
    "the text of a tensor": lambda x: "%" in repr(x),
}


@pytest.mark.parametrize("axes", [None, BATCH], ids=["fixed", "symbolic"])
@pytest.mark.parametrize("condition", WHO_FOLLOWS.values(), ids=WHO_FOLLOWS)
def test_a_model_that_acts_otherwise_while_it_is_recorded_is_refused(condition, axes):
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: x * 2 if condition(x) else x * 3, X, axes=axes)
    assert caught.value.code in ("OM520", "OM401")


def test_requires_grad_and_is_leaf_in_a_trace_are_what_they_are_without_one():
    weight, fixed = nn.Parameter(np.ones((4, 4), np.float32)), om.ones(4)

    def asked(x: Tensor) -> list[bool]:
        y = x * fixed
        z = y @ weight
        tensors = [x, y, y[0], z, z.reshape(-1), z > 0, z + (weight * 2)[0], z.argmax(0)]
        last = z + 1
        last += 1
        return [answer for t in [*tensors, last] for answer in (t.requires_grad, t.is_leaf)]

    with om.Tracer.begin() as tracer:
        traced = asked(tracer.input("x", X))
    assert traced == asked(om.tensor(X))


@pytest.mark.parametrize("draw", [random.random, np.random.random], ids=["random", "numpy"])
def test_a_coin_of_a_global_generator_is_never_mistaken_for_a_constant(draw):
    for _ in range(40):
        with pytest.raises(om.TraceException, match="OM520"):
            om.trace(lambda x: x * 2 if draw() > 0.5 else x * 3, X)
