"""Element-wise remainder with the sign of the dividend."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import mod as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def fmod(input: Any, other: Any) -> Tensor:
    """``input - other * trunc(input / other)``, as C's ``fmod``.

    Shapes: any two that broadcast. Raises ZeroDivisionError for integers and a divisor of 0,
    TypeError for bool and complex. Source: ``torch.fmod``; ONNX Mod-10.
    """
    pair, dtype = operands("fmod", input, other)
    if category(dtype) in (0, 3):
        raise TypeError(f"fmod: there is no remainder of {dtype} numbers")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    if input.dtype.kind in "iu" and not other.all():
        raise ZeroDivisionError("fmod: an integer divided by zero")
    return kernel.fast(input, other, fmod=1)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    return (
        unbroadcast(grad, left.shape),
        unbroadcast(-grad * np.trunc(left / right), right.shape),
    )


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if g.opset >= 10:
        return g.op("Mod", input, other, fmod=1)
    if input.dtype.kind not in "iu":
        raise g.unsupported("the remainder of floats needs Mod-10", lowest=10)
    quotient = arithmetic(g, "Div", input, other)
    return arithmetic(g, "Sub", input, arithmetic(g, "Mul", quotient, other))


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide - other * np.trunc(wide / other)


def _nonzero(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(2, 5, shape) * generator.choice([-1, 1], shape)


CASES = (
    Case((In(("batch", 3), low=-9, high=9), In((3,), low=0.5)), reference=reference, lowest=10),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", values=_nonzero)),
        reference=reference,
        name="integers",
    ),
)

OPERATOR = Operator(
    "fmod",
    declaration=fmod,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("fmod",),
    inplace=("fmod_",),
    reads="i",
    ufunc="fmod",
    cases=CASES,
)
