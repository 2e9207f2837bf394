"""The seam is the only hook, and without a trace nothing goes through it."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from onemodel.tensors import seam


def test_no_operator_asks_the_seam_when_nothing_is_traced(monkeypatch):
    def forbidden(*arguments):
        raise AssertionError("the seam was asked")

    monkeypatch.setattr(seam, "listener", forbidden)
    monkeypatch.setattr(seam, "record", forbidden)
    x = om.tensor(np.ones((2, 3), np.float32), requires_grad=True)
    weight = om.ones(3, 4)
    y = ((x @ weight + 1) * 2.0).relu().softmax(-1).reshape(4, 2)[1:].sum()
    y.backward()
    assert x.grad is not None
    with pytest.raises(AssertionError, match="asked"):
        nn.Linear(3, 4)(x)  # a module asks once, for its path


def test_a_listener_hears_writes_random_draws_and_no_grad_and_only_on_its_thread():
    heard = []

    class Listener:
        def on_record(self, record, results):
            heard.append(record.operator.name)

        def on_write(self, tensor, operation):
            heard.append(operation)

        def on_random(self, operation):
            heard.append(operation)

        def on_no_grad(self):
            heard.append("no_grad")

    seam.install(Listener())
    try:
        om.zeros(3).add_(1)
        om.rand(2)
        with om.no_grad():
            om.ones(2) + 1
    finally:
        seam.install(None)
    assert heard == ["add_", "rand", "no_grad"]
