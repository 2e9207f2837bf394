"""ONNX Selu (since 1, 6, 22): element-wise scaled exponential linear unit."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Selu"


def fast(
    x: np.ndarray, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323
) -> np.ndarray:
    """Element-wise scaled exponential linear unit."""
    wide = widen(x)
    result = np.asarray(np.expm1(np.minimum(wide, 0)))
    result *= alpha
    result += np.maximum(wide, 0)  # one of the two is zero
    result *= gamma
    return np.asarray(result, dtype=x.dtype)


def selu_1(
    x: np.ndarray,
    *,
    alpha: float = 1.6732,
    gamma: float = 1.0507,
    consumed_inputs: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: shorter constants."""
    return fast(x, alpha=alpha, gamma=gamma)


def exact(
    x: np.ndarray, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323
) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.elu(x, alpha, gamma)


def exact_1(
    x: np.ndarray,
    *,
    alpha: float = 1.6732,
    gamma: float = 1.0507,
    consumed_inputs: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: shorter constants."""
    return exact(x, alpha=alpha, gamma=gamma)


VERSIONS = {1: selu_1, 6: fast}
EXACT = {1: exact_1, 6: exact}
