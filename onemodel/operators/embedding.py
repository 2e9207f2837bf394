"""Rows of a table, chosen by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """``weight[input]``: for each index a row of the table.

    Shapes: input [*] (integers), weight [V, D] -> [*, D]. The row ``padding_idx`` gets no
    gradient. ``max_norm`` first shrinks the rows in use, in place, to that ``norm_type`` norm.
    ``scale_grad_by_freq`` divides gradients by how often an index occurs; ``sparse`` changes
    nothing here. Raises IndexError for an index outside 0..V-1, TypeError for float indices.
    Source: ``torch.nn.functional.embedding``; ONNX Gather-1.
    """
    input = as_tensor("embedding", "input", input)
    weight = as_tensor("embedding", "weight", weight)
    rows = check_table("embedding", input, weight)
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ValueError(f"embedding: padding_idx {padding_idx} is no row of {rows}")
        padding_idx %= rows
    if max_norm is not None:
        renormalise(weight, input._read("embedding(max_norm=...)"), max_norm, norm_type)
    attributes = {"padding_idx": padding_idx, "scale_grad_by_freq": bool(scale_grad_by_freq)}
    return apply(OPERATOR, (input, weight), attributes)


def check_table(operator: str, input: Tensor, weight: Tensor) -> int:
    """Number of rows of the table. Raises TypeError and ValueError naming the operator."""
    if category(input._array.dtype) != 1:
        raise TypeError(f"{operator}: indices must be integers, not {input._array.dtype}")
    if weight.ndim != 2:
        raise ValueError(
            f"{operator}: expected a weight of shape [V, D], not {list(weight._array.shape)}"
        )
    return weight._array.shape[0]


def renormalise(weight: Tensor, indices: np.ndarray, max_norm: float, norm_type: float) -> None:
    """Shrink the rows in use, in place, to at most ``max_norm``."""
    used = np.unique(indices)
    table = weight._write("embedding(max_norm=...)")
    norms = np.linalg.norm(table[used], ord=norm_type, axis=1)
    long = norms > max_norm
    table[used[long]] *= (max_norm / (norms[long] + 1e-7))[:, None].astype(table.dtype)


def forward(
    input: np.ndarray, weight: np.ndarray, *, padding_idx: int | None, scale_grad_by_freq: bool
) -> np.ndarray:
    check_range(input, len(weight))
    return weight[input]


def check_range(indices: np.ndarray, rows: int) -> None:
    """Raises IndexError naming the offending index."""
    if not indices.size:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= rows:
        raise IndexError(f"index {low if low < 0 else high} is no row of a table of {rows}")


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[None, np.ndarray | None]:
    if not record.needs[1]:
        return None, None
    indices = record.arrays[0].reshape(-1)
    rows = grad.reshape(indices.size, -1)
    if record.attributes["scale_grad_by_freq"] and indices.size:
        _, where, counts = np.unique(indices, return_inverse=True, return_counts=True)
        rows = rows / counts[where][:, None].astype(rows.dtype)
    total = scatter_rows(indices, rows, record.shapes[1])
    if record.attributes["padding_idx"] is not None:
        total[record.attributes["padding_idx"]] = 0
    return None, total


def scatter_rows(indices: np.ndarray, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A table of zeros with each row added at its index; equal indices are summed first."""
    total = np.zeros(shape, rows.dtype)
    if not indices.size:
        return total
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    total[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return total


def axes(input: Axes, weight: Axes, *, padding_idx: int | None, scale_grad_by_freq: bool) -> Axes:
    return rules.embedding(weight, input)


def opset_7(
    g: Any, input: Any, weight: Any, padding_idx: int | None, scale_grad_by_freq: bool
) -> Any:
    return g.op("Gather", weight, index_operand(g, input), axis=0)


def index_operand(g: Any, input: Any) -> Any:
    """Indices in a dtype that Gather takes: int32 or int64."""
    return input if input.dtype in (np.int32, np.int64) else g.cast(input, np.int64)


def reference(input: np.ndarray, weight: np.ndarray, **ignored: Any) -> np.ndarray:
    return np.stack([weight[i] for i in input.reshape(-1)]).reshape(*input.shape, -1)


CASES = (
    Case((In(("batch", "time"), "int64", 0, 7), In((7, 4), constant=True)), reference=reference),
    Case((In(("batch",), "int32", 0, 5), In((5, 3), constant=True)), {"padding_idx": -1},
         reference=reference, name="padding_idx", gradient=False),
    Case((In(("batch", 2), "uint8", 0, 5), (5, 3)), reference=reference, name="narrow indices"),
)  # fmt: skip

OPERATOR = Operator(
    "embedding",
    declaration=embedding,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)
