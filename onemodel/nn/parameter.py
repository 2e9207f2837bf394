"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.tensors import seam
from onemodel.tensors.storage import Storage
from onemodel.tensors.tensor import Tensor, as_array


class Parameter(Tensor):
    """A tensor that a :class:`Module` counts among its weights.

    ``data`` is a tensor (whose storage is shared) or anything ``om.tensor`` takes. Results of
    operators on it are plain tensors. Raises RuntimeError for an integer dtype, unless
    ``requires_grad=False``. Source: ``torch.nn.Parameter``.
    """

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        _adopt(self, data)
        if requires_grad:
            self.requires_grad_()

    def __reduce__(self) -> Any:
        return Parameter, (np.array(self._read("pickle")), self.requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor):
    """A tensor that a :class:`Module` keeps beside its weights, without gradients.

    ``persistent`` says whether it is part of the state dict. Source: ``torch.nn.Buffer``.
    """

    def __init__(self, data: Any, persistent: bool = True) -> None:
        _adopt(self, data)
        self.persistent = persistent

    def __reduce__(self) -> Any:
        return Buffer, (np.array(self._read("pickle")), self.persistent)

    def _retyped(self, plain: Tensor) -> Tensor:
        copied = super()._retyped(plain)
        copied.__dict__["persistent"] = self.persistent
        return copied


def _adopt(target: Tensor, data: Any) -> None:
    """Make ``target`` the values of ``data``, sharing storage where it is a tensor."""
    if isinstance(data, Tensor):
        source = data.detach()
        Tensor.__init__(target, source._read("Parameter()"))
        target._storage = source._own_storage()
        return
    Tensor.__init__(target, as_array(data))


def replace_array(tensor: Tensor, array: np.ndarray) -> None:
    """Give ``tensor`` other values of any dtype, keeping its identity (and its optimiser's)."""
    seam.write(tensor, "to()")
    storage = Storage(array, seam.epoch())
    storage.version = tensor.version + 1
    tensor._array, tensor._storage = array, storage
