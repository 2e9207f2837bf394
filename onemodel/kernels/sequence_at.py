"""ONNX SequenceAt (since 11): one array of a sequence."""

import numpy as np

NODE_TYPE = "SequenceAt"


def fast(input_sequence: list[np.ndarray], position: np.ndarray) -> np.ndarray:
    """The array at ``position``; negative ones count back."""
    return input_sequence[int(position.item())]


VERSIONS = {11: fast}
EXACT = VERSIONS
