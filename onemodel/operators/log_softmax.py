"""Logarithm of softmax along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import log_softmax as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.to import to
from onemodel.tensors.tensor import Tensor


def log_softmax(input: Tensor, dim: int = -1, *, dtype: Any = None) -> Tensor:
    """``x - log(sum(exp(x)))`` along ``dim``, shifted by the maximum so that it cannot overflow.

    Shape [..., n, ...] -> the same; floating dtypes (``dtype`` converts first). Raises
    IndexError for ``dim`` out of range. Source: ``torch.log_softmax``; ONNX LogSoftmax-13
    (below 13 it flattens to two axes).
    """
    input = as_tensor("log_softmax", "input", input)
    input = input if dtype is None else to(input, dtype)
    return apply(OPERATOR, (input,), {"dim": normalize_dim("log_softmax", dim, input.ndim)})


def forward(input: np.ndarray, *, dim: int) -> np.ndarray:
    return np.zeros_like(input) if input.ndim == 0 else kernel.fast(input, axis=dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result, dim = record.results[0], record.attributes["dim"]
    if result.ndim == 0:
        return np.zeros_like(grad)
    total = grad.sum(axis=dim, keepdims=True)
    spread = np.exp(result)
    spread *= total
    return np.subtract(grad, spread, out=spread)


def opset_7(g: Any, input: Any, dim: int) -> Any:
    # Below 13 the node normalises everything from ``axis`` on, so the axis must come last.
    rank = input.rank
    if rank == 0:
        return g.constant(np.zeros((), input.dtype))
    if dim == rank - 1:
        return g.op("LogSoftmax", input, axis=dim)
    order = [*(d for d in range(rank) if d != dim), dim]
    inverse = [order.index(d) for d in range(rank)]
    last = g.op("LogSoftmax", g.op("Transpose", input, perm=order), axis=rank - 1)
    return g.op("Transpose", last, perm=inverse)


def opset_13(g: Any, input: Any, dim: int) -> Any:
    if input.rank == 0:
        return g.constant(np.zeros((), input.dtype))
    return g.op("LogSoftmax", input, axis=dim)


def reference(input: np.ndarray, dim: int = -1) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide - np.logaddexp.reduce(wide, axis=dim, keepdims=True)


CASES = (
    Case((("batch", 5),), {"dim": -1}, reference=reference),
    Case((("batch", 3, "width"),), {"dim": 1}, reference=reference, name="middle axis"),
    Case((("batch", 4),), {"dim": 0}, reference=reference, name="symbolic axis"),
    Case((In(("batch", 4), low=80, high=200),), reference=reference, tolerance=1e-4,
         name="large values"),
)  # fmt: skip

OPERATOR = Operator(
    "log_softmax",
    declaration=log_softmax,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 13: opset_13},
    methods=("log_softmax",),
    reads="o",
    cases=CASES,
)
