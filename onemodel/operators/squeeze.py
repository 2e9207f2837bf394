"""Axes of size 1 dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """The tensor without its axes of size 1: all, or those of ``dim`` that have it; a view.

    In a trace a symbolic axis cannot be squeezed, as the rank would depend on its size.
    Raises IndexError for an axis out of range. Source: ``torch.squeeze``; ONNX Squeeze-1.
    """
    input = as_tensor("squeeze", "input", input)
    rank = input._array.ndim
    dims = normalize_dims("squeeze", dim, rank)
    return apply_view(OPERATOR, input, {"dim": dims if rank else ()})


def forward(input: np.ndarray, *, dim: tuple[int, ...]) -> np.ndarray:
    shape = input.shape
    return input.squeeze(tuple([axis for axis in dim if shape[axis] == 1]))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad.reshape(record.shapes[0])


def axes(input: Axes, *, dim: tuple[int, ...]) -> Axes:
    return rules.squeeze(input, dim)


def same_axes(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return len(inputs[0]) == len(result)


def opset_7(g: Any, input: Any, dim: tuple[int, ...]) -> Any:
    dropped = [axis for axis in dim if input.shape[axis] == 1]
    return helpers.squeeze(g, input, dropped)


def reference(input: np.ndarray, dim: Any = None) -> np.ndarray:
    return np.squeeze(input, dim)


CASES = (
    Case((("batch", 1, 3),), {"dim": 1}, reference=reference),
    Case((("batch", 1, 3, 1),), {"dim": (1, -1)}, reference=reference, name="two axes"),
    Case(((1, 4, 1),), reference=reference, name="all"),
    Case((("batch", 3),), {"dim": 1}, call=lambda x, dim: x.squeeze(dim) * 2,
         reference=lambda x, dim: x * 2, name="nothing to drop"),
)  # fmt: skip

OPERATOR = Operator(
    "squeeze",
    declaration=squeeze,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("squeeze",),
    reads="",
    view=True,
    alias=same_axes,
    cases=CASES,
)
