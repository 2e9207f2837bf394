"""ONNX Gelu (since 20): element-wise x times the normal distribution function, or its tanh form."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import gelu

NODE_TYPE = "Gelu"


def fast(x: np.ndarray, *, approximate: str = "none") -> np.ndarray:
    """Element-wise x times the normal distribution function (``none``), or its ``tanh`` form.

    Raises:
        ValueError: another form.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"Gelu: approximate={approximate!r}; write 'none' or 'tanh'")
    return gelu(widen(x), approximate == "tanh").astype(x.dtype, copy=False)


VERSIONS = {20: fast}
