"""In-place forms: the functional operator, then a write into the tensor itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from onemodel.autograd.grad_mode import mode as grad_mode
from onemodel.operators._promote import conversion
from onemodel.tensors import seam
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor

_VIEW = (
    "{name} on a view, with gradients recorded, is not followed; "
    "write it out of place (om.where, om.cat)"
)


def in_place(declaration: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """``x.add_(y)`` from ``add``. The result must fit into ``x``: same shape, castable dtype."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        mark = self._mark
        if mark is not None and mark.live and mark.owns(self) and _unaliased(self):
            # Nobody else sees this memory: the functional form says the same.
            _rebind(self, declaration(self, *args, **kwargs), name)
            return self
        seam.write(self, name)
        replace(self, lambda before: declaration(before, *args, **kwargs), name)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In-place :func:`{getattr(declaration, '__name__', name)}`."
    return method


def replace(tensor: Tensor, compute: Callable[[Tensor], Tensor], name: str) -> None:
    """Write ``compute(tensor)`` into the tensor itself, and take over the history of the result.

    Raises RuntimeError for a leaf that requires gradients, and for a view where gradients are
    recorded; ValueError or TypeError where the result does not fit.
    """
    before = tensor
    if tensor._tracked and grad_mode.enabled:
        _check_history(tensor, name)
        # The functional form reads a copy, so that what gradients saved stays what it was.
        before = Tensor(tensor._array.copy())
        before.__dict__.update(
            _record=tensor._record, _position=tensor._position, _tracked=tensor._tracked
        )
    result = compute(before)
    if result._mark is not None and result._mark.live:
        if not _unaliased(tensor) or not result._mark.saw_birth(tensor):
            result._mark.on_write(name)
        _rebind(tensor, result, name)
        return
    if tensor._view and result._record is not None and grad_mode.enabled:
        raise RuntimeError(_VIEW.format(name=name))
    _store(tensor, result, name)


def _unaliased(tensor: Tensor) -> bool:
    """Whether no other tensor shares the memory of this one."""
    # Every sharer holds the storage: this tensor's reference and the argument are two.
    return tensor._storage is None or sys.getrefcount(tensor._storage) <= 2


def _rebind(tensor: Tensor, result: Tensor, name: str) -> None:
    """Let ``tensor`` be ``result`` from now on: an in-place operator in its functional form.

    The memory of the old value is left alone, so that the trace keeps its example array.
    """
    _check_fit(tensor, result, name)
    if result._array.dtype != tensor._array.dtype:
        result = conversion("to")(result, tensor._array.dtype)
    tensor._array, tensor._mark = result._array, result._mark
    tensor._learns = result._learns
    tensor._storage, tensor._view, tensor._tracked = None, False, True


def _check_history(tensor: Tensor, name: str) -> None:
    if tensor._record is None:
        raise RuntimeError(
            f"{name} would change a leaf that requires gradients; "
            "do it inside om.no_grad(), or out of place"
        )
    if tensor._view:
        raise RuntimeError(_VIEW.format(name=name))


def _check_fit(tensor: Tensor, result: Tensor, name: str) -> None:
    target, source = tensor._array, result._array
    if source.shape != target.shape:
        raise ValueError(
            f"{name}: the result has shape {list(source.shape)}, "
            f"which does not fit into a tensor of shape {list(target.shape)}"
        )
    if source.dtype is not target.dtype and category(source.dtype) > category(target.dtype):
        raise TypeError(f"{name}: a {source.dtype} result does not fit into {target.dtype}")


def _store(tensor: Tensor, result: Tensor, name: str) -> None:
    _check_fit(tensor, result, name)
    target, source = tensor._writable(name), result._array
    before = tensor._record
    if before is not None and before.results:
        before.keep_results()
    target[...] = source
    tensor._own_storage().version += 1
    if (result._record is not None or before is not None) and grad_mode.enabled:
        tensor._record, tensor._position = result._record, result._position
        tensor._tracked = result._record is not None
