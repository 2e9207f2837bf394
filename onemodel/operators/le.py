"""Element-wise comparison, ``input <= other``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import less_or_equal as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, less_equal
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def le(input: Any, other: Any) -> Tensor:
    """Where ``input`` is at most ``other`` (a tensor or a number), with broadcasting.

    Operands meet by promotion; the result is bool and has no gradient. NaN compares
    False. Raises TypeError for complex.
    Source: ``torch.le``; ONNX LessOrEqual-12.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    pair, dtype = operands("le", input, other)
    if category(dtype) == 3:
        raise TypeError("le: complex numbers have no order")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


def opset_7(g: Any, input: Any, other: Any) -> Any:
    return less_equal(g, input, other)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=np.less_equal),
    Case((("batch", 1, 4), (3, 1)), reference=np.less_equal, name="broadcast"),
    Case(
        (("batch", 3),),
        call=lambda x: x <= 0,
        reference=lambda x: np.less_equal(x, 0),
        name="number",
    ),
    Case(
        (In(("batch", 3), "int64", -2, 3), In((3,), "int64", -2, 3)),
        reference=np.less_equal,
        lowest=9,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int8", -2, 3), In((3,), "int8", -2, 3)),
        reference=np.less_equal,
        name="int8",
    ),
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.less_equal, name="bool"),
)

OPERATOR = Operator(
    "le",
    declaration=le,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("le", "less_equal", "__le__"),
    reads="",
    ufunc="less_equal",
    cases=CASES,
)
