"""The exact functions once more, by mpmath, and by NumPy and SciPy where that settles it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from scipy import special

mp = mpmath.mp
Real = Any  # mpmath has no types
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Oracle:
    """One function: to any precision, in float64 by others, where it is asked, how near it is.

    ``spans``: intervals to sample; ``units``: the bound in float64, in units in the last place.
    """

    exact: Callable[[Real], Real]
    near: Callable[[np.ndarray], np.ndarray]
    spans: Points
    units: float


def _gelu_tanh(x: Real) -> Real:
    u = mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)
    return x / (1 + mp.exp(-2 * u))


def _near_gelu_tanh(x: np.ndarray) -> np.ndarray:
    return x * special.expit(np.sqrt(8 / np.pi) * (x + 0.044715 * x**3))


def _elu(alpha: float, gamma: float = 1.0, inner: float = 1.0) -> Callable[[Real], Real]:
    return lambda x: mp.mpf(gamma) * (x if x > 0 else mp.mpf(alpha) * mp.expm1(x / mp.mpf(inner)))


def _near_elu(
    alpha: float, gamma: float = 1.0, inner: float = 1.0
) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / inner))


SELU = (1.6732631921768188, 1.0507010221481323)
UNIT: Points = ((-1, 1), (-0.01, 0.01))
WIDE: Points = ((-20, 20), (-1, 1), (-1e-3, 1e-3))

ORACLES: dict[str, Oracle] = {
    "exp": Oracle(mp.exp, np.exp, ((-103, 88), (-1, 1)), 1.0),
    "expm1": Oracle(mp.expm1, np.expm1, ((-40, 88), *UNIT), 1.5),
    "log": Oracle(mp.log, np.log, ((1e-30, 3), (0.9, 1.1), (0, 1e30)), 1.0),
    "log1p": Oracle(mp.log1p, np.log1p, ((-0.999, 3), (-0.01, 0.01), (0, 1e30)), 1.5),
    "sin": Oracle(mp.sin, np.sin, ((-1e4, 1e4), (-7, 7), (-0.01, 0.01)), 2.0),
    "cos": Oracle(mp.cos, np.cos, ((-1e4, 1e4), (-7, 7), (-0.01, 0.01)), 2.0),
    "tan": Oracle(mp.tan, np.tan, ((-1e4, 1e4), (-7, 7), (-0.01, 0.01)), 3.0),
    "asin": Oracle(mp.asin, np.arcsin, (*UNIT, (0.99, 1)), 1.5),
    "acos": Oracle(mp.acos, np.arccos, (*UNIT, (0.99, 1)), 1.5),
    "atan": Oracle(mp.atan, np.arctan, (*WIDE, (-1e6, 1e6)), 1.5),
    "sinh": Oracle(mp.sinh, np.sinh, ((-88, 88), *UNIT), 2.5),
    "cosh": Oracle(mp.cosh, np.cosh, ((-88, 88), *UNIT), 2.0),
    "tanh": Oracle(mp.tanh, np.tanh, WIDE, 3.5),
    "asinh": Oracle(mp.asinh, np.arcsinh, (*WIDE, (-1e30, 1e30)), 2.0),
    "acosh": Oracle(mp.acosh, np.arccosh, ((1, 20), (1, 1.01), (1, 1e30)), 3.0),
    "atanh": Oracle(mp.atanh, np.arctanh, (*UNIT, (0.99, 1)), 2.0),
    "erf": Oracle(mp.erf, special.erf, ((-4, 4), (-0.01, 0.01)), 2.5),
    "sigmoid": Oracle(lambda x: 1 / (1 + mp.exp(-x)), special.expit, ((-103, 20), (-9, 9)), 2.5),
    "softplus": Oracle(
        lambda x: mp.log1p(mp.exp(x)), lambda x: np.logaddexp(0, x), ((-103, 20), (-9, 9)), 2.0
    ),
    "gelu": Oracle(
        lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
        lambda x: x * special.ndtr(x),
        ((-13, 6), (-3, 3), (-0.01, 0.01)),
        4.0,
    ),
    "gelu_tanh": Oracle(_gelu_tanh, _near_gelu_tanh, ((-3, 6), (-0.01, 0.01)), 20.0),
    "elu": Oracle(_elu(1.5), _near_elu(1.5), WIDE, 2.5),
    "selu": Oracle(_elu(*SELU), _near_elu(*SELU), WIDE, 3.0),
    "celu": Oracle(_elu(1.5, 1.0, 1.5), _near_elu(1.5, 1.0, 1.5), WIDE, 2.5),
    "mish": Oracle(
        lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
        lambda x: x * np.tanh(np.log1p(np.exp(x))),
        ((-80, 20), (-3, 3)),
        4.5,
    ),
    "swish": Oracle(
        lambda x: x / (1 + mp.exp(-1.25 * x)), lambda x: x * special.expit(1.25 * x), WIDE, 20.0
    ),
}


def units_off(got: float, exact: Real) -> float:
    """How far a float64 is from the exact value, in units in its last place."""
    spacing = np.spacing(abs(float(exact)))
    return float(abs(mp.mpf(float(got)) - exact) / mp.mpf(float(spacing)))


def is_nearest(got: np.floating, exact: Real) -> bool:
    """Whether no neighbour of ``got`` in its type is nearer to the exact value."""
    here = abs(mp.mpf(float(got)) - exact)
    around = [np.nextafter(got, type(got)(end)) for end in (-np.inf, np.inf)]
    return all(here <= abs(mp.mpf(float(one)) - exact) for one in around if np.isfinite(one))
