"""ONNX Imputer (ai.onnx.ml, since 1): missing values replaced, per feature or for all."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "Imputer"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    imputed_value_floats: Sequence[float] | None = None,
    imputed_value_int64s: Sequence[int] | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> np.ndarray:
    """``x`` with the replaced value (NaN may be one) exchanged for the imputed ones.

    Raises:
        ValueError: without imputed values of the kind of ``x``.
    """
    whole = x.dtype.kind in "iu"
    imputed = imputed_value_int64s if whole else imputed_value_floats
    if not imputed:
        raise ValueError(f"Imputer has no imputed values for {x.dtype}")
    replaced = x.dtype.type(replaced_value_int64 if whole else replaced_value_float)
    missing = np.isnan(x) if replaced != replaced else x == replaced
    return np.where(missing, np.asarray(imputed, x.dtype), x)


VERSIONS = {1: fast}
EXACT = VERSIONS
