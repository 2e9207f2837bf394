"""A copy of a tensor, and a copy only where its elements do not lie in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def clone(input: Tensor) -> Tensor:
    """The same values in memory of their own; gradients flow through.

    In a trace nothing is written: values of a graph never change. Source: ``torch.clone``.
    """
    return apply(OPERATOR, (as_tensor("clone", "input", input),))


def contiguous(input: Tensor) -> Tensor:
    """The tensor itself where its elements lie in row-major order, else a copy that does.

    Source: ``torch.Tensor.contiguous``.
    """
    input = as_tensor("contiguous", "input", input)
    return input if input.is_contiguous() else apply(CONTIGUOUS, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    return input.copy()


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad


def always(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return True


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Identity", input)


CASES = (
    Case((("batch", 3),), call=lambda x: x.clone() * 2, reference=lambda x: x * 2),
    Case((("batch", 3),), call=lambda x: x.transpose(0, 1).contiguous() * 2,
         reference=lambda x: x.T * 2, name="contiguous"),
)  # fmt: skip

OPERATOR = Operator(
    "clone",
    declaration=clone,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("clone",),
    reads="",
    alias=always,
    cases=CASES[:1],
)

CONTIGUOUS = Operator(
    "contiguous",
    declaration=contiguous,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("contiguous",),
    reads="",
    alias=always,
    cases=CASES[1:],
)

ALSO = (CONTIGUOUS,)
