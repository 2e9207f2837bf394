"""ONNX CategoryMapper (ai.onnx.ml, since 1): names to numbers and numbers to names."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels.label_encoder import fast as label_encoder

NODE_TYPE = "CategoryMapper"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    cats_int64s: Sequence[int] | None = None,
    cats_strings: Sequence[str] | None = None,
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> np.ndarray:
    """The other half of each element's pair, or the default."""
    if x.dtype.kind in "iu":
        return label_encoder(
            x, keys_int64s=cats_int64s, values_strings=cats_strings, default_string=default_string
        )
    return label_encoder(
        x, keys_strings=cats_strings, values_int64s=cats_int64s, default_int64=default_int64
    )


VERSIONS = {1: fast}
EXACT = VERSIONS
