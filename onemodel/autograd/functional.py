"""``x.backward()``, ``om.backward`` and ``om.grad``: the ends of the backward walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd import engine
from onemodel.tensors.tensor import Tensor


def backward(tensors: Tensor | Sequence[Tensor], gradients: Any = None) -> None:
    """Add the gradient of each tensor (times ``gradients``) to ``.grad`` of every leaf.

    ``gradients`` may be left out for one-element tensors. Raises RuntimeError where a tensor
    has no history, or where a value that a gradient needs was overwritten in place.
    """
    outputs = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    engine.backward(outputs, _starts("backward", outputs, gradients))


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    gradients: Any = None,
    *,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Gradients of ``outputs`` with respect to ``inputs``, without touching ``.grad``.

    Raises RuntimeError for an input that the outputs do not depend on, unless
    ``allow_unused`` (then None).
    """
    sources = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    found = engine.grad(sources, wanted, _starts("grad", sources, gradients))
    for position, gradient in enumerate(found):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"grad: the outputs do not depend on input {position}; "
                "pass allow_unused=True if that is meant"
            )
    return tuple(None if gradient is None else Tensor(gradient) for gradient in found)


def _starts(name: str, outputs: Sequence[Tensor], gradients: Any) -> list[np.ndarray]:
    given = list(gradients) if isinstance(gradients, (list, tuple)) else [gradients]
    if len(given) != len(outputs):
        raise ValueError(f"{name}: {len(given)} gradients for {len(outputs)} tensors")
    starts = []
    for output, gradient in zip(outputs, given, strict=True):
        if output._mark is not None:
            output._mark.on_read("backward()")
        if not output._tracked:
            raise RuntimeError(f"{name}: the tensor records no gradients; nothing leads to a leaf")
        if gradient is None:
            if output._array.size != 1:
                raise RuntimeError(
                    f"{name}: a tensor of shape {list(output._array.shape)} needs a gradient of "
                    "that shape; only one-element tensors can go without"
                )
            gradient = np.ones_like(output._array)
        array = gradient._array if isinstance(gradient, Tensor) else np.asarray(gradient)
        if array.shape != output._array.shape:
            raise ValueError(
                f"{name}: a gradient of shape {list(array.shape)} for a tensor of shape "
                f"{list(output._array.shape)}"
            )
        starts.append(array.astype(output._array.dtype, copy=False))
    return starts


def _method(self: Tensor, gradient: Any = None) -> None:
    """Add the gradient of this tensor to ``.grad`` of every leaf it depends on."""
    backward([self], [gradient])


Tensor.backward = _method  # type: ignore[attr-defined, method-assign]
