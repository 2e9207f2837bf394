"""The memory behind tensors: one buffer, and a version that every write raises.

Memory can be lent: a traced graph takes the elements of a large weight as they lie, without a
copy, and the tensor moves to other memory before it is next written. What makes that safe is
NumPy's own read-only flag, set while nobody else holds the array: until the loan ends no one can
write there, and whoever would has to come by :meth:`Storage.reclaim`.
"""

from __future__ import annotations

import sys
import threading

import numpy as np

_LOANS = threading.Lock()


class Storage:
    """A buffer shared by a tensor and its views.

    ``version`` counts in-place writes through any of them: autograd compares it to
    notice that a saved value was overwritten, a tracer that a captured constant was.
    ``epoch`` is the number of recordings begun before it was made. ``exposed`` says that its
    memory was handed out as an array, so that writes to it may pass unnoticed; ``lent``, that
    a graph may hold it. Lent memory belongs to one tensor and to no view.
    """

    __slots__ = ("__weakref__", "buffer", "epoch", "exposed", "lent", "version")

    def __init__(self, buffer: np.ndarray, epoch: int = 0) -> None:
        self.buffer = buffer
        self.version = 0
        self.epoch = epoch
        self.exposed = False
        self.lent = False

    @property
    def nbytes(self) -> int:
        return self.buffer.nbytes

    def lend(self) -> np.ndarray | None:
        """The elements as a read-only array that never changes, without a copy.

        To be asked for by the tensor that is all of this storage, and holds its array. None
        where somebody else could still write the memory, or does so now: it was handed out,
        it is not NumPy's own, or anything (a view, a variable, another thread) holds the array.
        """
        with _LOANS:
            if not self.lent:
                if self.exposed or not (_is_plain(self.buffer) and _counts_tell()):
                    return None
                # First the sign, then the count; a writer takes hold of the array first, then
                # looks for the sign (Tensor._own_elements). So one of the two sees the other.
                self.lent = True
                if sys.getrefcount(self.buffer) > _HOLDERS:
                    self.lent = False
                    return None
                self.buffer.flags.writeable = False
            return self.buffer.view()

    def reclaim(self) -> np.ndarray:
        """The elements to be written, shared or handed out again.

        They move to new memory, unless every graph that held them is gone.
        """
        with _LOANS:
            if self.lent:
                if sys.getrefcount(self.buffer) > _HOLDERS:
                    self.buffer = self.buffer.copy()
                else:
                    self.buffer.flags.writeable = True
                self.lent = False
            return self.buffer

    def __repr__(self) -> str:
        return f"Storage({self.nbytes} bytes, version {self.version})"


def _is_plain(array: np.ndarray) -> bool:
    flags = array.flags
    return flags.owndata and flags.c_contiguous and flags.writeable


def _counts_tell() -> bool:
    """Whether a count of references says who holds an object, as it does under the lock."""
    locked = getattr(sys, "_is_gil_enabled", None)
    return sys.implementation.name == "cpython" and (locked is None or locked())


# References to an array that a storage and its one tensor account for. Counted, not written
# down: how many a bare look-up adds is the interpreter's affair.
_ALONE = Storage(np.empty(0))
_HOLDERS = sys.getrefcount(_ALONE.buffer) + 1
