"""Conversion to another dtype: ``to`` and its shorthands (``x.float()``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, register_conversion
from onemodel.tensors import dtypes
from onemodel.tensors.tensor import Tensor


def to(input: Any, dtype: Any) -> Tensor:
    """The same values in another dtype; the tensor itself where it has it already.

    Floats go to integers by truncation, anything to bool by ``!= 0``. Raises TypeError for
    what is no dtype. Source: ``torch.Tensor.to``; ONNX Cast-6.
    """
    input = as_tensor("to", "input", input)
    wanted = dtypes.as_dtype(dtype)
    if input._array.dtype == wanted:
        return input
    return apply(OPERATOR, (input,), {"dtype": wanted})


def to_index(tensor: Tensor) -> Tensor:
    """Integers as int64, the dtype of indices; what most of them are already."""
    return tensor if tensor._array.dtype is dtypes.int64 else to(tensor, dtypes.int64)


def forward(input: np.ndarray, *, dtype: np.dtype) -> np.ndarray:
    if input.dtype.kind == "c" and dtype.kind != "c":
        input = np.real(input)
    return input.astype(dtype)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray | None:
    # Gradients exist between floating dtypes only; the engine brings the dtype back.
    return grad


def opset_7(g: Any, input: Any, dtype: np.dtype) -> Any:
    return g.cast(input, dtype)


def reference(input: np.ndarray, dtype: str) -> np.ndarray:
    return np.asarray(input).astype(dtype)


register_conversion("to", to)

CASES = (
    Case((("batch", 3),), {"dtype": "float64"}, reference=reference),
    Case((("batch", 3),), {"dtype": "int64"}, reference=reference, gradient=False, name="int"),
    Case(
        (In(("batch", 3), "int64", -2, 3),),
        {"dtype": "bool"},
        reference=reference,
        gradient=False,
        name="bool",
    ),
)

OPERATOR = Operator(
    "to",
    declaration=to,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("to", "type", "astype"),
    reads="",
    cases=CASES,
)


def _shorthand(name: str, dtype: np.dtype) -> Composite:
    def convert(input: Tensor) -> Tensor:
        return to(input, dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The same values as {dtype.name}. Source: ``torch.Tensor.{name}``."
    return Composite(name, declaration=convert, methods=(name,), public=False)


ALSO = (
    _shorthand("float", dtypes.float32),
    _shorthand("double", dtypes.float64),
    _shorthand("half", dtypes.float16),
    _shorthand("bfloat16", dtypes.bfloat16),
    _shorthand("int", dtypes.int32),
    _shorthand("long", dtypes.int64),
    _shorthand("short", dtypes.int16),
    _shorthand("bool", dtypes.bool_),
)
