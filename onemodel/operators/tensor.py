"""A tensor from numbers, nested sequences, arrays or other tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onemodel.axes.extent import Axes, Extent, static_axes
from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import Size, contains_size, strip_sizes
from onemodel.operators._case import Case
from onemodel.operators._creation import finish
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import remember_number
from onemodel.operators.scalar_tensor import scalar_tensor
from onemodel.tensors.tensor import Tensor, as_array


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor holding a copy of ``data``.

    ``data``: a number, nested sequences of numbers, an array or a tensor. Python floats take
    the default dtype, integers int64. A symbolic size inside stays symbolic. Raises TypeError
    for other objects, TraceException where a traced tensor would be copied to its values.
    Source: ``torch.tensor``.
    """
    if isinstance(data, (Size, SizeRatio)):
        return finish(scalar_tensor(data, dtype), requires_grad)
    if contains_size(data):
        return finish(_sized(data, dtype), requires_grad)
    return finish(remember_number(Tensor(as_array(data, dtype)), data), requires_grad)


def _sized(data: Any, dtype: Any) -> Tensor:
    wanted = as_array(strip_sizes(data), dtype).dtype
    return apply(OPERATOR, (), {"data": _nested(data), "dtype": wanted})


def _nested(data: Any) -> Any:
    return tuple(map(_nested, data)) if isinstance(data, (list, tuple)) else data


def forward(*, data: Any, dtype: np.dtype) -> np.ndarray:
    return np.asarray(data, dtype)


def axes(*, data: Any, dtype: np.dtype) -> Axes:
    return static_axes(np.shape(strip_sizes(data)))


def opset_7(g: Any, data: Any, dtype: np.dtype) -> Any:
    leaves = list(_leaves(data))
    if all(isinstance(leaf, (int, Extent)) for leaf in leaves):
        flat = g.cast(g.sizes(leaves), dtype)
    else:
        parts = [
            g.cast(g.size(leaf), dtype) if isinstance(leaf, Extent) else g.constant([leaf], dtype)
            for leaf in leaves
        ]
        flat = g.op("Concat", *parts, axis=0)
    if not isinstance(data[0], tuple):
        return flat
    return g.op("Reshape", flat, g.sizes(g.result_axes[0]))


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from _leaves(item)
    else:
        yield data


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x[:1] * 0 + tensor([x.shape[0], 2, 3]),
        reference=lambda x: x[:1] * 0 + np.array([len(x), 2, 3], np.float32),
        name="a size among numbers",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x * tensor([[x.shape[0], 0.5, 1.0]]),
        reference=lambda x: x * np.array([len(x), 0.5, 1.0]),
        name="a size among floats",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + tensor([[1.0, 2.0, 3.0]]),
        reference=lambda x: x + np.array([1.0, 2.0, 3.0]),
        name="a constant",
    ),
)

OPERATOR = Operator(
    "tensor",
    declaration=tensor,
    forward=forward,
    axes=axes,
    symbolic={7: opset_7},
    size_attributes=("data",),
    reads="",
    cases=CASES,
)
