"""Inputs for the exact functions from integer arithmetic, and how each function is called.

Random generators may change their streams, and then committed hashes would mean nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import ml_dtypes
import numpy as np

from onemodel.kernels.exact import functions as exact

Function = Callable[[np.ndarray], np.ndarray]

UNARY: dict[str, Function] = {
    "exp": exact.exp,
    "expm1": exact.expm1,
    "log": exact.log,
    "log1p": exact.log1p,
    "sin": exact.sin,
    "cos": exact.cos,
    "tan": exact.tan,
    "asin": exact.asin,
    "acos": exact.acos,
    "atan": exact.atan,
    "sinh": exact.sinh,
    "cosh": exact.cosh,
    "tanh": exact.tanh,
    "asinh": exact.asinh,
    "acosh": exact.acosh,
    "atanh": exact.atanh,
    "erf": exact.erf,
    "sigmoid": exact.sigmoid,
    "softplus": exact.softplus,
    "gelu": exact.gelu,
    "gelu_tanh": lambda x: exact.gelu(x, approximate=True),
    "elu": lambda x: exact.elu(x, 1.5),
    "selu": lambda x: exact.elu(x, 1.6732631921768188, 1.0507010221481323),
    "celu": lambda x: exact.celu(x, 1.5),
    "mish": exact.mish,
    "swish": lambda x: exact.swish(x, 1.25),
}
"""Every function of one array."""

ALL: dict[str, Function] = UNARY | {
    "pow": lambda x: exact.pow(np.abs(x), np.roll(x, 1)),
    "pow_signed": lambda x: exact.pow(x, np.round(np.roll(x, 3))),
    "pow_short": lambda x: exact.pow(x, np.array(0.5)),
    "swi_glu": lambda x: exact.swi_glu(x, np.roll(x, 1)),
}


def patterns(dtype: np.dtype, count: int) -> np.ndarray:
    """Bit patterns all over the type, infinities, NaN and subnormal numbers among them."""
    width = dtype.itemsize * 8
    steps = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (steps >> np.uint64(64 - width)).astype(f"u{dtype.itemsize}").view(dtype)


def grid(dtype: np.dtype, count: int, reach: int) -> np.ndarray:
    """Evenly spread over -reach to reach, but with full significands."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
    fraction = (steps >> np.uint64(11)).astype(np.float64) / 2.0**53
    return ((2 * fraction - 1) * reach).astype(dtype)


def inputs() -> list[np.ndarray]:
    """All of float16 and bfloat16, and some of float32 and float64."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    every = np.arange(1 << 16, dtype=np.uint16)
    return [
        every.view(np.float16),
        every.view(ml_dtypes.bfloat16),
        *(np.concatenate([patterns(d, 20_000), grid(d, 20_000, 30)]) for d in (single, double)),
        grid(single, 20_000, 1),
        grid(double, 20_000, 1),
    ]


def hashes() -> dict[str, str]:
    """SHA-256 over the results of each function on all inputs."""
    samples = inputs()
    found = {}
    for name, function in ALL.items():
        digest = hashlib.sha256()
        for x in samples:
            with np.errstate(invalid="ignore"):  # of the roundings in these samples
                digest.update(function(x).tobytes())
        found[name] = digest.hexdigest()
    return found


def control() -> str:
    """SHA-256 of NumPy's own float32 exponentials, which do depend on the processor."""
    return hashlib.sha256(np.exp(grid(np.dtype(np.float32), 20_000, 30)).tobytes()).hexdigest()


if __name__ == "__main__":
    print(json.dumps({"control": control(), "hashes": hashes()}))  # noqa: T201
