"""Limits on gradients, applied in place between ``backward()`` and ``step()``."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from onemodel.autograd.grad_mode import no_grad
from onemodel.tensors.tensor import Tensor


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients so that their joint norm is at most ``max_norm``; the norm before.

    Raises RuntimeError for a norm that is NaN or infinite, if asked to.
    Source: ``torch.nn.utils.clip_grad_norm_``.
    """
    gradients = _gradients(parameters)
    total = _norm([g.array for g in gradients], norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"clip_grad_norm_: the norm of order {norm_type} of the gradients is {total}"
        )
    factor = max_norm / (total + 1e-6)
    if not factor >= 1:  # a NaN, too: it must show in every gradient
        with no_grad(), np.errstate(invalid="ignore"):
            for gradient in gradients:
                values = gradient._write("clip_grad_norm_()")
                values *= factor
    return Tensor(np.asarray(total, np.float32))


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limit every element of every gradient to [-clip_value, clip_value].

    Source: ``torch.nn.utils.clip_grad_value_``.
    """
    with no_grad():
        for gradient in _gradients(parameters):
            values = gradient._write("clip_grad_value_()")
            np.clip(values, -clip_value, clip_value, out=values)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    members = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in members if p.grad is not None]


def _norm(arrays: list[np.ndarray], order: float) -> float:
    """The norm of all elements together; squares are summed in float64."""
    if not arrays:
        return 0.0
    if math.isinf(order):
        return float(max(np.abs(a).max(initial=0) for a in arrays))
    if order == 2:
        flat = (a.astype(np.float64, copy=False).ravel() for a in arrays)
        return math.sqrt(sum(float(a @ a) for a in flat))
    powers = (np.abs(a.astype(np.float64)) ** order for a in arrays)
    return float(sum(float(p.sum()) for p in powers) ** (1 / order))
