"""Determinants of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import same_extent
from onemodel.kernels import det as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def det(input: Tensor) -> Tensor:
    """[..., n, n] -> [...]: the determinant of each matrix.

    Raises ValueError for anything but square matrices. Source: ``torch.linalg.det``; ONNX
    Det-11.
    """
    return apply(OPERATOR, (floating("det", "input", input),))


def check_square(input: np.ndarray) -> None:
    """Raises ValueError for anything but (batches of) square matrices."""
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise ValueError("expected square matrices, [..., n, n]")


def forward(input: np.ndarray) -> np.ndarray:
    check_square(input)
    return np.asarray(kernel.fast(input))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad[..., None, None] * _cofactors(record.arrays[0])


def _cofactors(matrices: np.ndarray) -> np.ndarray:
    """Cofactors through singular values, which singular matrices have, too."""
    left, values, right = np.linalg.svd(matrices)
    count = values.shape[-1]
    others = np.stack(
        [np.prod(np.delete(values, i, axis=-1), axis=-1) for i in range(count)], axis=-1
    ) if count else values  # fmt: skip
    sign = np.linalg.det(left) * np.linalg.det(right)
    return sign[..., None, None] * ((left * others[..., None, :]) @ right)


def axes(input: Axes) -> Axes:
    same_extent(input[-1], input[-2], "the rows and columns of det")
    return input[:-2]


def opset_11(g: Any, input: Any) -> Any:
    return g.op("Det", input)


def reference(input: np.ndarray) -> np.ndarray:
    size = input.shape[-1]
    if size == 1:
        return input[..., 0, 0]
    signs = [(-1) ** column for column in range(size)]
    minors = [reference(np.delete(input[..., 1:, :], column, axis=-1)) for column in range(size)]
    terms = zip(signs, minors, strict=True)
    return np.sum([s * input[..., 0, i] * m for i, (s, m) in enumerate(terms)], axis=0)


def _singular(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    matrix = generator.uniform(-2, 2, shape)
    matrix[..., -1, :] = matrix[..., 0, :] * 2
    return matrix


CASES = (
    Case((("batch", 3, 3),), reference=reference, lowest=11),
    Case(((4, 4),), reference=reference, lowest=11, tolerance=1e-4, name="matrix"),
    Case((In((3, 3), values=_singular),), reference=reference, lowest=11, tolerance=1e-4,
         name="singular"),
)  # fmt: skip

OPERATOR = Operator(
    "det",
    declaration=det,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={11: opset_11},
    methods=("det",),
    reads="i",
    cases=CASES,
)
