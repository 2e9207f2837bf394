"""A matrix product added to something that broadcasts."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import gemm as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; with ``beta`` 0 ``input`` gives its shape only.

    Shapes: mat1 [n, k], mat2 [k, m], input broadcasts to [n, m]. Raises ValueError where they
    do not fit, TypeError for fractional factors of integers. Source: ``torch.addmm``; ONNX
    Gemm-7.
    """
    tensors, dtype = operands("addmm", input, mat1, mat2)
    if category(dtype) < 2 and (beta != int(beta) or alpha != int(alpha)):
        raise TypeError("addmm: integers need integer factors beta and alpha")
    return apply(OPERATOR, tensors, {"beta": beta, "alpha": alpha})


def forward(
    input: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, *, beta: float, alpha: float
) -> np.ndarray:
    if mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        raise ValueError("expected matrices mat1 [n, k] and mat2 [k, m]")
    shape = (mat1.shape[0], mat2.shape[1])
    if np.broadcast_shapes(input.shape, shape) != shape:
        raise ValueError(f"input does not broadcast to {list(shape)}")
    return kernel.fast(mat1, mat2, input, alpha=float(alpha), beta=float(beta))


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any, Any]:
    _, left, right = record.arrays
    beta, alpha = (np.asarray(record.attributes[n], grad.dtype) for n in ("beta", "alpha"))
    return (
        unbroadcast(grad, record.shapes[0]) * beta,
        np.matmul(grad, right.T) * alpha,
        np.matmul(left.T, grad) * alpha,
    )


def axes(input: Axes, mat1: Axes, mat2: Axes, *, beta: float, alpha: float) -> Axes:
    return rules.expand(input, rules.matmul(mat1, mat2))


def opset_7(
    g: Any, input: Any, mat1: Any, mat2: Any, beta: float, alpha: float
) -> Any:  # fmt: skip
    if input.dtype.kind not in "iu":
        return arithmetic(g, "Gemm", mat1, mat2, input, alpha=float(alpha), beta=float(beta))
    # Runtimes compute no Gemm of integers.
    product = arithmetic(g, "MatMul", mat1, mat2)
    if alpha != 1:
        product = arithmetic(g, "Mul", product, g.like(alpha, product))
    if beta != 1:
        input = arithmetic(g, "Mul", input, g.like(beta, input))
    return arithmetic(g, "Add", product, input)


def reference(
    input: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: float = 1, alpha: float = 1
) -> np.ndarray:
    return beta * input + alpha * np.einsum("ik,kj->ij", mat1, mat2)


CASES = (
    Case(((4,), ("batch", 3), (3, 4)), reference=reference),
    Case((("batch", 1), ("batch", 3), (3, 4)), {"beta": 0.5, "alpha": -2}, reference=reference,
         name="factors"),
    Case((In((4,), "int64", -9, 9), In(("batch", 3), "int64", -9, 9), In((3, 4), "int64", -9, 9)),
         {"alpha": 2}, reference=reference, name="integers", lowest=9),
)  # fmt: skip

OPERATOR = Operator(
    "addmm",
    declaration=addmm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("addmm",),
    reads="i",
    cases=CASES,
)
