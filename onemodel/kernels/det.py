"""ONNX Det (since 11, 22): determinants of square matrices."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to

NODE_TYPE = "Det"


def fast(x: np.ndarray) -> np.ndarray:
    """(..., M, M) to (...)."""
    return np.asarray(np.linalg.det(widen(x))).astype(x.dtype, copy=False)


def exact(x: np.ndarray) -> np.ndarray:
    """As :func:`fast`: elimination with the largest pivot, in float64 and rounded once."""
    rows = x.astype(np.float64).reshape(-1, *x.shape[-2:])
    result = np.ones(len(rows))
    for number, matrix in enumerate(rows):
        for k in range(len(matrix)):
            pivot = k + int(np.argmax(np.abs(matrix[k:, k])))
            if pivot != k:
                matrix[[k, pivot]] = matrix[[pivot, k]]
                result[number] = -result[number]
            result[number] *= matrix[k, k]
            if matrix[k, k] == 0:
                break
            matrix[k + 1 :] -= matrix[k + 1 :, k, None] / matrix[k, k] * matrix[k]
    return rounded_to(result.reshape(x.shape[:-2]), x.dtype)


VERSIONS = {11: fast}
EXACT = {11: exact}
