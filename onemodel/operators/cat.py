"""Tensors joined along an existing axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import concat as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import normalize_dim, operands
from onemodel.tensors.tensor import Tensor


def cat(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """The tensors joined along ``dim``; all other axes agree.

    Dtype: where the tensors meet by promotion. Raises ValueError for no tensors, for 0-d
    tensors and for axes that differ. Source: ``torch.cat``; ONNX Concat-4.
    """
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise TypeError(f"cat: tensors must be a list or tuple, not {type(tensors).__name__}")
    if not tensors:
        raise ValueError("cat: there is no tensor to join")
    found, _ = operands("cat", *tensors)
    if found[0].ndim == 0:
        raise ValueError("cat: a 0-d tensor has no axis to join along; use stack")
    return apply(OPERATOR, found, {"dim": normalize_dim("cat", dim, found[0].ndim)})


def forward(*tensors: np.ndarray, dim: int) -> np.ndarray:
    return kernel.fast(*tensors, axis=dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, ...]:
    dim = record.attributes["dim"]
    ends = np.cumsum([shape[dim] for shape in record.shapes])[:-1]
    return tuple(np.split(grad, ends, axis=dim))


def axes(*tensors: Axes, dim: int) -> Axes:
    return rules.concat(tensors, dim)


def only_one(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return len(inputs) == 1


def opset_7(g: Any, tensors: Any, dim: int) -> Any:
    return g.op("Concat", *tensors, axis=dim)


def _call(*tensors: Any, dim: int = 0) -> Tensor:
    return cat(tensors, dim)


def reference(*tensors: np.ndarray, dim: int = 0) -> np.ndarray:
    return np.concatenate(tensors, axis=dim)


CASES = (
    Case((("batch", 3), ("batch", 2)), {"dim": 1}, call=_call, reference=reference),
    Case((("batch", 3), (2, 3), ("batch", 3)), call=_call, reference=reference,
         name="symbolic axis"),
    Case((("batch", 3), In(("batch", 1), "int64", -5, 5, gradient=False)), {"dim": -1},
         call=_call, reference=reference, name="promotion"),
    Case((In(("batch", 3), "bool", 0, 2), In(("batch", 2), "bool", 0, 2)), {"dim": 1}, call=_call,
         reference=reference, gradient=False, name="bool"),
)  # fmt: skip

OPERATOR = Operator(
    "cat",
    declaration=cat,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="",
    alias=only_one,
    cases=CASES,
)


def concat(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """:func:`cat` under its long name. Source: ``torch.concat``."""
    return cat(tensors, dim)


ALSO = (
    Composite(
        "concat",
        declaration=concat,
        cases=(
            Case(
                (("batch", 3), ("batch", 2)),
                call=lambda x, y: concat((x, y), 1),
                reference=lambda x, y: np.concatenate((x, y), 1),
            ),
        ),
    ),
)
