"""Sum over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import reduce_sum as kernel
from onemodel.kernels._reduce import run
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.dtypes import category, int64
from onemodel.tensors.tensor import Tensor


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum over ``dim`` (one axis, several, or all).

    Shape: the reduced axes are dropped, or kept with size 1. bool and integers are summed as
    int64. Raises IndexError for an axis out of range. Source: ``torch.sum``; ONNX ReduceSum-1.
    """
    input = as_tensor("sum", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    elif category(input._array.dtype) < 2:
        input = to(input, int64)
    dims = normalize_dims("sum", dim, input.ndim)
    return apply(OPERATOR, (input,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if not dim:
        return input.copy()
    return run(kernel.core, input, dim, keepdim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    dim, keepdim = record.attributes["dim"], record.attributes["keepdim"]
    return np.broadcast_to(grad if keepdim else np.expand_dims(grad, dim), record.shapes[0])


def axes(input: Axes, *, dim: tuple[int, ...], keepdim: bool) -> Axes:
    return rules.reduce(input, dim, keepdim)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return reduce(g, "ReduceSum", input, dim, keepdim)


def reference(input: np.ndarray, dim: Any = None, keepdim: bool = False) -> np.ndarray:
    wide = np.asarray(input, np.float64 if input.dtype.kind == "f" else np.int64)
    return wide.sum(axis=dim, keepdims=keepdim)


CASES = (
    Case((("batch", 3, 4),), reference=reference),
    Case((("batch", 3, 4),), {"dim": (0, 2)}, reference=reference, name="two axes"),
    Case((("batch", 3, 4),), {"dim": -1, "keepdim": True}, reference=reference, name="keepdim"),
    Case((In(("batch", 3), "int32", -5, 5),), {"dim": 0}, reference=reference, name="integers"),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "sum",
    declaration=sum,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("sum",),
    reads="",
    cases=CASES,
)
