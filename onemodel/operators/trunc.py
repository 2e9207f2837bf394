"""Element-wise rounding toward zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def trunc(input: Tensor) -> Tensor:
    """The integer part of each element; integers stay as they are. The gradient is 0.

    Shape and dtype are the input's. Raises TypeError for bool and for what is no number.
    Source: ``torch.trunc``; ONNX Floor-6 and Sign-9.
    """
    input = as_tensor("trunc", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("trunc: bool has nothing to round")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return input.copy() if input.dtype.kind in "iu" else np.trunc(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return np.zeros_like(grad)


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype.kind in "iu":
        return g.op("Identity", input)
    g.refuse_below(9, "trunc (Sign)")
    return g.op("Mul", g.op("Sign", input), g.op("Floor", g.op("Abs", input)))


def _halves(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(-5, 6, shape) / 2


def reference(input: np.ndarray) -> np.ndarray:
    return np.sign(np.asarray(input, np.float64)) * (np.abs(np.asarray(input, np.float64)) // 1)


CASES = (
    Case((In(("batch", 3), low=-9, high=9),), reference=reference, lowest=9),
    Case((In((), low=-9, high=9),), reference=reference, lowest=9, name="0-d"),
    Case((In(("batch", 3), "int32", -9, 9),), reference=np.asarray, name="integers"),
    Case(
        (In(("batch", 4), values=_halves),),
        reference=reference,
        gradient=False,
        lowest=9,
        name="halves",
    ),
)

OPERATOR = Operator(
    "trunc",
    declaration=trunc,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("trunc",),
    inplace=("trunc_",),
    reads="",
    ufunc="trunc",
    cases=CASES,
)
