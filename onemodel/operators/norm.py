"""Norms of vectors along axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import reduce_l1, reduce_l2, reduce_max, reduce_min, reduce_sum
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating, normalize_dims
from onemodel.operators.to import to
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """``sum(|x|**p) ** (1/p)`` over ``dim`` (all axes without).

    ``p``: a number; "fro" is 2; ``inf`` gives the largest, ``-inf`` the smallest magnitude, 0
    counts what is not zero. Integers are converted to the default dtype. Raises ValueError for
    another name, such as the nuclear norm. Source: ``torch.norm``, ``torch.linalg.vector_norm``;
    ONNX ReduceL1-1, ReduceL2-1.
    """
    input = floating("norm", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    if p is None or p == "fro":
        p = 2
    if isinstance(p, (str, bool)):
        raise ValueError(f"norm: p={p!r}; write a number, inf, -inf or 'fro'")
    dims = normalize_dims("norm", dim, input.ndim)
    return apply(OPERATOR, (input,), {"p": float(p), "dim": dims, "keepdim": bool(keepdim)})


def forward(
    input: np.ndarray, *, p: float, dim: tuple[int, ...], keepdim: bool
) -> np.ndarray:  # fmt: skip
    if not dim:
        return (input != 0).astype(input.dtype) if p == 0 else np.abs(input)
    axes_of = np.asarray(dim, np.int64)
    keep = int(keepdim)
    if p == 2:
        return reduce_l2.fast(input, axes_of, keepdims=keep)
    if p == 1:
        return reduce_l1.fast(input, axes_of, keepdims=keep)
    size = np.abs(input)
    if math.isinf(p):
        if any(input.shape[axis] == 0 for axis in dim):
            raise ValueError("the largest of no elements is not defined")
        kernel = reduce_max if p > 0 else reduce_min
        return kernel.fast(size, axes_of, keepdims=keep)
    if p == 0:
        return reduce_sum.fast((input != 0).astype(input.dtype), axes_of, keepdims=keep)
    exponent = input.dtype.type(p)
    total = reduce_sum.fast(size**exponent, axes_of, keepdims=keep)
    return total ** input.dtype.type(1 / p)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray | None:
    (input,), (result,) = record.arrays, record.results
    p, dim, keepdim = (record.attributes[name] for name in ("p", "dim", "keepdim"))
    if p == 0:
        return None
    if dim and not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    size = np.abs(input)
    if not dim or p == 1:
        return grad * np.sign(input)
    if math.isinf(p):
        ties = size == result
        return grad * np.sign(input) * ties / ties.sum(axis=dim, keepdims=True)
    # At zero the gradient is taken to be zero.
    safe = np.where(result == 0, 1, result)
    scale = np.where(result == 0, 0, (np.where(size == 0, 1, size) / safe) ** (p - 1))
    return grad * np.sign(input) * scale


def axes(input: Axes, *, p: float, dim: tuple[int, ...], keepdim: bool) -> Axes:
    return rules.reduce(input, dim, keepdim)


def opset_7(g: Any, input: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    if p in (1, 2) and dim:
        return helpers.reduce(g, f"ReduceL{int(p)}", input, dim, keepdim)
    size = g.op("Abs", input)
    if p == 0:
        g.refuse_below(9, "counting what is not zero (Sign)")
        return helpers.reduce(g, "ReduceSum", g.op("Sign", size), dim, keepdim)
    if not dim:
        return size
    if math.isinf(p):
        return helpers.reduce(g, "ReduceMax" if p > 0 else "ReduceMin", size, dim, keepdim)
    total = helpers.reduce(g, "ReduceSum", g.op("Pow", size, g.like(p, input)), dim, keepdim)
    return g.op("Pow", total, g.like(1 / p, input))


def reference(
    input: np.ndarray, p: Any = "fro", dim: Any = None, keepdim: bool = False
) -> np.ndarray:
    size = np.abs(np.asarray(input, np.float64))
    if p in (math.inf, -math.inf):
        return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.count_nonzero(size, axis=dim, keepdims=keepdim)
    order = 2 if p == "fro" else p
    return np.power(np.power(size, order).sum(axis=dim, keepdims=keepdim), 1 / order)


CASES = (
    Case((("batch", 3, 4),), reference=reference),
    Case((("batch", 3, 4),), {"p": 1, "dim": (1, 2)}, reference=reference, name="1"),
    Case((("batch", 3),), {"p": 2, "dim": -1, "keepdim": True}, reference=reference, name="2"),
    Case((("batch", 3),), {"p": 3, "dim": 1}, reference=reference, name="3"),
    Case((("batch", 3),), {"p": math.inf, "dim": 1}, reference=reference, name="inf"),
    Case((("batch", 3),), {"p": -math.inf, "dim": 1}, reference=reference, name="-inf"),
    Case((("batch", 3),), {"p": 0, "dim": 1}, reference=reference, lowest=9, gradient=False,
         name="0"),
    Case(((),), reference=reference, name="0-d"),
)  # fmt: skip

OPERATOR = Operator(
    "norm",
    declaration=norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("norm",),
    reads="io",
    cases=CASES,
)
