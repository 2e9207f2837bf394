"""A tensor cut into a number of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.split import parts_of, write_parts
from onemodel.tensors.tensor import Tensor


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunks`` parts along ``dim``, of which the last may be smaller or missing; views.

    In a trace a symbolic axis must be a multiple of ``chunks``. Raises ValueError for fewer
    than one chunk. Source: ``torch.chunk``; ONNX Split-2.
    """
    input = as_tensor("chunk", "input", input)
    if chunks < 1:
        raise ValueError(f"chunk: expected at least 1 chunk, not {chunks}")
    dim = normalize_dim("chunk", dim, input.ndim)
    return apply_view(OPERATOR, input, {"chunks": int(chunks), "dim": dim})


def forward(input: np.ndarray, *, chunks: int, dim: int) -> tuple[np.ndarray, ...]:
    if input.ndim == 0:
        raise ValueError("a 0-d tensor has no axis to cut")
    size = input.shape[dim]
    part = -(-size // chunks)
    sizes = [min(part, size - start) for start in range(0, size, part)] if size else [0] * chunks
    return parts_of(input, sizes, dim)


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return np.concatenate(grads, axis=record.attributes["dim"])


def axes(input: Axes, *, chunks: int, dim: int) -> tuple[Axes, ...]:
    return tuple(rules.chunk(input, chunks, dim))


def opset_7(g: Any, input: Any, chunks: int, dim: int) -> tuple[Any, ...]:
    return write_parts(g, input, [part[dim] for part in g.result_axes], dim)


def reference(input: np.ndarray, chunks: int, dim: int = 0) -> list[np.ndarray]:
    part = -(-input.shape[dim] // chunks)
    return np.split(input, range(part, input.shape[dim], part), axis=dim)


CASES = (
    Case((("batch", 6),), {"chunks": 3, "dim": 1}, reference=reference),
    Case((("batch", 5),), {"chunks": 3, "dim": -1}, reference=reference, name="smaller last"),
    Case((("batch", 4),), {"chunks": 3, "dim": 1}, reference=reference, name="fewer parts"),
    Case(((3, "batch"),), call=lambda x: x.reshape(x.shape[1] * 3).chunk(3),
         reference=lambda x: np.split(x.reshape(-1), 3), name="a multiple of a symbolic axis"),
)  # fmt: skip

OPERATOR = Operator(
    "chunk",
    declaration=chunk,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("chunk",),
    reads="",
    view=True,
    cases=CASES,
)
