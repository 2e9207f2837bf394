"""Functions of arrays with the same bits on every machine, thread count and NumPy.

``exp(x)`` and the like take float16, bfloat16, float32 or float64 and return that dtype, in a
new array of the same shape; ``exp64(x, out=None)`` and the like take and return float64, for
kernels that go on computing in it. How: see ``blocks.py``; what each is accurate to: see
the cores. A float64 sequence that errs by 2**-51 makes float32 results correctly rounded in
all but some of 2**-25 of cases; float16 and bfloat16 are rounded once, from float64.
"""

from __future__ import annotations

import numpy as np

from onemodel.kernels.exact import activations as exact_activations
from onemodel.kernels.exact import arcs as exact_arcs
from onemodel.kernels.exact import erf as exact_erf
from onemodel.kernels.exact import exp as exact_exp
from onemodel.kernels.exact import log as exact_log
from onemodel.kernels.exact import pow as exact_pow
from onemodel.kernels.exact import trigonometry as exact_trigonometry
from onemodel.kernels.exact.blocks import in_blocks


def exp(x: np.ndarray) -> np.ndarray:
    """e**x; overflows to infinity and underflows gradually."""
    return in_blocks(exact_exp.exp_core, x)


def expm1(x: np.ndarray) -> np.ndarray:
    """e**x - 1, accurate near zero."""
    return in_blocks(exact_exp.expm1_core, x)


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm; -inf at zero, NaN below."""
    return in_blocks(exact_log.log_core, x)


def log1p(x: np.ndarray) -> np.ndarray:
    """log(1 + x), accurate near zero; -inf at -1, NaN below."""
    return in_blocks(exact_log.log1p_core, x)


def tanh(x: np.ndarray) -> np.ndarray:
    """The hyperbolic tangent."""
    return in_blocks(exact_exp.tanh_core, x)


def sinh(x: np.ndarray) -> np.ndarray:
    """The hyperbolic sine."""
    return in_blocks(exact_exp.sinh_core, x)


def cosh(x: np.ndarray) -> np.ndarray:
    """The hyperbolic cosine."""
    return in_blocks(exact_exp.cosh_core, x)


def asinh(x: np.ndarray) -> np.ndarray:
    """The inverse hyperbolic sine."""
    return in_blocks(exact_log.asinh_core, x)


def acosh(x: np.ndarray) -> np.ndarray:
    """The inverse hyperbolic cosine; NaN below 1."""
    return in_blocks(exact_log.acosh_core, x)


def atanh(x: np.ndarray) -> np.ndarray:
    """The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond."""
    return in_blocks(exact_log.atanh_core, x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e**-x)."""
    return in_blocks(exact_exp.sigmoid_core, x)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + e**x)."""
    return in_blocks(exact_log.softplus_core, x)


def sin(x: np.ndarray) -> np.ndarray:
    """The sine, of radians of any size."""
    return in_blocks(exact_trigonometry.sin_core, x)


def cos(x: np.ndarray) -> np.ndarray:
    """The cosine, of radians of any size."""
    return in_blocks(exact_trigonometry.cos_core, x)


def tan(x: np.ndarray) -> np.ndarray:
    """The tangent, of radians of any size."""
    return in_blocks(exact_trigonometry.tan_core, x)


def asin(x: np.ndarray) -> np.ndarray:
    """The inverse sine; NaN beyond -1 and 1."""
    return in_blocks(exact_arcs.asin_core, x)


def acos(x: np.ndarray) -> np.ndarray:
    """The inverse cosine; NaN beyond -1 and 1."""
    return in_blocks(exact_arcs.acos_core, x)


def atan(x: np.ndarray) -> np.ndarray:
    """The inverse tangent."""
    return in_blocks(exact_arcs.atan_core, x)


def erf(x: np.ndarray) -> np.ndarray:
    """The error function."""
    return in_blocks(exact_erf.erf_core, x)


def pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x**y with broadcasting, in the dtype of ``x``; special cases as IEEE 754's pow.

    ``y`` may have any real dtype and is read as float64.
    """
    if y.size == 1 and x.ndim >= y.ndim and exact_pow.is_short(float(y.item())):
        return in_blocks(exact_pow.short_core, x, exponent=float(y.item()))
    return in_blocks(exact_pow.pow_core, *np.broadcast_arrays(x, y))


def gelu(x: np.ndarray, approximate: bool = False) -> np.ndarray:
    """x times the normal distribution function, or its form with tanh."""
    if approximate:
        return in_blocks(exact_erf.gelu_tanh_core, x)
    return in_blocks(exact_erf.gelu_core, x, short=x.dtype != np.float64)


def elu(x: np.ndarray, alpha: float, gamma: float = 1.0) -> np.ndarray:
    """gamma (x above zero, else alpha (e**x - 1))."""
    return in_blocks(exact_activations.elu_core, x, alpha=alpha, gamma=gamma)


def celu(x: np.ndarray, alpha: float) -> np.ndarray:
    """max(0, x) + min(0, alpha (e**(x / alpha) - 1))."""
    return in_blocks(exact_activations.celu_core, x, alpha=alpha)


def mish(x: np.ndarray) -> np.ndarray:
    """x tanh(log(1 + e**x))."""
    return in_blocks(exact_activations.mish_core, x)


def swish(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """x sigmoid(alpha x)."""
    return in_blocks(exact_activations.swish_core, x, alpha=alpha)


def swi_glu(a: np.ndarray, b: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """a sigmoid(alpha a) b, for equal shapes."""
    return in_blocks(exact_activations.swi_glu_core, a, b, alpha=alpha)


def exp64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """e**x of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_exp.exp_core, x, out=out)


def log64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The natural logarithm of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_log.log_core, x, out=out)


def tanh64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """tanh of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_exp.tanh_core, x, out=out)


def sigmoid64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """1 / (1 + e**-x) of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_exp.sigmoid_core, x, out=out)


def erf64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The error function of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_erf.erf_core, x, out=out)


def expm1_64(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """e**x - 1 of a float64 array; ``out`` is contiguous and may be ``x``."""
    return in_blocks(exact_exp.expm1_core, x, out=out)
