"""Arithmetic mean over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import reduce_mean as kernel
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators._reduction import counted, reduce_axes, spread
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean over ``dim`` (one axis, several, or all); NaN over no elements.

    Shape: the reduced axes are dropped, or kept with size 1. Raises TypeError for integers
    (pass ``dtype``), IndexError for an axis out of range. Source: ``torch.mean``;
    ONNX ReduceMean-1.
    """
    input = as_tensor("mean", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    if category(input._array.dtype) < 2:
        raise TypeError(
            f"mean: {input.dtype} has no mean of its own; write x.float().mean() or pass dtype="
        )
    dims = normalize_dims("mean", dim, input.ndim)
    return apply(OPERATOR, (input,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if not dim:
        return input.copy()
    if 0 in input.shape:  # NaN without NumPy's warning of an empty slice
        return np.true_divide(input.sum(axis=dim, keepdims=keepdim), counted(input.shape, dim))
    return kernel.fast(input, np.asarray(dim, np.int64), keepdims=int(keepdim))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    dim, shape = record.attributes["dim"], record.shapes[0]
    share = grad / np.asarray(counted(shape, dim), grad.dtype)
    return np.broadcast_to(spread(share, dim, record.attributes["keepdim"]), shape)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return reduce(g, "ReduceMean", input, dim, keepdim)


def reference(input: np.ndarray, dim: Any = None, keepdim: bool = False) -> np.ndarray:
    total = np.asarray(input, np.float64).sum(axis=dim, keepdims=keepdim)
    return total / (np.size(input) / max(np.size(total), 1))


CASES = (
    Case((("batch", 3, 4),), reference=reference),
    Case((("batch", 3, 4),), {"dim": (0, 2)}, reference=reference, name="two axes"),
    Case((("batch", 3, 4),), {"dim": -1, "keepdim": True}, reference=reference, name="keepdim"),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "mean",
    declaration=mean,
    forward=forward,
    backward=backward,
    axes=reduce_axes,
    symbolic={7: opset_7},
    methods=("mean",),
    reads="",
    cases=CASES,
)
