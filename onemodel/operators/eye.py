"""Ones on the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._creation import factory_dtype, fill, finish, size_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._sizes import shape_argument
from onemodel.operators.matmul import matmul
from onemodel.tensors.tensor import Tensor


def eye(n: Any, m: Any = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix of ``n`` rows and ``m`` (or ``n``) columns with ones on the diagonal.

    Sizes of a traced tensor stay symbolic. The default floating dtype unless given. Raises
    ValueError for a negative size. Source: ``torch.eye``; ONNX EyeLike-9.
    """
    size = shape_argument("eye", (n, n if m is None else m))
    attributes = {"size": size, "dtype": factory_dtype(dtype)}
    return finish(apply(OPERATOR, (), attributes), requires_grad)


def forward(*, size: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    return np.eye(*size, dtype=dtype)


def opset_9(g: Any, size: Any, dtype: np.dtype) -> Any:
    return g.cast(g.op("EyeLike", fill(g, size, 0, np.dtype(np.float32))), dtype)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: matmul(eye(x.shape[0]), x),
        reference=lambda x: np.asarray(x),
        lowest=9,
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + eye(x.shape[0], 3, dtype="float64"),
        reference=lambda x: x + (np.arange(len(x))[:, None] == np.arange(3)),
        lowest=9,
        name="rows and columns",
    ),
)

OPERATOR = Operator(
    "eye",
    declaration=eye,
    forward=forward,
    axes=size_axes,
    symbolic={9: opset_9},
    size_attributes=("size",),
    reads="",
    cases=CASES,
)
