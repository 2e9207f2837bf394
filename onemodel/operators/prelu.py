"""Rectifier with a learnt slope below 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import prelu as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times its channel's ``weight`` where it is negative.

    ``weight``: [1] for all, or [C] for axis 1 of ``input``. Shape as the input's. Raises
    ValueError for another number of weights. Source: ``torch.nn.functional.prelu``; ONNX PRelu-7.
    """
    (input, weight), _ = operands("prelu", input, weight)
    channels = input._array.shape[1] if input.ndim > 1 else 1
    if weight.ndim > 1 or weight._array.size not in (1, channels):
        raise ValueError(
            f"prelu: weight must have 1 or {channels} elements, not shape "
            f"{list(weight._array.shape)}"
        )
    return apply(OPERATOR, (input, weight))


def _along(weight: np.ndarray, ndim: int) -> np.ndarray:
    """The weight along axis 1 (or for all elements), to be broadcast."""
    return weight.reshape((-1,) + (1,) * (ndim - 2)) if ndim > 1 else weight.reshape((1,) * ndim)


def forward(input: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return kernel.fast(input, _along(weight, input.ndim))


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, weight = record.arrays
    slope = _along(weight, x.ndim)
    below = np.where(x > 0, np.zeros((), grad.dtype), grad * x)
    return (
        np.where(x > 0, grad, grad * slope),
        unbroadcast(below, slope.shape).reshape(weight.shape),
    )


def axes(input: Axes, weight: Axes) -> Axes:
    return input


def opset_7(g: Any, input: Any, weight: Any) -> Any:
    rank = input.rank
    shape = [-1] + [1] * (rank - 2) if rank > 1 else [1] * rank
    return g.op("PRelu", input, helpers.reshape(g, weight, shape))


def reference(input: np.ndarray, weight: np.ndarray) -> np.ndarray:
    moved = np.moveaxis(np.asarray(input, np.float64), 1, -1)
    return np.moveaxis(np.maximum(moved, 0) + weight * np.minimum(moved, 0), -1, 1)


CASES = (
    Case((("batch", 3, "time"), In((3,), constant=True)), reference=reference),
    Case((("batch", 3), (1,)), reference=reference, name="one weight"),
)

OPERATOR = Operator(
    "prelu",
    declaration=prelu,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("prelu",),
    reads="i",
    cases=CASES,
)
