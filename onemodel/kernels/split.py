"""ONNX Split (since 1, 2, 11, 13, 18): an array cut into parts along an axis."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Split"


def fast(
    x: np.ndarray,
    split: np.ndarray | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Views of the given sizes, or ``num_outputs`` equal ones, the last one smaller.

    Raises:
        ValueError: neither sizes nor a number, or sizes that do not add up.
    """
    size = x.shape[axis]
    if split is not None:
        sizes = integers(split)
    elif num_outputs is None:
        raise ValueError("Split: give either the split input or num_outputs")
    else:
        chunk = -(-size // num_outputs)
        sizes = [max(0, min(chunk, size - start * chunk)) for start in range(num_outputs)]
    if sum(sizes) != size:
        raise ValueError(f"Split: sizes {sizes} do not add up to {size} on axis {axis}")
    ends = np.cumsum(sizes)[:-1]
    return tuple(np.split(x, ends, axis=axis))


def split_13(
    x: np.ndarray,
    split: np.ndarray | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Opset 13: without sizes the parts are equal; ``num_outputs`` counts the node's outputs."""
    if split is None and num_outputs is not None and x.shape[axis] % num_outputs:
        raise ValueError(
            f"Split: axis {axis} of size {x.shape[axis]} has no {num_outputs} equal parts"
        )
    return fast(x, split, axis=axis, num_outputs=num_outputs)


def split_2(
    x: np.ndarray,
    *,
    axis: int = 0,
    split: Sequence[int] | None = None,
    num_outputs: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Opsets 2 and 11: sizes are an attribute; ``num_outputs`` counts the node's outputs."""
    sizes = None if split is None else np.asarray(split, dtype=np.int64)
    return split_13(x, sizes, axis=axis, num_outputs=num_outputs)


def split_1(
    x: np.ndarray,
    split_input: np.ndarray | None = None,
    *,
    axis: int = 0,
    split: Sequence[int] | None = None,
    num_outputs: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Opset 1: sizes are an input or an attribute."""
    sizes = split_input if split_input is not None else split
    return split_2(
        x,
        axis=axis,
        split=None if sizes is None else integers(sizes),
        num_outputs=num_outputs,
    )


NEEDS_NUM_OUTPUTS = True
"""Before opset 18 equal parts follow from the node's number of outputs: pass it along."""

VERSIONS = {1: split_1, 2: split_2, 13: split_13, 18: fast}
EXACT = VERSIONS
