"""ONNX RoiAlign (since 10, 16, 22): regions of an image pooled to one size."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import sum as exact_sum

NODE_TYPE = "RoiAlign"


def _aligned(
    mean: Callable[..., np.ndarray],
    x: np.ndarray,
    rois: np.ndarray,
    batch_indices: np.ndarray,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> np.ndarray:
    """x (N, C, H, W) and rois (R, 4) as x1, y1, x2, y2 to (R, C, output_height, output_width).

    Each cell is the mean (``avg``) or ``max`` of bilinear samples.
    ``half_pixel`` shifts the regions by half a pixel.

    Raises:
        ValueError: an unknown mode.
    """
    if mode not in ("avg", "max"):
        raise ValueError(f"RoiAlign: mode={mode!r}; write 'avg' or 'max'")
    half = coordinate_transformation_mode == "half_pixel"
    image, boxes = widen(x), widen(rois) * spatial_scale - (0.5 if half else 0.0)
    result = np.empty((rois.shape[0], x.shape[1], output_height, output_width), image.dtype)
    for r, (x1, y1, x2, y2) in enumerate(boxes):
        plane = image[int(batch_indices[r])]
        rows = _axis_samples(y1, y2, output_height, x.shape[2], sampling_ratio, half)
        columns = _axis_samples(x1, x2, output_width, x.shape[3], sampling_ratio, half)
        result[r] = _pooled(mean, plane, rows, columns, mode)
    return result.astype(x.dtype, copy=False)


Samples = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Low and high index and their weights, each (cells, samples)."""


def _axis_samples(
    start: float, end: float, cells: int, size: int, ratio: int, half: bool
) -> Samples:
    extent = end - start if half else max(end - start, 1.0)
    cell = extent / cells
    count = ratio if ratio > 0 else max(int(np.ceil(cell)), 0)
    inside = (np.arange(count) + 0.5) * cell / max(count, 1)
    place = start + np.arange(cells)[:, None] * cell + inside
    seen = (place >= -1.0) & (place <= size)
    place = np.clip(place, 0, size - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    fraction = place - low
    return low, high, (1 - fraction) * seen, fraction * seen


def _pooled(
    mean: Callable[..., np.ndarray],
    plane: np.ndarray,
    rows: Samples,
    columns: Samples,
    mode: str,
) -> np.ndarray:
    r_low, r_high, r_first, r_second = rows
    c_low, c_high, c_first, c_second = columns
    products = []
    for r, r_weight in ((r_low, r_first), (r_high, r_second)):
        for c, c_weight in ((c_low, c_first), (c_high, c_second)):
            # (C, cells, samples, cells, samples)
            value = plane[:, r[:, :, None, None], c[None, None]]
            weight = r_weight[:, :, None, None] * c_weight[None, None]
            products.append(value * weight.astype(plane.dtype))
    if not r_low.size or not c_low.size:
        return np.zeros((plane.shape[0], r_low.shape[0], c_low.shape[0]), plane.dtype)
    if mode == "avg":
        return mean(sum(products), (2, 4))
    # The standard's max is over the weighted corners, before they are added.
    return np.max(np.stack(products), axis=0).max(axis=(2, 4)) + plane.dtype.type(0)


fast = partial(_aligned, np.mean)
exact = partial(_aligned, exact_sum.mean)


def _aligned_10(
    align: Callable[..., np.ndarray],
    x: np.ndarray,
    rois: np.ndarray,
    batch_indices: np.ndarray,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> np.ndarray:
    """Opset 10: no shift by half a pixel."""
    return align(
        x,
        rois,
        batch_indices,
        coordinate_transformation_mode="output_half_pixel",
        mode=mode,
        output_height=output_height,
        output_width=output_width,
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
    )


VERSIONS = {10: partial(_aligned_10, fast), 16: fast}
EXACT = {10: partial(_aligned_10, exact), 16: exact}
