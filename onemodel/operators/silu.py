"""Sigmoid linear unit, ``input * sigmoid(input)``, also called swish."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sigmoid as sigmoid_kernel
from onemodel.kernels import swish as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def silu(input: Tensor) -> Tensor:
    """``input * sigmoid(input)``; integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.silu``; ONNX Swish-24 (Sigmoid and Mul below).
    """
    return apply(OPERATOR, (floating("silu", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    s = sigmoid_kernel.fast(x)
    return grad * (s * (1 + x * (1 - s)))


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Mul", input, g.op("Sigmoid", input))


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide / (1 + np.exp(-wide))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "silu",
    declaration=silu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("silu",),
    inplace=("silu_",),
    reads="i",
    cases=CASES,
)
