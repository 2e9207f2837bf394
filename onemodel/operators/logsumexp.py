"""Logarithm of a sum of exponentials over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import reduce_log_sum_exp as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating, normalize_dims
from onemodel.operators._reduction import reduce_axes, spread
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """``log(sum(exp(x)))`` over ``dim`` (one axis or several), shifted so that it cannot overflow.

    Shape: the reduced axes are dropped, or kept with size 1; integers are taken as the default
    dtype. Raises IndexError for an axis out of range. Source: ``torch.logsumexp``;
    ONNX ReduceLogSumExp-1.
    """
    value = floating("logsumexp", "input", input)
    dims = normalize_dims("logsumexp", dim, value.ndim)
    return apply(OPERATOR, (value,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if not dim:
        return input.copy()
    return kernel.fast(input, np.asarray(dim, np.int64), keepdims=int(keepdim))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    dim, keepdim = record.attributes["dim"], record.attributes["keepdim"]
    result = spread(record.results[0], dim, keepdim)
    weight = np.exp(record.arrays[0] - result)
    empty = np.isinf(result) & (result < 0)  # all -inf: no element weighs anything
    return spread(grad, dim, keepdim) * np.where(empty, np.zeros((), weight.dtype), weight)


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return reduce(g, "ReduceLogSumExp", input, dim, keepdim)


def reference(input: np.ndarray, dim: Any, keepdim: bool = False) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.log(np.exp(wide).sum(axis=dim, keepdims=keepdim))


CASES = (
    Case((("batch", 3),), {"dim": 1}, reference=reference),
    Case((("batch", 3, 4),), {"dim": (0, 2)}, reference=reference, name="two axes"),
    Case((("batch", 3),), {"dim": 0, "keepdim": True}, reference=reference, name="keepdim"),
    Case(
        (In(("batch", 3), low=-500, high=500),),
        {"dim": 1},
        reference=lambda x, dim: np.logaddexp.reduce(np.asarray(x, np.float64), axis=dim),
        name="wide",
    ),
)

OPERATOR = Operator(
    "logsumexp",
    declaration=logsumexp,
    forward=forward,
    backward=backward,
    axes=reduce_axes,
    symbolic={7: opset_7},
    methods=("logsumexp",),
    cases=CASES,
)
