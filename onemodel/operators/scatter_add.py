"""Values added to one entry of an axis per index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import gather_elements
from onemodel.kernels import scatter_elements as kernel
from onemodel.operators import scatter as _scatter
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim, operand
from onemodel.operators.expand import expand
from onemodel.operators.gather import check_index, index_tensor
from onemodel.operators.index_put import index_put
from onemodel.operators.mul import mul
from onemodel.operators.reshape import reshape
from onemodel.tensors.tensor import Tensor


def scatter_add(input: Tensor, dim: int, index: Any, src: Any) -> Tensor:
    """A copy of ``input`` with ``result[i][index[i][j][k]][k] += src[i][j][k]`` for ``dim`` 1.

    Where indices repeat, all their values are added. Raises as :func:`scatter`. Source:
    ``torch.scatter_add``; ONNX ScatterElements-16 (reduction).
    """
    tensors, dim = _scatter.scatter_operands("scatter_add", input, dim, index, src)
    return apply(OPERATOR, tensors, {"dim": dim})


def index_add(input: Tensor, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """A copy of ``input`` with ``alpha * source[j]`` added to the entry ``index[j]`` of ``dim``.

    Raises ValueError where ``index`` has more than one axis or another length than that axis
    of ``source``, or another axis of ``source`` differs from that of ``input``. Source:
    ``torch.index_add``; ONNX ScatterND-16 for the first axis, ScatterElements-16 for others.
    """
    input = as_tensor("index_add", "input", input)
    index = index_tensor("index_add", index)
    source = operand(source, input._array.dtype)
    dim = normalize_dim("index_add", dim, input.ndim)
    shape, given = list(input._array.shape), list(source._array.shape)
    fits = index.ndim == 1 and len(given) == len(shape)
    if not fits or given != [*shape[:dim], len(index._array), *shape[dim + 1 :]]:
        raise ValueError(
            f"index_add: an index of shape {list(index._array.shape)} on axis {dim} and a source "
            f"of shape {given} do not fit an input of shape {shape}"
        )
    if alpha != 1:
        source = mul(source, alpha)
    if dim == 0:
        return index_put(input, (index,), source, accumulate=True)
    index = reshape(index, (*[1] * dim, -1, *[1] * (input.ndim - dim - 1)))
    return scatter_add(input, dim, expand(index, source.shape), source)


def forward(input: np.ndarray, index: np.ndarray, src: np.ndarray, *, dim: int) -> np.ndarray:
    check_index(input, index, dim)
    return kernel.fast(input, index, src, axis=dim, reduction="add")


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, None, Any]:
    dim = record.attributes["dim"]
    return grad, None, gather_elements.fast(grad, record.arrays[1], axis=dim)


def axes(input: Axes, index: Axes, src: Axes, *, dim: int) -> Axes:
    return _scatter.axes(input, index, src, dim=dim)


def opset_16(g: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    return g.op("ScatterElements", input, index, src, axis=dim, reduction="add")


def reference(input: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    result = input.copy()
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = index[place]
        result[tuple(target)] += src[place]
    return result


def _call(input: Any, index: Any, src: Any, dim: int) -> Tensor:
    return scatter_add(input, dim, index, src)


def _call_index(input: Any, index: Any, source: Any, dim: int, alpha: Any = 1) -> Tensor:
    return index_add(input, dim, index, source, alpha=alpha)


def _index_reference(
    input: np.ndarray, index: np.ndarray, source: np.ndarray, dim: int, alpha: float = 1
) -> np.ndarray:
    result = input.copy()
    for position, target in enumerate(index):
        np.moveaxis(result, dim, 0)[target] += alpha * np.moveaxis(source, dim, 0)[position]
    return result


_AT = {"dtype": "int64", "low": 0, "high": 5, "gradient": False}

CASES = (
    Case((("batch", 5), In(("batch", 7), **_AT), ("batch", 7)), {"dim": 1}, call=_call,
         reference=reference, lowest=16),
    Case(((5, "width"), In((3, "width"), **_AT), (3, "width")), {"dim": 0}, call=_call,
         reference=reference, lowest=16, name="first axis"),
)  # fmt: skip

OPERATOR = Operator(
    "scatter_add",
    declaration=scatter_add,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={16: opset_16},
    methods=("scatter_add",),
    inplace=("scatter_add_",),
    reads="i",
    cases=CASES,
)

ALSO = (
    Composite("index_add", declaration=index_add, methods=("index_add",),
              inplace=("index_add_",), cases=(
        Case((("batch", 5), In((7,), **_AT), ("batch", 7)), {"dim": 1, "alpha": 0.5},
             call=_call_index, reference=_index_reference, lowest=16),
        Case(((5, 2, 3), In(("count",), **_AT), ("count", 2, 3)), {"dim": 0},
             call=_call_index, reference=_index_reference, lowest=16, name="rows"),
    )),
)  # fmt: skip
