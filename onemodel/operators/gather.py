"""One entry of an axis per index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import gather_elements as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.expand import expand
from onemodel.operators.reshape import reshape
from onemodel.operators.to import to_index
from onemodel.tensors.tensor import Tensor


def gather(input: Tensor, dim: int, index: Any) -> Tensor:
    """``result[i][j][k] = input[i][index[i][j][k]][k]`` for ``dim`` 1.

    Shape: that of ``index``, which has as many axes as ``input`` and is nowhere larger except
    along ``dim``. Negative indices count from the end. Raises IndexError for an index out of
    range or not of integers, ValueError for shapes that do not fit. Source: ``torch.gather``;
    ONNX GatherElements-11.
    """
    input = as_tensor("gather", "input", input)
    index = index_tensor("gather", index)
    return apply(OPERATOR, (input, index), {"dim": normalize_dim("gather", dim, input.ndim)})


def index_tensor(operator: str, index: Any) -> Tensor:
    """``index`` as an int64 tensor. Raises IndexError for anything but integers."""
    tensor = as_tensor(operator, "index", index)
    if tensor._array.dtype.kind not in "iu":
        raise IndexError(f"{operator}: an index must be of integers, not {tensor._array.dtype}")
    return to_index(tensor)


def check_index(input: np.ndarray, index: np.ndarray, dim: int) -> None:
    """Raises ValueError where an index per element does not fit ``input`` beside ``dim``."""
    fits = input.ndim == index.ndim and all(
        place == dim or wanted <= size
        for place, (wanted, size) in enumerate(zip(index.shape, input.shape, strict=True))
    )
    if not fits:
        raise ValueError(
            f"index must have {input.ndim} axes, none larger than those of input except axis {dim}"
        )


def forward(input: np.ndarray, index: np.ndarray, *, dim: int) -> np.ndarray:
    check_index(input, index, dim)
    return np.asarray(kernel.fast(input, index, axis=dim)) if input.ndim else input.copy()


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, None]:
    shape, dim = record.shapes[0], record.attributes["dim"]
    if not shape:
        return grad, None
    result = np.zeros(shape, grad.dtype)
    np.add.at(result, kernel.along_axis(record.arrays[1], dim, shape[dim]), grad)
    return result, None


def axes(input: Axes, index: Axes, *, dim: int) -> Axes:
    return index


def opset_11(g: Any, input: Any, index: Any, dim: int) -> Any:
    if input.rank == 0:
        return g.op("Identity", input)
    return g.op("GatherElements", input, index, axis=dim)


def reference(input: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    result = np.empty(index.shape, input.dtype)
    for place in np.ndindex(*index.shape):
        source = list(place)
        source[dim] = index[place]
        result[place] = input[tuple(source)]
    return result


def _indices(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(0, 5, shape)


_AT = {"dtype": "int64", "values": _indices, "gradient": False}


def _call(input: Any, index: Any, dim: int) -> Tensor:
    return gather(input, dim, index)


CASES = (
    Case((("batch", 5), In(("batch", 3), **_AT)), {"dim": 1}, call=_call, reference=reference,
         lowest=11),
    Case(((5, "batch", 2), In((3, "batch", 2), **_AT)), {"dim": 0}, call=_call,
         reference=reference, lowest=11, name="first axis"),
    Case((("batch", 5, 4), In(("batch", 2, 1), **_AT)), {"dim": -2}, call=_call,
         reference=reference, lowest=11, name="a smaller index"),
)  # fmt: skip

OPERATOR = Operator(
    "gather",
    declaration=gather,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={11: opset_11},
    methods=("gather",),
    reads="i",
    cases=CASES,
)


def take_along_dim(input: Tensor, indices: Any, dim: int | None = None) -> Tensor:
    """Entries of axis ``dim`` by ``indices``, which broadcast with the other axes.

    Without ``dim`` both are flattened first. Source: ``torch.take_along_dim``,
    ``numpy.take_along_axis``.
    """
    input = as_tensor("take_along_dim", "input", input)
    indices = index_tensor("take_along_dim", indices)
    if dim is None:
        return gather(reshape(input, -1), 0, reshape(indices, -1))
    if input.ndim != indices.ndim:
        raise ValueError(f"take_along_dim: indices must have {input.ndim} axes, not {indices.ndim}")
    dim = normalize_dim("take_along_dim", dim, input.ndim)
    source, wanted = list(input.shape), list(indices.shape)
    for place in range(input.ndim):
        if place == dim:
            continue
        if input._array.shape[place] == 1:
            source[place] = wanted[place]
        else:
            wanted[place] = source[place]
    return gather(expand(input, source), dim, expand(indices, wanted))


def _taken(input: np.ndarray, indices: np.ndarray, dim: int | None = None) -> np.ndarray:
    return np.take_along_axis(input, indices, dim)


ALSO = (
    Composite("take_along_dim", declaration=take_along_dim, methods=("take_along_dim",), cases=(
        Case((("batch", 5), In(("batch", 3), **_AT)), {"dim": 1}, reference=_taken, lowest=11),
        Case((("batch", 5), In((1, 3), **_AT)), {"dim": 1}, reference=_taken, lowest=11,
             name="indices that broadcast"),
        Case((("batch", 5), In((3,), **_AT)), reference=_taken, lowest=11, name="flat"),
    )),
)  # fmt: skip
