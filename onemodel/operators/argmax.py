"""Index of the largest element."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import arg_max as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._reduction import check_not_empty, indices, single_axes
from onemodel.tensors.tensor import Tensor


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first largest element along ``dim``, or in the flattened tensor.

    Shape: the axis is dropped, or kept with size 1. No gradient. Raises IndexError for an axis
    out of range or without elements. Source: ``torch.argmax``; ONNX ArgMax-1.
    """
    input = as_tensor("argmax", "input", input)
    if dim is not None:
        dim = normalize_dim("argmax", dim, input.ndim)
    return apply(OPERATOR, (input,), {"dim": dim, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: int | None, keepdim: bool) -> np.ndarray:
    if input.ndim == 0:
        return np.zeros((), np.int64)
    if not input.size:
        check_not_empty(input.shape, range(input.ndim) if dim is None else (dim,))
    if dim is None:
        found = kernel.fast(input.reshape(-1), axis=0, keepdims=0)
        return found.reshape((1,) * input.ndim) if keepdim else found
    return kernel.fast(input, axis=dim, keepdims=int(keepdim))


def opset_7(g: Any, input: Any, dim: int | None, keepdim: bool) -> Any:
    return indices(g, "ArgMax", input, dim, keepdim)


def reference(input: np.ndarray, dim: int | None = None, keepdim: bool = False) -> np.ndarray:
    return np.asarray(np.argmax(np.asarray(input, np.float64), axis=dim, keepdims=keepdim))


CASES = (
    Case((("batch", 3, 4),), {"dim": 1}, reference=reference),
    Case((("batch", 3, 4),), reference=reference, name="all"),
    Case((("batch", 3, 4),), {"keepdim": True}, reference=reference, name="all, keepdim"),
    Case((("batch", 5),), {"dim": 0, "keepdim": True}, reference=reference, name="keepdim"),
    Case((In(("batch", 3), "int32", -3, 3),), {"dim": -1}, reference=reference, name="ties"),
)

OPERATOR = Operator(
    "argmax",
    declaration=argmax,
    forward=forward,
    axes=single_axes,
    symbolic={7: opset_7},
    methods=("argmax",),
    reads="",
    cases=CASES,
)
