"""Gaussian error linear unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import erf as erf_kernel
from onemodel.kernels import gelu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x * Phi(x)`` with the normal distribution function, or its tanh form.

    ``approximate``: "none" (exact, by erf) or "tanh". Shape as the input's, a floating dtype.
    Raises ValueError for another form. Source: ``torch.nn.functional.gelu``; ONNX Gelu-20.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}")
    return apply(OPERATOR, (floating("gelu", "input", input),), {"approximate": approximate})


def forward(input: np.ndarray, *, approximate: str) -> np.ndarray:
    return kernel.fast(input, approximate=approximate)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    if record.attributes["approximate"] == "tanh":
        inner = np.tanh(_SQRT_2_OVER_PI * (x + 0.044715 * x**3))
        slope = _SQRT_2_OVER_PI * (1 + 3 * 0.044715 * np.square(x))
        return grad * (0.5 * (1 + inner) + 0.5 * x * (1 - np.square(inner)) * slope)
    density = np.exp(-0.5 * np.square(x)) / math.sqrt(2 * math.pi)
    return grad * (0.5 * (1 + erf_kernel.fast(_SQRT_HALF * x)) + x * density)


def opset_20(g: Any, input: Any, approximate: str) -> Any:
    return g.op("Gelu", input, approximate=approximate)


def opset_7(g: Any, input: Any, approximate: str) -> Any:
    half, one = g.like(0.5, input), g.like(1, input)
    if approximate == "tanh":
        square = g.op("Mul", input, input)
        inner = g.op("Add", g.op("Mul", square, g.like(0.044715, input)), one)
        inner = g.op("Mul", g.op("Mul", inner, input), g.like(_SQRT_2_OVER_PI, input))
        curve = g.op("Tanh", inner)
    else:
        curve = g.op("Erf", g.op("Mul", input, g.like(_SQRT_HALF, input)))
    return g.op("Mul", g.op("Mul", g.op("Add", curve, one), input), half)


def reference(input: np.ndarray, approximate: str = "none") -> np.ndarray:
    wide = np.asarray(input, np.float64)
    if approximate == "tanh":
        return 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    return wide * np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), [np.float64])(wide)


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case((("batch", 3),), {"approximate": "tanh"}, reference=reference, name="tanh"),
)

OPERATOR = Operator(
    "gelu",
    declaration=gelu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 20: opset_20},
    methods=("gelu",),
    reads="i",
    cases=CASES,
)
