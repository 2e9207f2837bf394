"""Where the elements in order stood, along one axis."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.sort import sort
from onemodel.tensors.tensor import Tensor


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices (int64) that sort ``input`` along ``dim``; no gradient.

    Of equal elements the first comes first. Raises IndexError for an axis out of range.
    Source: ``torch.argsort``; ONNX TopK-1 of the whole axis.
    """
    return sort(input, dim, descending, stable).indices


def reference(input: np.ndarray, dim: int = -1, descending: bool = False) -> np.ndarray:
    keys = -np.asarray(input, np.float64) if descending else np.asarray(input, np.float64)
    return np.argsort(keys, axis=dim, kind="stable")


CASES = (
    Case((("batch", 5),), reference=reference, gradient=False, lowest=11),
    Case(
        (("batch", 5),),
        {"descending": True},
        reference=reference,
        gradient=False,
        name="descending",
    ),
)

OPERATOR = Composite("argsort", declaration=argsort, methods=("argsort",), cases=CASES)
