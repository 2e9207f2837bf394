"""Continuously differentiable exponential linear unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import celu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.celu``; ONNX Celu-12 (Elu below).
    """
    return apply(OPERATOR, (floating("celu", "input", input),), {"alpha": float(alpha)})


def forward(input: np.ndarray, *, alpha: float) -> np.ndarray:
    return kernel.fast(input, alpha=alpha)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    alpha, x = record.attributes["alpha"], record.arrays[0]
    return grad * np.where(x > 0, 1, np.exp(np.minimum(x, 0) / alpha)).astype(x.dtype)


def opset_12(g: Any, input: Any, alpha: float) -> Any:
    if not g.accepts("Celu", input.dtype):  # float32 only, until 28
        return opset_7(g, input, alpha)
    return g.op("Celu", input, alpha=alpha)


def opset_7(g: Any, input: Any, alpha: float) -> Any:
    inner = g.op("Elu", g.op("Div", input, g.like(alpha, input)))
    return g.op("Mul", inner, g.like(alpha, input))


def reference(input: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.where(wide < 0, alpha * (np.exp(wide / alpha) - 1), wide)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"alpha": 0.7}, reference=reference, name="alpha"),
)

OPERATOR = Operator(
    "celu",
    declaration=celu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 12: opset_12},
    methods=("celu",),
    inplace=("celu_",),
    reads="i",
    cases=CASES,
)
