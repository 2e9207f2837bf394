"""Where an element is NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import not_nan, same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def isnan(input: Tensor) -> Tensor:
    """Where an element is NaN; integers never are.

    Shape as the input's, bool, no gradient. Raises TypeError for anything but a tensor or number.
    Source: ``torch.isnan``; ONNX IsNaN-9.
    """
    return apply(OPERATOR, (as_tensor("isnan", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.isnan(input)


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype.kind != "f" and input.dtype.name != "bfloat16":
        return g.op("Xor", g.cast(input, np.bool_), g.cast(input, np.bool_))
    if g.accepts("IsNaN", input.dtype):
        return g.op("IsNaN", input)
    return g.op("Not", not_nan(g, input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.asarray(input) != input


def _special(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([np.nan, np.inf, -np.inf, 0.0, -1.5], shape)


CASES = (
    Case((In(("batch", 5), values=_special),), reference=reference),
    Case((In(("batch", 3), "int64", -9, 9),), reference=reference, name="integers"),
)

OPERATOR = Operator(
    "isnan",
    declaration=isnan,
    forward=forward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("isnan",),
    reads="",
    ufunc="isnan",
    cases=CASES,
)
