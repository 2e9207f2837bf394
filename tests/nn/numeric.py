"""Gradients of modules by central differences, in float64 along one random direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import onemodel as om
from onemodel import nn

STEP = 1e-5


def check_gradient(
    module: nn.Module,
    inputs: Sequence[np.ndarray],
    call: Callable[..., Any] | None = None,
    tolerance: float = 1e-6,
) -> None:
    """Compare backward with the difference of a weighted sum of the result, for all parameters
    and floating inputs at once."""
    generator = np.random.default_rng(3)
    module.double()
    call = call or module
    tensors = [om.tensor(x) for x in inputs]
    leaves: list[Any] = [*module.parameters()]
    for tensor in tensors:
        if tensor.is_floating_point():
            tensor.requires_grad_()
            leaves.append(tensor)
    weights = generator.normal(size=_flat(call(*tensors)).shape)

    def total() -> om.Tensor:
        return (_flat(call(*tensors)) * om.tensor(weights)).sum()

    total().backward()
    directions = [generator.normal(size=leaf.shape) for leaf in leaves]
    along = sum(
        float((leaf.grad.array * d).sum())
        for leaf, d in zip(leaves, directions, strict=True)
        if leaf.grad is not None
    )
    ends = []
    for sign in (1, -1):
        _move(leaves, directions, sign * STEP)
        ends.append(total().item())
        _move(leaves, directions, -sign * STEP)
    numeric = (ends[0] - ends[1]) / (2 * STEP)
    assert abs(numeric - along) <= tolerance * max(1.0, abs(numeric)), (numeric, along)


def _flat(result: Any) -> om.Tensor:
    """All tensors of a result as one vector."""
    if isinstance(result, om.Tensor):
        return result.reshape(-1)
    return om.cat([_flat(part) for part in result if part is not None], 0)


def _move(leaves: Sequence[om.Tensor], directions: Sequence[np.ndarray], step: float) -> None:
    with om.no_grad():
        for leaf, direction in zip(leaves, directions, strict=True):
            leaf.copy_(leaf.array + step * direction)
