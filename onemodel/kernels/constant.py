"""ONNX Constant (since 1, 9, 11, 12, 13, 19, 21, 23, 24, 25): a value kept in the node."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "Constant"


def fast(
    *,
    value: np.ndarray | None = None,
    sparse_value: np.ndarray | None = None,
    value_float: float | None = None,
    value_floats: Sequence[float] | None = None,
    value_int: int | None = None,
    value_ints: Sequence[int] | None = None,
    value_string: str | None = None,
    value_strings: Sequence[str] | None = None,
) -> np.ndarray:
    """The one attribute that is given, as an array (``sparse_value`` already made dense).

    Raises:
        ValueError: none is given.
    """
    choices: tuple[tuple[object, type | None], ...] = (
        (value, None),
        (sparse_value, None),
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
        (value_string, object),
        (value_strings, object),
    )
    for given, dtype in choices:
        if given is not None:
            return np.asarray(given, dtype=dtype)
    raise ValueError("Constant: no value attribute is given")


VERSIONS = {1: fast}
EXACT = VERSIONS
