"""Connectionist temporal classification: a label sequence against a longer sequence of scores."""

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


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """``-log`` of the probability that the frames spell the target, blanks and repeats removed.

    Shapes: log_probs [T, N, C] (or [T, C]); targets [N, S], or all one after the other
    [sum(target_lengths)]; lengths [N] (or numbers) -> [] or, with reduction "none", [N]. "mean"
    divides each loss by its target's length, then averages. A target that cannot be spelt in
    the frames gives inf, 0 with ``zero_infinity``. Raises ValueError for lengths or labels that
    do not fit; a trace refuses it (OM607). Source: ``torch.nn.functional.ctc_loss``.
    """
    name = "ctc_loss"
    log_probs = as_tensor(name, "log_probs", log_probs)
    check_floating(name, log_probs=log_probs)
    if log_probs.ndim not in (2, 3):
        raise ValueError(
            f"{name}: expected log_probs [T, N, C] or [T, C], not {list(log_probs._array.shape)}"
        )
    batch = log_probs._array.shape[1] if log_probs.ndim == 3 else 1
    sides = [_integers(name, "targets", targets)]
    for side, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        sides.append(_integers(name, side, lengths))
        if sides[-1]._array.size != batch:
            raise ValueError(f"{name}: {side} needs {batch} numbers, not {sides[-1]._array.size}")
    return apply(
        OPERATOR,
        (log_probs, *sides),
        {
            "blank": int(blank),
            "reduction": _losses.check_reduction(name, reduction),
            "zero_infinity": bool(zero_infinity),
        },
    )


def _integers(name: str, side: str, value: Any) -> Tensor:
    tensor = value if isinstance(value, Tensor) else Tensor(np.asarray(value))
    if category(tensor._array.dtype) != 1:
        raise TypeError(f"{name}: {side} must be integers, not {tensor._array.dtype}")
    return tensor


