"""The slices along one axis, as a tuple."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, AxesError
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Every slice along ``dim``, that axis dropped; views.

    In a trace the axis must have a fixed size. Raises ValueError for a 0-d tensor. Source:
    ``torch.unbind``; ONNX Split-2 and Squeeze-1.
    """
    input = as_tensor("unbind", "input", input)
    if input.ndim == 0:
        raise ValueError("unbind: a 0-d tensor has no axis")
    dim = normalize_dim("unbind", dim, input.ndim)
    if input._array.shape[dim] == 0:
        return ()
    return apply_view(OPERATOR, input, {"dim": dim})


def forward(input: np.ndarray, *, dim: int) -> tuple[np.ndarray, ...]:
    moved = np.moveaxis(input, dim, 0)
    return tuple(moved[i, ...] for i in range(len(moved)))


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return np.stack(grads, axis=record.attributes["dim"])


def axes(input: Axes, *, dim: int) -> tuple[Axes, ...]:
    size = input[dim]
    if not size.is_static:
        raise AxesError(
            f"the number of slices along the axis {size} depends on its size",
            code="OM402",
            extents=(size,),
            rewrites=(
                ("reduce over the axis", "x.sum(0)"),
                ("declare the axis static", ""),
            ),
        )
    return (input[:dim] + input[dim + 1 :],) * size.value


def opset_7(g: Any, input: Any, dim: int) -> tuple[Any, ...]:
    count = len(g.result_axes)
    parts = (input,) if count == 1 else helpers.split(g, input, [1] * count, dim)
    return tuple(helpers.squeeze(g, part, [dim]) for part in parts)


def reference(input: np.ndarray, dim: int = 0) -> list[np.ndarray]:
    return [np.take(input, i, axis=dim) for i in range(input.shape[dim])]


CASES = (
    Case((("batch", 3),), {"dim": 1}, reference=reference),
    Case(((2, "batch", 3),), reference=reference, name="first axis"),
    Case(((1, "batch"),), reference=reference, name="one slice"),
)

OPERATOR = Operator(
    "unbind",
    declaration=unbind,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("unbind",),
    reads="",
    view=True,
    cases=CASES,
)
