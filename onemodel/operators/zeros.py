"""A tensor of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._creation import factory_dtype, fill, finish, size_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._sizes import shape_argument
from onemodel.tensors.tensor import Tensor


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape ``size``.

    ``size``: integers one by one or as one tuple; sizes of a traced tensor stay symbolic.
    ``dtype``: the default floating one where it is left out. Raises ValueError for a negative
    size. Source: ``torch.zeros``; ONNX ConstantOfShape-9 (Expand-8 below).
    """
    attributes = {"size": shape_argument("zeros", size), "dtype": factory_dtype(dtype)}
    return finish(apply(OPERATOR, (), attributes), requires_grad)


def forward(*, size: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.zeros(size, dtype)


def opset_7(g: Any, size: Any, dtype: np.dtype) -> Any:
    return fill(g, size, 0, dtype)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + zeros(x.shape[0], 1),
        reference=lambda x: x + 0,
        lowest=8,
    ),
    Case(
        (("batch", 3),),
        call=lambda x: zeros(x.shape[1], x.shape[0], dtype="int64") * 0 + x.T.long(),
        reference=lambda x: np.asarray(x).T.astype(np.int64),
        lowest=8,
        name="integers",
    ),
)

OPERATOR = Operator(
    "zeros",
    declaration=zeros,
    forward=forward,
    axes=size_axes,
    symbolic={7: opset_7},
    size_attributes=("size",),
    reads="",
    cases=CASES,
)
