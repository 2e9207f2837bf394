"""Evenly spaced numbers from a start up to an end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.axes.extent import Axes, AxesError, as_extent
from onemodel.axes.size import Size, extent_of
from onemodel.operators._case import Case
from onemodel.operators._counting import counting, write_range
from onemodel.operators._creation import finish
from onemodel.operators._operator import Operator, apply
from onemodel.tensors.dtypes import as_dtype, get_default_dtype, int64
from onemodel.tensors.tensor import Tensor


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers from ``start`` (0 where only one is given) in steps of ``step``, before ``end``.

    Shape [ceil((end - start) / step)]. Sizes of a traced tensor stay symbolic. int64 for
    integers, the default dtype otherwise. Raises ValueError for step 0 or one that leads away
    from ``end``. Source: ``torch.arange``; ONNX Range-11.
    """
    if end is None:
        start, end = 0, start
    bounds = [_number(value) for value in (start, end, step)]
    integral = all(isinstance(value, (int, np.integer, Size)) for value in bounds)
    wanted = as_dtype(dtype) if dtype is not None else (int64 if integral else get_default_dtype())
    attributes = dict(zip(("start", "end", "step"), bounds, strict=True)) | {"dtype": wanted}
    return finish(apply(OPERATOR, (), attributes), requires_grad)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, (Tensor, np.ndarray, np.generic)) else value


def forward(*, start: Any, end: Any, step: Any, dtype: np.dtype) -> np.ndarray:
    if step == 0:
        raise ValueError("step must not be 0")
    if (end - start) * step < 0:
        raise ValueError("step leads away from end")
    if all(isinstance(value, int) for value in (start, end, step)):
        return np.arange(start, end, step, dtype=np.int64).astype(dtype, copy=False)
    count = math.ceil((end - start) / step)
    return (start + np.arange(count) * np.float64(step)).astype(dtype)


def axes(*, start: Any, end: Any, step: Any, dtype: np.dtype) -> Axes:
    if isinstance(start, float) or isinstance(end, float) or isinstance(step, float):
        raise AxesError(
            "arange in fractional steps up to a symbolic size has a length that is no whole "
            "multiple of it",
            rewrites=(("count in integers, then scale", "om.arange(x.shape[0]) * 0.5"),),
        )
    # Eager refuses a step that leads away, so that the length needs no maximum with 0.
    return ((extent_of(end) - extent_of(start)).ceildiv(extent_of(step)),)


def opset_11(g: Any, start: Any, end: Any, step: Any, dtype: np.dtype) -> Any:
    return g.cast(write_range(g, start, end, step), dtype)


def opset_9(g: Any, start: Any, end: Any, step: Any, dtype: np.dtype) -> Any:
    # Range came at 11: the places of as many ones, scaled and shifted.
    result = counting(g, g.result_axes[0][0])
    if step != 1:
        result = g.op("Mul", result, g.scalar(as_extent(step)))
    if start != 0:
        result = g.op("Add", result, g.scalar(as_extent(start)))
    return g.cast(result, dtype)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + arange(x.shape[0]).reshape(-1, 1),
        reference=lambda x: x + np.arange(len(x))[:, None],
        lowest=9,
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + arange(1, 2 * x.shape[0] + 1, 2, dtype="float32").reshape(-1, 1),
        reference=lambda x: x + np.arange(1, 2 * len(x) + 1, 2)[:, None],
        lowest=9,
        name="start and step",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + arange(x.shape[0] - 1, -1, -1).reshape(-1, 1),
        reference=lambda x: x + np.arange(len(x))[::-1, None],
        lowest=9,
        name="downwards",
    ),
    Case(
        (("batch", 4),),
        call=lambda x: x + arange(0, 2, 0.5),
        reference=lambda x: x + np.array([0.0, 0.5, 1.0, 1.5]),
        name="a constant",
    ),
)

OPERATOR = Operator(
    "arange",
    declaration=arange,
    forward=forward,
    axes=axes,
    symbolic={9: opset_9, 11: opset_11},
    size_attributes=("start", "end", "step"),
    reads="",
    cases=CASES,
)
