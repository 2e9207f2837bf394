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

LEND_FROM = 1 << 14
"""Bytes from which a constant is lent to the graph rather than copied."""

_FEW = 1 << 10


@dataclass(eq=False, slots=True)
class Captured:
    """One captured tensor: its memory, what the graph holds of it, the version and place of
    capture, and the Python number it was made of where rounding changed that.

    ``array`` is the tensor's own memory, or None where that is lent: ``kept`` is then the
    memory itself, read-only, and else a copy. The storage is held weakly: whether other tensors
    share it is asked by counting holders.
    """

    array: np.ndarray | None
    storage: weakref.ref[Storage]
    value: Value
    kept: np.ndarray
    version: int
    site: sites.Site | None
    number: float | None = None
    differed: bool = False

    def meet_again(self) -> Value:
        """The graph value for another use; remembers where the tensor is not what it was.

        It may be so again at the end: a buffer is filled anew for each use, and cleared.
        """
        self.differed = self.differed or self.changed
        return self.value

    @property
    def changed(self) -> bool:
        """Whether the tensor is no longer what the graph holds, or was not at some use."""
        if self.differed:
            return True
        storage = self.storage()
        if storage is not None and storage.version != self.version:
            return True
        if self.array is not None:
            return not _same(self.kept, self.array)
        # As long as it is the tensor's own memory nobody could write it. Where it was reclaimed
        # without a write that we know of, it was handed out, and may be written by anybody.
        if storage is None or storage.buffer is self.kept.base:
            return False
        return not _same(self.kept, storage.buffer)


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
        self._lent: dict[int, Captured] = {}
        self._named: dict[Any, str] = {}
        self._storages: dict[int, tuple[str, Tensor]] = {}
        self._writes: dict[int, Write] = {}
        self._by_name: dict[str, Value] = {}
        self.arrays: dict[Value, np.ndarray] = {}
        """What the graph holds of every captured tensor, by its graph value."""

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
        """The graph value of a constant; on first sight its elements, lent or copied.

        Raises OverflowError above 2 GiB.
        """
        key = _key(tensor)
        known = self._captured.get(key) or self._moved(tensor)
        if known is not None:
            return known.meet_again()
        if tensor._array.nbytes >= LIMIT:
            raise OverflowError(
                f"a constant of shape {list(tensor._array.shape)} has {tensor._array.nbytes} "
                f"bytes, more than the {LIMIT} that a file can hold"
            )
        storage = tensor._own_storage()
        version = storage.version
        kept = tensor._lend() if tensor._array.nbytes >= LEND_FROM else None
        array = tensor._array if kept is None else None
        if kept is None:
            kept = np.array(array, order="C")
        value = self._new_value(key, tensor, kept)
        self.arrays[value] = kept
        captured = Captured(
            array, weakref.ref(storage), value, kept, version, sites.current_site(3), tensor._number
        )
        self._captured[key] = captured
        if array is None:
            self._lent[id(storage)] = captured
        return value

    def _moved(self, tensor: Tensor) -> Captured | None:
        """A tensor whose lent memory was captured here, and that has other memory since."""
        storage = tensor._storage
        if storage is None or storage.buffer is not tensor._array:
            return None
        found = self._lent.get(id(storage))
        return found if found is not None and found.storage() is storage else None

    def _new_value(self, key: Any, tensor: Tensor, kept: np.ndarray) -> Value:
        name = self._named.get(key)
        if name is None:
            known = self._storages.get(id(tensor._storage))
            if known is None:
                return self._writer.initializer(kept, "constant")
            if known[1]._array is not tensor._array:
                return self._writer.initializer(kept, self._writer.view_name(known[0]))
            name = known[0]  # the weight itself, in other memory than when it was named
        value = Value(name, kept.dtype, tuple(kept.shape))
        self._writer.graph.initializers[value] = kept
        self._by_name[name] = value
        return value

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
            if write is not None or captured.changed:
                yield Change(captured, write)


def _key(tensor: Tensor) -> Any:
    array = tensor._array
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


def _same(copy: np.ndarray, now: np.ndarray) -> bool:
    """Equal bits, NaN included."""
    if copy.nbytes <= _FEW:  # numbers, mostly, that many operators share
        return copy.tobytes() == now.tobytes()
    size = copy.dtype.itemsize
    if copy.dtype.kind in "fV" and size in (1, 2, 4, 8):
        bits = np.dtype(f"u{size}")
        return bool(np.array_equal(copy.view(bits), now.view(bits)))
    if copy.dtype.kind == "c":
        return np.ascontiguousarray(now).tobytes() == copy.tobytes()
    return bool(np.array_equal(copy, now))
