"""Mish, ``x * tanh(softplus(x))``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import mish as kernel
from onemodel.kernels import sigmoid as sigmoid_kernel
from onemodel.kernels import softplus as softplus_kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def mish(input: Tensor) -> Tensor:
    """``x * tanh(log(1 + exp(x)))``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.mish``; ONNX Mish-18.
    """
    return apply(OPERATOR, (floating("mish", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    inner = np.tanh(softplus_kernel.fast(x))
    slope = sigmoid_kernel.fast(x) * (1 - np.square(inner))
    return grad * (inner + x * slope)


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Mul", input, g.op("Tanh", g.op("Softplus", input)))


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide * np.tanh(np.log(1 + np.exp(wide)))


CASES = (Case((("batch", 3),), reference=reference),)

OPERATOR = Operator(
    "mish",
    declaration=mish,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 18: unary("Mish")},
    methods=("mish",),
    inplace=("mish_",),
    reads="i",
    cases=CASES,
)
