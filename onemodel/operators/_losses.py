"""What losses share: the reduction, classes in the last axis, the refusal in a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onemodel.operators._operator import Refusal
from onemodel.operators.mean import mean
from onemodel.operators.sum import sum as total
from onemodel.tensors.tensor import Tensor


def check_reduction(operator: str, reduction: str) -> str:
    """Raises ValueError for anything but "mean", "sum" and "none"."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{operator}: reduction={reduction!r}; write 'mean', 'sum' or 'none'")
    return reduction


def reduced(operator: str, loss: Tensor, reduction: str) -> Tensor:
    """The loss of all elements: their mean, their sum, or each by itself."""
    check_reduction(operator, reduction)
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else total(loss)


def same_shape(operator: str, input: Tensor, target: Tensor) -> None:
    """Raises ValueError unless both have one shape; a loss never broadcasts silently."""
    if input._array.shape != target._array.shape:
        raise ValueError(
            f"{operator}: the target has shape {list(target._array.shape)}, "
            f"the input {list(input._array.shape)}"
        )


def reduce_reference(
    elementwise: Callable[..., np.ndarray],
) -> Callable[..., np.ndarray]:
    """A reference in float64 with the usual ``reduction``."""

    def compute(*arrays: np.ndarray, reduction: str = "mean", **attributes: Any) -> np.ndarray:
        loss = elementwise(*(np.asarray(a, np.float64) for a in arrays), **attributes)
        if reduction == "none":
            return loss
        return loss.sum() / np.float64(loss.size) if reduction == "mean" else loss.sum()

    return compute


def class_rows(array: np.ndarray) -> np.ndarray:
    """[C], [N, C] or [N, C, d1, ...] as rows of classes: (positions, C)."""
    if array.ndim < 2:
        return array.reshape(1, -1)
    return np.moveaxis(array, 1, -1).reshape(-1, array.shape[1])


def class_shape(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The way back from :func:`class_rows` to ``shape``."""
    if len(shape) < 2:
        return rows.reshape(shape)
    moved = rows.reshape(shape[0], *shape[2:], shape[1])
    return np.ascontiguousarray(np.moveaxis(moved, -1, 1))


def target_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of class indices for scores of ``shape``: without the class axis."""
    return shape[:1] * (len(shape) > 1) + shape[2:]


def check_classes(target: np.ndarray, classes: int, ignore_index: int) -> np.ndarray:
    """The positions that count. Raises IndexError for a class that does not exist."""
    counts = target != ignore_index
    bad = counts & ((target < 0) | (target >= classes))
    if bad.any():
        raise IndexError(
            f"target {int(target[bad][0])} is no class of {classes} "
            f"(ignore_index is {ignore_index})"
        )
    return counts


def refusal(name: str) -> Callable[[Mapping[str, Any]], Refusal]:
    """Losses over classes belong to training: no graph is written for them."""

    def refuses(attributes: Mapping[str, Any]) -> Refusal:
        return Refusal(
            "OM607",
            f"{name} is a training loss; a graph for inference holds the model without it",
            (("trace the model and leave the loss outside", "traced = om.trace(model, x)"),),
        )

    return refuses
