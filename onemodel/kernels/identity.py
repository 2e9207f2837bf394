"""ONNX Identity (since 1, 13, 14, 16, 19, 21, 23, 24, 25): the value itself."""

from typing import TypeVar

NODE_TYPE = "Identity"

Value = TypeVar("Value")


def fast(value: Value) -> Value:
    """``value``: an array, a sequence or an optional, not copied."""
    return value


VERSIONS = {1: fast}
EXACT = VERSIONS
