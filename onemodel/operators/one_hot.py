"""A 1 at each index along a new last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.extent import Axes
from onemodel.axes.size import extent_of
from onemodel.kernels import one_hot as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.to import to
from onemodel.symbolic.helpers import squeeze
from onemodel.tensors.dtypes import category, int64
from onemodel.tensors.tensor import Tensor


def one_hot(input: Tensor, num_classes: Any = -1) -> Tensor:
    """int64 zeros with a 1 where the new last axis meets the index.

    Shape [...] -> [..., num_classes]; -1 takes one more than the largest index, which a trace
    refuses, as it depends on values. No gradient. Raises TypeError for anything but integers,
    ValueError for an index outside. Source: ``torch.nn.functional.one_hot``; ONNX OneHot-9.
    """
    input = as_tensor("one_hot", "input", input)
    if category(input._array.dtype) != 1:
        raise TypeError(f"one_hot: indices are integers, not {input.dtype}")
    if isinstance(num_classes, int) and num_classes == -1:
        found = input._read("one_hot() without num_classes")
        if found.size == 0:
            raise ValueError("one_hot: num_classes cannot be told from no indices")
        num_classes = int(found.max()) + 1
    return apply(OPERATOR, (to(input, int64),), {"num_classes": num_classes})


def forward(input: np.ndarray, *, num_classes: int) -> np.ndarray:
    if input.size and not (input.min() >= 0 and input.max() < num_classes):
        raise ValueError(
            f"an index lies outside 0 to {num_classes - 1}: {input.min()} to {input.max()}"
        )
    return kernel.fast(input, np.asarray(num_classes), np.asarray([0, 1]))


def axes(input: Axes, *, num_classes: Any) -> Axes:
    return (*input, extent_of(num_classes))


def opset_9(g: Any, input: Any, num_classes: Any) -> Any:
    # ONNX Runtime wants one rank at least, and floats are the values it knows everywhere.
    depth = g.sizes([num_classes])
    indices = g.op("Reshape", input, g.ints([1])) if input.rank == 0 else input
    found = g.op("OneHot", indices, depth, g.constant(np.asarray([0, 1], np.int64)), axis=-1)
    return squeeze(g, found, [0]) if input.rank == 0 else found


def reference(input: np.ndarray, num_classes: int) -> np.ndarray:
    return np.eye(num_classes, dtype=np.int64)[input]


CASES = (
    Case((In(("batch", 3), "int64", 0, 5),), {"num_classes": 5}, reference=reference, lowest=9),
    Case((In((), "int64", 0, 5),), {"num_classes": 5}, reference=reference, lowest=9, name="0-d"),
    Case(
        (In(("batch",), "int32", 0, 3),),
        {"num_classes": 3},
        reference=reference,
        lowest=9,
        name="int32",
    ),
    Case(
        (In(("batch",), values=lambda generator, shape: np.arange(*shape), dtype="int64"),),
        call=lambda x: one_hot(x, x.shape[0]),
        reference=lambda x: np.eye(len(x), dtype=np.int64),
        lowest=9,
        name="symbolic classes",
    ),
)

OPERATOR = Operator(
    "one_hot",
    declaration=one_hot,
    forward=forward,
    axes=axes,
    symbolic={9: opset_9},
    size_attributes=("num_classes",),
    methods=("one_hot",),
    reads="",
    cases=CASES,
)
