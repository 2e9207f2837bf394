"""ONNX ZipMap (ai.onnx.ml, since 1): rows of scores as maps from label to score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

NODE_TYPE = "ZipMap"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    classlabels_int64s: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
) -> list[dict[Any, float]]:
    """One dict per row of ``x``.

    Raises:
        ValueError: where a row has another length than the labels.
    """
    labels = list(classlabels_strings or classlabels_int64s or ())
    rows = np.atleast_2d(x).tolist()
    if any(len(row) != len(labels) for row in rows):
        raise ValueError(f"ZipMap has {len(labels)} labels for rows of {len(rows[0])} scores")
    return [dict(zip(labels, row, strict=True)) for row in rows]


VERSIONS = {1: fast}
EXACT = VERSIONS
