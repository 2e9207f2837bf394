"""ONNX MaxRoiPool (since 1, 22): maxima over the cells of regions."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels.exact.nan import positive_zero

NODE_TYPE = "MaxRoiPool"


def fast(
    x: np.ndarray, rois: np.ndarray, *, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> np.ndarray:
    """x (N, C, H, W) and rois (R, 5) as batch, x1, y1, x2, y2 to (R, C, *pooled_shape).

    Corners are rounded to whole pixels; a cell without pixels gives zero.
    """
    height, width = pooled_shape
    result = np.zeros((rois.shape[0], x.shape[1], height, width), x.dtype)
    for r, roi in enumerate(rois.astype(np.float64)):
        # Halves go away from zero, like C's round.
        corners = np.trunc(roi[1:] * spatial_scale + np.copysign(0.5, roi[1:])).astype(int)
        x1, y1, x2, y2 = corners
        plane = x[int(roi[0])]
        rows = _cells(y1, y2, height, x.shape[2])
        columns = _cells(x1, x2, width, x.shape[3])
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if bottom > top and right > left:
                    result[r, :, i, j] = plane[:, top:bottom, left:right].max(axis=(1, 2))
    return result


def exact(
    x: np.ndarray, rois: np.ndarray, *, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> np.ndarray:
    """As ``fast``; corners that no integer holds are brought near, zeros come out as +0."""
    near = np.clip(np.where(np.isnan(rois), rois.dtype.type(0), rois), -(2**24), 2**24)
    return positive_zero(fast(x, near, pooled_shape=pooled_shape, spatial_scale=spatial_scale))


def _cells(start: int, end: int, count: int, size: int) -> list[tuple[int, int]]:
    step = max(end - start + 1, 1) / count
    return [
        (
            min(max(int(np.floor(i * step)) + start, 0), size),
            min(max(int(np.ceil((i + 1) * step)) + start, 0), size),
        )
        for i in range(count)
    ]


VERSIONS = {1: fast}
EXACT = {1: exact}
