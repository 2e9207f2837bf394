"""Axes reversed, and planes turned by right angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._indexing import WHOLE
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim, normalize_dims
from onemodel.operators.transpose import transpose
from onemodel.tensors.tensor import Tensor


def flip(input: Tensor, *dims: Any) -> Tensor:
    """The order along ``dims`` reversed; a copy.

    Raises IndexError for an axis out of range, ValueError for one named twice. Source:
    ``torch.flip``; ONNX Slice-10 (Gather below, along axes of fixed size).
    """
    input = as_tensor("flip", "input", input)
    listed = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return apply(OPERATOR, (input,), {"dims": normalize_dims("flip", listed, input.ndim)})


def forward(input: np.ndarray, *, dims: tuple[int, ...]) -> np.ndarray:
    return np.array(np.flip(input, dims), order="C")


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return np.flip(grad, record.attributes["dims"])


def axes(input: Axes, *, dims: tuple[int, ...]) -> Axes:
    return input


def opset_7(g: Any, input: Any, dims: tuple[int, ...]) -> Any:
    index = tuple((None, None, -1) if dim in dims else WHOLE for dim in range(input.rank))
    return g.call("om::getitem", input, index=index)


def reference(input: np.ndarray, dims: Any) -> np.ndarray:
    return np.flip(input, dims)


CASES = (
    Case((("batch", 3, 4),), {"dims": (1, -1)}, call=lambda x, dims: x.flip(dims),
         reference=reference),
    Case((("batch", 3),), {"dims": (0,)}, call=lambda x, dims: x.flip(*dims),
         reference=reference, lowest=10, name="symbolic axis"),
)  # fmt: skip

OPERATOR = Operator(
    "flip",
    declaration=flip,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("flip",),
    reads="",
    cases=CASES,
)


def rot90(input: Tensor, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
    """The plane of two axes turned ``k`` times by 90 degrees, from the first toward the second.

    Raises ValueError for anything but two different axes. Source: ``torch.rot90``.
    """
    input = as_tensor("rot90", "input", input)
    places = [normalize_dim("rot90", dim, input.ndim) for dim in dims]
    if len(places) != 2 or places[0] == places[1]:
        raise ValueError(f"rot90: dims {tuple(dims)} must name two different axes")
    first, second = places
    match k % 4:
        case 0:
            return input
        case 1:
            return flip(transpose(input, first, second), first)
        case 2:
            return flip(input, first, second)
        case _:
            return flip(transpose(input, first, second), second)


def _turned(input: np.ndarray, k: int = 1, dims: tuple[int, int] = (0, 1)) -> np.ndarray:
    return np.rot90(input, k, dims)


ALSO = (
    Composite("rot90", declaration=rot90, methods=("rot90",), cases=(
        Case((("batch", 3, 4),), {"k": 1, "dims": (1, 2)}, reference=_turned),
        Case((("batch", 3, 4),), {"k": 2, "dims": (1, 2)}, reference=_turned, name="half"),
        Case((("batch", 3, 4),), {"k": -1, "dims": (1, 2)}, reference=_turned, name="back"),
    )),
)  # fmt: skip
