"""ONNX CastLike (since 15, 19, 21, 23, 24, 25): elements as the type of another array."""

import numpy as np

from onemodel.kernels._cast import cast, exact_cast

NODE_TYPE = "CastLike"


def fast(
    x: np.ndarray, target_type: np.ndarray, *, saturate: int = 1, round_mode: str = "up"
) -> np.ndarray:
    """``x`` in the dtype of ``target_type``; the attributes are those of Cast."""
    return cast(x, target_type.dtype, bool(saturate), round_mode)


def exact(
    x: np.ndarray, target_type: np.ndarray, *, saturate: int = 1, round_mode: str = "up"
) -> np.ndarray:
    """As ``fast``; floats beyond an integer type saturate and NaN becomes zero."""
    return exact_cast(x, target_type.dtype, bool(saturate), round_mode)


def cast_like_19(x: np.ndarray, target_type: np.ndarray, *, saturate: int = 1) -> np.ndarray:
    """Opset 19: no exponent-only type."""
    return fast(x, target_type, saturate=saturate)


def cast_like_15(x: np.ndarray, target_type: np.ndarray) -> np.ndarray:
    """Opset 15: no 8-bit floats."""
    return fast(x, target_type)


def _exact_19(x: np.ndarray, target_type: np.ndarray, *, saturate: int = 1) -> np.ndarray:
    return exact(x, target_type, saturate=saturate)


def _exact_15(x: np.ndarray, target_type: np.ndarray) -> np.ndarray:
    return exact(x, target_type)


VERSIONS = {15: cast_like_15, 19: cast_like_19, 24: fast}
EXACT = {15: _exact_15, 19: _exact_19, 24: exact}
