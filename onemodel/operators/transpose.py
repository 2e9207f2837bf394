"""Two axes exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.permute import OPERATOR as PERMUTE
from onemodel.operators.permute import permute
from onemodel.tensors.tensor import Tensor


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Axes ``dim0`` and ``dim1`` exchanged; a view.

    Raises IndexError for an axis out of range. Source: ``torch.transpose``; ONNX Transpose-1.
    """
    input = as_tensor("transpose", "input", input)
    rank = input._array.ndim
    first = normalize_dim("transpose", dim0, rank)
    second = normalize_dim("transpose", dim1, rank)
    return apply_view(OPERATOR, input, {"dim0": first, "dim1": second})


def order(rank: int, dim0: int, dim1: int) -> list[int]:
    """The order of ``rank`` axes with two of them exchanged."""
    dims = list(range(rank))
    if rank:
        dims[dim0], dims[dim1] = dim1, dim0
    return dims


def forward(input: np.ndarray, *, dim0: int, dim1: int) -> np.ndarray:
    return input.swapaxes(dim0, dim1) if input.ndim else input[...]


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad.transpose(order(grad.ndim, record.attributes["dim0"], record.attributes["dim1"]))


def axes(input: Axes, *, dim0: int, dim1: int) -> Axes:
    return rules.permute(input, order(len(input), dim0, dim1))


def same_axis(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return attributes["dim0"] == attributes["dim1"]


def opset_7(g: Any, input: Any, dim0: int, dim1: int) -> Any:
    return g.op("Transpose", input, perm=order(input.rank, dim0, dim1))


def reference(input: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    return np.swapaxes(input, dim0, dim1)


CASES = (
    Case((("batch", 3, "width"),), {"dim0": 1, "dim1": -1}, reference=reference),
    Case((("batch", 3),), {"dim0": 0, "dim1": 1}, reference=reference, name="matrix"),
    Case((("batch", 3),), call=lambda x: x.transpose(1, 1) * 2, reference=lambda x: x * 2,
         name="an axis with itself"),
)  # fmt: skip

OPERATOR = Operator(
    "transpose",
    declaration=transpose,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("transpose",),
    reads="",
    view=True,
    alias=same_axis,
    cases=CASES,
)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """:func:`transpose` under NumPy's name. Source: ``torch.swapaxes``."""
    return transpose(input, axis0, axis1)


def t(input: Tensor) -> Tensor:
    """A matrix transposed; vectors and scalars as they are.

    Raises ValueError for more than two axes. Source: ``torch.t``.
    """
    input = as_tensor("t", "input", input)
    if input.ndim > 2:
        raise ValueError(f"t: expected at most 2 axes, not {input.ndim}; name them: transpose")
    return transpose(input, 0, 1) if input.ndim == 2 else input


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes ``source`` moved to the places ``destination``; the others keep their order.

    Raises ValueError where the two differ in number or repeat an axis. Source:
    ``torch.movedim``.
    """
    input = as_tensor("movedim", "input", input)
    origin = _places("movedim", source, input.ndim)
    target = _places("movedim", destination, input.ndim)
    if len(origin) != len(target):
        raise ValueError(f"movedim: {len(origin)} axes cannot go to {len(target)} places")
    dims = [dim for dim in range(input.ndim) if dim not in origin]
    for place, dim in sorted(zip(target, origin, strict=True)):
        dims.insert(place, dim)
    return permute(input, dims)


def _places(operator: str, dims: Any, rank: int) -> list[int]:
    listed = (dims,) if isinstance(dims, int) else tuple(dims)
    found = [normalize_dim(operator, dim, rank) for dim in listed]
    if len(set(found)) != len(found):
        raise ValueError(f"{operator}: {list(listed)} names an axis twice")
    return found


def _reversed_axes(self: Tensor) -> Tensor:
    """The axes in reverse order. Source: ``torch.Tensor.T``, ``numpy.ndarray.T``."""
    return apply_view(PERMUTE, self, {"dims": tuple(range(self._array.ndim - 1, -1, -1))})


def _matrix_transpose(self: Tensor) -> Tensor:
    """The last two axes exchanged. Source: ``torch.Tensor.mT``."""
    return transpose(self, -2, -1)


Tensor.T = property(_reversed_axes)  # type: ignore[attr-defined, method-assign]
Tensor.mT = property(_matrix_transpose)  # type: ignore[attr-defined, method-assign]


def _swapped(input: np.ndarray, axis0: int, axis1: int) -> np.ndarray:
    return np.swapaxes(input, axis0, axis1)


ALSO = (
    Composite("swapaxes", declaration=swapaxes, methods=("swapaxes",), cases=(
        Case((("batch", 3, 2),), {"axis0": 0, "axis1": 2},
             reference=_swapped),
    )),
    Composite("t", declaration=t, methods=("t",), cases=(
        Case((("batch", 3),), reference=lambda x: x.T),
    )),
    Composite("movedim", declaration=movedim, methods=("movedim", "moveaxis"), cases=(
        Case((("batch", 3, 2, 4),), {"source": (0, 1), "destination": (-1, 0)},
             reference=np.moveaxis),
        Case((("batch", 3, 2),), {"source": 1, "destination": -1},
             reference=np.moveaxis,
             name="one axis"),
    )),
)  # fmt: skip
