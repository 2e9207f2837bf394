"""How many elements are not 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.ne import ne
from onemodel.operators.sum import sum
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number (int64) of elements over ``dim`` (one axis, several, or all) that are not 0.

    Shape: the reduced axes are dropped. No gradient. Raises IndexError for an axis out of
    range. Source: ``torch.count_nonzero``; ONNX ReduceSum-1.
    """
    tensor = as_tensor("count_nonzero", "input", input)
    there = tensor if category(tensor.dtype) == 0 else ne(tensor, 0)
    return sum(there, dim)


def reference(input: np.ndarray, dim: Any = None) -> np.ndarray:
    return np.asarray(np.count_nonzero(input, axis=dim))


CASES = (
    Case((In(("batch", 3), "int64", -1, 2),), reference=reference),
    Case((In(("batch", 3), "int64", -1, 2),), {"dim": 1}, reference=reference, name="one axis"),
    Case((("batch", 3),), {"dim": 0}, reference=reference, gradient=False, name="floats"),
    Case((In(("batch", 3), "bool"),), {"dim": (0, 1)}, reference=reference, name="bool"),
)

OPERATOR = Composite(
    "count_nonzero", declaration=count_nonzero, methods=("count_nonzero",), cases=CASES
)
