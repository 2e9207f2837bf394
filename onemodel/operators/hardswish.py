"""Piecewise linear swish."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import hard_swish as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def hardswish(input: Tensor) -> Tensor:
    """``x * clamp(x + 3, 0, 6) / 6``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.hardswish``; ONNX HardSwish-14.
    """
    return apply(OPERATOR, (floating("hardswish", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    return grad * np.where(x < -3, 0, np.where(x > 3, 1, x / 3 + 0.5)).astype(x.dtype)


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Mul", input, g.op("HardSigmoid", input, alpha=1 / 6, beta=0.5))


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide * np.clip(wide + 3, 0, 6) / 6


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((In(("batch", 3), low=-9, high=9),), reference=reference, name="wide"),
)

OPERATOR = Operator(
    "hardswish",
    declaration=hardswish,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 14: unary("HardSwish")},
    methods=("hardswish",),
    inplace=("hardswish_",),
    reads="i",
    cases=CASES,
)
