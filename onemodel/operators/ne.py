"""Element-wise comparison, ``input != other``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import equal as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, equal
from onemodel.operators._operator import Composite, Operator, apply, apply_alike
from onemodel.operators._promote import operands
from onemodel.tensors.tensor import Tensor


def ne(input: Any, other: Any) -> Tensor:
    """Where ``input`` is different from ``other`` (a tensor or a number), with broadcasting.

    Operands meet by promotion; the result is bool and has no gradient. NaN differs from everything.
    Source: ``torch.ne``; ONNX Equal-7.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    pair, _ = operands("ne", input, other)
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return ~kernel.fast(input, other)


def opset_7(g: Any, input: Any, other: Any) -> Any:
    return g.op("Not", equal(g, input, other))


def _dunder(input: Tensor, other: Any) -> Any:
    """``x != y``; what is no tensor or number is left to Python's own comparison."""
    try:
        return ne(input, other)
    except TypeError:
        return NotImplemented


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=np.not_equal),
    Case((("batch", 1, 4), (3, 1)), reference=np.not_equal, name="broadcast"),
    Case(
        (("batch", 3),),
        call=lambda x: x != 0,
        reference=lambda x: np.not_equal(x, 0),
        name="number",
    ),
    Case(
        (In(("batch", 3), "int64", -2, 3), In((3,), "int64", -2, 3)),
        reference=np.not_equal,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int8", -2, 3), In((3,), "int8", -2, 3)),
        reference=np.not_equal,
        name="int8",
    ),
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.not_equal, name="bool"),
)

OPERATOR = Operator(
    "ne",
    declaration=ne,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("ne", "not_equal"),
    reads="",
    ufunc="not_equal",
    cases=CASES,
)

ALSO = (Composite("__ne__", declaration=_dunder, methods=("__ne__",), public=False),)
