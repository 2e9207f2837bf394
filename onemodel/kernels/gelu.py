"""ONNX Gelu (since 20): element-wise x times the normal distribution function, or its tanh form."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import gelu
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Gelu"


def fast(x: np.ndarray, *, approximate: str = "none") -> np.ndarray:
    """Element-wise x times the normal distribution function (``none``), or its ``tanh`` form.

    Raises:
        ValueError: another form.
    """
    return gelu(widen(x), _by_tanh(approximate)).astype(x.dtype, copy=False)


def _by_tanh(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise ValueError(f"Gelu: approximate={approximate!r}; write 'none' or 'tanh'")
    return approximate == "tanh"


def exact(x: np.ndarray, *, approximate: str = "none") -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.gelu(x, _by_tanh(approximate))


VERSIONS = {20: fast}
EXACT = {20: exact}
