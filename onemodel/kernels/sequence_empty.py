"""ONNX SequenceEmpty (since 11): a sequence without elements."""

import numpy as np

NODE_TYPE = "SequenceEmpty"


def fast(*, dtype: int | None = None) -> list[np.ndarray]:
    """An empty list; ``dtype`` only types the graph."""
    return []


VERSIONS = {11: fast}
EXACT = VERSIONS
