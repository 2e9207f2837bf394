"""Layers forward and backward, against the best formulation in NumPy that we know."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import onemodel as om
from benchmarks.harness import Result, measure


def run() -> Iterator[Result]:
    yield from _conv()
    yield from _matmul()
    yield from _softmax()
    yield from _lstm()


def _draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _both(tensors: list[om.Tensor], call, grad: np.ndarray) -> None:
    for tensor in tensors:
        tensor.grad = None
    call(*tensors).backward(om.tensor(grad))


def _conv() -> Iterator[Result]:
    images, weight = _draw(8, 32, 28, 28), _draw(32, 32, 3, 3)
    grad = _draw(8, 32, 28, 28)
    flat = weight.reshape(32, -1)

    def columns() -> np.ndarray:
        padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = sliding_window_view(padded, (3, 3), (2, 3))
        return np.ascontiguousarray(windows.transpose(0, 1, 4, 5, 2, 3)).reshape(8, 288, 784)

    def forward() -> np.ndarray:
        return flat @ columns()

    def backward() -> tuple[np.ndarray, np.ndarray]:
        cols = columns()
        forward_result = flat @ cols
        assert forward_result.shape == (8, 32, 784)
        g = grad.reshape(8, 32, 784)
        by_weight = np.matmul(g, cols.transpose(0, 2, 1)).sum(0)
        by_columns = (flat.T @ g).reshape(8, 32, 3, 3, 28, 28)
        by_image = np.zeros((8, 32, 30, 30), np.float32)
        for i in range(3):
            for j in range(3):
                by_image[:, :, i : i + 28, j : j + 28] += by_columns[:, :, i, j]
        return by_weight, by_image[:, :, 1:-1, 1:-1]

    x, w = om.tensor(images), om.tensor(weight)
    yield measure(
        "conv2d forward", lambda: om.conv2d(x, w, padding=1), forward, "numpy im2col", 2, rounds=9
    )
    leaves = [om.tensor(images, requires_grad=True), om.tensor(weight, requires_grad=True)]
    yield measure(
        "conv2d forward and backward",
        lambda: _both(leaves, lambda a, b: om.conv2d(a, b, padding=1), grad),
        backward, "numpy im2col", 2, rounds=9,
    )  # fmt: skip


def _matmul() -> Iterator[Result]:
    a, b, grad = _draw(256, 512), _draw(512, 256), _draw(256, 256)
    leaves = [om.tensor(a, requires_grad=True), om.tensor(b, requires_grad=True)]
    x, y = om.tensor(a), om.tensor(b)
    yield measure("matmul forward", lambda: x @ y, lambda: a @ b, "numpy", 2, rounds=9)
    yield measure(
        "matmul forward and backward",
        lambda: _both(leaves, lambda p, q: p @ q, grad),
        lambda: (a @ b, grad @ b.T, a.T @ grad), "numpy", 2, rounds=9,
    )  # fmt: skip


def _softmax() -> Iterator[Result]:
    a, grad = _draw(512, 768), _draw(512, 768)

    def forward() -> np.ndarray:
        shifted = a - a.max(1, keepdims=True)
        np.exp(shifted, out=shifted)
        shifted /= shifted.sum(1, keepdims=True)
        return shifted

    def backward() -> np.ndarray:
        y = forward()
        product = grad * y
        return product - y * product.sum(1, keepdims=True)

    x, leaf = om.tensor(a), om.tensor(a, requires_grad=True)
    yield measure("softmax forward", lambda: x.softmax(-1), forward, "numpy", 2)
    yield measure(
        "softmax forward and backward",
        lambda: _both([leaf], lambda t: t.softmax(-1), grad), backward, "numpy", 2,
    )  # fmt: skip


def _lstm() -> Iterator[Result]:
    steps, batch, width, hidden = 32, 8, 64, 64
    x = _draw(steps, batch, width)
    w, r = _draw(4 * hidden, width) * 0.1, _draw(4 * hidden, hidden) * 0.1
    bias = np.zeros(4 * hidden, np.float32)
    grad = _draw(steps, batch, hidden)
    layer = om.nn.LSTM(width, hidden)
    layer.load_state_dict(
        {"weight_ih_l0": w, "weight_hh_l0": r, "bias_ih_l0": bias, "bias_hh_l0": bias}
    )

    def sigmoid(v: np.ndarray) -> np.ndarray:
        return 0.5 * np.tanh(0.5 * v) + 0.5

    def forward(keep: list | None = None) -> np.ndarray:
        projected = x @ w.T
        h = np.zeros((batch, hidden), np.float32)
        c = np.zeros((batch, hidden), np.float32)
        out = np.empty((steps, batch, hidden), np.float32)
        for t in range(steps):
            z = projected[t] + h @ r.T
            i, f = sigmoid(z[:, :hidden]), sigmoid(z[:, hidden : 2 * hidden])
            g, o = np.tanh(z[:, 2 * hidden : 3 * hidden]), sigmoid(z[:, 3 * hidden :])
            before = c
            c = f * c + i * g
            tc = np.tanh(c)
            if keep is not None:
                keep.append((i, f, g, o, before, tc, h))
            h = o * tc
            out[t] = h
        return out

    def backward() -> tuple[np.ndarray, ...]:
        kept: list = []
        forward(kept)
        dh = np.zeros((batch, hidden), np.float32)
        dc = np.zeros((batch, hidden), np.float32)
        dz = np.empty((steps, batch, 4 * hidden), np.float32)
        for t in reversed(range(steps)):
            i, f, g, o, before, tc, _ = kept[t]
            dh = dh + grad[t]
            dc = dc + dh * o * (1 - tc * tc)
            dz[t, :, :hidden] = dc * g * i * (1 - i)
            dz[t, :, hidden : 2 * hidden] = dc * before * f * (1 - f)
            dz[t, :, 2 * hidden : 3 * hidden] = dc * i * (1 - g * g)
            dz[t, :, 3 * hidden :] = dh * tc * o * (1 - o)
            dh, dc = dz[t] @ r, dc * f
        flat = dz.reshape(-1, 4 * hidden)
        states = np.stack([k[6] for k in kept]).reshape(-1, hidden)
        return dz @ w, flat.T @ x.reshape(-1, width), flat.T @ states, flat.sum(0)

    plain = om.tensor(x)
    with om.no_grad():
        yield measure("lstm forward", lambda: layer(plain)[0], forward, "numpy", 2, rounds=9)
    leaf = om.tensor(x, requires_grad=True)
    yield measure(
        "lstm forward and backward",
        lambda: _both([leaf], lambda t: layer(t)[0], grad), backward, "numpy", 2, rounds=9,
    )  # fmt: skip
