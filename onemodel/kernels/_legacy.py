"""What the first opsets said differently for whole families of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Kernel = Callable[..., Any]


def with_consumed_inputs(kernel: Kernel) -> Kernel:
    """``kernel`` as of opset 1, whose ``consumed_inputs`` was a hint for in-place execution."""

    def opset_1(
        *arrays: np.ndarray, consumed_inputs: Sequence[int] | None = None, **attributes: Any
    ) -> Any:
        return kernel(*arrays, **attributes)

    return opset_1


def with_axis_broadcast(kernel: Kernel) -> Kernel:
    """A binary ``kernel`` as of opsets 1 and 6: one-sided broadcasting from ``axis`` on.

    With ``broadcast=1`` the second operand's shape must lie in the first's,
    starting at ``axis`` (default: aligned at the end); without it shapes are equal.
    """

    def opset_1(
        a: np.ndarray,
        b: np.ndarray,
        *,
        axis: int | None = None,
        broadcast: int = 0,
        consumed_inputs: Sequence[int] | None = None,
    ) -> np.ndarray:
        if not broadcast:
            if a.shape != b.shape:
                raise ValueError(
                    f"shapes {a.shape} and {b.shape} differ; before opset 7 broadcasting "
                    "has to be asked for with broadcast=1"
                )
            return kernel(a, b)
        if axis is not None:
            start = axis + a.ndim if axis < 0 else axis
            b = b.reshape(b.shape + (1,) * (a.ndim - start - b.ndim))
        return kernel(a, b)

    return opset_1
