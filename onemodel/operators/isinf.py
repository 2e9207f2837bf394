"""Where an element is infinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import equal, same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def isinf(input: Tensor) -> Tensor:
    """Where an element is infinite; integers never are.

    Shape as the input's, bool, no gradient. Raises TypeError for anything but a tensor or number.
    Source: ``torch.isinf``; ONNX IsInf-10.
    """
    return apply(OPERATOR, (as_tensor("isinf", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.isinf(input)


def opset_7(g: Any, input: Any) -> Any:
    if input.dtype.kind != "f" and input.dtype.name != "bfloat16":
        return g.op("Xor", g.cast(input, np.bool_), g.cast(input, np.bool_))
    if g.accepts("IsInf", input.dtype):
        return g.op("IsInf", input)
    return equal(g, g.op("Abs", input), g.like(np.inf, input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.abs(input) == np.inf


def _special(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([np.nan, np.inf, -np.inf, 0.0, -1.5], shape)


CASES = (
    Case((In(("batch", 5), values=_special),), reference=reference),
    Case((In(("batch", 3), "int64", -9, 9),), reference=reference, name="integers"),
)

OPERATOR = Operator(
    "isinf",
    declaration=isinf,
    forward=forward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("isinf",),
    reads="",
    ufunc="isinf",
    cases=CASES,
)
