"""Piecewise linear sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import hard_sigmoid as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def hardsigmoid(input: Tensor) -> Tensor:
    """``clamp(x + 3, 0, 6) / 6``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.hardsigmoid``; ONNX HardSigmoid-6.
    """
    return apply(OPERATOR, (floating("hardsigmoid", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input, alpha=1 / 6, beta=0.5)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    return grad * ((x > -3) & (x < 3)) / 6


def opset_7(g: Any, input: Any) -> Any:
    return g.op("HardSigmoid", input, alpha=1 / 6, beta=0.5)


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.clip(wide + 3, 0, 6) / 6


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((In(("batch", 3), low=-9, high=9),), reference=reference, name="wide"),
)

OPERATOR = Operator(
    "hardsigmoid",
    declaration=hardsigmoid,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("hardsigmoid",),
    inplace=("hardsigmoid_",),
    reads="i",
    cases=CASES,
)
