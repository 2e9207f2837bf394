"""Axes of size 1 stretched without a copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Operator, apply_view
from onemodel.operators._promote import as_tensor, unbroadcast
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def expand(input: Tensor, *size: Any) -> Tensor:
    """Axes of size 1 stretched to ``size``; -1 keeps an axis, new axes come in front. A view.

    Raises ValueError where an axis other than 1 would change. Writes through the view are not
    possible, as its elements repeat. Source: ``torch.Tensor.expand``; ONNX Expand-8 (Tile
    below).
    """
    input = as_tensor("expand", "input", input)
    return apply_view(OPERATOR, input, {"size": shape_argument("expand", size)})


def forward(input: np.ndarray, *, size: tuple[int, ...]) -> np.ndarray:
    new = len(size) - input.ndim
    if new < 0 or -1 in size[:new]:
        raise ValueError(f"size {list(size)} does not fit {input.ndim} axes (-1 keeps an axis)")
    kept = (1,) * new + input.shape
    wanted = tuple([n if s == -1 else s for s, n in zip(size, kept, strict=True)])
    if wanted == input.shape:
        return input.view()  # NumPy would give a view that cannot be written
    return np.broadcast_to(input, wanted)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return unbroadcast(grad, record.shapes[0])


def axes(input: Axes, *, size: tuple[Any, ...]) -> Axes:
    return rules.expand(input, size)


def same_axes(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    return inputs[0] == result


def write_expand(g: Any, input: Any, source: Axes, target: Axes) -> Any:
    """``input`` with the axes ``source`` stretched to ``target``; Tile where there is no Expand."""
    if source == target:
        return input
    if g.opset >= 8:
        return g.op("Expand", input, g.sizes(target))
    new = len(target) - len(source)
    padded = helpers.unsqueeze(g, input, range(new))
    repeats = [
        wanted if place < new or source[place - new] != wanted else 1
        for place, wanted in enumerate(target)
    ]
    return g.op("Tile", padded, g.sizes(repeats))


def opset_7(g: Any, input: Any, size: tuple[Any, ...]) -> Any:
    return write_expand(g, input, input.shape, g.result_axes[0])


def reference(input: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    return input + np.zeros(size)


CASES = (
    Case(((1, 3), ("batch", 1)), call=lambda x, y: x.expand(y.shape[0], -1),
         reference=lambda x, y: np.repeat(x, len(y), 0), gradient=False, name="a size"),
    Case((("batch", 1, 3),), call=lambda x: x.expand(-1, 4, 3),
         reference=lambda x: np.repeat(x, 4, 1), name="fixed"),
    Case((("batch", 1),), call=lambda x: x.expand(2, -1, 5),
         reference=lambda x: np.tile(x, (2, 1, 5)), name="a new axis"),
    Case((("batch", 3),), call=lambda x: x.expand(-1, 3) * 2, reference=lambda x: x * 2,
         name="the size it has"),
)  # fmt: skip

OPERATOR = Operator(
    "expand",
    declaration=expand,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("expand", "broadcast_to"),
    reads="",
    size_attributes=("size",),
    view=True,
    alias=same_axes,
    cases=CASES,
)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """:func:`expand` under NumPy's name. Source: ``torch.broadcast_to``."""
    return expand(input, size)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` expanded to the shape of ``other``. Source: ``torch.Tensor.expand_as``."""
    return expand(input, as_tensor("expand_as", "other", other).shape)


ALSO = (
    Composite(
        "broadcast_to",
        declaration=broadcast_to,
        cases=(
            Case(
                (("batch", 1),),
                call=lambda x: broadcast_to(x, (-1, 4)),
                reference=lambda x: np.repeat(x, 4, 1),
            ),
        ),
    ),
    Composite("expand_as", declaration=expand_as, methods=("expand_as",), cases=(
        Case(((1, 3), ("batch", 3)), reference=lambda x, y: np.repeat(x, len(y), 0)),
    )),
)  # fmt: skip
