"""ONNX OptionalGetElement (since 15, 18, 28): the value of an optional."""

from typing import Any

NODE_TYPE = "OptionalGetElement"


def fast(value: Any) -> Any:
    """``value`` itself.

    Raises:
        ValueError: the optional is empty.
    """
    if value is None:
        raise ValueError("OptionalGetElement: the optional is empty; test OptionalHasElement first")
    return value


VERSIONS = {15: fast}
EXACT = VERSIONS
