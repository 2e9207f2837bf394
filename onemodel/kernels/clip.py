"""ONNX Clip (since 1, 6, 11, 12, 13): element-wise min(max(x, min), max)."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "Clip"

LARGE = 4096
"""Elements from which one pass pays for NumPy's slower call."""


def fast(
    x: np.ndarray, minimum: np.ndarray | None = None, maximum: np.ndarray | None = None
) -> np.ndarray:
    """Clip to scalars ``minimum`` and ``maximum``; where they cross, the maximum wins."""
    if minimum is not None and maximum is not None and x.size >= LARGE and x.dtype.kind == "f":
        return x.clip(minimum, maximum)  # one pass
    if minimum is None:
        return x if maximum is None else np.asarray(np.minimum(x, maximum))
    result = np.asarray(np.maximum(x, minimum))
    return result if maximum is None else np.minimum(result, maximum, out=result)


def clip_1(
    x: np.ndarray,
    *,
    min: float | None = None,
    max: float | None = None,
    consumed_inputs: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: limits as attributes, none by default."""
    return fast(x, _limit(min, x.dtype), _limit(max, x.dtype))


def clip_6(
    x: np.ndarray, *, min: float = -3.4028234663852886e38, max: float = 3.4028234663852886e38
) -> np.ndarray:
    """Opset 6: limits as attributes, by default the ends of float32."""
    return fast(x, _limit(min, x.dtype), _limit(max, x.dtype))


def _limit(value: float | None, dtype: np.dtype) -> np.ndarray | None:
    if value is None or not np.isfinite(np.asarray(value, dtype=dtype)):
        return None  # the end of float32 lies beyond a narrower type: no limit there
    return np.asarray(value, dtype=dtype)


VERSIONS = {1: clip_1, 6: clip_6, 11: fast}
EXACT = {since: with_positive_zero(kernel) for since, kernel in VERSIONS.items()}
