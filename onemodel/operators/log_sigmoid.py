"""Logarithm of the logistic function."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import floating
from onemodel.operators.neg import neg
from onemodel.operators.softplus import softplus
from onemodel.tensors.tensor import Tensor


def log_sigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(x))`` without overflow, also called ``logsigmoid``.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.logsigmoid``; ONNX Softplus-1.
    """
    return neg(softplus(neg(floating("log_sigmoid", "input", input))))


CASES = (
    Case((("batch", 3),), reference=lambda x: np.log(1 / (1 + np.exp(-np.asarray(x, float))))),
    Case(
        (In(("batch", 3), low=-90, high=90),),
        reference=lambda x: -np.logaddexp(0, -np.asarray(x, np.float64)),
        name="wide",
    ),
)

OPERATOR = Composite("log_sigmoid", declaration=log_sigmoid, methods=("log_sigmoid",), cases=CASES)

ALSO = (Composite("logsigmoid", declaration=log_sigmoid, methods=("logsigmoid",), cases=CASES[:1]),)
