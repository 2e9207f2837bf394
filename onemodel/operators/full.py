"""A tensor of one value."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import strip_sizes
from onemodel.operators._case import Case
from onemodel.operators._creation import fill, finish, size_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._sizes import shape_argument
from onemodel.operators.expand import expand
from onemodel.operators.scalar_tensor import scalar_tensor
from onemodel.tensors.dtypes import as_dtype, number_dtype
from onemodel.tensors.tensor import Tensor


def full(size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of shape ``size`` holding ``fill_value`` everywhere.

    ``size``: integers, or sizes of a traced tensor, which stay symbolic, as they do in
    ``fill_value``. ``dtype``: that of the number where it is left out. Raises ValueError for a
    negative size. Source: ``torch.full``; ONNX ConstantOfShape-9 (Expand-8 below).
    """
    shape = shape_argument("full", (size,))
    if isinstance(fill_value, SizeRatio):
        one = scalar_tensor(fill_value, dtype)
        return finish(expand(one, shape), requires_grad)
    if isinstance(fill_value, Tensor):
        wanted = fill_value.dtype if dtype is None else as_dtype(dtype)
        fill_value = fill_value.item()
    else:
        example = strip_sizes(fill_value)
        wanted = number_dtype(example) if dtype is None else as_dtype(dtype)
    attributes = {"size": shape, "fill_value": fill_value, "dtype": wanted}
    return finish(apply(OPERATOR, (), attributes), requires_grad)


def forward(*, size: tuple[int, ...], fill_value: Any, dtype: np.dtype) -> np.ndarray:
    return np.full(size, fill_value, dtype)


def opset_7(g: Any, size: Any, fill_value: Any, dtype: np.dtype) -> Any:
    if isinstance(fill_value, Extent):
        g.refuse_below(8, "filling with a size (Expand)")
        return g.op("Expand", g.cast(g.size(fill_value), dtype), g.sizes(size))
    return fill(g, size, fill_value, dtype)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + full((x.shape[0], 1), 2.5),
        reference=lambda x: x + 2.5,
        lowest=8,
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + full((x.shape[0], 1), x.shape[0]),
        reference=lambda x: x + len(x),
        lowest=8,
        name="of a size",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + full((x.shape[0], 1), 1 / x.shape[0]),
        reference=lambda x: x + 1 / len(x),
        name="of a quotient",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: full((x.shape[0], 2), True) & (x[:, :1] > 0),
        reference=lambda x: np.repeat(np.asarray(x)[:, :1] > 0, 2, axis=1),
        lowest=8,
        name="bool",
    ),
)

OPERATOR = Operator(
    "full",
    declaration=full,
    forward=forward,
    axes=size_axes,
    symbolic={7: opset_7},
    size_attributes=("size", "fill_value"),
    reads="",
    cases=CASES,
)
