"""Largest element over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import reduce_max as kernel
from onemodel.kernels._reduce import run
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators._reduction import check_not_empty, extremum_gradient, reduce_axes
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Maximum over ``dim`` (one axis, several, or all for ``()``); NaN where one is NaN.

    Shape: the reduced axes are dropped, or kept with size 1. Equal largest elements share the
    gradient evenly. Raises IndexError for an axis out of range or without elements.
    Source: ``torch.amax``; ONNX ReduceMax-1.
    """
    input = as_tensor("amax", "input", input)
    dims = normalize_dims("amax", None if dim == () else dim, input.ndim)
    return apply(OPERATOR, (input,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    check_not_empty(input.shape, dim)
    if not dim:
        return input.copy()
    return run(kernel.core, input, dim, keepdim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return extremum_gradient(record, grad)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return reduce(g, "ReduceMax", input, dim, keepdim)


def reference(input: np.ndarray, dim: Any = (), keepdim: bool = False) -> np.ndarray:
    return np.max(np.asarray(input), axis=None if dim == () else dim, keepdims=keepdim)


CASES = (
    Case((("batch", 3, 4),), reference=reference),
    Case((("batch", 3, 4),), {"dim": (0, 2)}, reference=reference, name="two axes"),
    Case((("batch", 3, 4),), {"dim": -1, "keepdim": True}, reference=reference, name="keepdim"),
    Case((In(("batch", 3), "int32", -9, 9),), {"dim": 1}, reference=reference, name="integers"),
    Case((In(("batch", 3), "int16", -9, 9),), {"dim": 0}, reference=reference, name="int16"),
)

OPERATOR = Operator(
    "amax",
    declaration=amax,
    forward=forward,
    backward=backward,
    axes=reduce_axes,
    symbolic={7: opset_7},
    methods=("amax",),
    cases=CASES,
)
