"""The backward walk: from a result to the leaves, each record once, without recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onemodel.autograd.record import BackwardRecord

if TYPE_CHECKING:
    from onemodel.tensors.tensor import Tensor


def backward(tensors: Sequence[Tensor], gradients: Sequence[np.ndarray]) -> None:
    """Add the gradient of sum(tensors * gradients) to ``.grad`` of every leaf.

    Raises RuntimeError where a saved input was overwritten.
    """
    leaves: dict[int, tuple[Tensor, np.ndarray]] = {}
    _walk(tensors, gradients, leaves, only=None)
    for tensor, gradient in leaves.values():
        tensor._accumulate(gradient)


def grad(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], gradients: Sequence[np.ndarray]
) -> list[np.ndarray | None]:
    """Gradients of the outputs with respect to ``inputs``; ``.grad`` is left alone."""
    leaves: dict[int, tuple[Tensor, np.ndarray]] = {}
    wanted = {id(t): t for t in inputs}
    _walk(outputs, gradients, leaves, only=wanted)
    return [leaves[id(t)][1] if id(t) in leaves else None for t in inputs]


@np.errstate(all="ignore")  # infinities and NaN are results, not warnings
def _walk(
    tensors: Sequence[Tensor],
    gradients: Sequence[np.ndarray],
    leaves: dict[int, tuple[Tensor, np.ndarray]],
    only: dict[int, Tensor] | None,
) -> None:
    pending: dict[int, list[np.ndarray | None]] = {}
    for tensor, gradient in zip(tensors, gradients, strict=True):
        _deliver(tensor, gradient, pending, leaves, only)
    for record in _order([t._record for t in tensors if t._record is not None]):
        slots = pending.pop(id(record), None)
        if slots is None:
            continue
        record.check_versions()
        filled = [
            np.zeros(shape, dtype) if slot is None else slot
            for slot, (shape, dtype) in zip(slots, record.result_specs, strict=True)
        ]
        given = record.operator.backward(record, *filled)
        if not isinstance(given, tuple):
            given = (given,)
        for tensor, gradient in zip(record.inputs, given, strict=True):
            if gradient is not None and tensor._tracked:
                _deliver(tensor, gradient, pending, leaves, only)


def _deliver(
    tensor: Tensor,
    gradient: np.ndarray,
    pending: dict[int, list[np.ndarray | None]],
    leaves: dict[int, tuple[Tensor, np.ndarray]],
    only: dict[int, Tensor] | None,
) -> None:
    if gradient.shape != tensor._array.shape:
        raise RuntimeError(
            f"a gradient of shape {list(gradient.shape)} met a tensor of shape "
            f"{list(tensor._array.shape)}"
        )
    if gradient.dtype != tensor._array.dtype:
        gradient = gradient.astype(tensor._array.dtype)
    if (tensor._record is None or tensor._retains) if only is None else id(tensor) in only:
        known = leaves.get(id(tensor))
        leaves[id(tensor)] = (tensor, gradient if known is None else known[1] + gradient)
    record = tensor._record
    if record is not None:
        slots = pending.setdefault(id(record), [None] * len(record.result_specs))
        before = slots[tensor._position]
        slots[tensor._position] = gradient if before is None else before + gradient


def _order(roots: Sequence[BackwardRecord]) -> list[BackwardRecord]:
    """Records reachable from ``roots``, consumers before producers."""
    postorder: list[BackwardRecord] = []
    seen: set[int] = set()
    stack: list[tuple[BackwardRecord, Any]] = []
    for root in roots:
        if id(root) in seen:
            continue
        seen.add(id(root))
        stack.append((root, iter(root.inputs)))
        while stack:
            record, rest = stack[-1]
            for tensor in rest:
                producer = tensor._record
                if producer is not None and id(producer) not in seen:
                    seen.add(id(producer))
                    stack.append((producer, iter(producer.inputs)))
                    break
            else:
                postorder.append(record)
                stack.pop()
    postorder.reverse()
    return postorder
