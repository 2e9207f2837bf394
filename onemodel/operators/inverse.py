"""Inverses of square matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import floating
from onemodel.operators.det import check_square
from onemodel.tensors.tensor import Tensor


def inverse(input: Tensor) -> Tensor:
    """[..., n, n] -> the inverse of each matrix. Eager only: ONNX has no such node.

    Raises ValueError for anything but square matrices and for a singular one; a trace refuses
    it (OM609). Source: ``torch.linalg.inv``.
    """
    return apply(OPERATOR, (floating("inverse", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    check_square(input)
    try:
        return np.linalg.inv(input)
    except np.linalg.LinAlgError:
        raise ValueError("a matrix is singular and has no inverse") from None


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    turned = np.swapaxes(record.results[0], -1, -2)
    return -(turned @ grad @ turned)


def refuse(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM609",
        "ONNX has no node for the inverse of a matrix",
        (("invert a constant matrix before the model runs", "w_inv = om.inverse(w)"),),
    )


def _well_conditioned(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.uniform(-1, 1, shape) + 4 * np.eye(shape[-1])


def reference(input: np.ndarray) -> np.ndarray:
    eye = np.broadcast_to(np.eye(input.shape[-1]), input.shape)
    return np.linalg.solve(input.astype(np.float64), eye)


CASES = (Case((In(("batch", 3, 3), values=_well_conditioned),), reference=reference, trace=False),)

OPERATOR = Operator(
    "inverse",
    declaration=inverse,
    forward=forward,
    backward=backward,
    methods=("inverse",),
    refuses=refuse,
    reads="o",
    cases=CASES,
)
