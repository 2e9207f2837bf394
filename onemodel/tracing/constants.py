"""Constants of a graph: captured tensors, their names, and whether they stayed what they were."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.graph.ir import Value
from onemodel.symbolic.context import Writer
from onemodel.tensors.layout import STRIDED
from onemodel.tensors.storage import Storage
from onemodel.tensors.tensor import Tensor
from onemodel.tracing import sites

LIMIT = 2**31
"""Bytes: what one protobuf message can hold."""


@dataclass(eq=False, slots=True)
class Captured:
    """One captured tensor: its memory, its copy, the version and place of capture, and the
    Python number it was made of where rounding changed that.

    The storage is held weakly: whether other tensors share it is asked by counting holders.
    """

    array: np.ndarray
    storage: weakref.ref[Storage]
    value: Value
    copy: np.ndarray
    version: int
    site: sites.Site | None
    number: float | None = None


@dataclass(frozen=True)
class Write:
    """A write to a storage while the trace recorded."""

    storage: Storage
    operation: str
    site: sites.Site | None


@dataclass(frozen=True)
class Change:
    """A captured constant that is no longer what the graph holds."""

    captured: Captured
    write: Write | None


class Constants:
    """Captured tensors by (memory, shape, strides, dtype), and named weights."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._captured: dict[Any, Captured] = {}
        self._named: dict[Any, str] = {}
        self._storages: dict[int, tuple[str, Tensor]] = {}
        self._writes: dict[int, Write] = {}
        self._by_name: dict[str, Value] = {}
        self.arrays: dict[Value, np.ndarray] = {}
        """Every captured tensor's copy by its graph value."""

    def name(self, name: str, tensor: Tensor) -> None:
        """``tensor`` shall be called ``name`` when it is captured.

        A blocked tensor never is: it is refused where an operator meets it.
        """
        if tensor.layout != STRIDED:
            return
        self._writer.names.add(name)
        self._named.setdefault(_key(tensor), name)
        self._storages.setdefault(id(tensor._own_storage()), (name, tensor))

    def names(self) -> Iterator[str]:
        yield from self._named.values()

    def by_name(self) -> dict[str, Value]:
        """Captured named weights."""
        return self._by_name

    def numbers(self) -> dict[Any, float]:
        """Python numbers that lost digits when they became constants, by graph value."""
        return {c.value: c.number for c in self._captured.values() if c.number is not None}

    def capture(self, tensor: Tensor, scope: str) -> Value:
        """The graph value of a constant; a copy of its elements on first sight.

        Raises OverflowError above 2 GiB.
        """
        key = _key(tensor)
        known = self._captured.get(key)
        if known is not None:
            return known.value
        if tensor._array.nbytes >= LIMIT:
            raise OverflowError(
                f"a constant of shape {list(tensor._array.shape)} has {tensor._array.nbytes} "
                f"bytes, more than the {LIMIT} that a file can hold"
            )
        copy = np.array(tensor._array, order="C")
        wanted = self._wanted_name(key, tensor)
        if key in self._named:
            value = Value(wanted, copy.dtype, tuple(copy.shape))
            self._writer.graph.initializers[value] = copy
            self._by_name[wanted] = value
        else:
            value = self._writer.initializer(copy, wanted)
        self.arrays[value] = copy
        site = sites.current_site(3)
        storage = tensor._own_storage()
        self._captured[key] = Captured(
            tensor._array, weakref.ref(storage), value, copy, storage.version, site, tensor._number
        )
        return value

    def _wanted_name(self, key: Any, tensor: Tensor) -> str:
        if key in self._named:
            return self._named[key]
        known = self._storages.get(id(tensor._storage)) if tensor._storage is not None else None
        if known is not None:
            return self._writer.view_name(known[0])
        return "constant"

    def note_write(
        self, tensor: Tensor, operation: str, site: sites.Site | None, epoch: int
    ) -> None:
        """Remember a write to memory that is older than the trace, or captured already."""
        storage = tensor._own_storage()
        captured = any(c.storage() is storage for c in self._captured.values())
        if storage.epoch < epoch or captured:
            self._writes.setdefault(id(storage), Write(storage, operation, site))

    def changes(self) -> Iterator[Change]:
        """Captured constants whose memory was written during the trace, or no longer agrees."""
        for captured in self._captured.values():
            storage = captured.storage()
            write = self._writes.get(id(storage)) if storage is not None else None
            moved = storage is not None and storage.version != captured.version
            if write is not None or moved or not _same(captured.copy, captured.array):
                yield Change(captured, write)


def _key(tensor: Tensor) -> Any:
    array = tensor._array
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


def _same(copy: np.ndarray, now: np.ndarray) -> bool:
    """Equal bits, NaN included."""
    size = copy.dtype.itemsize
    if copy.dtype.kind in "fV" and size in (1, 2, 4, 8):
        bits = np.dtype(f"u{size}")
        return bool(np.array_equal(copy.view(bits), now.view(bits)))
    if copy.dtype.kind == "c":
        return np.ascontiguousarray(now).tobytes() == copy.tobytes()
    return bool(np.array_equal(copy, now))
