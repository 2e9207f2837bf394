"""Rectified linear unit, ``max(input, 0)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import relu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def relu(input: Tensor) -> Tensor:
    """Each element, or 0 where it is negative. NaN stays NaN; the gradient at 0 is 0.

    Shape and dtype are the input's. Raises TypeError for bool and for anything but a tensor.
    Source: ``torch.relu``; ONNX Relu-6.
    """
    input = as_tensor("relu", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("relu: bool has no negative elements; convert it with .float()")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (record.results[0] > 0)


def opset_7(g: Any, input: Any) -> Any:
    # Relu knows no unsigned integers, which it would not change.
    unsigned = input.dtype.kind == "u"
    return g.op("Identity", input) if unsigned else arithmetic(g, "Relu", input)


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
    symbolic={7: opset_7},
    methods=("relu",),
    inplace=("relu_",),
    reads="o",
    cases=CASES,
)
