"""Matrix product with batch broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import mat_mul as kernel
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def matmul(input: Any, other: Any) -> Tensor:
    """Product of matrices in the last two axes; earlier axes broadcast, 1-D operands contract.

    Shapes: [..., n, k] @ [..., k, m] -> [..., n, m]; [k] stands for a row on the left and a
    column on the right, and its axis is dropped. Raises ValueError where k differs or an
    operand is 0-d. Source: ``torch.matmul``; ONNX MatMul-1.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    (input, other), _ = operands("matmul", input, other)
    return apply(OPERATOR, (input, other))


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    grads: list[np.ndarray | None] = [None, None]
    rows = left if left.ndim > 1 else left[None, :]
    columns = right if right.ndim > 1 else right[:, None]
    if left.ndim == 1:
        grad = grad[..., None, :] if right.ndim > 1 else grad[..., None]
    if right.ndim == 1:
        grad = grad[..., None]
    if record.needs[0]:
        full = np.matmul(grad, np.swapaxes(columns, -1, -2))
        grads[0] = unbroadcast(full, rows.shape).reshape(left.shape)
    if record.needs[1]:
        full = np.matmul(np.swapaxes(rows, -1, -2), grad)
        grads[1] = unbroadcast(full, columns.shape).reshape(right.shape)
    return grads[0], grads[1]


def axes(input: Axes, other: Axes) -> Axes:
    return rules.matmul(input, other)


def opset_7(g: Any, input: Any, other: Any) -> Any:
    return arithmetic(g, "MatMul", input, other)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.matmul(np.asarray(input, np.float64), np.asarray(other, np.float64))


CASES = (
    Case((("batch", 3), (3, 4)), reference=reference),
    Case((("batch", 2, "time", 4), ("batch", 2, 4, "time")), reference=reference, name="heads"),
    Case(((3,), (3,)), reference=reference, name="vectors"),
    Case((("batch", 5, 3), (3,)), reference=reference, name="matrix and vector"),
    Case(((3,), ("batch", 3, 2)), reference=reference, name="vector and matrices"),
)

OPERATOR = Operator(
    "matmul",
    declaration=matmul,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("matmul", "__matmul__"),
    reflected=("__rmatmul__",),
    reads="i",
    ufunc="matmul",
    cases=CASES,
)
