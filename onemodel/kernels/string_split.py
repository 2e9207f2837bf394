"""ONNX StringSplit (since 20): strings cut at a delimiter."""

import numpy as np

NODE_TYPE = "StringSplit"


def fast(
    x: np.ndarray, *, delimiter: str | None = None, maxsplit: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(parts (..., most), number of parts), filled up with empty strings.

    Without a delimiter strings are cut at runs of white space; ``maxsplit`` limits
    the cuts.
    """
    cuts = -1 if maxsplit is None else maxsplit
    words = [str(text).split(delimiter or None, cuts) for text in x.reshape(-1)]
    counts = np.array([len(parts) for parts in words], dtype=np.int64).reshape(x.shape)
    most = max((len(parts) for parts in words), default=0)
    result = np.full((x.size, most), "", dtype=object)
    for row, parts in zip(result, words, strict=True):
        row[: len(parts)] = parts
    return result.reshape(*x.shape, most), counts


VERSIONS = {20: fast}
EXACT = VERSIONS
