"""Exponential linear unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import elu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Each element, or ``alpha * (exp(x) - 1)`` where it is negative.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.elu``; ONNX Elu-6.
    """
    return apply(OPERATOR, (floating("elu", "input", input),), {"alpha": float(alpha)})


def forward(input: np.ndarray, *, alpha: float) -> np.ndarray:
    return kernel.fast(input, alpha=alpha)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    alpha, x = record.attributes["alpha"], record.arrays[0]
    return grad * np.where(x > 0, 1, alpha * np.exp(np.minimum(x, 0))).astype(x.dtype)


def opset_7(g: Any, input: Any, alpha: float) -> Any:
    return g.op("Elu", input, alpha=alpha)


def reference(input: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.where(wide < 0, alpha * (np.exp(wide) - 1), wide)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"alpha": 0.7}, reference=reference, name="alpha"),
)

OPERATOR = Operator(
    "elu",
    declaration=elu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("elu",),
    inplace=("elu_",),
    reads="i",
    cases=CASES,
)
