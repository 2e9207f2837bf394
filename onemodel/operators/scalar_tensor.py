"""A number, or a size of a traced tensor, as a 0-d tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.extent import Axes
from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import Size
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import quotient, register_conversion, scalar
from onemodel.tensors.dtypes import as_dtype, get_default_dtype, number_dtype
from onemodel.tensors.tensor import Tensor


def scalar_tensor(value: Any, dtype: Any = None) -> Tensor:
    """A 0-d tensor holding ``value``; a symbolic size, or a quotient of some, stays symbolic.

    Raises TypeError for what is no number. Source: ``torch.scalar_tensor``.
    """
    if isinstance(value, SizeRatio):
        return quotient(value, get_default_dtype() if dtype is None else as_dtype(dtype))
    if isinstance(value, Size):
        wanted = as_dtype(np.int64 if dtype is None else dtype)
        return apply(OPERATOR, (), {"value": value, "dtype": wanted})
    wanted = number_dtype(value) if dtype is None else as_dtype(dtype)
    return Tensor(scalar(value, wanted)._array.copy())


def forward(*, value: int, dtype: np.dtype) -> np.ndarray:
    return np.asarray(value, dtype)


def axes(*, value: Any, dtype: np.dtype) -> Axes:
    return ()


def opset_7(g: Any, value: Any, dtype: np.dtype) -> Any:
    return g.cast(g.scalar(value), dtype)


register_conversion("scalar_tensor", scalar_tensor)

CASES = (Case((("batch", 3),), call=lambda x: x / x.shape[0], reference=lambda x: x / len(x)),)

OPERATOR = Operator(
    "scalar_tensor",
    declaration=scalar_tensor,
    forward=forward,
    axes=axes,
    symbolic={7: opset_7},
    size_attributes=("value",),
    reads="",
    cases=CASES,
)
