"""Another shape of the same elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def reshape(input: Tensor, *shape: Any) -> Tensor:
    """The elements in row-major order under another shape; one size may be -1.

    ``shape``: sizes one by one or as one tuple; ``Size`` objects keep their symbols. Shares
    memory where the strides allow it. Raises ValueError where the element counts differ.
    Source: ``torch.reshape``; ONNX Reshape-5.
    """
    input = as_tensor("reshape", "input", input)
    return apply_view(OPERATOR, input, {"shape": shape_argument("reshape", shape)})


def forward(input: np.ndarray, *, shape: tuple[int, ...]) -> np.ndarray:
    return input.reshape(shape)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad.reshape(record.shapes[0])


def axes(
    input: Axes,
    *,
    shape: tuple[Any, ...],
    assignment: Mapping[str, int],
    note: Callable[[Extent, int], None],
) -> Axes:
    solution = rules.solve_reshape(input, shape, assignment)
    for place, extent in solution.assumed:
        note(extent, shape[place])
    return solution.axes


def same_shape(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return inputs[0] == result


def opset_7(g: Any, input: Any, shape: Any) -> Any:
    return helpers.reshape(g, input, g.result_axes[0])


def reference(input: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.reshape(input, shape)


CASES = (
    Case((("batch", 3, 4),), {"shape": (-1, 12)}, call=lambda x, shape: x.reshape(shape),
         reference=reference),
    Case((("batch", 3, 4),), call=lambda x: x.reshape(x.shape[0] * 3, 4),
         reference=lambda x: x.reshape(-1, 4), name="a product of sizes"),
    Case((("batch", "time", 6),), call=lambda x: x.reshape(x.shape[0], x.shape[1], 2, 3),
         reference=lambda x: x.reshape(*x.shape[:2], 2, 3), name="heads"),
)  # fmt: skip

OPERATOR = Operator(
    "reshape",
    declaration=reshape,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("reshape", "view"),
    reads="",
    size_attributes=("shape",),
    view=True,
    alias=same_shape,
    cases=CASES,
)
