"""One entry of an axis written per index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import same_extent
from onemodel.kernels import gather_elements
from onemodel.kernels import scatter_elements as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim, operand
from onemodel.operators.expand import expand
from onemodel.operators.gather import check_index, index_tensor
from onemodel.operators.getitem import getitem
from onemodel.tensors.tensor import Tensor


def scatter(input: Tensor, dim: int, index: Any, src: Any) -> Tensor:
    """A copy of ``input`` with ``result[i][index[i][j][k]][k] = src[i][j][k]`` for ``dim`` 1.

    ``src``: a tensor nowhere smaller than ``index``, or a number; it is converted to the dtype
    of ``input``. Where indices repeat, the last one stands. Raises IndexError for an index out
    of range, ValueError for shapes that do not fit. Source: ``torch.scatter``; ONNX Scatter-9,
    ScatterElements-11.
    """
    tensors, dim = scatter_operands("scatter", input, dim, index, src)
    return apply(OPERATOR, tensors, {"dim": dim})


def scatter_operands(
    operator: str, input: Any, dim: int, index: Any, src: Any
) -> tuple[tuple[Tensor, Tensor, Tensor], int]:
    """Input, index and a source of exactly the index's shape, and the axis from the front."""
    input = as_tensor(operator, "input", input)
    index = index_tensor(operator, index)
    if input.ndim == 0 or index.ndim != input.ndim:
        raise ValueError(
            f"{operator}: input and index must have the same number of axes, at least 1; "
            f"they have {input.ndim} and {index.ndim}"
        )
    src = operand(src, input._array.dtype)
    found, wanted = src._array.shape, index._array.shape
    if src.ndim == 0:
        src = expand(src, index.shape)
    elif src.ndim != index.ndim or any(n < m for n, m in zip(found, wanted, strict=True)):
        raise ValueError(
            f"{operator}: src of shape {list(found)} is smaller than index of {list(wanted)}"
        )
    elif found != wanted:
        src = getitem(src, tuple(slice(0, size) for size in index.shape))
    return (input, index, src), normalize_dim(operator, dim, input.ndim)


def forward(input: np.ndarray, index: np.ndarray, src: np.ndarray, *, dim: int) -> np.ndarray:
    check_index(input, index, dim)
    return kernel.fast(input, index, src, axis=dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, None, Any]:
    index, dim = record.arrays[1], record.attributes["dim"]
    place = gather_elements.along_axis(index, dim, grad.shape[dim])
    kept = grad.copy()
    kept[place] = 0
    # Of entries that repeat an index only the last one stands.
    order = np.arange(index.size).reshape(index.shape)
    last = np.zeros(grad.shape, np.int64)
    last[place] = order
    return kept, None, np.where(last[place] == order, grad[place], 0)


def axes(input: Axes, index: Axes, src: Axes, *, dim: int) -> Axes:
    for wanted, given in zip(index, src, strict=True):
        same_extent(wanted, given, "index and src")
    return input


def opset_9(g: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    return g.op("Scatter", input, index, src, axis=dim)


def opset_11(g: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    return g.op("ScatterElements", input, index, src, axis=dim)


def reference(input: np.ndarray, index: np.ndarray, src: Any, dim: int) -> np.ndarray:
    result = input.copy()
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = index[place]
        result[tuple(target)] = src[place] if np.ndim(src) else src
    return result


def _call(input: Any, index: Any, src: Any, dim: int) -> Tensor:
    return scatter(input, dim, index, src)


def _distinct(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Indices below 5 that do not repeat along the last axis."""
    return generator.permuted(np.broadcast_to(np.arange(5), (*shape[:-1], 5)), axis=-1)[
        ..., : shape[-1]
    ]


_AT = {"dtype": "int64", "values": _distinct, "gradient": False}

CASES = (
    Case((("batch", 5), In(("batch", 3), **_AT), ("batch", 3)), {"dim": 1}, call=_call,
         reference=reference, lowest=9),
    Case((("batch", 5), In(("batch", 2), **_AT), ("batch", 4)), {"dim": -1}, call=_call,
         reference=reference, lowest=9, name="a larger source"),
    Case((("batch", 5), In(("batch", 3), **_AT), ()), {"dim": 1}, call=_call,
         reference=reference, lowest=9, name="a number"),
)  # fmt: skip

OPERATOR = Operator(
    "scatter",
    declaration=scatter,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={9: opset_9, 11: opset_11},
    methods=("scatter",),
    inplace=("scatter_",),
    reads="i",
    cases=CASES,
)
