"""ONNX GroupNormalization (since 18, 21): per image and group of channels."""

import numpy as np

from onemodel.kernels._normalize import exact_groups, normalized_groups

NODE_TYPE = "GroupNormalization"


def fast(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
    stash_type: int = 1,
) -> np.ndarray:
    """(N, C, D1..Dn) normalised per group of C / num_groups channels; scale and bias per C."""
    return normalized_groups(x, num_groups, scale, bias, epsilon)


def group_normalization_18(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
) -> np.ndarray:
    """Opset 18: one scale and bias per group."""
    repeat = x.shape[1] // num_groups
    return normalized_groups(
        x, num_groups, np.repeat(scale, repeat), np.repeat(bias, repeat), epsilon
    )


def exact(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
    stash_type: int = 1,
) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    return exact_groups(x, num_groups, scale, bias, epsilon)


def exact_18(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
) -> np.ndarray:
    """As :func:`group_normalization_18`, in float64 and rounded once."""
    repeat = x.shape[1] // num_groups
    return exact_groups(x, num_groups, np.repeat(scale, repeat), np.repeat(bias, repeat), epsilon)


VERSIONS = {18: group_normalization_18, 21: fast}
EXACT = {18: exact_18, 21: exact}
