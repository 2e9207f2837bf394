"""Entries moved along axes, those that leave at one end entering at the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, as_extent
from onemodel.axes.size import strip_sizes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._sizes import shape_argument
from onemodel.operators.reshape import reshape
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Entries moved by ``shifts`` along ``dims``; without ``dims`` over the flattened tensor.

    Raises ValueError where the two differ in number. Source: ``torch.roll``; ONNX Slice-1 and
    Concat-4.
    """
    input = as_tensor("roll", "input", input)
    amounts = shape_argument(
        "roll", tuple(shifts) if isinstance(shifts, list | tuple) else (shifts,)
    )
    if dims is None:
        if len(amounts) != 1:
            raise ValueError("roll: several shifts need as many dims")
        return reshape(roll(reshape(input, -1), amounts, 0), input.shape)
    listed = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(listed) != len(amounts):
        raise ValueError(f"roll: {len(amounts)} shifts for {len(listed)} dims")
    places = tuple(normalize_dim("roll", dim, input.ndim) for dim in listed)
    return apply(OPERATOR, (input,), {"shifts": amounts, "dims": places})


def forward(
    input: np.ndarray, *, shifts: tuple[int, ...], dims: tuple[int, ...]
) -> np.ndarray:  # fmt: skip
    return np.roll(input, shifts, dims)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    shifts = strip_sizes(record.attributes["shifts"])
    return np.roll(grad, [-shift for shift in shifts], record.attributes["dims"])


def axes(input: Axes, *, shifts: tuple[Any, ...], dims: tuple[int, ...]) -> Axes:
    return input


def opset_7(g: Any, input: Any, shifts: tuple[Any, ...], dims: tuple[int, ...]) -> Any:
    result = input
    for shift, dim in zip(shifts, dims, strict=True):
        size, amount = as_extent(input.shape[dim]), as_extent(shift)
        if amount == 0 or size in (0, 1):
            continue
        near = amount.is_static and abs(amount.value)
        if near == 1 or (near and size.at_least(near)):
            cut = -amount  # fits an axis of any such size
        else:
            cut = size - amount % size
            if cut == size:
                continue
        end = helpers.slice_(g, result, [cut], [None], [dim])
        start = helpers.slice_(g, result, [0], [cut], [dim])
        result = g.op("Concat", end, start, axis=dim)
    return g.op("Identity", input) if result is input else result


def reference(input: np.ndarray, shifts: Any, dims: Any = None) -> np.ndarray:
    return np.roll(input, shifts, dims)


CASES = (
    Case((("batch", 5),), {"shifts": 2, "dims": 1}, reference=reference),
    Case((("batch", 5),), {"shifts": (-1, -7), "dims": (0, 1)}, reference=reference,
         name="two axes"),
    Case((("batch", 3),), {"shifts": 9, "dims": 0}, reference=reference, lowest=10,
         name="further than the axis is long"),
    Case(((2, 3),), {"shifts": -2}, reference=reference, name="flat"),
    Case((("batch", 3),), call=lambda x: x.roll(x.shape[0] // 2, 0), lowest=10,
         reference=lambda x: np.roll(x, len(x) // 2, 0), name="half of a symbolic axis"),
)  # fmt: skip

OPERATOR = Operator(
    "roll",
    declaration=roll,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("roll",),
    reads="",
    size_attributes=("shifts",),
    cases=CASES,
)
