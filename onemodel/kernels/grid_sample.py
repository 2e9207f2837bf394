"""ONNX GridSample (since 16, 20, 22): an image read at given, fractional places."""

import itertools
import math

import numpy as np

from onemodel.kernels._dtypes import widen

NODE_TYPE = "GridSample"

_CUBIC = -0.75


def fast(
    x: np.ndarray,
    grid: np.ndarray,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> np.ndarray:
    """(N, C, D1..Dr) at ``grid`` (N, o1..or, r) with coordinates in [-1, 1], last axis first.

    ``mode`` is nearest, linear or cubic; ``padding_mode`` is zeros, border or
    reflection. ``align_corners`` puts -1 and 1 at the centres of the end pixels.

    Raises:
        ValueError: an unknown mode.
    """
    if mode not in ("nearest", "linear", "cubic"):
        raise ValueError(f"GridSample: mode={mode!r}; write nearest, linear or cubic")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"GridSample: padding_mode={padding_mode!r}; write zeros, border or reflection"
        )
    batch, channels, *sizes = x.shape
    outputs = grid.shape[1:-1]
    image = widen(x).reshape(batch, channels, math.prod(sizes))
    result = np.zeros((batch, channels, math.prod(outputs)), image.dtype)
    if result.size:
        places = widen(grid).reshape(batch, -1, len(sizes)).astype(image.dtype, copy=False)
        taps = [
            _axis_taps(places[:, :, -1 - i], size, bool(align_corners), mode, padding_mode)
            for i, size in enumerate(sizes)
        ]
        _accumulate(result, image, taps, sizes)
    return result.reshape(batch, channels, *outputs).astype(x.dtype, copy=False)


Taps = list[tuple[np.ndarray, np.ndarray]]
"""Per tap of one axis: index (N, P) kept inside, and weight (N, P), zero where padding is."""


def _axis_taps(place: np.ndarray, size: int, align: bool, mode: str, padding: str) -> Taps:
    position = (place + 1) * ((size - 1) / 2) if align else ((place + 1) * size - 1) / 2
    low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
    if mode == "nearest":
        position = np.rint(position)
    if padding == "border" and mode != "cubic":
        # A cubic curve is read where it is asked for; only its pixels stay inside.
        position = np.clip(position, 0, size - 1)
    elif padding == "reflection":
        position = _reflected(position, low, high)
    first = np.floor(position)
    ratio = position - first
    if mode == "nearest":
        offsets, weights = (0,), (np.ones_like(ratio),)
    elif mode == "linear":
        offsets, weights = (0, 1), (1 - ratio, ratio)
    else:
        offsets, weights = (-1, 0, 1, 2), _cubic_weights(ratio)
    taps = []
    for offset, weight in zip(offsets, weights, strict=True):
        index = first + offset
        if padding == "zeros":
            weight = weight * ((index >= 0) & (index <= size - 1))
        elif padding == "reflection":
            index = np.trunc(_reflected(index, low, high))
        taps.append((np.clip(np.nan_to_num(index), 0, size - 1).astype(np.int64), weight))
    return taps


def _cubic_weights(ratio: np.ndarray) -> tuple[np.ndarray, ...]:
    a = _CUBIC

    def near(d: np.ndarray) -> np.ndarray:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: np.ndarray) -> np.ndarray:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)


def _reflected(x: np.ndarray, low: float, high: float) -> np.ndarray:
    span = high - low
    if span == 0:
        return np.full_like(x, low)
    beyond = np.abs(x - low)
    turns = np.floor(beyond / span)
    rest = beyond - turns * span
    inside = np.where(turns % 2 == 0, low + rest, high - rest)
    return np.where((x < low) | (x > high), inside, x).astype(x.dtype, copy=False)


def _accumulate(result: np.ndarray, image: np.ndarray, taps: list[Taps], sizes: list[int]) -> None:
    for combination in itertools.product(*taps):
        flat, weight = combination[0]
        for (index, factor), size in zip(combination[1:], sizes[1:], strict=True):
            flat = flat * size + index
            weight = weight * factor
        for n in range(image.shape[0]):
            result[n] += np.take(image[n], flat[n], axis=1) * weight[n]


_OLD_NAMES = {"bilinear": "linear", "bicubic": "cubic"}


def grid_sample_16(
    x: np.ndarray,
    grid: np.ndarray,
    *,
    align_corners: int = 0,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
) -> np.ndarray:
    """Opset 16: the modes are called bilinear and bicubic."""
    return fast(
        x,
        grid,
        align_corners=align_corners,
        mode=_OLD_NAMES.get(mode, mode),
        padding_mode=padding_mode,
    )


VERSIONS = {16: grid_sample_16, 20: fast}
EXACT = VERSIONS
