"""ONNX Gelu (since 20): element-wise x times the normal distribution function, or its tanh form."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import erf

NODE_TYPE = "Gelu"

_SQRT_HALF = 0.7071067811865476
_SQRT_2_OVER_PI = 0.7978845608028654


def fast(x: np.ndarray, *, approximate: str = "none") -> np.ndarray:
    """Element-wise x times the normal distribution function, or its tanh form."""
    wide = widen(x)
    if approximate == "tanh":
        result = np.asarray(wide * wide)
        result *= 0.044715
        result += 1
        result *= wide
        result *= _SQRT_2_OVER_PI
        np.tanh(result, out=result)
    elif approximate == "none":
        result = erf(np.asarray(wide * _SQRT_HALF))
    else:
        raise ValueError(f"Gelu: approximate={approximate!r}; write 'none' or 'tanh'")
    result += 1
    result *= wide
    result *= 0.5
    return np.asarray(result, dtype=x.dtype)


VERSIONS = {20: fast}
