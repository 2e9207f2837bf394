"""ONNX ConcatFromSequence (since 11): the arrays of a sequence joined."""

import numpy as np

NODE_TYPE = "ConcatFromSequence"


def fast(input_sequence: list[np.ndarray], *, axis: int, new_axis: int = 0) -> np.ndarray:
    """Joined along ``axis``, or stacked along a new one."""
    join = np.stack if new_axis else np.concatenate
    return join(input_sequence, axis=axis)


VERSIONS = {11: fast}
EXACT = VERSIONS
