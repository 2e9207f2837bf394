"""Products of exactly two matrices, of batches of them, and of a matrix with a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.matmul import matmul
from onemodel.tensors.tensor import Tensor


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """[n, k] @ [k, m] -> [n, m]. Raises ValueError for other ranks. Source: ``torch.mm``."""
    return _product("mm", input, mat2, 2, 2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """[b, n, k] @ [b, k, m] -> [b, n, m], without broadcasting.

    Raises ValueError for other ranks or batches that differ. Source: ``torch.bmm``.
    """
    input, mat2 = as_tensor("bmm", "input", input), as_tensor("bmm", "mat2", mat2)
    if input._array.shape[:1] != mat2._array.shape[:1]:
        raise ValueError(
            f"bmm: batches of shapes {list(input._array.shape)} and {list(mat2._array.shape)} "
            "differ; matmul broadcasts"
        )
    return _product("bmm", input, mat2, 3, 3)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """[n, k] @ [k] -> [n]. Raises ValueError for other ranks. Source: ``torch.mv``."""
    return _product("mv", input, vec, 2, 1)


def _product(operator: str, left: Any, right: Any, *ranks: int) -> Tensor:
    left, right = as_tensor(operator, "input", left), as_tensor(operator, "other", right)
    if (left.ndim, right.ndim) != ranks:
        raise ValueError(
            f"{operator}: expected operands of {ranks[0]} and {ranks[1]} axes, not {left.ndim} and "
            f"{right.ndim}; matmul takes any"
        )
    return matmul(left, right)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(input, np.float64) @ np.asarray(other, np.float64)


OPERATOR = Composite("mm", declaration=mm, methods=("mm",), cases=(
    Case((("batch", 3), (3, 4)), reference=reference),
))  # fmt: skip

ALSO = (
    Composite("bmm", declaration=bmm, methods=("bmm",), cases=(
        Case((("batch", 2, 3), ("batch", 3, 4)), reference=reference),
    )),
    Composite("mv", declaration=mv, methods=("mv",), cases=(
        Case((("batch", 3), (3,)), reference=reference),
    )),
)  # fmt: skip
