"""Axes in another order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import transpose as kernel
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.tensors.tensor import Tensor


def permute(input: Tensor, *dims: Any) -> Tensor:
    """The axes in the order ``dims`` (one by one or as one tuple); a view.

    Shape: axis i of the result is axis ``dims[i]`` of the input. Raises ValueError where
    ``dims`` does not name every axis once. Source: ``torch.permute``; ONNX Transpose-1.
    """
    input = as_tensor("permute", "input", input)
    listed = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    find = _known_order
    for dim in listed:
        if type(dim) is not int:
            find = _order
    order = find(listed, input._array.ndim)
    return apply_view(OPERATOR, input, {"dims": order})


def _order(dims: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    order = tuple(normalize_dim("permute", dim, rank) for dim in dims)
    if sorted(order) != list(range(rank)):
        raise ValueError(f"permute: {list(dims)} is no order of {rank} axes")
    return order


_known_order = lru_cache(maxsize=1024)(_order)


def forward(input: np.ndarray, *, dims: tuple[int, ...]) -> np.ndarray:
    return kernel.fast(input, perm=dims)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad.transpose(np.argsort(record.attributes["dims"]))


def axes(input: Axes, *, dims: tuple[int, ...]) -> Axes:
    return rules.permute(input, dims)


def keeps_order(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return attributes["dims"] == tuple(range(len(result)))


def opset_7(g: Any, input: Any, dims: tuple[int, ...]) -> Any:
    return g.op("Transpose", input, perm=dims)


def reference(input: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    return np.moveaxis(input, dims, range(len(dims)))


CASES = (
    Case((("batch", 3, "width"),), {"dims": (2, 0, 1)}, reference=reference,
         call=lambda x, dims: x.permute(*dims)),
    Case((("batch", 2, 3, 4),), {"dims": (0, -1, 1, 2)}, reference=reference,
         call=lambda x, dims: x.permute(dims), name="negative axis"),
    Case((("batch", 2),), call=lambda x: x.permute(0, 1) * 2, reference=lambda x: x * 2,
         name="the order it has"),
)  # fmt: skip

OPERATOR = Operator(
    "permute",
    declaration=permute,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("permute",),
    reads="",
    view=True,
    alias=keeps_order,
    cases=CASES,
)
