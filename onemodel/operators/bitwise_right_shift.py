"""Element-wise shift of bits to the right."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import bit_shift as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, floor_quotient, power_of_two
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    """Bits moved down by ``other`` places with the sign kept: ``input // 2 ** other``.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion. No gradient.
    Raises TypeError for anything but integers. Source: ``torch.bitwise_right_shift``;
    ONNX BitShift-11 for unsigned integers.
    """
    pair, dtype = operands("bitwise_right_shift", input, other)
    if category(dtype) != 1:
        raise TypeError(f"bitwise_right_shift: integers only, not {dtype}")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other, direction="RIGHT")


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if g.accepts("BitShift", input.dtype):
        return g.op("BitShift", input, other, direction="RIGHT")
    # BitShift knows unsigned integers only: powers of two do the same.
    return floor_quotient(g, input, power_of_two(g, input, other))


def reference(input: np.ndarray, other: Any) -> np.ndarray:
    return np.vectorize(lambda a, b: int(a) >> int(b), [np.int64])(input, other)


CASES = (
    Case(
        (In(("batch", 3), "int64", -90, 90), In((3,), "int64", 0, 5)),
        reference=reference,
        lowest=12,
    ),
    Case(
        (In(("batch", 3), "int32", -90, 90),),
        call=lambda x: x >> 2,
        reference=lambda x: reference(x, 2),
        name="number",
    ),
    Case(
        (In(("batch", 3), "uint8", 0, 32), In((3,), "uint8", 0, 3)),
        reference=reference,
        lowest=11,
        name="unsigned",
    ),
)

OPERATOR = Operator(
    "bitwise_right_shift",
    declaration=bitwise_right_shift,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("bitwise_right_shift", "__rshift__"),
    inplace=("bitwise_right_shift_", "__irshift__"),
    reflected=("__rrshift__",),
    reads="",
    ufunc="right_shift",
    cases=CASES,
)
