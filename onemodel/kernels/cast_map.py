"""ONNX CastMap (ai.onnx.ml, since 1): a map from numbers as a row in the order of its keys."""

from collections.abc import Mapping
from typing import Any

import numpy as np

NODE_TYPE = "CastMap"
DOMAIN = "ai.onnx.ml"


def fast(
    x: Mapping[int, Any],
    *,
    cast_to: str = "TO_FLOAT",
    map_form: str = "DENSE",
    max_map: int = 1,
) -> np.ndarray:
    """(1, n) of the values, cast; SPARSE leaves gaps of zeros up to ``max_map``.

    Raises:
        ValueError: for another cast or form, or a key outside of a sparse row.
    """
    kinds: dict[str, tuple[Any, Any]] = {
        "TO_FLOAT": (np.float32, float),
        "TO_INT64": (np.int64, int),
        "TO_STRING": (object, str),
    }
    if cast_to not in kinds or map_form not in ("DENSE", "SPARSE"):
        raise ValueError(
            f"cast_to={cast_to!r}, map_form={map_form!r}; TO_FLOAT, TO_INT64, "
            "TO_STRING and DENSE, SPARSE are known"
        )
    dtype, cast = kinds[cast_to]
    items = sorted(x.items())
    if map_form == "DENSE":
        row = [cast(value) for _, value in items]
    else:
        row = [cast("") if cast is str else cast(0)] * max_map
        for key, value in items:
            if not 0 <= key < max_map:
                raise ValueError(f"CastMap: key {key} is outside of a row of {max_map}")
            row[key] = cast(value)
    result = np.empty((1, len(row)), dtype)
    result[0, :] = row
    return result


VERSIONS = {1: fast}
EXACT = VERSIONS
