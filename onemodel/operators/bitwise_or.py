"""Element-wise or of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import bitwise_or as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def bitwise_or(input: Any, other: Any) -> Tensor:
    """``input | other``, bit by bit for integers, the truth for bools; no gradient.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion. Raises TypeError
    for floating numbers. Source: ``torch.bitwise_or``; ONNX BitwiseOr-18.
    """
    plain = apply_alike(OPERATOR, input, other, kinds="biu")
    if plain is not None:
        return plain
    pair, dtype = operands("bitwise_or", input, other)
    if category(dtype) > 1:
        raise TypeError(f"bitwise_or: bits of integers and bool only, not {dtype}")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)  # of bools, the truth


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if input.dtype == np.bool_:
        return g.op("Or", input, other)
    return g.op("BitwiseOr", input, other)


CASES = (
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", -9, 9)),
        reference=lambda x, y: np.vectorize(lambda a, b: int(a) | int(b), [np.int64])(x, y),
        lowest=18,
    ),
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.logical_or, name="bool"),
)

OPERATOR = Operator(
    "bitwise_or",
    declaration=bitwise_or,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("bitwise_or", "__or__"),
    reflected=("__ror__",),
    inplace=("bitwise_or_", "__ior__"),
    reads="",
    ufunc="bitwise_or",
    cases=CASES,
)
