"""Element-wise power."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import pow as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, conjugate
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor

_NO_INVERSE = "integers have no negative integer powers; convert the base to a float"


def pow(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` with broadcasting; either may be a number.

    Dtype: where the operands meet by promotion. Raises ValueError for integers to a negative
    integer power. Source: ``torch.pow``; ONNX Pow-7 (integers since 12).
    """
    plain = apply_alike(OPERATOR, input, exponent)
    if plain is not None:
        return plain
    below = type(exponent) is int and exponent < 0
    (input, exponent), dtype = operands("pow", input, exponent)
    if below and dtype.kind == "u":
        raise ValueError(_NO_INVERSE)
    if dtype.kind == "b":
        raise TypeError("pow: bool has no powers; convert it with .long()")
    return apply(OPERATOR, (input, exponent))


def forward(input: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    if input.dtype.kind == "i" and (exponent < 0).any():
        raise ValueError(_NO_INVERSE)
    return kernel.fast(input, exponent)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    base, exponent = record.arrays
    grads: list[np.ndarray | None] = [None, None]
    if record.needs[0]:
        slope = conjugate(exponent * np.power(base, exponent - 1))
        slope = np.where(exponent == 0, np.zeros((), slope.dtype), slope)
        grads[0] = unbroadcast(grad * slope, base.shape)
    if record.needs[1]:
        slope = conjugate(record.results[0] * np.log(base))
        flat = (base == 0) & (np.real(exponent) >= 0)  # 0 ** y is 0 for every y above 0
        slope = np.where(flat, np.zeros((), slope.dtype), slope)
        grads[1] = unbroadcast(grad * slope, exponent.shape)
    return grads[0], grads[1]


def opset_7(g: Any, input: Any, exponent: Any) -> Any:
    known = g.array(exponent)
    root = known is not None and known.size == 1 and known.reshape(()) == 0.5
    if root and (exponent.rank or 0) <= (input.rank or 0) and g.accepts("Sqrt", input.dtype):
        return g.op("Sqrt", input)  # as eager does: of -0 and -inf, Pow makes 0 and inf
    if g.accepts("Pow", input.dtype) or input.dtype.kind == "f":
        return g.op("Pow", input, exponent)
    if input.dtype == np.uint64:  # of the same bits as int64, multiplied alike
        signed = [g.cast(value, np.int64) for value in (input, exponent)]
        return g.cast(opset_7(g, *signed), np.uint64)
    if g.opset >= 12:
        return arithmetic(g, "Pow", input, exponent)
    # Integer powers came at 12; a small constant one is a product.
    if known is None or known.size != 1 or not 1 <= known.item() <= 8:
        raise g.unsupported("an integer power needs Pow-12", lowest=12)
    result = input
    for _ in range(int(known.item()) - 1):
        result = arithmetic(g, "Mul", result, input)
    return result


def reference(input: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return np.exp(np.asarray(exponent, np.float64) * np.log(np.asarray(input, np.float64)))


CASES = (
    Case((In(("batch", 3), low=0.2), ("batch", 3)), reference=reference),
    Case((In(("batch", 1, 4), low=0.2), (3, 1)), reference=reference, name="broadcast"),
    Case((("batch", 3),), call=lambda x: x**2, reference=lambda x: x * x, name="square"),
    Case((("batch", 3),), call=lambda x: 2**x, reference=np.exp2, name="reflected"),
    Case(
        (In(("batch", 3), "int64", -5, 5),),
        call=lambda x: x**3,
        reference=lambda x: x * x * x,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int32", -5, 5), In((3,), "int32", 0, 4)),
        reference=lambda x, y: np.round(np.asarray(x, np.float64) ** y),
        lowest=12,
        name="integer exponents",
    ),
)

OPERATOR = Operator(
    "pow",
    declaration=pow,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("pow", "__pow__"),
    reflected=("__rpow__",),
    inplace=("pow_", "__ipow__"),
    ufunc="power",
    cases=CASES,
)
