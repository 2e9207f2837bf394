"""Normalisation by the squares of neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """``x / (k + alpha * mean of x**2 over size channels) ** beta``.

    Shape [N, C, d1, ...] -> the same. The window reaches size//2 channels down and (size - 1)//2
    up; channels outside count as zero. Raises ValueError for fewer than three axes or a size
    below 1. Source: ``torch.nn.functional.local_response_norm``; ONNX LRN-1 for odd sizes.
    """
    input = as_tensor("local_response_norm", "input", input)
    check_floating("local_response_norm", input=input)
    if input.ndim < 3 or size < 1:
        raise ValueError(
            f"local_response_norm: expected at least three axes and a size of 1 or more, not "
            f"{list(input._array.shape)} and {size}"
        )
    attributes = {"size": int(size), "alpha": float(alpha), "beta": float(beta), "k": float(k)}
    return apply(OPERATOR, (input,), attributes)


def _sums(values: np.ndarray, below: int, above: int) -> np.ndarray:
    """Sums over a window of channels; what lies outside counts as zero."""
    total = np.zeros_like(values)
    channels = values.shape[1]
    for shift in range(-below, above + 1):
        if abs(shift) >= channels:
            continue
        low, high = max(0, -shift), min(channels, channels - shift)
        total[:, low:high] += values[:, low + shift : high + shift]
    return total


def forward(input: np.ndarray, *, size: int, alpha: float, beta: float, k: float) -> np.ndarray:
    dtype = input.dtype
    squares = _sums(input * input, size // 2, (size - 1) // 2)
    divisor = squares * dtype.type(alpha / size) + dtype.type(k)
    return np.asarray(input / divisor ** dtype.type(beta)).astype(dtype, copy=False)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    a = record.attributes
    number = x.dtype.type
    below, above = a["size"] // 2, (a["size"] - 1) // 2
    share = number(a["alpha"] / a["size"])
    divisor = _sums(x * x, below, above) * share + number(a["k"])
    power = divisor ** number(-a["beta"])
    spread = _sums(grad * x * power / divisor, above, below)
    return grad * power - x * spread * (number(2 * a["beta"]) * share)


def opset_7(g: Any, input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    if size % 2 and input.rank == 4:
        return g.op("LRN", input, size=size, alpha=alpha, beta=beta, bias=k)
    # Channels as the rows of an image: a mean over windows of rows, padding counted.
    channels = g.result_axes[0][1]
    square = g.op("Mul", input, input)
    rows = g.op("Reshape", square, g.sizes([g.result_axes[0][0], 1, channels, -1]))
    mean = g.op(
        "AveragePool",
        rows,
        kernel_shape=[size, 1],
        strides=[1, 1],
        pads=[size // 2, 0, (size - 1) // 2, 0],
        count_include_pad=1,
    )
    mean = helpers.reshape(g, mean, g.result_axes[0])
    divisor = g.op("Add", g.op("Mul", mean, g.like(alpha, mean)), g.like(k, mean))
    return g.op("Div", input, g.op("Pow", divisor, g.like(beta, divisor)))


def reference(
    input: np.ndarray, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> np.ndarray:
    x = np.asarray(input, np.float64)
    padded = np.pad(x, [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (x.ndim - 2))
    mean = np.stack(
        [(padded[:, c : c + size] ** 2).sum(axis=1) / size for c in range(x.shape[1])], axis=1
    )
    return x / (k + alpha * mean) ** beta


CASES = (
    Case((("batch", 6, "height", 3),), {"size": 3, "alpha": 0.5}, reference=reference),
    Case((("batch", 5, 3, 2),), {"size": 4, "alpha": 0.5, "beta": 0.5, "k": 2.0},
         reference=reference, name="even size"),
    Case((("batch", 5, "time"),), {"size": 5, "alpha": 0.3}, reference=reference,
         name="one axis"),
)  # fmt: skip

OPERATOR = Operator(
    "local_response_norm",
    declaration=local_response_norm,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)
