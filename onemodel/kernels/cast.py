"""ONNX Cast (since 1, 6, 9, 13, 19, 21, 23, 24, 25, 28): elements as another type."""

import numpy as np

from onemodel.kernels._cast import cast, exact_cast
from onemodel.kernels._dtypes import numpy_dtype

NODE_TYPE = "Cast"

_NAMES = {
    "FLOAT": 1,
    "UINT8": 2,
    "INT8": 3,
    "UINT16": 4,
    "INT16": 5,
    "INT32": 6,
    "INT64": 7,
    "STRING": 8,
    "BOOL": 9,
    "FLOAT16": 10,
    "DOUBLE": 11,
    "UINT32": 12,
    "UINT64": 13,
}


def fast(x: np.ndarray, *, to: int, saturate: int = 1, round_mode: str = "up") -> np.ndarray:
    """``x`` as the ONNX element type ``to``.

    Floats to integers cut off toward zero. ``saturate`` holds for 8-bit floats,
    ``round_mode`` (up, down, nearest) for float8e8m0. Without change ``x`` itself.
    """
    return cast(x, numpy_dtype(to), bool(saturate), round_mode)


def exact(x: np.ndarray, *, to: int, saturate: int = 1, round_mode: str = "up") -> np.ndarray:
    """As ``fast``; floats beyond an integer type saturate and NaN becomes zero."""
    return exact_cast(x, numpy_dtype(to), bool(saturate), round_mode)


def cast_19(x: np.ndarray, *, to: int, saturate: int = 1) -> np.ndarray:
    """Opset 19: no exponent-only type."""
    return fast(x, to=to, saturate=saturate)


def cast_6(x: np.ndarray, *, to: int) -> np.ndarray:
    """Opsets 6 to 13: no 8-bit floats."""
    return fast(x, to=to)


def cast_1(x: np.ndarray, *, to: str) -> np.ndarray:
    """Opset 1: the type is spelt out."""
    return fast(x, to=_NAMES[to.upper()])


def _exact_19(x: np.ndarray, *, to: int, saturate: int = 1) -> np.ndarray:
    return exact(x, to=to, saturate=saturate)


def _exact_6(x: np.ndarray, *, to: int) -> np.ndarray:
    return exact(x, to=to)


def _exact_1(x: np.ndarray, *, to: str) -> np.ndarray:
    return exact(x, to=_NAMES[to.upper()])


VERSIONS = {1: cast_1, 6: cast_6, 19: cast_19, 24: fast}
EXACT = {1: _exact_1, 6: _exact_6, 19: _exact_19, 24: exact}
