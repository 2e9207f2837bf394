"""Element-wise reciprocal."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import reciprocal as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def reciprocal(input: Tensor) -> Tensor:
    """``1 / input``, infinite at 0. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.reciprocal``; ONNX Reciprocal-6.
    """
    return apply(OPERATOR, (floating("reciprocal", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result = conjugate(record.results[0])
    return -grad * result * result


def reference(input: np.ndarray) -> np.ndarray:
    return 1 / np.asarray(input, np.float64)


CASES = (
    Case((In(("batch", 3), low=0.2, high=4.0),), reference=reference),
    Case((In((), low=0.2, high=4.0),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "reciprocal",
    declaration=reciprocal,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Reciprocal")},
    methods=("reciprocal",),
    inplace=("reciprocal_",),
    reads="o",
    ufunc="reciprocal",
    cases=CASES,
)
