"""A tensor cut into parts along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of one size (the last may be smaller), or of the sizes listed, along ``dim``; views.

    Raises ValueError where listed sizes do not add up to the axis. In a trace the number of
    parts of a symbolic axis must not depend on its size. Source: ``torch.split``; ONNX Split-2.
    """
    input = as_tensor("split", "input", input)
    dim = normalize_dim("split", dim, input.ndim)
    given = split_size_or_sections
    if isinstance(given, (tuple, list)):
        sections: Any = shape_argument("split", tuple(given))
    else:
        (sections,) = shape_argument("split", (given,))
    return apply_view(OPERATOR, input, {"split_size_or_sections": sections, "dim": dim})


def forward(input: np.ndarray, *, split_size_or_sections: Any, dim: int) -> tuple[np.ndarray, ...]:
    if input.ndim == 0:
        raise ValueError("a 0-d tensor has no axis to split")
    size = input.shape[dim]
    if isinstance(split_size_or_sections, tuple):
        sizes = list(split_size_or_sections)
        if any(part < 0 for part in sizes) or sum(sizes) != size:
            raise ValueError(f"sizes {sizes} do not add up to {size} on axis {dim}")
    else:
        part = split_size_or_sections
        if part < 1:
            raise ValueError(f"a part must have a size of at least 1, not {part}")
        sizes = [min(part, size - start) for start in range(0, size, part)] or [0]
    return parts_of(input, sizes, dim)


def parts_of(input: np.ndarray, sizes: list[int], dim: int) -> tuple[np.ndarray, ...]:
    """Views of the given sizes, one behind the other."""
    before, start = (slice(None),) * dim, 0
    parts = []
    for size in sizes:
        parts.append(input[(*before, slice(start, start + size))])
        start += size
    return tuple(parts)


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return np.concatenate(grads, axis=record.attributes["dim"])


def axes(input: Axes, *, split_size_or_sections: Any, dim: int) -> tuple[Axes, ...]:
    return tuple(rules.split_sizes(input, split_size_or_sections, dim))


def write_parts(g: Any, input: Any, sizes: list[Extent], dim: int) -> tuple[Any, ...]:
    """Parts of the given sizes: Split, or Slice where Split cannot take symbolic sizes."""
    if g.opset >= 13 or len(sizes) == 1 or all(size.is_static for size in sizes):
        return helpers.split(g, input, sizes, dim)
    if all(size == sizes[0] for size in sizes):  # the older Split cuts equal parts unasked
        return g.op("Split", input, axis=dim, outputs=len(sizes))
    parts = []
    start = Extent(0)
    for place, size in enumerate(sizes):
        end = None if place == len(sizes) - 1 else start + size
        parts.append(helpers.slice_(g, input, [start], [end], [dim]))
        start = start + size
    return tuple(parts)


def opset_7(g: Any, input: Any, split_size_or_sections: Any, dim: int) -> tuple[Any, ...]:
    return write_parts(g, input, [part[dim] for part in g.result_axes], dim)


def reference(input: np.ndarray, split_size_or_sections: Any, dim: int = 0) -> list[np.ndarray]:
    sizes = split_size_or_sections
    if isinstance(sizes, int):
        return np.split(input, range(sizes, input.shape[dim], sizes), axis=dim)
    return np.split(input, np.cumsum(sizes)[:-1], axis=dim)


CASES = (
    Case((("batch", 6),), {"split_size_or_sections": 2, "dim": 1}, reference=reference),
    Case((("batch", 5),), {"split_size_or_sections": 2, "dim": -1}, reference=reference,
         name="smaller last part"),
    Case((("batch", 6),), {"split_size_or_sections": [1, 2, 3], "dim": 1}, reference=reference,
         name="listed"),
    Case((("batch", 3),), call=lambda x: x.split([1, x.shape[0] - 1]),
         reference=lambda x: [x[:1], x[1:]], name="a rest of symbolic size"),
    Case((("batch", 3),), {"split_size_or_sections": 3, "dim": 1}, reference=reference,
         name="one part"),
)  # fmt: skip

OPERATOR = Operator(
    "split",
    declaration=split,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("split",),
    reads="",
    size_attributes=("split_size_or_sections",),
    view=True,
    cases=CASES,
)
