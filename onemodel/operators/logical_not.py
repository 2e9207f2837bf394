"""Element-wise negation of truth."""

from __future__ import annotations

import numpy as np

from onemodel.kernels import not_ as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.to import to
from onemodel.tensors.tensor import Tensor


def logical_not(input: Tensor) -> Tensor:
    """True where an element is 0 or False; bool, no gradient.

    Shape as the input's. Raises TypeError for anything but a tensor or number.
    Source: ``torch.logical_not``; ONNX Not-1.
    """
    return apply(OPERATOR, (to(as_tensor("logical_not", "input", input), np.bool_),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


CASES = (
    Case((In(("batch", 3), "bool"),), reference=lambda x: x == 0),
    Case((In(("batch", 3), "int64", -1, 2),), reference=lambda x: x == 0, name="integers"),
)

OPERATOR = Operator(
    "logical_not",
    declaration=logical_not,
    forward=forward,
    axes=same_axes,
    symbolic={7: unary("Not")},
    methods=("logical_not",),
    reads="",
    ufunc="logical_not",
    cases=CASES,
)
