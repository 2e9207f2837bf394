"""Element-wise limits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import Size
from onemodel.kernels import clip as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, keeps_dtype, meet, operand
from onemodel.operators.clamp_max import clamp_max
from onemodel.operators.clamp_min import clamp_min
from onemodel.symbolic.helpers import clip
from onemodel.tensors.tensor import Tensor

_BY_TENSOR = (Tensor, np.ndarray, Size, SizeRatio)


def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """Each element, no smaller than ``min`` and no larger than ``max`` (numbers or tensors).

    Where the limits cross, ``max`` wins; NaN stays NaN. Dtype: where all meet by promotion.
    The gradient is 0 outside the limits. Raises ValueError without any limit.
    Source: ``torch.clamp``; ONNX Clip-6.
    """
    if min is None and max is None:
        raise ValueError("clamp: needs min, max or both")
    if isinstance(min, _BY_TENSOR) or isinstance(max, _BY_TENSOR):
        result = as_tensor("clamp", "input", input)
        result = result if min is None else clamp_min(result, min)
        return result if max is None else clamp_max(result, max)
    if isinstance(input, Tensor) and keeps_dtype(input._array.dtype, (min, max)):
        tensor = input
    else:
        given = [value for value in (input, min, max) if value is not None]
        tensor = operand(input, meet("clamp", given))
    dtype = tensor._array.dtype
    low = None if min is None else _rounded(min, dtype).item()
    high = None if max is None else _rounded(max, dtype).item()
    return apply(OPERATOR, (tensor,), {"min": low, "max": high})


@functools.lru_cache(256, typed=True)
def _kept(limit: Any, dtype: np.dtype) -> np.ndarray:
    return np.asarray(limit, dtype)


def _rounded(limit: Any, dtype: np.dtype) -> np.ndarray:
    """A limit in the dtype of what it limits."""
    # 0 and -0 would share one place among those kept.
    return _kept(limit, dtype) if limit else np.asarray(limit, dtype)


def forward(input: np.ndarray, *, min: Any, max: Any) -> np.ndarray:
    dtype = input.dtype
    low = None if min is None else _rounded(min, dtype)
    high = None if max is None else _rounded(max, dtype)
    return kernel.fast(input, low, high)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    value, low, high = record.arrays[0], record.attributes["min"], record.attributes["max"]
    inside = np.ones(value.shape, bool)
    if low is not None:
        inside &= ~(value < low)
    if high is not None:
        inside &= ~(value > high)
    return grad * inside


def opset_7(g: Any, input: Any, min: Any, max: Any) -> Any:
    if min is not None and max is not None and min > max:  # Clip leaves this case open
        min = max
    return clip(g, input, min, max)


def reference(input: np.ndarray, min: Any = None, max: Any = None) -> np.ndarray:
    result = np.asarray(input)
    result = result if min is None else np.where(result < min, min, result)
    return result if max is None else np.where(result > max, max, result)


CASES = (
    Case((("batch", 3),), {"min": -0.5, "max": 1.0}, reference=reference),
    Case((("batch", 3),), {"min": 0.0}, reference=reference, name="min only"),
    Case((("batch", 3),), {"max": 0.5}, reference=reference, name="max only"),
    Case((("batch", 3), (3,), (3,)), call=clamp, reference=reference, lowest=8, name="tensors"),
    Case((("batch", 3),), {"min": 1.0, "max": -1.0}, reference=reference, name="crossed"),
    Case(
        (In(("batch", 3), "int64", -9, 9),),
        {"min": -3, "max": 4},
        reference=reference,
        lowest=9,
        name="integers",
    ),
)

OPERATOR = Operator(
    "clamp",
    declaration=clamp,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("clamp", "clip"),
    inplace=("clamp_", "clip_"),
    reads="i",
    cases=CASES,
)
