"""What all reductions share: which axes, and the two ways ONNX passed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from onemodel.kernels._dtypes import is_narrow
from onemodel.kernels.exact.blocks import rounded_to

Core = Callable[[np.ndarray, "tuple[int, ...] | None", bool], np.ndarray]
"""``core(data, axes, keepdims)``; axes None means all of them."""

Reduction = Callable[..., np.ndarray]


def axes_tuple(axes: np.ndarray | Sequence[int] | None) -> tuple[int, ...] | None:
    """Axes from an input tensor or an attribute; None where absent or empty."""
    if axes is None:
        return None
    found = tuple(int(axis) for axis in np.asarray(axes).reshape(-1))
    return found or None


def axes_as_input(core: Core, pointwise: Callable[[np.ndarray], np.ndarray]) -> Reduction:
    """The form since opsets 13 and 18: axes are an optional input.

    ``pointwise`` is the reduction over no axis at all, which is what
    ``noop_with_empty_axes`` asks for.
    """

    def fast(
        data: np.ndarray,
        axes: np.ndarray | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> np.ndarray:
        where = axes_tuple(axes)
        if where is None and noop_with_empty_axes:
            return np.asarray(pointwise(data)).astype(data.dtype, copy=False)
        return run(core, data, where, bool(keepdims))

    return fast


def axes_as_attribute(core: Core) -> Reduction:
    """The form before opsets 13 and 18: axes are an attribute, all by default."""

    def opset_1(
        data: np.ndarray, *, axes: Sequence[int] | None = None, keepdims: int = 1
    ) -> np.ndarray:
        return run(core, data, axes_tuple(axes), bool(keepdims))

    return opset_1


def run(core: Core, data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """``core`` with float16 and bfloat16 computed in float32, in the dtype of ``data``."""
    dtype = data.dtype
    if is_narrow(dtype):
        wide = np.asarray(core(data.astype(np.float32), axes, keepdims))
        # An exact core gives float64.
        return rounded_to(wide, dtype) if wide.dtype == np.float64 else wide.astype(dtype)
    result = core(data, axes, keepdims)
    if type(result) is np.ndarray and result.dtype is dtype:
        return result
    return np.asarray(result).astype(dtype, copy=False)


def identity(data: np.ndarray) -> np.ndarray:
    """Most reductions over no axis change nothing."""
    return data
