"""Zero for small elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._elementwise import less_equal, same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element, or 0 where it lies in [-lambd, lambd].

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.hardshrink``; ONNX Where-9.
    """
    return apply(OPERATOR, (floating("hardshrink", "input", input),), {"lambd": float(lambd)})


def forward(input: np.ndarray, *, lambd: float) -> np.ndarray:
    return np.where(np.abs(input) <= lambd, np.zeros((), input.dtype), input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    inside = np.abs(record.arrays[0]) <= record.attributes["lambd"]
    return np.where(inside, np.zeros((), grad.dtype), grad)


def opset_9(g: Any, input: Any, lambd: float) -> Any:
    # Shrink-9 would turn NaN into 0.
    inside = less_equal(g, g.op("Abs", input), g.like(lambd, input))
    return g.op("Where", inside, g.like(0, input), input)


def reference(input: np.ndarray, lambd: float = 0.5) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide * ((wide > lambd) | (wide < -lambd))


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case((("batch", 3),), {"lambd": 1.0}, reference=reference, lowest=9, name="lambd"),
)

OPERATOR = Operator(
    "hardshrink",
    declaration=hardshrink,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: opset_9},
    methods=("hardshrink",),
    inplace=("hardshrink_",),
    reads="i",
    cases=CASES,
)
