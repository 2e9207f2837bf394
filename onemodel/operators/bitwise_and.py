"""Element-wise and of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import bitwise_and as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def bitwise_and(input: Any, other: Any) -> Tensor:
    """``input & other``, bit by bit for integers, the truth for bools; no gradient.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion. Raises TypeError
    for floating numbers. Source: ``torch.bitwise_and``; ONNX BitwiseAnd-18.
    """
    plain = apply_alike(OPERATOR, input, other, kinds="biu")
    if plain is not None:
        return plain
    pair, dtype = operands("bitwise_and", input, other)
    if category(dtype) > 1:
        raise TypeError(f"bitwise_and: bits of integers and bool only, not {dtype}")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)  # of bools, the truth


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if input.dtype == np.bool_:
        return g.op("And", input, other)
    return g.op("BitwiseAnd", input, other)


CASES = (
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", -9, 9)),
        reference=lambda x, y: np.vectorize(lambda a, b: int(a) & int(b), [np.int64])(x, y),
        lowest=18,
    ),
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.logical_and, name="bool"),
)

OPERATOR = Operator(
    "bitwise_and",
    declaration=bitwise_and,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("bitwise_and", "__and__"),
    reflected=("__rand__",),
    inplace=("bitwise_and_", "__iand__"),
    reads="",
    ufunc="bitwise_and",
    cases=CASES,
)
