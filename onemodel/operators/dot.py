"""Products of two vectors: inner and outer."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.matmul import matmul
from onemodel.operators.mul import mul
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.tensors.tensor import Tensor


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """[n] . [n] -> the sum of products, 0-d.

    Raises ValueError for anything but two vectors of one length. Source: ``torch.dot``; ONNX
    MatMul-1.
    """
    return matmul(_vector("dot", "input", input), _vector("dot", "tensor", tensor))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """[n] x [m] -> [n, m], every product.

    Raises ValueError for anything but two vectors. Source: ``torch.outer``; ONNX Mul-7.
    """
    left, right = _vector("outer", "input", input), _vector("outer", "vec2", vec2)
    return mul(unsqueeze(left, 1), right)


def _vector(operator: str, name: str, value: Any) -> Tensor:
    tensor = as_tensor(operator, name, value)
    if tensor.ndim != 1:
        raise ValueError(f"{operator}: {name} must be a vector, it has {tensor.ndim} axes")
    return tensor


OPERATOR = Composite("dot", declaration=dot, methods=("dot",), cases=(
    Case((("batch",), ("batch",)), reference=lambda x, y: (x.astype(np.float64) * y).sum()),
))  # fmt: skip

ALSO = (
    Composite("outer", declaration=outer, methods=("outer",), cases=(
        Case((("batch",), (3,)), reference=lambda x, y: x[:, None] * y),
        Case((In(("batch",), "int32", -9, 9), In((3,), "int32", -9, 9)),
             reference=lambda x, y: x[:, None] * y, name="integers"),
    )),
)  # fmt: skip
