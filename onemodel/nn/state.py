"""Loading a state dict: everything is compared before anything is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from onemodel.autograd.grad_mode import no_grad
from onemodel.tensors.dtypes import as_dtype
from onemodel.tensors.tensor import Tensor, as_array


class LoadResult(NamedTuple):
    """Keys that a load did not find, and keys it did not know."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def load_into(
    owner: str, own: Mapping[str, Tensor], given: Mapping[str, Any], strict: bool
) -> LoadResult:
    """Copy ``given`` into the tensors of ``own``, all or nothing.

    Raises RuntimeError listing every missing and unexpected key (with ``strict``) and every
    difference of shape or dtype; TypeError where ``given`` is no mapping.
    """
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"load_state_dict: expected a mapping of names to tensors, not {kind}")
    missing = [name for name in own if name not in given]
    unexpected = [name for name in given if name not in own]
    values: dict[str, np.ndarray] = {}
    faults: list[str] = []
    for name, tensor in own.items():
        if name in given:
            fault = _compare(name, tensor, given[name], values)
            faults += [fault] if fault else []
    if strict and missing:
        faults += [f"{shown(name)}: missing" for name in missing]
    if strict and unexpected:
        faults += [f"{shown(name)}: unexpected" for name in unexpected]
    if faults:
        lines = "\n".join(f"  {fault}" for fault in faults)
        raise RuntimeError(f"the state dict does not fit {owner}; nothing was loaded:\n{lines}")
    with no_grad():
        for name, array in values.items():
            own[name].copy_(array)
    return LoadResult(missing, unexpected)


def _compare(name: str, tensor: Tensor, value: Any, values: dict[str, np.ndarray]) -> str | None:
    """What is wrong with ``value``, else None and the array under its name in ``values``."""
    try:
        array = value.array if isinstance(value, Tensor) else as_array(value)
    except (TypeError, ValueError):
        return f"{shown(name)}: expected a tensor or an array, not {type(value).__name__}"
    if array.shape != tensor.shape:
        return f"{shown(name)}: shape {list(array.shape)} given, {list(tensor.shape)} expected"
    if as_dtype(array.dtype) != tensor.dtype:
        return (
            f"{shown(name)}: dtype {array.dtype} given, {tensor.dtype} expected "
            "(convert the module first, as in module.to(dtype))"
        )
    values[name] = array
    return None


def shown(name: Any) -> str:
    """A name from a file, fit for a line of text."""
    return name if isinstance(name, str) and name.isprintable() and name else repr(name)
