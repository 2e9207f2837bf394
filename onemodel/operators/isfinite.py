"""Where an element is neither infinite nor NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def isfinite(input: Tensor) -> Tensor:
    """Where an element is neither infinite nor NaN.

    Shape as the input's, bool, no gradient. Raises TypeError for anything but a tensor or number.
    Source: ``torch.isfinite``; ONNX Less-7.
    """
    return apply(OPERATOR, (as_tensor("isfinite", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.isfinite(input)


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype.kind != "f" and input.dtype.name != "bfloat16":
        never = g.op("Xor", g.cast(input, np.bool_), g.cast(input, np.bool_))
        return g.op("Not", never)
    return g.op("Less", g.op("Abs", input), g.like(np.inf, input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.abs(input) < np.inf


def _special(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([np.nan, np.inf, -np.inf, 0.0, -1.5], shape)


CASES = (
    Case((In(("batch", 5), values=_special),), reference=reference),
    Case((In(("batch", 3), "int64", -9, 9),), reference=reference, name="integers"),
)

OPERATOR = Operator(
    "isfinite",
    declaration=isfinite,
    forward=forward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("isfinite",),
    reads="",
    ufunc="isfinite",
    cases=CASES,
)
