"""Rectified linear unit, ``max(input, 0)``."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import relu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def relu(input: Tensor) -> Tensor:
    """Each element, or 0 where it is negative. NaN stays NaN; the gradient at 0 is 0.

    Shape and dtype are the input's. Raises TypeError for anything but a tensor.
    Source: ``torch.relu``; ONNX Relu-6.
    """
    return apply(OPERATOR, (as_tensor("relu", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (record.results[0] > 0)


def reference(input: np.ndarray) -> np.ndarray:
    return np.where(input < 0, 0, input)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((2, "width", 3, "batch"),), reference=reference, name="4-d"),
)

OPERATOR = Operator(
    "relu",
    declaration=relu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Relu")},
    methods=("relu",),
    inplace=("relu_",),
    reads="o",
    cases=CASES,
)
