"""Variance over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._reduction import counted, deviation, spread, variance, write_variance
from onemodel.tensors.tensor import Tensor


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Mean squared distance from the mean over ``dim`` (one axis, several, or all).

    Divided by ``n - correction``, where ``correction`` is 1 unless given (``unbiased=False``
    is correction 0); NaN or infinite where that is 0. Raises TypeError for integers, IndexError
    for an axis out of range. Source: ``torch.var``; ONNX ReduceMean-1.
    """
    return apply(OPERATOR, *deviation("var", input, dim, unbiased, keepdim, correction))


def forward(
    input: np.ndarray, *, dim: tuple[int, ...], correction: float, keepdim: bool
) -> np.ndarray:
    return variance(input, dim, correction, keepdim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x, dim = record.arrays[0], record.attributes["dim"]
    divisor = np.maximum(counted(x.shape, dim) - record.attributes["correction"], 0)
    share = spread(grad, dim, record.attributes["keepdim"]) * np.asarray(2 / divisor, x.dtype)
    return share * (x - x.mean(axis=dim, keepdims=True, dtype=x.dtype))


def axes(input: Axes, *, dim: tuple[int, ...], correction: float, keepdim: bool) -> Axes:
    return rules.reduce(input, dim, keepdim)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    return write_variance(g, input, dim, correction, keepdim)


def reference(
    input: np.ndarray,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> np.ndarray:
    ddof = int(unbiased) if correction is None else correction
    return np.var(np.asarray(input, np.float64), axis=dim, ddof=ddof, keepdims=keepdim)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3, 4),), {"dim": (0, 2)}, reference=reference, name="two axes"),
    Case(
        (("batch", 3, 4),),
        {"dim": 1, "unbiased": False, "keepdim": True},
        reference=reference,
        name="biased, keepdim",
    ),
    Case((("batch", 5),), {"dim": 1, "correction": 2}, reference=reference, name="correction"),
)

OPERATOR = Operator(
    "var",
    declaration=var,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("var",),
    reads="i",
    cases=CASES,
)
