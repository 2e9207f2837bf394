"""Who multiplies, adds and computes functions in the classical models of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onemodel.kernels._special import sigmoid
from onemodel.kernels.exact import functions as exact_functions
from onemodel.kernels.exact import product as exact_product
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import total

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Arithmetic:
    """What IEEE 754 does not round."""

    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray]
    sums: Callable[[np.ndarray, int], np.ndarray]
    """Sums along one axis, which stays with size one."""
    exp: Function
    log: Function
    sigmoid: Function
    tanh: Function
    pow: Callable[[np.ndarray, float], np.ndarray]


def _sums(x: np.ndarray, axis: int) -> np.ndarray:
    return np.sum(x, axis=axis, keepdims=True)


def _exact_sums(x: np.ndarray, axis: int) -> np.ndarray:
    return rounded_to(total(x, (axis,), keepdims=True), x.dtype)


def _exact_pow(x: np.ndarray, exponent: float) -> np.ndarray:
    return exact_functions.pow(x, np.asarray(exponent, np.float64))


FAST = Arithmetic(np.matmul, _sums, np.exp, np.log, sigmoid, np.tanh, np.power)
EXACT = Arithmetic(
    exact_product.matmul,
    _exact_sums,
    exact_functions.exp,
    exact_functions.log,
    exact_functions.sigmoid,
    exact_functions.tanh,
    _exact_pow,
)
