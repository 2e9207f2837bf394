"""ONNX MeanVarianceNormalization (since 9, 13): zero mean, unit variance over axes."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import mean, wide

NODE_TYPE = "MeanVarianceNormalization"

_EPSILON = 1e-9


def fast(x: np.ndarray, *, axes: Sequence[int] = (0, 2, 3)) -> np.ndarray:
    """(x - mean) / (standard deviation + 1e-9) over ``axes``."""
    where = tuple(axes)
    centred = widen(x) - np.mean(widen(x), axis=where, keepdims=True)
    deviation = np.sqrt(np.mean(np.square(centred), axis=where, keepdims=True))
    return np.asarray(centred / (deviation + _EPSILON)).astype(x.dtype, copy=False)


def exact(x: np.ndarray, *, axes: Sequence[int] = (0, 2, 3)) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    centred = wide(x) - mean(x, axes, keepdims=True)
    deviation = np.sqrt(mean(np.square(centred), axes, keepdims=True))
    return rounded_to(centred / (deviation + _EPSILON), x.dtype)


VERSIONS = {9: fast}
EXACT = {9: exact}
