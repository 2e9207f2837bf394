"""ONNX Optional (since 15, 28): a value that may be absent."""

from typing import Any

NODE_TYPE = "Optional"


def fast(value: Any = None, *, type: Any = None) -> Any:
    """``value``, or None for an empty optional; ``type`` only types the graph."""
    return value


VERSIONS = {15: fast}
EXACT = VERSIONS
