"""ONNX RegexFullMatch (since 20): whether whole strings match a pattern."""

import re

import numpy as np

NODE_TYPE = "RegexFullMatch"


def fast(x: np.ndarray, *, pattern: str) -> np.ndarray:
    """bool per string. ONNX means RE2's syntax, of which Python's ``re`` is a superset.

    Raises:
        ValueError: the pattern is not valid.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"RegexFullMatch: the pattern is not valid: {error}") from error
    matches = [compiled.fullmatch(str(text)) is not None for text in x.reshape(-1)]
    return np.array(matches, dtype=bool).reshape(x.shape)


VERSIONS = {20: fast}
EXACT = VERSIONS
