"""Writing updates at indices, with the reductions ONNX names."""

from __future__ import annotations

from typing import Any

import numpy as np

_REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter(
    data: np.ndarray, index: tuple[Any, ...], updates: np.ndarray, reduction: str, node_type: str
) -> np.ndarray:
    """A copy of ``data`` with ``updates`` written or reduced in at ``index``.

    ``ufunc.at`` goes through the updates in order, and so does an assignment.
    Every duplicate takes part in a reduction; without one, the last wins.

    Raises:
        ValueError: an unknown reduction.
    """
    result = data.copy()
    if reduction == "none":
        result[index] = updates
    elif reduction in _REDUCTIONS:
        _REDUCTIONS[reduction].at(result, index, updates)
    else:
        known = ", ".join(["none", *_REDUCTIONS])
        raise ValueError(f"{node_type}: reduction={reduction!r}; write one of {known}")
    return result
