"""ONNX Gemm (since 1, 6, 7, 9, 11, 13): alpha A' B' + beta C."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import product as exact_product

NODE_TYPE = "Gemm"


def _gemm(
    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray],
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> np.ndarray:
    """alpha A' B' + beta C with C broadcast to the (M, N) result; primes are transposes."""
    left, right = widen(a.T if transA else a), widen(b.T if transB else b)
    result = matmul(left, right)
    if alpha != 1.0:
        result = _scaled(result, alpha)
    if c is not None and beta != 0.0:
        result += widen(c) if beta == 1.0 else _scaled(widen(c), beta)
    return result.astype(a.dtype, copy=False)


fast = partial(_gemm, np.matmul)
exact = partial(_gemm, exact_product.matmul)


def _scaled(array: np.ndarray, factor: float) -> np.ndarray:
    if array.dtype.kind in "iu":  # integer results keep their type, as a cast back would
        return np.asarray(array * np.float64(factor)).astype(array.dtype)
    return np.asarray(array * factor)


def _gemm_1(
    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray],
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    broadcast: int = 0,
    transA: int = 0,
    transB: int = 0,
) -> np.ndarray:
    """Opsets 1 and 6: C is broadcast only where ``broadcast=1`` says so."""
    rows, columns = a.shape[1 if transA else 0], b.shape[0 if transB else 1]
    if not broadcast and c.shape != (rows, columns):
        raise ValueError(
            f"Gemm: C has shape {c.shape} instead of {(rows, columns)}; "
            "before opset 7 broadcasting has to be asked for with broadcast=1"
        )
    return _gemm(matmul, a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)


VERSIONS = {1: partial(_gemm_1, np.matmul), 7: fast}
EXACT = {1: partial(_gemm_1, exact_product.matmul), 7: exact}
