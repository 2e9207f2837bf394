"""Activations made of the exact functions: cores with their attributes as keywords.

All is computed in float64 and rounded once, where the fast kernels round every step.
"""

from __future__ import annotations

import numpy as np

from onemodel.kernels.exact.blocks import Rows, negative_part, positive_part
from onemodel.kernels.exact.exp import exp_core, expm1_unsigned, sigmoid_core


def elu_core(x: np.ndarray, out: np.ndarray, rows: Rows, alpha: float, gamma: float = 1.0) -> None:
    """gamma (x above zero, else alpha (exp(x) - 1)). Uses 7 rows."""
    part = rows[6]
    negative_part(x, part)
    expm1_unsigned(part, out, rows)
    out *= alpha
    positive_part(x, part)
    out += part  # one of the two is zero
    if gamma != 1.0:
        out *= gamma


def celu_core(x: np.ndarray, out: np.ndarray, rows: Rows, alpha: float) -> None:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)). Uses 7 rows."""
    part = rows[6]
    negative_part(x, part)
    part /= alpha
    expm1_unsigned(part, out, rows)
    out *= alpha
    positive_part(x, part)
    out += part


def mish_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """x tanh(log(1 + n)) = x w / (w + 2) with n = exp(x), w = n (n + 2). Uses 6 rows."""
    n = rows[5]
    np.minimum(x, 40.0, out=n)  # w + 2 is w long before
    exp_core(n, out, rows)
    np.add(out, 2.0, out=n)
    n *= out
    np.add(n, 2.0, out=out)
    np.divide(n, out, out=out)
    out *= x


def swish_core(x: np.ndarray, out: np.ndarray, rows: Rows, alpha: float) -> None:
    """x sigmoid(alpha x); the rounding of alpha x adds |alpha x| 2**-53. Uses 8 rows."""
    scaled = rows[7]
    np.multiply(x, alpha, out=scaled)
    sigmoid_core(scaled, out, rows)
    out *= x


def swi_glu_core(a: np.ndarray, b: np.ndarray, out: np.ndarray, rows: Rows, alpha: float) -> None:
    """a sigmoid(alpha a) b. Uses 8 rows."""
    swish_core(a, out, rows, alpha)
    out *= b
