"""Whether some element is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators._reduction import reduce_axes
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element over ``dim`` (one axis, several, or all) is true, or not 0.

    Shape: the reduced axes are dropped, or kept with size 1. bool, no gradient; False over no
    elements. Raises IndexError for an axis out of range. Source: ``torch.any``;
    ONNX ReduceSum-1.
    """
    value = to(as_tensor("any", "input", input), np.bool_)
    dims = normalize_dims("any", dim, value.ndim)
    return apply(OPERATOR, (value,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    return np.any(input, axis=dim, keepdims=keepdim)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    # Truth as 0 and 1: reductions take bool from 20 on only. Added, as no element has no maximum.
    found = reduce(g, "ReduceSum", g.cast(input, np.int32), dim, keepdim)
    return g.cast(found, np.bool_)


def reference(input: np.ndarray, dim: Any = None, keepdim: bool = False) -> np.ndarray:
    return np.max(input != 0, axis=dim, keepdims=keepdim, initial=False)


CASES = (
    Case((In(("batch", 3), "bool"),), reference=reference),
    Case((In(("batch", 2), "bool"),), {"dim": 1}, reference=reference, name="one axis"),
    Case(
        (In(("batch", 2, 2), "int64", 0, 3),),
        {"dim": (1, 2), "keepdim": True},
        reference=reference,
        name="integers, keepdim",
    ),
)

OPERATOR = Operator(
    "any",
    declaration=any,
    forward=forward,
    axes=reduce_axes,
    symbolic={7: opset_7},
    methods=("any",),
    reads="",
    cases=CASES,
)
