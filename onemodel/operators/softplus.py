"""Smooth rectifier, ``log(1 + exp(x))``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sigmoid as sigmoid_kernel
from onemodel.kernels import softplus as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``; x itself where ``beta * x`` is above ``threshold``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.softplus``; ONNX Softplus-1.
    """
    return apply(
        OPERATOR,
        (floating("softplus", "input", input),),
        {"beta": float(beta), "threshold": float(threshold)},
    )


def forward(input: np.ndarray, *, beta: float, threshold: float) -> np.ndarray:
    return _smooth(input, beta, threshold)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x, beta = record.arrays[0], record.attributes["beta"]
    above = x * beta > record.attributes["threshold"]
    return grad * np.where(above, 1, sigmoid_kernel.fast(x * beta)).astype(x.dtype)


def _smooth(input: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    scaled = input if beta == 1 else input * np.asarray(beta, input.dtype)
    smooth = kernel.fast(scaled)
    if beta != 1:
        smooth = smooth / np.asarray(beta, input.dtype)
    return np.where(scaled > threshold, input, smooth)


_INVISIBLE = 18.0
"""From here on log(1 + exp(x)) is x in float32."""


def opset_7(g: Any, input: Any, beta: float, threshold: float) -> Any:
    scaled = input if beta == 1 else g.op("Mul", input, g.like(beta, input))
    smooth = g.op("Softplus", scaled)
    if beta != 1:
        smooth = g.op("Div", smooth, g.like(beta, input))
    if threshold >= _INVISIBLE:
        return smooth
    g.refuse_below(9, "softplus with a low threshold (Where)")
    return g.op("Where", g.op("Greater", scaled, g.like(threshold, input)), input, smooth)


def reference(input: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    smooth = np.log(1 + np.exp(beta * wide)) / beta
    return np.where(beta * wide > threshold, wide, smooth)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"beta": 2.0}, reference=reference, name="beta"),
    Case(
        (("batch", 3),),
        {"beta": 0.5, "threshold": 0.25},
        reference=reference,
        lowest=9,
        name="low threshold",
    ),
    Case((In(("batch", 3), low=-90, high=90),), reference=reference, name="wide"),
)

OPERATOR = Operator(
    "softplus",
    declaration=softplus,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("softplus",),
    inplace=("softplus_",),
    reads="i",
    cases=CASES,
)
