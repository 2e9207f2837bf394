"""Element-wise comparison, ``input < other``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import less as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands
from onemodel.symbolic.helpers import comparison as comparison_node
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def lt(input: Any, other: Any) -> Tensor:
    """Where ``input`` is less than ``other`` (a tensor or a number), with broadcasting.

    Operands meet by promotion; the result is bool and has no gradient. NaN compares
    False. Raises TypeError for complex.
    Source: ``torch.lt``; ONNX Less-7.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    pair, dtype = operands("lt", input, other)
    if category(dtype) == 3:
        raise TypeError("lt: complex numbers have no order")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


def opset_7(g: Any, input: Any, other: Any) -> Any:
    return comparison_node(g, "Less", input, other)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=np.less),
    Case((("batch", 1, 4), (3, 1)), reference=np.less, name="broadcast"),
    Case((("batch", 3),), call=lambda x: x < 0, reference=lambda x: np.less(x, 0), name="number"),
    Case(
        (In(("batch", 3), "int64", -2, 3), In((3,), "int64", -2, 3)),
        reference=np.less,
        lowest=9,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int8", -2, 3), In((3,), "int8", -2, 3)),
        reference=np.less,
        name="int8",
    ),
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.less, name="bool"),
)

OPERATOR = Operator(
    "lt",
    declaration=lt,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("lt", "less", "__lt__"),
    reads="",
    ufunc="less",
    cases=CASES,
)
