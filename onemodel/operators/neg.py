"""Element-wise negation."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import neg as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def neg(input: Tensor) -> Tensor:
    """Each element with the other sign; unsigned integers wrap around.

    Shape and dtype are the input's. Raises TypeError for bool. Source: ``torch.neg``; ONNX Neg-6.
    """
    input = as_tensor("neg", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("neg: bool has no sign; write ~x or om.logical_not(x)")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return -grad


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype.kind == "u":  # Neg takes signed types only; 0 - x wraps around alike
        return arithmetic(g, "Sub", g.like(0, input), input)
    return arithmetic(g, "Neg", input)


def reference(input: np.ndarray) -> np.ndarray:
    return 0 - np.asarray(input)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
    Case((In(("batch", 3), "int32", -9, 9),), reference=reference, name="integers"),
)

OPERATOR = Operator(
    "neg",
    declaration=neg,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=(
        "neg",
        "negative",
        "__neg__",
    ),
    inplace=("neg_",),
    reads="",
    ufunc="negative",
    cases=CASES,
)
