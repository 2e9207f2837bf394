"""ONNX LabelEncoder (ai.onnx.ml, since 1, 2, 4): keys looked up, one value each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

NODE_TYPE = "LabelEncoder"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: np.ndarray | None = None,
    keys_floats: Sequence[float] | None = None,
    keys_int64s: Sequence[int] | None = None,
    keys_strings: Sequence[str] | None = None,
    keys_tensor: np.ndarray | None = None,
    values_floats: Sequence[float] | None = None,
    values_int64s: Sequence[int] | None = None,
    values_strings: Sequence[str] | None = None,
    values_tensor: np.ndarray | None = None,
) -> np.ndarray:
    """The value of each element's key, or the default; the type follows the values given.

    Raises:
        ValueError: no keys or no values.
    """
    if values_tensor is not None:
        values, dtype = values_tensor.reshape(-1).tolist(), values_tensor.dtype
        default = _default(values_tensor, default_tensor)
    elif values_floats is not None:
        values, dtype, default = list(values_floats), np.dtype(np.float32), default_float
    elif values_int64s is not None:
        values, dtype, default = list(values_int64s), np.dtype(np.int64), default_int64
    elif values_strings is not None:
        values, dtype, default = list(values_strings), np.dtype(object), default_string
    else:
        raise ValueError("LabelEncoder: no values attribute is given")
    keys: Sequence[Any] | None = keys_strings or keys_int64s
    if keys_tensor is not None:
        keys = keys_tensor.reshape(-1).tolist()
    elif keys_floats is not None:
        # Elements are float32, so keys have to be rounded alike to be found.
        keys = np.asarray(keys_floats, dtype=np.float32).tolist()
    if keys is None:
        raise ValueError("LabelEncoder: no keys attribute is given")
    table = {_key(key): value for key, value in zip(keys, values, strict=True)}
    found = [table.get(_key(element), default) for element in x.reshape(-1).tolist()]
    result = np.empty(len(found), dtype=dtype)
    result[:] = found
    return result.reshape(x.shape)


def _key(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and value != value else value


def _default(values: np.ndarray, given: np.ndarray | None) -> Any:
    if given is not None:
        return given.reshape(-1)[0].item() if values.dtype != object else given.reshape(-1)[0]
    if values.dtype == object:
        return "_Unused"
    return -1 if values.dtype.kind in "iu" else -0.0


def label_encoder_1(
    x: np.ndarray,
    *,
    classes_strings: Sequence[str] | None = None,
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> np.ndarray:
    """Version 1: class names to their numbers, or numbers to names."""
    names = list(classes_strings or ())
    numbers = list(range(len(names)))
    if x.dtype.kind in "iu":
        return fast(x, keys_int64s=numbers, values_strings=names, default_string=default_string)
    return fast(x, keys_strings=names, values_int64s=numbers, default_int64=default_int64)


VERSIONS = {1: label_encoder_1, 2: fast}
EXACT = VERSIONS
