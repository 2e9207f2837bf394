"""Rectifier with a slope below 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import leaky_relu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Each element, times ``negative_slope`` where it is negative.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.leaky_relu``; ONNX LeakyRelu-6.
    """
    return apply(
        OPERATOR,
        (floating("leaky_relu", "input", input),),
        {"negative_slope": float(negative_slope)},
    )


def forward(input: np.ndarray, *, negative_slope: float) -> np.ndarray:
    return kernel.fast(input, alpha=negative_slope)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    slope = np.asarray(record.attributes["negative_slope"], grad.dtype)
    return np.where(record.arrays[0] > 0, grad, grad * slope)


def opset_7(g: Any, input: Any, negative_slope: float) -> Any:
    return g.op("LeakyRelu", input, alpha=negative_slope)


def reference(input: np.ndarray, negative_slope: float = 0.01) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.where(wide < 0, wide * negative_slope, wide)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"negative_slope": 0.3}, reference=reference, name="slope"),
)

OPERATOR = Operator(
    "leaky_relu",
    declaration=leaky_relu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("leaky_relu",),
    inplace=("leaky_relu_",),
    reads="i",
    cases=CASES,
)
