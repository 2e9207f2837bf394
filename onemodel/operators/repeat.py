"""A tensor laid side by side with itself along its axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.axes.size import strip_sizes
from onemodel.kernels import tile as kernel
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """The tensor ``repeats[i]`` times along axis i; more repeats than axes add axes in front.

    Raises ValueError for fewer repeats than axes and for negative ones. Source:
    ``torch.Tensor.repeat``; ONNX Tile-6.
    """
    input = as_tensor("repeat", "input", input)
    return apply(OPERATOR, (input,), {"repeats": shape_argument("repeat", repeats)})


def forward(input: np.ndarray, *, repeats: tuple[int, ...]) -> np.ndarray:
    new = len(repeats) - input.ndim
    if new < 0 or min(repeats, default=0) < 0:
        raise ValueError(f"expected at least {input.ndim} repeats, none negative")
    return kernel.fast(input.reshape((1,) * new + input.shape), np.asarray(repeats, np.int64))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    repeats = strip_sizes(record.attributes["repeats"])
    shape = record.shapes[0]
    sizes = (1,) * (len(repeats) - len(shape)) + shape
    pairs = [n for pair in zip(repeats, sizes, strict=True) for n in pair]
    return grad.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2))).reshape(shape)


def axes(input: Axes, *, repeats: tuple[Any, ...]) -> Axes:
    return rules.repeat(input, repeats)


def once(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return inputs[0] == result


def opset_7(g: Any, input: Any, repeats: tuple[Any, ...]) -> Any:
    padded = helpers.unsqueeze(g, input, range(len(repeats) - input.rank))
    return g.op("Tile", padded, g.sizes(repeats)) if repeats else g.op("Identity", input)


CASES = (
    Case((("batch", 3),), call=lambda x: x.repeat(1, 2), reference=lambda x: np.tile(x, (1, 2))),
    Case((("batch", 3),), call=lambda x: x.repeat(2, 2, 1),
         reference=lambda x: np.tile(x, (2, 2, 1)), name="a new axis"),
    Case(((1, 3), ("batch", 2)), call=lambda x, y: x.repeat(y.shape[0], 1),
         reference=lambda x, y: np.tile(x, (len(y), 1)), gradient=False, name="a size"),
)  # fmt: skip

OPERATOR = Operator(
    "repeat",
    declaration=repeat,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("repeat",),
    reads="",
    size_attributes=("repeats",),
    alias=once,
    cases=CASES,
)


def tile(input: Tensor, *dims: Any) -> Tensor:
    """:func:`repeat`, where missing repeats count as 1. Source: ``torch.tile``, ``numpy.tile``."""
    input = as_tensor("tile", "input", input)
    counts = shape_argument("tile", dims)
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


ALSO = (
    Composite("tile", declaration=tile, methods=("tile",), cases=(
        Case((("batch", 2, 3),), {}, call=lambda x: x.tile(2, 1),
             reference=lambda x: np.tile(x, (2, 1))),
    )),
)  # fmt: skip
