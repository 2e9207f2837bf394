"""ONNX FeatureVectorizer (ai.onnx.ml, since 1): several inputs side by side, as float32."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "FeatureVectorizer"
DOMAIN = "ai.onnx.ml"


def fast(*inputs: np.ndarray, inputdimensions: Sequence[int] | None = None) -> np.ndarray:
    """(N, sum of dimensions); an input is cut or filled with zeros to its dimension."""
    parts = []
    for place, array in enumerate(inputs):
        rows = array.reshape(1, -1) if array.ndim < 2 else array.reshape(len(array), -1)
        wide = inputdimensions[place] if inputdimensions else rows.shape[1]
        part = np.zeros((len(rows), wide), np.float32)
        part[:, : rows.shape[1]] = rows[:, :wide]
        parts.append(part)
    return np.concatenate(parts, axis=1)


VERSIONS = {1: fast}
EXACT = VERSIONS
