"""What factories of tensors share: the axes of their results, and how a graph fills a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.extent import Axes
from onemodel.axes.size import extent_of
from onemodel.tensors.dtypes import as_dtype, get_default_dtype
from onemodel.tensors.tensor import Tensor


def size_axes(*, size: tuple[Any, ...], **attributes: Any) -> Axes:
    """A result of the shape that the attribute ``size`` names."""
    return tuple(map(extent_of, size))


def factory_dtype(dtype: Any) -> np.dtype:
    """The dtype asked for, or the default floating one."""
    return get_default_dtype() if dtype is None else as_dtype(dtype)


def finish(result: Tensor, requires_grad: bool) -> Tensor:
    """A factory's result, asking for gradients where the caller does."""
    return result.requires_grad_() if requires_grad else result


def fill(g: Any, size: Any, value: Any, dtype: np.dtype) -> Any:
    """``value`` in a symbolic shape: ConstantOfShape from 9 on (bfloat16: 20), else Expand."""
    if g.opset >= (20 if dtype.name == "bfloat16" else 9):
        return g.op("ConstantOfShape", g.sizes(size), value=np.asarray([value]).astype(dtype))
    g.refuse_below(8, "filling a symbolic shape (Expand)")
    return g.op("Expand", g.constant(np.asarray(value).astype(dtype)), g.sizes(size))
