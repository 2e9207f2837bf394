"""The repeats of a slow model show that they go on; an interrupt leaves no trace behind."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel.tracing import trace as trace_module


def test_a_slow_model_shows_its_repeats_and_a_quick_one_says_nothing(monkeypatch, capfd):
    x = np.ones((3, 4), np.float32)
    om.trace(lambda x: x * 2, x, axes=[{0: "batch"}])
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(trace_module, "SLOW", -1.0)
    traced = om.trace(lambda x: x * 2, x, axes=[{0: "batch"}])
    assert "om.trace verifies" in capfd.readouterr().err
    assert traced.verification.startswith("verified")


def test_an_interrupted_verification_leaves_no_active_trace(monkeypatch):
    monkeypatch.setattr(trace_module, "SLOW", -1.0)
    runs = []

    def model(x):
        runs.append(1)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return x * 2

    with pytest.raises(KeyboardInterrupt):
        om.trace(model, np.ones((3, 4), np.float32), axes=[{0: "batch"}])
    assert om.Tracer.active() is None
    om.trace(lambda x: x + 1, np.ones((3, 4), np.float32))
