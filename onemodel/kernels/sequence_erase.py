"""ONNX SequenceErase (since 11): a sequence without one of its arrays."""

import numpy as np

NODE_TYPE = "SequenceErase"


def fast(input_sequence: list[np.ndarray], position: np.ndarray | None = None) -> list[np.ndarray]:
    """A copy without the array at ``position`` (default: the last)."""
    result = list(input_sequence)
    del result[-1 if position is None else int(position.item())]
    return result


VERSIONS = {11: fast}
EXACT = VERSIONS
