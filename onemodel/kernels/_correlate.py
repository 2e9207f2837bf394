"""The sum of products behind convolutions: windows become columns of a matrix product."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from onemodel.kernels._scratch import scratch
from onemodel.kernels._windows import Window, padded

_COLUMN_BYTES = 2 << 20
"""Columns in use at once; about a second-level cache, which they are read from again."""

_MOST_WASTE = 1.5
"""Flat columns also compute the positions between rows; beyond this factor they lose."""

_SMALL_IMAGE = 1 << 15
"""Below this many column elements per image, images are better unfolded together."""


def correlate(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    """Cross-correlate float arrays (N, C, D1..Dn) and (M, C/group, k1..kn) over ``view``.

    Always a fresh array (N, M, *view.output).
    """
    if 0 in x.shape or 0 in view.output:
        return np.zeros((x.shape[0], w.shape[0], *view.output), x.dtype)
    if math.prod(view.kernel) == 1:
        return _pointwise(padded(x, view, work=True), w, group, view)
    grid = _Grid.of(view)
    columns = x.shape[1] * math.prod(view.kernel) * grid.length
    waste = grid.length / math.prod(view.output)
    if waste > _MOST_WASTE or (x.shape[0] > 1 and columns < _SMALL_IMAGE):
        return _unfolded(padded(x, view, work=True), w, group, view)
    return _flat(x, w, group, view, grid)


def _pointwise(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    batch, channels = x.shape[:2]
    outputs, positions = w.shape[0], math.prod(view.output)
    columns = x[(Ellipsis, *view.slices((0,) * len(view.kernel)))]
    if positions == 1 and group == 1:
        rows = columns.reshape(batch, channels) @ w.reshape(outputs, channels).T
        return rows.reshape(batch, outputs, *view.output)
    if group == 1:
        result = np.matmul(w.reshape(outputs, channels), columns.reshape(batch, channels, -1))
    else:
        result = np.matmul(
            w.reshape(group, outputs // group, -1),
            columns.reshape(batch, group, channels // group, -1),
        )
    return result.reshape(batch, outputs, *view.output)


def _unfolded(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    """Copy every window of some images into a column, then one product per group and image."""
    batch, channels = x.shape[:2]
    outputs = w.shape[0]
    taps, positions = math.prod(view.kernel), math.prod(view.output)
    weights = w.reshape(group, outputs // group, -1)
    chunk = min(batch, max(1, _COLUMN_BYTES // (channels * taps * positions * x.itemsize)))
    columns = scratch("columns", (chunk, channels, *view.kernel, *view.output), x.dtype)
    result = np.empty((batch, group, outputs // group, positions), x.dtype)
    for start in range(0, batch, chunk):
        source = x[start : start + chunk]
        part = columns[: source.shape[0]]
        for offset in view.offsets():
            part[(slice(None), slice(None), *offset)] = source[(Ellipsis, *view.slices(offset))]
        np.matmul(
            weights,
            part.reshape(source.shape[0], group, -1, positions),
            out=result[start : start + chunk],
        )
    return result.reshape(batch, outputs, *view.output)


@dataclass(frozen=True)
class _Grid:
    """Positions as a flat line over the padded image.

    With strides the image is first dealt into its phases (every s-th element), so
    that each tap reads a phase with stride one. ``size`` is the size of a phase,
    ``steps`` its flat strides, ``length`` the line from the first to the last
    position; the line also passes over the elements between two rows.
    """

    size: tuple[int, ...]
    steps: tuple[int, ...]
    length: int

    @staticmethod
    def of(view: Window) -> _Grid:
        size = tuple(-(-n // s) for n, s in zip(view.needed(), view.strides, strict=True))
        steps = tuple(math.prod(size[i + 1 :]) for i in range(len(size)))
        last = sum((n - 1) * step for n, step in zip(view.output, steps, strict=True))
        return _Grid(size, steps, last + 1)

    def taps(self, view: Window) -> list[tuple[tuple[int, ...], int]]:
        """(phase, shift on the line) of every kernel position."""
        found = []
        for offset in view.offsets():
            reach = [o * d for o, d in zip(offset, view.dilations, strict=True)]
            phase = tuple(r % s for r, s in zip(reach, view.strides, strict=True))
            parts = zip(reach, view.strides, self.steps, strict=True)
            found.append((phase, sum(r // s * step for r, s, step in parts)))
        return found


def _phases(
    x: np.ndarray, view: Window, grid: _Grid, wanted: set[tuple[int, ...]]
) -> dict[tuple[int, ...], np.ndarray]:
    """The wanted phases of the padded array, each (N, C, flat)."""
    lead = x.shape[:2]
    if set(view.strides) == {1}:
        return {
            (0,) * len(grid.size): np.ascontiguousarray(padded(x, view, work=True)).reshape(
                *lead, -1
            )
        }
    whole = [n * s for n, s in zip(grid.size, view.strides, strict=True)]
    source = padded(x, view, reach=whole, work=True)
    return {
        phase: np.ascontiguousarray(
            source[
                (Ellipsis, *(slice(p, None, s) for p, s in zip(phase, view.strides, strict=True)))
            ]
        ).reshape(*lead, -1)
        for phase in wanted
    }


def _flat(x: np.ndarray, w: np.ndarray, group: int, view: Window, grid: _Grid) -> np.ndarray:
    """Columns cut as contiguous pieces from the flat image, tile by tile.

    Copying a piece of a line costs a fraction of copying windows, and the positions
    between rows cost little more arithmetic; they are cut off at the end.
    """
    batch, channels = x.shape[:2]
    outputs, per_group = w.shape[0], channels // group
    taps = grid.taps(view)
    phases = _phases(x, view, grid, {phase for phase, _ in taps})
    weights = w.reshape(group, outputs // group, per_group * len(taps))
    row_bytes = per_group * len(taps) * x.itemsize
    tile = min(grid.length, max(256, _COLUMN_BYTES // row_bytes))
    some = min(group, max(1, _COLUMN_BYTES // (row_bytes * tile)))
    columns = scratch("columns", (some * per_group, len(taps), tile), x.dtype)
    wide = scratch("wide", (group, outputs // group, view.output[0] * grid.steps[0]), x.dtype)
    inside = wide.reshape(outputs, view.output[0], *grid.size[1:])
    inside = inside[(Ellipsis, *(slice(n) for n in view.output))]
    result = np.empty((batch, outputs, *view.output), x.dtype)
    for image in range(batch):
        for g in range(0, group, some):
            first, last = g * per_group, min(g + some, group) * per_group
            for start in range(0, grid.length, tile):
                count = min(tile, grid.length - start)
                part = columns[: last - first, :, :count]
                for i, (phase, shift) in enumerate(taps):
                    line = phases[phase][image, first:last]
                    part[:, i] = line[:, start + shift : start + shift + count]
                block = columns[: last - first].reshape(-1, per_group * len(taps), tile)
                np.matmul(
                    weights[g : g + some],
                    block[:, :, :count],
                    out=wide[g : g + some, :, start : start + count],
                )
        result[image] = inside
    return result
