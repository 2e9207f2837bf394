"""Work memory that a thread keeps between calls.

Fresh pages cost more than the arithmetic on them: the system zeroes each one when
it is first touched. Kernels that need large temporaries take them from here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

_MOST_BYTES = 32 << 20
"""Larger work arrays are allocated afresh, so that no thread holds on to much."""

_kept = threading.local()


def scratch(name: str, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An uninitialised array, valid until this thread asks for ``name`` again.

    It must not leave the kernel that asked for it.
    """
    count = math.prod(shape)
    size = count * dtype.itemsize
    if size > _MOST_BYTES:
        return np.empty(shape, dtype)
    buffers: dict[str, np.ndarray] = _kept.__dict__.setdefault("buffers", {})
    buffer = buffers.get(name)
    if buffer is None or buffer.size < size:
        buffer = buffers[name] = np.empty(size, np.uint8)
    return buffer[:size].view(dtype).reshape(shape)
