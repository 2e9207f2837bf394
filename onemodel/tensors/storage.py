"""The memory behind tensors: one buffer, and a version that every write raises."""

from __future__ import annotations

import numpy as np


class Storage:
    """A buffer shared by a tensor and its views.

    ``version`` counts in-place writes through any of them: autograd compares it to
    notice that a saved value was overwritten, a tracer that a captured constant was.
    ``epoch`` is the number of recordings begun before it was made.
    """

    __slots__ = ("__weakref__", "buffer", "epoch", "version")

    def __init__(self, buffer: np.ndarray, epoch: int = 0) -> None:
        self.buffer = buffer
        self.version = 0
        self.epoch = epoch

    @property
    def nbytes(self) -> int:
        return self.buffer.nbytes

    def __repr__(self) -> str:
        return f"Storage({self.nbytes} bytes, version {self.version})"
