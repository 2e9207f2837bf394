"""Cross entropy of class scores: softmax and negative log-likelihood in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import log_softmax
from onemodel.kernels._dtypes import widen
from onemodel.operators import _losses
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.operators.nll_loss import (
    check_indices,
    check_weight,
    chosen,
    finish,
    scaled,
)
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """``-sum(weight * target * log_softmax(input))`` over the classes.

    Shapes: input [C], [N, C] or [N, C, d1, ...]; target class indices (the same without C) or
    probabilities (the same); weight [C] -> [] or, with reduction "none", one per position.
    ``label_smoothing`` mixes the target with the uniform distribution. For indices the mean
    divides by the sum of the weights in use and ``ignore_index`` counts nothing; for
    probabilities it divides by the number of positions. Raises IndexError for a class that does
    not exist, ValueError for shapes that do not fit; a trace refuses it (OM607).
    Source: ``torch.nn.functional.cross_entropy``.
    """
    name = "cross_entropy"
    input, target = as_tensor(name, "input", input), as_tensor(name, "target", target)
    weight = None if weight is None else as_tensor(name, "weight", weight)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"{name}: label_smoothing must lie between 0 and 1")
    if category(target._array.dtype) == 1:
        check_indices(name, input, target, weight)
    else:
        check_floating(name, input=input, target=target, weight=weight)
        _losses.same_shape(name, input, target)
        check_weight(name, input, weight)
    return apply(
        OPERATOR,
        (input, target) if weight is None else (input, target, weight),
        {
            "ignore_index": int(ignore_index),
            "reduction": _losses.check_reduction(name, reduction),
            "label_smoothing": float(label_smoothing),
        },
    )


def forward(
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> tuple[np.ndarray, Any]:
    log_p = log_softmax.fast(widen(_losses.class_rows(input)), axis=1)
    classes, number = log_p.shape[1], log_p.dtype.type
    smooth, even = number(label_smoothing), number(label_smoothing / max(1, classes))
    weights = np.ones(classes, log_p.dtype) if weight is None else widen(weight)
    if target.dtype.kind not in "iu":
        share = widen(_losses.class_rows(target)) * (1 - smooth) + even
        share *= weights
        divisor: Any = len(share)
        loss = -np.vecdot(share, log_p)
    else:
        index, used = chosen(target, weights, classes, ignore_index, log_p.dtype)
        share, divisor = (index, used), used.sum()
        loss = -log_p[np.arange(len(log_p)), index] * used * (1 - smooth)
        if label_smoothing:
            loss -= np.matmul(log_p, weights * even) * _counts(target, ignore_index)
    result = finish(loss, divisor, _losses.target_shape(input.shape), reduction)
    return result.astype(input.dtype, copy=False), (log_p, share, divisor)


def _counts(target: np.ndarray, ignore_index: int) -> np.ndarray:
    return target.reshape(-1) != ignore_index


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    log_p, share, divisor = record.saved
    attributes = record.attributes
    shape = record.shapes[0]
    smooth = attributes["label_smoothing"]
    step = scaled(widen(grad), divisor, attributes["reduction"])
    weight = widen(record.arrays[2]) if len(record.inputs) > 2 else None
    rest: list[np.ndarray | None] = [None] * (len(record.inputs) - 1)
    if isinstance(share, tuple):
        index, used = share
        share = _dense(log_p, index, used, record.arrays[1], weight, attributes)
    elif record.needs[1]:
        by_target = log_p * step * log_p.dtype.type(smooth - 1)
        by_target = by_target if weight is None else by_target * weight
        rest[0] = _losses.class_shape(by_target, shape)
    # d(-sum_c s_c (x_c - logsumexp(x))) / dx = softmax(x) * sum(s) - s
    rows = np.exp(log_p)
    rows *= share.sum(axis=1, keepdims=True)
    rows -= share
    rows *= step
    return (_losses.class_shape(rows, shape), *rest)


def _dense(
    log_p: np.ndarray,
    index: np.ndarray,
    used: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    attributes: Any,
) -> np.ndarray:
    """The target distribution of class indices, weighted and smoothed: (positions, C)."""
    smooth, classes = attributes["label_smoothing"], log_p.shape[1]
    share = np.zeros_like(log_p)
    if smooth:
        even = np.full(classes, smooth / classes, log_p.dtype)
        share += even if weight is None else even * weight
        share *= _counts(target, attributes["ignore_index"])[:, None]
    share[np.arange(len(share)), index] += used * log_p.dtype.type(1 - smooth)
    return share


def reference(
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> np.ndarray:
    x = np.asarray(input, np.float64)
    x = np.moveaxis(x, 1, -1) if x.ndim > 1 else x
    log_p = x - np.logaddexp.reduce(x, axis=-1, keepdims=True)
    classes = x.shape[-1]
    w = np.ones(classes) if weight is None else np.asarray(weight, np.float64)
    if target.dtype.kind == "f":
        t = np.moveaxis(target, 1, -1) if target.ndim > 1 else target
        divisor = float(np.prod(x.shape[:-1]))
    else:
        counts = target != ignore_index
        t = np.eye(classes)[np.where(counts, target, 0)] * counts[..., None]
        divisor = (t * w).sum()
    spread = t.sum(-1, keepdims=True) if target.dtype.kind != "f" else 1.0
    t = t * (1 - label_smoothing) + label_smoothing / classes * spread
    losses = -(w * t * log_p).sum(-1)
    if reduction == "none":
        return losses
    return losses.sum() / (divisor if reduction == "mean" else 1)


_TARGET = In((4,), "int64", 0, 3)
_WEIGHT = In((3,), low=0.1, high=2, gradient=False)


def _probabilities(generator: Any, shape: tuple[int, ...]) -> np.ndarray:
    values = generator.random(shape)
    return values / values.sum(axis=1, keepdims=True)


CASES = (
    Case(((4, 3), _TARGET), reference=reference, trace=False),
    Case(((4, 3), _TARGET, _WEIGHT), {"ignore_index": 1, "label_smoothing": 0.2},
         reference=reference, trace=False, name="weight, ignore_index, smoothing"),
    Case(((2, 3, 2, 2), In((2, 2, 2), "int64", 0, 3)), {"reduction": "none"},
         reference=reference, trace=False, name="pixels"),
    Case(((4, 3), In((4, 3), values=_probabilities), _WEIGHT), {"label_smoothing": 0.1},
         reference=reference, trace=False, name="probabilities"),
    Case(((3,), In((), "int64", 0, 3)), {"reduction": "sum"}, reference=reference, trace=False,
         name="no batch"),
)  # fmt: skip

OPERATOR = Operator(
    "cross_entropy",
    declaration=cross_entropy,
    forward=forward,
    backward=backward,
    reads="i",
    saves=True,
    refuses=_losses.refusal("cross_entropy"),
    cases=CASES,
)
