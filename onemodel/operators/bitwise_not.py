"""Element-wise negation of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import bitwise_not as kernel
from onemodel.kernels import not_ as bool_kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def bitwise_not(input: Tensor) -> Tensor:
    """All bits of integers turned, or the truth of bools; no gradient.

    Shape and dtype are the input's. Raises TypeError for floating numbers.
    Source: ``torch.bitwise_not``; ONNX BitwiseNot-18 (a difference below).
    """
    input = as_tensor("bitwise_not", "input", input)
    if category(input.dtype) > 1:
        raise TypeError(f"bitwise_not: bits of integers and bool only, not {input.dtype}")
    return apply(OPERATOR, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return bool_kernel.fast(input) if input.dtype.kind == "b" else kernel.fast(input)


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype == np.bool_:
        return g.op("Not", input)
    if g.opset >= 18:
        return g.op("BitwiseNot", input)
    # In two's complement ~x is -1 - x; unsigned it is max - x.
    ones = -1 if input.dtype.kind == "i" else np.iinfo(input.dtype).max
    return arithmetic(g, "Sub", g.like(ones, input), input)


CASES = (
    Case((In(("batch", 3), "int64", -9, 9),), reference=lambda x: -1 - x),
    Case((In(("batch", 3), "uint8", 0, 255),), reference=lambda x: 255 - x, name="uint8"),
    Case((In(("batch", 3), "bool"),), reference=lambda x: x == 0, name="bool"),
)

OPERATOR = Operator(
    "bitwise_not",
    declaration=bitwise_not,
    forward=forward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("bitwise_not", "__invert__"),
    inplace=("bitwise_not_",),
    reads="",
    ufunc="invert",
    cases=CASES,
)
