"""What one operator costs on tiny tensors, against the bare NumPy call."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import onemodel as om
from benchmarks.harness import Result, measure


def run() -> Iterator[Result]:
    a = np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)
    square = np.ones((8, 8), np.float32)
    x, y, w = om.tensor(a), om.tensor(a), om.tensor(square)
    leaf = om.tensor(a, requires_grad=True)
    pairs = (
        ("add", lambda t: t + y, lambda: a + a),
        ("mul by a number", lambda t: t * 2.0, lambda: a * 2.0),
        ("relu", lambda t: t.relu(), lambda: np.maximum(a, 0)),
        ("exp", lambda t: t.exp(), lambda: np.exp(a)),
        ("matmul", lambda t: t @ w, lambda: a @ square),
        ("sum over an axis", lambda t: t.sum(1), lambda: a.sum(1)),
        ("reshape", lambda t: t.reshape(4, 4), lambda: a.reshape(4, 4)),
    )
    for name, ours, peer in pairs:
        yield measure(f"eager {name}, no gradient", lambda f=ours: f(x), peer, "numpy", 4)
    for name, ours, peer in pairs:
        yield measure(f"eager {name}, recorded", lambda f=ours: f(leaf), peer, "numpy", 8)
