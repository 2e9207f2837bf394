"""The acceptance cases about tracing, written as a user of this library would write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import onemodel as om
from onemodel import nn


def _k10a() -> Callable[..., Any]:
    rng = np.random.default_rng(3)
    layer = nn.LSTM(3, 2)
    w = (rng.integers(-4, 5, (8, 3)) / 4).astype(np.float32)
    r = (rng.integers(-4, 5, (8, 2)) / 4).astype(np.float32)
    b = (rng.integers(-4, 5, (8,)) / 4).astype(np.float32)
    layer.load_state_dict(
        {"weight_ih_l0": w, "weight_hh_l0": r, "bias_ih_l0": b, "bias_hh_l0": np.zeros_like(b)}
    )

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = layer

        def forward(self, x):
            y, (h, _) = self.lstm(x)
            return y, h.squeeze(0)

    return Tagger()


def k20a(k):
    return k**0.5, k**2


def k21a(k, h):
    return k * 2.5, h * 0.5, h * h.shape[0]


def _k22a() -> nn.Module:
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm2d(2)

        def forward(self, x):
            return self.norm(x)

    net = Net()
    net.load_state_dict(
        {
            "norm.weight": np.array([1, 2], np.float32),
            "norm.bias": np.array([0, 1], np.float32),
            "norm.running_mean": np.array([0.5, -1], np.float32),
            "norm.running_var": np.array([4, 0.25], np.float32),
            "norm.num_batches_tracked": np.array(0),
        }
    )
    return net.eval()


def k23a(x):
    b, s, d = x.shape
    h = x.reshape(b, s, 2, 4).permute(0, 2, 1, 3).reshape(b * 2, s, 4)
    a = h @ h.permute(0, 2, 1)
    return (a @ h).reshape(b, 2, s, 4).permute(0, 2, 1, 3).reshape(b, s, d)


def k24a(x):
    return x * 2.0


TABLE_25 = (np.arange(10 * 3).reshape(1, 10, 3) / 4).astype(np.float32)


def k25a(x):
    return x + om.tensor(TABLE_25)[:, : x.shape[1]]


def k26a(x):
    a = x.repeat(3, 2)
    a[:2] = x * 2  # <- the offending line
    return a


def k27a(x):
    if float(x.sum()) > 0:  # <- the offending line
        return x * 2
    return -x


def k28a(x):
    with om.no_grad():  # <- the offending line
        y = x * 2
    return y + 1


def k29a(x, unused, z):
    return z - x


def k43a(q, k, v, mask):
    return om.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def k45a(x):
    t, n, _ = x.shape
    a = x.reshape(t, n * 2, 4).permute(1, 0, 2)
    b = a.permute(1, 0, 2).reshape(t, -1, 8)
    return a, b, x.reshape(-1, 4)


def helper(v):
    return float(v.max())  # <- the offending line


def block(x):
    return x * helper(x)


def k54a(x):
    y = x + 1
    return block(y)


WEIGHTS_56 = {"b": np.float32(2), "a": np.float32(3), "c": np.float32(4)}


def k56a(x):
    t = {name: x * om.tensor(value) for name, value in WEIGHTS_56.items()}
    return t["c"] + t["a"] * t["b"]


TABLE_58 = (np.arange(24).reshape(4, 6) / 4).astype(np.float32)


def k58a(ids):
    e = om.embedding(ids, om.tensor(TABLE_58))
    return e, e.reshape(ids.shape[0] * ids.shape[1], 6)


PROGRAMS: dict[str, Callable[[], Callable[..., Any]]] = {
    "K10a": _k10a,
    "K20a": lambda: k20a,
    "K21a": lambda: k21a,
    "K22a": _k22a,
    "K23a": lambda: k23a,
    "K24a": lambda: k24a,
    "K25a": lambda: k25a,
    "K26a": lambda: k26a,
    "K27a": lambda: k27a,
    "K28a": lambda: k28a,
    "K29a": lambda: k29a,
    "K43a": lambda: k43a,
    "K45a": lambda: k45a,
    "K54a": lambda: k54a,
    "K56a": lambda: k56a,
    "K58a": lambda: k58a,
}
