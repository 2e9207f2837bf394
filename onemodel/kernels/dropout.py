"""ONNX Dropout (since 1, 6, 7, 10, 12, 13, 22): random zeros in training, else the identity."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._select import select

NODE_TYPE = "Dropout"


def fast(
    data: np.ndarray,
    ratio: np.ndarray | None = None,
    training_mode: np.ndarray | None = None,
    *,
    seed: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(output, bool mask of what is kept); kept elements are scaled by 1 / (1 - ratio)."""
    probability = 0.5 if ratio is None else float(ratio.item())
    if training_mode is None or not training_mode.item() or probability == 0.0:
        return data, np.ones(data.shape, dtype=bool)
    # The legacy generator is frozen: a seed gives the same mask in every NumPy release.
    generator = np.random.RandomState(seed)
    mask = generator.uniform(size=data.shape) >= probability
    scale = data.dtype.type(1.0 / (1.0 - probability))
    return select(mask, np.asarray(data * scale), data.dtype.type(0)), mask


def output_only(
    data: np.ndarray,
    ratio: np.ndarray | None = None,
    training_mode: np.ndarray | None = None,
    *,
    seed: int | None = None,
) -> np.ndarray:
    """The first output of :func:`fast`; without training, ``data`` itself."""
    if training_mode is None or not training_mode.item():
        return data
    return fast(data, ratio, training_mode, seed=seed)[0]


def dropout_10(data: np.ndarray, *, ratio: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Opset 10: inference only, with a bool mask."""
    return data, np.ones(data.shape, dtype=bool)


def dropout_7(data: np.ndarray, *, ratio: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Opset 7: inference only, with a mask in the dtype of ``data``."""
    return data, np.ones_like(data)


def dropout_1(
    data: np.ndarray,
    *,
    ratio: float = 0.5,
    is_test: int = 0,
    consumed_inputs: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Opsets 1 and 6: ``is_test`` switches the random zeros off."""
    output, mask = fast(data, np.asarray(ratio), np.asarray(not is_test))
    return output, mask.astype(data.dtype)


def _identity(data: np.ndarray, *, ratio: float = 0.5) -> np.ndarray:
    return data


VERSIONS = {1: dropout_1, 7: dropout_7, 10: dropout_10, 12: fast}
FIRST_OUTPUT = {7: _identity, 10: _identity, 12: output_only}

# Inference is the identity; in training a seed gives one mask everywhere.
EXACT = VERSIONS
EXACT_FIRST_OUTPUT = FIRST_OUTPUT
