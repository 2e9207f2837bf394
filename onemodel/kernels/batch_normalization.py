"""ONNX BatchNormalization (since 1, 6, 7, 9, 14, 15): per-channel statistics, kept or fresh."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import sum as exact_sum

NODE_TYPE = "BatchNormalization"

Statistics = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _batch(
    statistics: Statistics,
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    input_mean: np.ndarray,
    input_var: np.ndarray,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Y, running_mean, running_var) of (N, C, D1..Dn).

    In training the batch's own mean and population variance normalise, and the
    running ones become ``momentum * old + (1 - momentum) * new``.
    """
    if not training_mode:
        return inference(x, scale, b, input_mean, input_var, epsilon=epsilon), input_mean, input_var
    mean, var = statistics(widen(x))
    result = _normalized(x, scale, b, mean, var, epsilon)
    running = [
        np.asarray(widen(old) * momentum + new * (1 - momentum)).astype(old.dtype, copy=False)
        for old, new in ((input_mean, mean), (input_var, var))
    ]
    return result, running[0], running[1]


def inference(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    input_mean: np.ndarray,
    input_var: np.ndarray,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> np.ndarray:
    """The first output of :func:`fast` alone."""
    if training_mode:
        return fast(x, scale, b, input_mean, input_var, epsilon=epsilon, training_mode=1)[0]
    return _normalized(x, scale, b, widen(input_mean), widen(input_var), epsilon)


def _statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    axes = (0, *range(2, x.ndim))
    return np.mean(x, axis=axes), np.var(x, axis=axes)


def _exact_statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    axes = (0, *range(2, x.ndim))
    mean = exact_sum.mean(x, axes, keepdims=True)
    var = exact_sum.mean(np.square(x - mean), axes)
    return mean.reshape(-1).astype(x.dtype), var.astype(x.dtype)


fast = partial(_batch, _statistics)
exact = partial(_batch, _exact_statistics)


def _normalized(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    epsilon: float,
) -> np.ndarray:
    channel = (-1,) + (1,) * (x.ndim - 2)
    wide = widen(x)
    factor = widen(scale) / np.sqrt(var + epsilon)
    offset = widen(b) - mean * factor
    result = wide * factor.astype(wide.dtype, copy=False).reshape(channel)
    result += offset.astype(wide.dtype, copy=False).reshape(channel)
    return result.astype(x.dtype, copy=False)


def batch_normalization_9(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
) -> np.ndarray:
    """Opset 9, inference: Y alone (only a training graph asked for the other outputs)."""
    return inference(x, scale, b, mean, var, epsilon=epsilon)


def batch_normalization_7(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> np.ndarray:
    """Opset 7: ``spatial=0`` keeps statistics per element instead of per channel."""
    if spatial:
        return inference(x, scale, b, mean, var, epsilon=epsilon)
    result = (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) * scale + b
    return np.asarray(result).astype(x.dtype, copy=False)


def _batch_1(
    whole: Callable[..., tuple[np.ndarray, ...]],
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    is_test: int = 0,
    spatial: int = 1,
    consumed_inputs: Sequence[int] | None = None,
) -> np.ndarray:
    """Opsets 1 and 6: without ``is_test`` the batch's own statistics normalise."""
    if not is_test and spatial:
        return whole(x, scale, b, mean, var, epsilon=epsilon, training_mode=1)[0]
    return batch_normalization_7(x, scale, b, mean, var, epsilon=epsilon, spatial=spatial)


VERSIONS = {
    1: partial(_batch_1, fast),
    7: batch_normalization_7,
    9: batch_normalization_9,
    14: fast,
}
FIRST_OUTPUT = {14: inference}
EXACT = {**VERSIONS, 1: partial(_batch_1, exact), 14: exact}
