"""ONNX TfIdfVectorizer (since 9): counts of the n-grams of a pool, weighted."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "TfIdfVectorizer"


def fast(
    x: np.ndarray,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: Sequence[int],
    ngram_indexes: Sequence[int],
    pool_int64s: Sequence[int] | None = None,
    pool_strings: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
) -> np.ndarray:
    """Integers or strings (C) or (B, C) to float32 (outputs) or (B, outputs).

    ``mode`` TF counts, IDF marks presence, TFIDF multiplies counts by weights.
    Grams may skip up to ``max_skip_count`` elements between their parts.

    Raises:
        ValueError: another shape or mode.
    """
    if mode not in ("TF", "IDF", "TFIDF"):
        raise ValueError(f"TfIdfVectorizer: mode={mode!r}; write TF, IDF or TFIDF")
    if x.ndim > 2:
        raise ValueError(f"TfIdfVectorizer: shape {x.shape} is neither (C) nor (B, C)")
    pool = list(pool_strings if pool_strings else pool_int64s or ())
    grams = _pool(pool, ngram_counts, ngram_indexes, min_gram_length, max_gram_length)
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    counts = np.zeros((rows.shape[0], max(ngram_indexes) + 1), np.float32)
    for row, line in zip(counts, rows.tolist(), strict=True):
        for length in range(min_gram_length, max_gram_length + 1):
            # A single element has no gaps, so it counts once whatever the skips.
            for step in range(1, (1 if length == 1 else max_skip_count + 1) + 1):
                for start in range(len(line) - (length - 1) * step):
                    found = grams.get(tuple(line[start : start + length * step : step]))
                    if found is not None:
                        row[found] += 1
    if mode != "TF":
        factor = _factors(weights, ngram_indexes, counts.shape[1])
        counts = factor * ((counts > 0) if mode == "IDF" else counts)
    return counts[0] if x.ndim < 2 else counts


def _pool(
    pool: Sequence[int | str],
    starts: Sequence[int],
    indexes: Sequence[int],
    shortest: int,
    longest: int,
) -> dict[tuple[int | str, ...], int]:
    """n-gram to output column."""
    grams: dict[tuple[int | str, ...], int] = {}
    number = 0
    for i, start in enumerate(starts):
        length = i + 1
        end = starts[i + 1] if i + 1 < len(starts) else len(pool)
        for place in range(start, end - length + 1, length):
            if shortest <= length <= longest:
                grams[tuple(pool[place : place + length])] = indexes[number]
            number += 1
    return grams


def _factors(weights: Sequence[float] | None, indexes: Sequence[int], columns: int) -> np.ndarray:
    factor = np.ones(columns, np.float32)
    if weights:
        factor[np.asarray(indexes)] = weights
    return factor


VERSIONS = {9: fast}
EXACT = VERSIONS
