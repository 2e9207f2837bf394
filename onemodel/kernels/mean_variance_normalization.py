"""ONNX MeanVarianceNormalization (since 9, 13): zero mean, unit variance over axes."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen

NODE_TYPE = "MeanVarianceNormalization"

_EPSILON = 1e-9


def fast(x: np.ndarray, *, axes: Sequence[int] = (0, 2, 3)) -> np.ndarray:
    """(x - mean) / (standard deviation + 1e-9) over ``axes``."""
    where = tuple(axes)
    centred = widen(x) - np.mean(widen(x), axis=where, keepdims=True)
    deviation = np.sqrt(np.mean(np.square(centred), axis=where, keepdims=True))
    return np.asarray(centred / (deviation + _EPSILON)).astype(x.dtype, copy=False)


VERSIONS = {9: fast}
