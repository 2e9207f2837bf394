"""Element-wise rounding down."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import floor as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def floor(input: Tensor) -> Tensor:
    """The largest integer below or at each element; integers stay as they are. The gradient is 0.

    Shape and dtype are the input's. Raises TypeError for bool and for what is no number.
    Source: ``torch.floor``; ONNX Floor-6.
    """
    input = as_tensor("floor", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("floor: bool has nothing to round")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return input.copy() if input.dtype.kind in "iu" else kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return np.zeros_like(grad)


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Identity" if input.dtype.kind in "iu" else "Floor", input)


def _halves(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(-5, 6, shape) / 2


def reference(input: np.ndarray) -> np.ndarray:
    return np.asarray(input, np.float64) // 1


CASES = (
    Case((In(("batch", 3), low=-9, high=9),), reference=reference),
    Case((In((), low=-9, high=9),), reference=reference, name="0-d"),
    Case((In(("batch", 3), "int32", -9, 9),), reference=np.asarray, name="integers"),
    Case(
        (In(("batch", 4), values=_halves),),
        reference=reference,
        gradient=False,
        name="halves",
    ),
)

OPERATOR = Operator(
    "floor",
    declaration=floor,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("floor",),
    inplace=("floor_",),
    reads="",
    ufunc="floor",
    cases=CASES,
)
