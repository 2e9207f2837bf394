"""Kullback-Leibler divergence between distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import broadcast
from onemodel.operators._case import Case, In
from onemodel.operators._losses import reduced, same_shape
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import operands
from onemodel.operators.exp import exp
from onemodel.operators.mul import mul
from onemodel.operators.sub import sub
from onemodel.operators.sum import sum as total
from onemodel.symbolic.helpers import where
from onemodel.tensors.tensor import Tensor


def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """``target * (log(target) - input)``: input holds log-probabilities.

    Shapes: two equal ones -> [] or, with reduction "none", the same; "batchmean" divides the
    sum by the first size. With ``log_target`` the target holds logarithms, too; else a target
    of 0 gives 0. Raises ValueError for unequal shapes or another reduction.
    Source: ``torch.nn.functional.kl_div``.
    """
    (input, target), _ = operands("kl_div", input, target)
    same_shape("kl_div", input, target)
    if log_target:
        loss = mul(exp(target), sub(target, input))
    else:
        loss = sub(apply(ENTROPY, (target,)), mul(target, input))
    if reduction != "batchmean":
        return reduced("kl_div", loss, reduction)
    return total(loss) / input.shape[0] if input.ndim else loss


def xlogx(input: Tensor) -> Tensor:
    """``x * log(x)``, 0 at 0."""
    return apply(ENTROPY, (input,))


def forward(input: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(input == 0, input.dtype.type(0), input * np.log(input))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, grad * (np.log(x) + 1), grad.dtype.type(0))


def axes(input: Axes) -> Axes:
    return broadcast(input)


def opset_7(g: Any, input: Any) -> Any:
    # log(x + smallest normal): exact for every x of at least its 2**24-fold, and 0 * finite at 0.
    wide = g.cast(input, np.float32) if input.dtype.itemsize < 4 else input
    tiny = g.like(np.finfo(np.float32).tiny, wide)
    return g.cast(g.op("Mul", wide, g.op("Log", g.op("Add", wide, tiny))), input.dtype)


def opset_9(g: Any, input: Any) -> Any:
    zero = g.like(0, input)
    product = g.op("Mul", input, g.op("Log", input))
    nothing = g.op("Equal", input, zero) if g.opset >= 11 else _is_zero(g, input, zero)
    return where(g, nothing, zero, product)


def _is_zero(g: Any, input: Any, zero: Any) -> Any:
    """Equal takes floats from 11 on."""
    return g.op("Not", g.op("Or", g.op("Less", input, zero), g.op("Greater", input, zero)))


def reference(
    input: np.ndarray, target: np.ndarray, reduction: str = "mean", log_target: bool = False
) -> np.ndarray:
    x, t = np.asarray(input, np.float64), np.asarray(target, np.float64)
    if log_target:
        loss = np.exp(t) * (t - x)
    else:
        loss = t * (np.log(np.where(t > 0, t, 1)) - x)
    if reduction == "none":
        return loss
    divisor = {"mean": loss.size, "sum": 1, "batchmean": len(loss)}[reduction]
    return np.asarray(loss.sum() / np.float64(divisor))


_SHARES = In(("batch", 3), low=0.05, high=1)

CASES = (
    Case((("batch", 3), _SHARES), reference=reference),
    Case((("batch", 3), _SHARES), {"reduction": "batchmean"}, reference=reference,
         name="batchmean"),
    Case((("batch", 3), ("batch", 3)), {"log_target": True, "reduction": "none"},
         reference=reference, name="log_target"),
    Case((("batch", 3), In(("batch", 3), values=lambda g, s: g.integers(0, 2, s))),
         {"reduction": "none"}, reference=reference, gradient=False, name="zeros"),
)  # fmt: skip

OPERATOR = Composite("kl_div", declaration=kl_div, cases=CASES)

ENTROPY = Operator(
    "xlogx",
    declaration=xlogx,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 9: opset_9},
    reads="i",
    public=False,
    cases=(
        Case((_SHARES,), reference=lambda x: x * np.log(np.asarray(x, np.float64))),
    ),
)  # fmt: skip

ALSO = (ENTROPY,)