def forward(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: np.ndarray,
    target_lengths: np.ndarray,
    *,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> tuple[np.ndarray, Any]:
    scores = log_probs if log_probs.ndim == 3 else log_probs[:, None]
    frames, lengths = input_lengths.reshape(-1), target_lengths.reshape(-1)
    labels = _labels(targets, lengths)
    _check(scores, labels, frames, blank)
    losses = np.empty(scores.shape[1], scores.dtype)
    states = []
    for n, label in enumerate(labels):
        extended, alpha, losses[n] = _forward_sums(scores[: frames[n], n], label, blank)
        states.append((extended, alpha))
    lost = np.isinf(losses)
    if zero_infinity:
        losses = np.where(lost, losses.dtype.type(0), losses)
    kept = (states, frames, lengths, losses, lost)
    if reduction == "none":
        return losses.reshape(log_probs.shape[1:-1]), kept
    if reduction == "sum":
        return np.asarray(losses.sum()), kept
    return np.asarray((losses / np.maximum(lengths, 1)).mean().astype(losses.dtype)), kept


def _labels(targets: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """The target of every sample, without padding."""
    if targets.ndim == 2:
        if lengths.size and int(lengths.max()) > targets.shape[1]:
            raise ValueError(f"a target length {int(lengths.max())} exceeds {targets.shape[1]}")
        return [row[:length] for row, length in zip(targets, lengths, strict=True)]
    if targets.size != int(lengths.sum()):
        raise ValueError(
            f"the target lengths add up to {int(lengths.sum())}, there are {targets.size} labels"
        )
    return np.split(targets, np.cumsum(lengths)[:-1])


def _check(scores: np.ndarray, labels: list[np.ndarray], frames: np.ndarray, blank: int) -> None:
    steps, _, classes = scores.shape
    if not 0 <= blank < classes:
        raise ValueError(f"blank {blank} is no class of {classes}")
    if frames.size and not (frames.min() >= 0 and frames.max() <= steps):
        raise ValueError(f"input lengths must lie between 0 and {steps}")
    for label in labels:
        if label.size and not (label.min() >= 0 and label.max() < classes):
            raise ValueError(f"a label is no class of {classes}")


def _forward_sums(
    scores: np.ndarray, label: np.ndarray, blank: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """(label with blanks between, log sums over all prefixes (frames, states), loss)."""
    extended = np.full(2 * len(label) + 1, blank, np.int64)
    extended[1::2] = label
    # Two states back is allowed onto a label that differs from the one before.
    jump = np.zeros(len(extended), bool)
    jump[3::2] = extended[3::2] != extended[1:-2:2]
    emitted = scores[:, extended]
    alpha = np.full((len(scores), len(extended)), -np.inf, scores.dtype)
    if not len(scores):
        return extended, alpha, scores.dtype.type(0 if not len(label) else np.inf)
    alpha[0, :2] = emitted[0, :2]
    for t in range(1, len(scores)):
        total = alpha[t - 1].copy()
        total[1:] = np.logaddexp(total[1:], alpha[t - 1, :-1])
        skipped = np.where(jump[2:], alpha[t - 1, :-2], -np.inf)
        total[2:] = np.logaddexp(total[2:], skipped)
        alpha[t] = total + emitted[t]
    return extended, alpha, -np.logaddexp.reduce(alpha[-1, -2:])


def _posterior(
    scores: np.ndarray, extended: np.ndarray, alpha: np.ndarray, loss: Any
) -> np.ndarray:
    """Share of all spellings that is in a state at a frame: (frames, states)."""
    jump = np.zeros(len(extended), bool)
    jump[3::2] = extended[3::2] != extended[1:-2:2]
    emitted = scores[:, extended]
    beta = np.full_like(alpha, -np.inf)
    beta[-1, -2:] = 0
    for t in reversed(range(len(scores) - 1)):
        after = beta[t + 1] + emitted[t + 1]
        total = after.copy()
        total[:-1] = np.logaddexp(total[:-1], after[1:])
        skipped = np.where(jump[2:], after[2:], -np.inf)
        total[:-2] = np.logaddexp(total[:-2], skipped)
        beta[t] = total
    return np.exp(alpha + beta + loss)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    log_probs = record.arrays[0]
    states, frames, lengths, losses, lost = record.saved
    scores = log_probs if log_probs.ndim == 3 else log_probs[:, None]
    total = np.zeros_like(scores)
    share = np.broadcast_to(grad.reshape(-1), losses.shape)
    if record.attributes["reduction"] == "mean":
        share = share / (np.maximum(lengths, 1) * len(losses))
    for n, (extended, alpha) in enumerate(states):
        count = frames[n]
        if not count or (lost[n] and record.attributes["zero_infinity"]):
            continue
        posterior = _posterior(scores[:count, n], extended, alpha, losses[n])
        for state, label in enumerate(extended):
            total[:count, n, label] -= posterior[:, state] * share[n]
    return (total.reshape(log_probs.shape), None, None, None)


def reference(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: np.ndarray,
    target_lengths: np.ndarray,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> np.ndarray:
    """Every path through the frames, one by one."""
    losses = []
    rows = targets if targets.ndim == 2 else np.split(targets, np.cumsum(target_lengths)[:-1])
    for n, (frames, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        wanted, likelihood = list(rows[n][:length]), 0.0
        for path in np.ndindex(*(log_probs.shape[2],) * int(frames)):
            once = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
            if [c for c in once if c != blank] == wanted:
                steps = np.asarray(log_probs, np.float64)[np.arange(frames), n, path]
                likelihood += np.exp(steps.sum())
        losses.append(-np.log(likelihood) if likelihood else 0.0 if zero_infinity else np.inf)
    values = np.asarray(losses)
    if reduction == "none":
        return values
    if reduction == "sum":
        return np.asarray(values.sum())
    return np.asarray((values / np.maximum(target_lengths, 1)).mean())


def _labels_of(*rows: Any) -> In:
    return In(np.shape(rows), "int64", values=lambda generator, shape: rows)


_SCORES = In((4, 2, 3), low=-2.0, high=-0.2)
_FRAMES = In((2,), "int64", values=lambda generator, shape: [4, 3])
_LENGTHS = In((2,), "int64", values=lambda generator, shape: [2, 1])

CASES = (
    Case((_SCORES, _labels_of([1, 2], [2, 0]), _FRAMES, _LENGTHS), reference=reference,
         trace=False),
    Case((_SCORES, _labels_of([1, 1], [2, 0]), _FRAMES, _LENGTHS), {"reduction": "none"},
         reference=reference, trace=False, name="a repeated label"),
    Case((_SCORES, In((3,), "int64", values=lambda g, s: [0, 1, 1]), _FRAMES, _LENGTHS),
         {"blank": 2, "reduction": "sum"}, reference=reference, trace=False,
         name="targets in one row"),
    Case((_SCORES, _labels_of([1, 2], [1, 1]), In((2,), "int64", values=lambda g, s: [4, 2]),
          In((2,), "int64", values=lambda g, s: [2, 2])), {"zero_infinity": True},
         reference=reference, trace=False, name="a target too long"),
)  # fmt: skip

OPERATOR = Operator(
    "ctc_loss",
    declaration=ctc_loss,
    forward=forward,
    backward=backward,
    reads="i",
    saves=True,
    refuses=_losses.refusal("ctc_loss"),
    cases=CASES,
)
