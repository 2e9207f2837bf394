"""Convolutions and pools against ONNX Runtime: strides, dilations, padding, groups, ranks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import signal

from onemodel.kernels import conv
from tests.kernels.onnxruntime_node import agree

SEED = 11


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    generator = np.random.RandomState(SEED + sum(shape))
    return np.asarray(generator.randn(*shape)).astype(dtype)


def attributes(rank: int, stride: int, dilation: int, padding: str) -> dict[str, Any]:
    given: dict[str, Any] = {"strides": [stride] * rank, "dilations": [dilation] * rank}
    if padding == "pads":
        given["pads"] = [1, 0, 1][:rank] + [1, 1, 0][:rank]
    else:
        given["auto_pad"] = padding
    return given


CONVOLUTIONS = {
    "plain": ((2, 3, 11, 13), (4, 3, 3, 3), 1),
    "wide, one product per tap": ((1, 40, 18, 20), (40, 40, 3, 3), 1),
    "wide 1d": ((2, 40, 300), (40, 40, 5), 1),
    "grouped": ((2, 4, 11, 13), (8, 2, 3, 2), 2),
    "depthwise": ((1, 6, 9, 9), (6, 1, 5, 3), 6),
    "depthwise with multiplier": ((1, 6, 9, 9), (12, 1, 3, 3), 6),
    "pointwise": ((2, 8, 5, 5), (6, 8, 1, 1), 1),
    "pointwise grouped": ((2, 8, 5, 5), (8, 4, 1, 1), 2),
    "pointwise on one pixel": ((2, 8, 1, 1), (6, 8, 1, 1), 1),
    "1d": ((2, 3, 17), (5, 3, 4), 1),
    "3d": ((1, 2, 6, 7, 5), (4, 2, 2, 3, 2), 1),
}


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(
    "dilation, padding",
    [(1, "pads"), (1, "SAME_UPPER"), (1, "SAME_LOWER"), (1, "VALID"), (2, "pads")],
)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_conv(name: str, stride: int, dilation: int, padding: str) -> None:
    x, w, group = CONVOLUTIONS[name]
    rank = len(x) - 2
    inputs = [normal(*x), normal(*w), normal(w[0])]
    given = attributes(rank, stride, dilation, padding)
    agree("Conv", 22, inputs, tolerance=2e-4, group=group, **given)


def test_conv_of_float16_accumulates_in_float32() -> None:
    inputs = [normal(2, 3, 8, 8, dtype=np.float16), normal(4, 3, 3, 3, dtype=np.float16)]
    agree("Conv", 20, inputs, tolerance=1e-3)


def test_conv_of_float64_keeps_all_digits() -> None:
    x, w = normal(1, 3, 8, 9, dtype=np.float64), normal(4, 3, 3, 2, dtype=np.float64)
    y = conv.fast(x, w)
    for out in range(4):
        exact = sum(signal.correlate2d(x[0, c], w[out, c], mode="valid") for c in range(3))
        np.testing.assert_allclose(y[0, out], exact, rtol=1e-12, atol=1e-12)


TRANSPOSED = {
    "plain": ((2, 3, 5, 6), (3, 4, 3, 3), 1),
    "grouped": ((1, 4, 5, 5), (4, 3, 3, 3), 2),
    "1d": ((2, 3, 7), (3, 2, 4), 1),
    "3d": ((1, 2, 3, 4, 5), (2, 3, 3, 3, 3), 1),
}


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", ["pads", "SAME_UPPER", "SAME_LOWER", "shape", "output"])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name: str, stride: int, dilation: int, padding: str) -> None:
    x, w, group = TRANSPOSED[name]
    rank = len(x) - 2
    given: dict[str, Any] = {"strides": [stride] * rank, "dilations": [dilation] * rank}
    if padding == "pads":
        given["pads"] = [1, 0, 1][:rank] + [0, 1, 1][:rank]
    elif padding == "shape":
        full = [
            (n - 1) * stride + (k - 1) * dilation + 1 for n, k in zip(x[2:], w[2:], strict=True)
        ]
        given["output_shape"] = [n - 1 for n in full]
    elif padding == "output":
        given["output_padding"] = [1 if stride > 1 else 0] * rank
    else:
        given["auto_pad"] = padding
    inputs = [normal(*x), normal(*w), normal(w[1] * group)]
    agree("ConvTranspose", 22, inputs, tolerance=1e-4, group=group, **given)


def pools() -> list[tuple[Any, ...]]:
    return list(
        itertools.product(
            ["MaxPool", "AveragePool", "LpPool"],
            [(2, 3, 10, 11), (1, 2, 9), (1, 2, 6, 7, 8)],
            [2, 3],
            [1, 2, 3],
            [(1, "pads"), (2, "pads"), (1, "SAME_UPPER"), (1, "SAME_LOWER")],
            [0, 1],
        )
    )


@pytest.mark.parametrize("node_type, shape, kernel, stride, around, ceil", pools())
def test_pools(
    node_type: str,
    shape: tuple[int, ...],
    kernel: int,
    stride: int,
    around: tuple[int, str],
    ceil: int,
) -> None:
    rank = len(shape) - 2
    given = attributes(rank, stride, *around)
    given |= {"kernel_shape": [kernel] * rank, "ceil_mode": ceil}
    outputs = 2 if node_type == "MaxPool" else 1
    agree(node_type, 22, [normal(*shape)], outputs, tolerance=1e-4, **given)
    if node_type == "AveragePool":
        agree(node_type, 22, [normal(*shape)], tolerance=1e-4, count_include_pad=1, **given)


def test_max_pool_of_integers_and_in_column_major_order() -> None:
    whole = (normal(2, 3, 6, 7) * 9).astype(np.int8)
    agree("MaxPool", 22, [whole], 2, kernel_shape=[3, 2], pads=[1, 1, 1, 1])
    agree("MaxPool", 22, [normal(2, 3, 6, 7)], 2, kernel_shape=[2, 2], storage_order=1)


def test_global_pools() -> None:
    for node_type in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        agree(node_type, 20, [normal(2, 3, 4, 5)])
