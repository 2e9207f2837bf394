"""ONNX DictVectorizer (ai.onnx.ml, since 1): a map as a row in the order of a vocabulary."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

NODE_TYPE = "DictVectorizer"
DOMAIN = "ai.onnx.ml"


def fast(
    x: Mapping[Any, Any],
    *,
    int64_vocabulary: Sequence[int] | None = None,
    string_vocabulary: Sequence[str] | None = None,
) -> np.ndarray:
    """(1, vocabulary): the values of ``x``, zero or an empty string where a key is missing."""
    vocabulary: Sequence[Any] = string_vocabulary or int64_vocabulary or ()
    kinds = {type(value) for value in x.values()}
    if kinds == {str}:
        row = np.empty((1, len(vocabulary)), object)
        row[0, :] = [x.get(key, "") for key in vocabulary]
        return row
    dtype = np.int64 if kinds and all(issubclass(kind, int) for kind in kinds) else np.float32
    return np.array([[x.get(key, 0) for key in vocabulary]], dtype)


VERSIONS = {1: fast}
EXACT = VERSIONS
