"""Softmax along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import softmax as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.tensors.tensor import Tensor


def softmax(input: Tensor, dim: int = -1) -> Tensor:
    """``exp(x) / sum(exp(x))`` along ``dim``, shifted by the maximum so that it cannot overflow.

    Shape [..., n, ...] -> the same; floating dtypes. Raises IndexError for ``dim`` out of
    range. Source: ``torch.softmax``; ONNX Softmax-13 (below 13 it flattens to two axes).
    """
    input = as_tensor("softmax", "input", input)
    return apply(OPERATOR, (input,), {"dim": normalize_dim("softmax", dim, input.ndim)})


def forward(input: np.ndarray, *, dim: int) -> np.ndarray:
    if input.ndim == 0:
        return np.ones_like(input)
    return kernel.fast(input, axis=dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result, dim = record.results[0], record.attributes["dim"]
    if result.ndim == 0:
        return np.zeros_like(grad)
    product = grad * result
    return product - result * product.sum(axis=dim, keepdims=True)


def opset_13(g: Any, input: Any, dim: int) -> Any:
    if input.rank == 0:
        return g.constant(np.ones((), input.dtype))
    return g.op("Softmax", input, axis=dim)


def opset_7(g: Any, input: Any, dim: int) -> Any:
    # Below 13 the node normalises everything from ``axis`` on, so the axis must come last.
    rank = input.rank
    if rank == 0:
        return g.constant(np.ones((), input.dtype))
    if dim == rank - 1:
        return g.op("Softmax", input, axis=dim)
    order = [*(d for d in range(rank) if d != dim), dim]
    inverse = [order.index(d) for d in range(rank)]
    last = g.op("Softmax", g.op("Transpose", input, perm=order), axis=rank - 1)
    return g.op("Transpose", last, perm=inverse)


def reference(input: np.ndarray, dim: int = -1) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    shifted = np.exp(wide - wide.max(axis=dim, keepdims=True))
    return shifted / shifted.sum(axis=dim, keepdims=True)


CASES = (
    Case((("batch", 5),), {"dim": -1}, reference=reference),
    Case((("batch", 3, "width"),), {"dim": 1}, reference=reference, name="middle axis"),
    Case((("batch", 4),), {"dim": 0}, reference=reference, name="symbolic axis"),
)

OPERATOR = Operator(
    "softmax",
    declaration=softmax,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 13: opset_13},
    methods=("softmax",),
    reads="o",
    cases=CASES,
)
