"""Element-wise sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sign as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1 by the sign of each element; NaN stays NaN. The gradient is 0.

    Shape and dtype are the input's. Raises TypeError for anything but a tensor or number.
    Source: ``torch.sign``; ONNX Sign-9.
    """
    return apply(OPERATOR, (as_tensor("sign", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return np.zeros_like(grad)


def opset_9(g: Any, input: Any) -> Any:
    return arithmetic(g, "Sign", input)


def reference(input: np.ndarray) -> np.ndarray:
    return (np.asarray(input) > 0) * 1 - (np.asarray(input) < 0) * 1


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
    Case((In(("batch", 3), "int64", -2, 3),), reference=reference, lowest=9, name="integers"),
)

OPERATOR = Operator(
    "sign",
    declaration=sign,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: opset_9},
    methods=("sign",),
    inplace=("sign_",),
    reads="",
    ufunc="sign",
    cases=CASES,
)
