"""Standard deviation over axes."""

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


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Square root of the variance over ``dim`` (one axis, several, or all).

    Parameters as those of :func:`var`. The gradient where the deviation is 0 is 0.
    Raises TypeError for integers, IndexError for an axis out of range. Source: ``torch.std``;
    ONNX ReduceMean-1.
    """
    return apply(OPERATOR, *deviation("std", input, dim, unbiased, keepdim, correction))


def forward(
    input: np.ndarray, *, dim: tuple[int, ...], correction: float, keepdim: bool
) -> np.ndarray:
    return np.sqrt(variance(input, dim, correction, keepdim))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x, dim = record.arrays[0], record.attributes["dim"]
    divisor = np.maximum(counted(x.shape, dim) - record.attributes["correction"], 0)
    result = record.results[0]
    slope = np.where(result == 0, np.zeros((), x.dtype), grad / (result * divisor))
    share = spread(slope.astype(x.dtype), dim, record.attributes["keepdim"])
    return share * (x - x.mean(axis=dim, keepdims=True, dtype=x.dtype))


def axes(input: Axes, *, dim: tuple[int, ...], correction: float, keepdim: bool) -> Axes:
    return rules.reduce(input, dim, keepdim)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    return g.op("Sqrt", write_variance(g, input, dim, correction, keepdim))


def reference(
    input: np.ndarray,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> np.ndarray:
    ddof = int(unbiased) if correction is None else correction
    return np.std(np.asarray(input, np.float64), axis=dim, ddof=ddof, keepdims=keepdim)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3, 4),), {"dim": 1, "keepdim": True}, reference=reference, name="keepdim"),
    Case((("batch", 5),), {"dim": 1, "correction": 0}, reference=reference, name="correction"),
)

OPERATOR = Operator(
    "std",
    declaration=std,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("std",),
    cases=CASES,
)
