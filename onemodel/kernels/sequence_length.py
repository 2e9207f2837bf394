"""ONNX SequenceLength (since 11): the number of arrays in a sequence."""

import numpy as np

NODE_TYPE = "SequenceLength"


def fast(input_sequence: list[np.ndarray]) -> np.ndarray:
    """The length as an int64 scalar."""
    return np.array(len(input_sequence), dtype=np.int64)


VERSIONS = {11: fast}
EXACT = VERSIONS
