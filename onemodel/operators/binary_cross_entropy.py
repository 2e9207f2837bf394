"""Cross entropy of probabilities of yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import broadcast
from onemodel.operators._case import Case, In
from onemodel.operators._losses import reduce_reference, reduced, same_shape
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import operands
from onemodel.operators.mul import mul
from onemodel.symbolic.helpers import clip
from onemodel.tensors.tensor import Tensor


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, *, reduction: str = "mean"
) -> Tensor:
    """``-(target*log(input) + (1 - target)*log(1 - input))``, logarithms not below -100.

    Shapes: two equal ones, ``weight`` broadcast to them -> [] or, with reduction "none", the
    same. Raises ValueError for unequal shapes, another reduction or probabilities outside 0..1.
    Source: ``torch.nn.functional.binary_cross_entropy``.
    """
    (input, target), _ = operands("binary_cross_entropy", input, target)
    same_shape("binary_cross_entropy", input, target)
    loss = apply(ELEMENTS, (input, target))
    loss = loss if weight is None else mul(loss, weight)
    return reduced("binary_cross_entropy", loss, reduction)


def elements(input: Tensor, target: Tensor) -> Tensor:
    """:func:`binary_cross_entropy` of each element."""
    return apply(ELEMENTS, (input, target))


def forward(input: np.ndarray, target: np.ndarray) -> np.ndarray:
    if input.size and not (input.min() >= 0 and input.max() <= 1):
        raise ValueError("probabilities must lie between 0 and 1; use the form with logits")
    with np.errstate(divide="ignore"):
        yes = np.maximum(np.log(input), input.dtype.type(-100))
        no = np.maximum(np.log1p(-input), input.dtype.type(-100))
    return (target - 1) * no - target * yes


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    p, target = record.arrays
    dp = dt = None
    if record.needs[0]:
        # As PyTorch: the divisor stays away from zero at certain answers.
        dp = grad * (p - target) / np.maximum((1 - p) * p, p.dtype.type(1e-12))
    if record.needs[1]:
        with np.errstate(divide="ignore"):
            dt = grad * (np.maximum(np.log1p(-p), -100) - np.maximum(np.log(p), -100))
    return dp, dt


def axes(input: Axes, target: Axes) -> Axes:
    return broadcast(input, target)


def opset_7(g: Any, input: Any, target: Any) -> Any:
    one = g.like(1, input)
    yes = clip(g, g.op("Log", input), -100.0, None)
    no = clip(g, g.op("Log", g.op("Sub", one, input)), -100.0, None)
    left = g.op("Mul", g.op("Sub", target, one), no)
    return g.op("Sub", left, g.op("Mul", target, yes))


def _elementwise(x: np.ndarray, y: np.ndarray, w: np.ndarray | float = 1.0) -> np.ndarray:
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(x), -100), np.maximum(np.log(1 - x), -100)
    return -(y * yes + (1 - y) * no) * w


reference = reduce_reference(_elementwise)
_P = In(("batch", 3), low=0.05, high=0.95)

CASES = (
    Case((_P, _P), reference=reference),
    Case((_P, _P, (3,)), {"reduction": "sum"}, reference=reference, name="weight"),
    Case((In((4,), values=lambda g, s: [0.0, 1.0, 0.0, 1.0]),
          In((4,), values=lambda g, s: [0.0, 1.0, 1.0, 0.0])), {"reduction": "none"},
         reference=reference, gradient=False, name="certain answers"),
)  # fmt: skip

OPERATOR = Composite("binary_cross_entropy", declaration=binary_cross_entropy, cases=CASES)

ELEMENTS = Operator(
    "binary_cross_entropy_elements",
    declaration=elements,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    public=False,
    cases=(
        Case((_P, _P), reference=lambda x, y: reference(x, y, reduction="none")),
    ),
)  # fmt: skip

ALSO = (ELEMENTS,)
