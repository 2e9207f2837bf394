"""Negative log-likelihood of class indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators import _losses
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """``-weight[target] * input[target]``: input holds log-probabilities.

    Shapes: input [C], [N, C] or [N, C, d1, ...]; target (integers) the same without C; weight
    [C] -> [] or, with reduction "none", the target's. Positions of ``ignore_index`` count
    nothing; the mean divides by the sum of the weights in use. Raises IndexError for a class
    that does not exist, ValueError for shapes that do not fit; a trace refuses it (OM607).
    Source: ``torch.nn.functional.nll_loss``.
    """
    input = as_tensor("nll_loss", "input", input)
    target = as_tensor("nll_loss", "target", target)
    tensors = [input, target]
    if weight is not None:
        tensors.append(as_tensor("nll_loss", "weight", weight))
    check_indices("nll_loss", *tensors)
    return apply(
        OPERATOR,
        tensors,
        {
            "ignore_index": int(ignore_index),
            "reduction": _losses.check_reduction("nll_loss", reduction),
        },
    )


def check_indices(
    operator: str, input: Tensor, target: Tensor, weight: Tensor | None = None
) -> None:
    """Raises TypeError and ValueError for class indices or weights that do not fit."""
    shape = input._array.shape
    check_floating(operator, input=input, weight=weight)
    if category(target._array.dtype) != 1:
        raise TypeError(f"{operator}: class indices must be integers, not {target._array.dtype}")
    if not shape or target._array.shape != _losses.target_shape(shape):
        raise ValueError(
            f"{operator}: for an input of shape {list(shape)} the target must have shape "
            f"{list(_losses.target_shape(shape))}, not {list(target._array.shape)}"
        )
    check_weight(operator, input, weight)


def check_weight(operator: str, input: Tensor, weight: Tensor | None) -> None:
    """Raises ValueError unless the weight has one number per class."""
    classes = input._array.shape[min(1, input.ndim - 1)]
    if weight is not None and weight._array.shape != (classes,):
        raise ValueError(
            f"{operator}: weight has shape {list(weight._array.shape)}, expected [{classes}]"
        )


def chosen(
    target: np.ndarray, weight: np.ndarray | None, classes: int, ignore_index: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """(class per position, its weight); ignored positions have class 0 and weight 0."""
    flat = target.reshape(-1)
    counts = _losses.check_classes(flat, classes, ignore_index)
    index = np.where(counts, flat, 0)
    share = counts.astype(dtype) if weight is None else weight[index] * counts
    return index, share


def forward(
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    ignore_index: int,
    reduction: str,
) -> tuple[np.ndarray, Any]:
    rows = _losses.class_rows(input)
    index, share = chosen(target, weight, rows.shape[1], ignore_index, input.dtype)
    picked = np.where(share == 0, input.dtype.type(0), rows[np.arange(len(rows)), index])
    loss = -picked * share
    return finish(loss, share.sum(), target.shape, reduction), (index, share)


def finish(loss: np.ndarray, divisor: Any, shape: tuple[int, ...], reduction: str) -> np.ndarray:
    """The loss per position under ``reduction``; a mean over nothing is NaN."""
    if reduction == "none":
        return loss.reshape(shape)
    total = loss.sum()
    if reduction == "sum":
        return np.asarray(total)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / np.asarray(divisor, loss.dtype))


def scaled(grad: np.ndarray, divisor: Any, reduction: str) -> np.ndarray:
    """The gradient per position (a column), from the gradient of the reduced loss."""
    if reduction == "mean":
        with np.errstate(invalid="ignore", divide="ignore"):
            grad = grad / np.asarray(divisor, grad.dtype)
    return grad.reshape(-1, 1)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    index, share = record.saved
    shape = record.shapes[0]
    rows = np.zeros_like(_losses.class_rows(np.empty(shape, grad.dtype)))
    step = scaled(grad, share.sum(), record.attributes["reduction"])
    rows[np.arange(len(rows)), index] = (-share[:, None] * step)[:, 0]
    return (_losses.class_shape(rows, shape), *(None,) * (len(record.inputs) - 1))


def reference(
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> np.ndarray:
    x = np.asarray(input, np.float64)
    x = x[None] if x.ndim == 1 else x
    losses, total = np.zeros(target.shape), 0.0
    for place in np.ndindex(*target.shape):
        c = int(target[place])
        if c == ignore_index:
            continue
        w = 1.0 if weight is None else float(weight[c])
        losses[place] = -w * x[(place or (0,))[0]][(c, *place[1:])]
        total += w
    if reduction == "none":
        return losses
    return np.asarray(losses.sum() / (total if reduction == "mean" else 1))


_TARGET = In((4,), "int64", 0, 3)

CASES = (
    Case(((4, 3), _TARGET), reference=reference, trace=False),
    Case(((4, 3), _TARGET, In((3,), low=0.1, high=2, gradient=False)), {"ignore_index": 1},
         reference=reference, trace=False, name="weight and ignore_index"),
    Case(((2, 3, 2, 2), In((2, 2, 2), "int64", 0, 3)), {"reduction": "none"},
         reference=reference, trace=False, name="pixels"),
    Case(((3,), In((), "int64", 0, 3)), {"reduction": "sum"}, reference=reference, trace=False,
         name="no batch"),
)  # fmt: skip

OPERATOR = Operator(
    "nll_loss",
    declaration=nll_loss,
    forward=forward,
    backward=backward,
    reads="",
    saves=True,
    refuses=_losses.refusal("nll_loss"),
    cases=CASES,
)
