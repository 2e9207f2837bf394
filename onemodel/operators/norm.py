"""Vector norm over axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import reduce_l1, reduce_l2
from onemodel.operators._case import Case
from onemodel.operators._elementwise import equal
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators._reduction import check_not_empty, spread
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def norm(
    input: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """``sum(|x| ** p) ** (1 / p)`` over ``dim`` (one axis, several, or all).

    ``p``: a number; inf and -inf are the largest and smallest size, 0 counts what is not 0,
    "fro" is 2. Integers raise TypeError (pass ``dtype``). The gradient of 0 is 0.
    Source: ``torch.norm``; ONNX ReduceL1-1, ReduceL2-1.
    """
    input = as_tensor("norm", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    if category(input._array.dtype) != 2:
        raise TypeError(f"norm: {input.dtype} has no norm of its own; pass dtype=")
    power = 2.0 if p == "fro" else float(p)
    dims = normalize_dims("norm", dim, input.ndim)
    return apply(OPERATOR, (input,), {"p": power, "dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, p: float, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if p in (1.0, 2.0) and dim:
        node = reduce_l1 if p == 1 else reduce_l2
        return node.fast(input, np.asarray(dim), keepdims=int(keepdim))
    size = np.abs(input)
    if math.isinf(p):
        check_not_empty(input.shape, dim)
        return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.sum(input != 0, axis=dim, keepdims=keepdim).astype(input.dtype)
    total = np.sum(size ** np.asarray(p, input.dtype), axis=dim, keepdims=keepdim)
    return np.asarray(total ** np.asarray(1 / p, input.dtype))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    p, dim = record.attributes["p"], record.attributes["dim"]
    keepdim = record.attributes["keepdim"]
    x, result = record.arrays[0], spread(record.results[0], dim, keepdim)
    grad = spread(grad, dim, keepdim)
    if p == 0:
        return np.zeros_like(x)
    if math.isinf(p):
        won = np.abs(x) == result
        shared = grad / np.maximum(won.sum(axis=dim, keepdims=True), 1)
        return (won * np.sign(x) * shared).astype(x.dtype)
    if p == 2:
        slope = x / result
    else:
        slope = np.sign(x) * np.abs(x) ** np.asarray(p - 1, x.dtype)
        slope = slope / result ** np.asarray(p - 1, x.dtype)
    return grad * np.where((result == 0) | (x == 0), np.zeros((), x.dtype), slope)


def axes(input: Axes, *, p: float, dim: tuple[int, ...], keepdim: bool) -> Axes:
    return rules.reduce(input, dim, keepdim)


def opset_7(g: Any, input: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    size = g.op("Abs", input)
    if not dim and p != 0:
        return size
    if p in (1.0, 2.0):
        return reduce(g, "ReduceL1" if p == 1 else "ReduceL2", input, dim, keepdim)
    if math.isinf(p):
        return reduce(g, "ReduceMax" if p > 0 else "ReduceMin", size, dim, keepdim)
    if p == 0:
        there = g.op("Not", equal(g, input, g.like(0, input)))
        return reduce(g, "ReduceSum", g.cast(there, input.dtype), dim, keepdim)
    total = reduce(g, "ReduceSum", g.op("Pow", size, g.like(p, input)), dim, keepdim)
    return g.op("Pow", total, g.like(1 / p, input))


def reference(input: np.ndarray, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    wide = np.asarray(input, np.float64)
    if dim is None:
        wide, dim = wide.reshape(-1), 0
    return np.linalg.norm(wide, 2 if p == "fro" else p, axis=dim, keepdims=keepdim)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3, 4),), {"dim": 1}, reference=reference, name="one axis"),
    Case((("batch", 3),), {"p": 1, "dim": 1, "keepdim": True}, reference=reference, name="1"),
    Case((("batch", 3),), {"p": 3, "dim": 0}, reference=reference, name="3"),
    Case((("batch", 3),), {"p": math.inf, "dim": 1}, reference=reference, name="inf"),
    Case((("batch", 3),), {"p": -math.inf, "dim": 1}, reference=reference, name="-inf"),
    Case((("batch", 3),), {"p": 0, "dim": 1}, reference=reference, gradient=False, name="0"),
)

OPERATOR = Operator(
    "norm",
    declaration=norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("norm",),
    cases=CASES,
)
