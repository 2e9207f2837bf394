"""ONNX OptionalHasElement (since 15, 18, 28): whether an optional holds a value."""

from typing import Any

import numpy as np

NODE_TYPE = "OptionalHasElement"


def fast(value: Any = None) -> np.ndarray:
    """A bool scalar; None is an empty optional."""
    return np.array(value is not None)


VERSIONS = {15: fast}
EXACT = VERSIONS
