"""Element-wise absolute value."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import abs as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def abs(input: Tensor) -> Tensor:
    """The size of each element; of complex numbers their modulus, in a real dtype.

    Shape and dtype are the input's. The gradient at 0 is 0. Raises TypeError for bool.
    Source: ``torch.abs``; ONNX Abs-6.
    """
    input = as_tensor("abs", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("abs: bool has no absolute value")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * np.sign(record.arrays[0])


def opset_7(g: Any, input: Any) -> Any:
    return arithmetic(g, "Abs", input)


def reference(input: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(input) < 0, np.negative(input), input)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
    Case((In(("batch", 3), "int32", -9, 9),), reference=reference, name="integers"),
)

OPERATOR = Operator(
    "abs",
    declaration=abs,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=(
        "abs",
        "absolute",
        "__abs__",
    ),
    inplace=("abs_",),
    reads="i",
    ufunc="absolute",
    cases=CASES,
)
