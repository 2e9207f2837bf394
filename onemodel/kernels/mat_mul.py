"""ONNX MatMul (since 1, 9, 13): matrix product with NumPy's batch broadcasting."""

import numpy as np

from onemodel.kernels._dtypes import is_narrow
from onemodel.kernels.exact import product as exact_product

NODE_TYPE = "MatMul"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Matrix product of the last two axes; float16 and bfloat16 accumulate in float32."""
    if is_narrow(a.dtype):
        return matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return matmul(a, b)


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` as an array, with a batch of matrices times one matrix as one product."""
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:
        rows = a.reshape(-1, a.shape[-1]) if a.size else a.reshape(_row_count(a), a.shape[-1])
        return np.matmul(rows, b).reshape(*a.shape[:-1], b.shape[-1])
    return np.asarray(np.matmul(a, b))


def _row_count(a: np.ndarray) -> int:
    return int(np.prod(a.shape[:-1]))


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As :func:`fast`, each element the exact sum of exact products, rounded once."""
    return exact_product.matmul(a, b)


VERSIONS = {1: fast}
EXACT = {1: exact}
