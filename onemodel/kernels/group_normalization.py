"""ONNX GroupNormalization (since 18, 21): per image and group of channels."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._normalize import exact_groups, normalized_groups

NODE_TYPE = "GroupNormalization"

Normalize = Callable[[np.ndarray, int, np.ndarray, np.ndarray, float], np.ndarray]


def _grouped(
    normalize: Normalize,
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
    stash_type: int = 1,
) -> np.ndarray:
    """(N, C, D1..Dn) normalised per group of C / num_groups channels; scale and bias per C."""
    return normalize(x, num_groups, scale, bias, epsilon)


def _grouped_18(
    normalize: Normalize,
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
) -> np.ndarray:
    """Opset 18: one scale and bias per group."""
    repeat = x.shape[1] // num_groups
    return normalize(x, num_groups, np.repeat(scale, repeat), np.repeat(bias, repeat), epsilon)


fast = partial(_grouped, normalized_groups)
exact = partial(_grouped, exact_groups)

VERSIONS = {18: partial(_grouped_18, normalized_groups), 21: fast}
EXACT = {18: partial(_grouped_18, exact_groups), 21: exact}
