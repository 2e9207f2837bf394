"""An image read at given, fractional places."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import same_extent
from onemodel.kernels import grid_sample as kernel
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.tensors.tensor import Tensor

_MODES = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """``input`` at the places ``grid``, whose coordinates run from -1 to 1 (x first).

    Shapes: input [N, C, H, W] with grid [N, h, w, 2] -> [N, C, h, w], or volumes
    [N, C, D, H, W] with [N, d, h, w, 3]. Modes: bilinear, nearest, bicubic (images only).
    ``padding_mode``: zeros, border or reflection beyond the edge. With ``align_corners`` -1 and
    1 are the centres of the end pixels, else their outer edges. Raises ValueError for shapes or
    modes that do not fit, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.grid_sample``; ONNX GridSample-16 (volumes 20).
    """
    input = as_tensor("grid_sample", "input", input)
    grid = as_tensor("grid_sample", "grid", grid)
    check_floating("grid_sample", input=input, grid=grid)
    _check(input, grid, mode, padding_mode)
    return apply(
        OPERATOR,
        (input, grid),
        {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)},
    )


def _check(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    rank = input.ndim - 2
    fits = rank in (2, 3) and grid.ndim == input.ndim and grid._array.shape[-1] == rank
    if not fits or grid._array.shape[0] != input._array.shape[0]:
        raise ValueError(
            f"grid_sample: expected input [N, C, H, W] with grid [N, h, w, 2] (or volumes), "
            f"not {list(input._array.shape)} with {list(grid._array.shape)}"
        )
    if mode not in _MODES:
        raise ValueError(f"grid_sample: mode={mode!r}; write one of {', '.join(_MODES)}")
    if mode == "bicubic" and rank != 2:
        raise ValueError("grid_sample: bicubic is for images [N, C, H, W]")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"grid_sample: padding_mode={padding_mode!r}; write zeros, border or reflection"
        )


def forward(
    input: np.ndarray, grid: np.ndarray, *, mode: str, padding_mode: str, align_corners: bool
) -> np.ndarray:
    return kernel.fast(
        input,
        grid,
        align_corners=int(align_corners),
        mode=_MODES[mode],
        padding_mode=padding_mode,
    )


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    """Each tap takes its share of the gradient; places move by the slopes of the shares."""
    input, grid = (widen(array) for array in record.arrays)
    a = record.attributes
    batch, channels, *sizes = input.shape
    image = input.reshape(batch, channels, -1)
    gradient = widen(grad).reshape(batch, channels, -1)
    places = grid.reshape(batch, -1, len(sizes))
    taps = [
        _axis_taps(
            places[:, :, -1 - i], size, a["align_corners"], _MODES[a["mode"]], a["padding_mode"]
        )
        for i, size in enumerate(sizes)
    ]
    by_image, by_grid = np.zeros_like(image), np.zeros_like(places)
    for combination in itertools.product(*taps):
        flat = combination[0][0]
        for (index, _, _), size in zip(combination[1:], sizes[1:], strict=True):
            flat = flat * size + index
        weights = [weight for _, weight, _ in combination]
        whole = math.prod(weights[1:], start=weights[0])
        seen = np.take_along_axis(image, flat[:, None], axis=2)
        along = (seen * gradient).sum(axis=1)
        for i, (_, _, slope) in enumerate(combination):
            others = [slope if j == i else weight for j, weight in enumerate(weights)]
            by_grid[:, :, -1 - i] += along * math.prod(others[1:], start=others[0])
        for n in range(batch):
            np.add.at(by_image[n].T, flat[n], (gradient[n] * whole[n]).T)
    return by_image.reshape(input.shape), by_grid.reshape(grid.shape)


Tap = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(index inside, weight, slope of the weight by the coordinate), each (N, P)."""


def _axis_taps(place: np.ndarray, size: int, align: bool, mode: str, padding: str) -> list[Tap]:
    scale = (size - 1) / 2 if align else size / 2
    position = (place + 1) * scale - (0 if align else 0.5)
    low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
    slope = np.full_like(position, scale)
    if mode == "nearest":
        position, slope = np.rint(position), slope * 0
    if padding == "border" and mode != "cubic":
        slope = np.where((position > 0) & (position < size - 1), slope, 0)
        position = np.clip(position, 0, size - 1)
    elif padding == "reflection" and mode != "cubic":
        position, sign = _reflected(position, low, high)
        slope = slope * sign
        # What half a pixel of reflection leaves outside is clipped.
        slope = np.where((position > 0) & (position < size - 1), slope, 0)
        position = np.clip(position, 0, size - 1)
    first = np.floor(position)
    offsets, weights, slopes = _weights(position - first, mode)
    taps = []
    for offset, weight, by in zip(offsets, weights, slopes, strict=True):
        index = first + offset
        inside = np.ones((), bool)
        if padding == "zeros":
            inside = (index >= 0) & (index <= size - 1)
        elif padding == "reflection":
            index = np.trunc(_reflected(index, low, high)[0])
        index = np.clip(np.nan_to_num(index), 0, size - 1).astype(np.int64)
        taps.append((index, weight * inside, by * slope * inside))
    return taps


def _weights(
    ratio: np.ndarray, mode: str
) -> tuple[tuple[int, ...], list[np.ndarray], list[np.ndarray]]:
    one = np.ones_like(ratio)
    if mode == "nearest":
        return (0,), [one], [one * 0]
    if mode == "linear":
        return (0, 1), [1 - ratio, ratio], [-one, one]
    a = -0.75
    offsets = (-1, 0, 1, 2)
    weights, slopes = [], []
    for offset in offsets:
        d = np.abs(ratio - offset)
        sign = np.where(ratio >= offset, 1.0, -1.0)
        if offset in (0, 1):
            weights.append(((a + 2) * d - (a + 3)) * d * d + 1)
            slopes.append((3 * (a + 2) * d - 2 * (a + 3)) * d * sign)
        else:
            weights.append(((a * d - 5 * a) * d + 8 * a) * d - 4 * a)
            slopes.append(((3 * a * d - 10 * a) * d + 8 * a) * sign)
    return offsets, weights, slopes


def _reflected(x: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """``x`` folded back between the bounds, and the sign of the fold's slope."""
    span = high - low
    if span <= 0:
        return np.full_like(x, low), np.zeros_like(x)
    beyond = np.abs(x - low)
    turns = np.floor(beyond / span)
    rest = beyond - turns * span
    even = turns % 2 == 0
    side = np.where(x < low, -1.0, 1.0)
    return np.where(even, low + rest, high - rest), np.where(even, side, -side)


def axes(input: Axes, grid: Axes, **attributes: Any) -> Axes:
    batch = same_extent(input[0], grid[0], "the batch of grid_sample")
    return (batch, input[1], *grid[1:-1])


def opset_16(
    g: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    if input.rank != 4:
        g.refuse_below(20, "grid_sample of volumes")
    return _write(g, input, grid, mode, padding_mode, align_corners)


def opset_20(
    g: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    return _write(g, input, grid, _MODES[mode], padding_mode, align_corners)


def _write(g: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    return g.op(
        "GridSample",
        input,
        grid,
        mode=mode,
        padding_mode=padding_mode,
        align_corners=int(align_corners),
    )


def reference(
    input: np.ndarray,
    grid: np.ndarray,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> np.ndarray:
    """Place by place: the weighted pixels around it (bilinear and nearest)."""
    x, spots = np.asarray(input, np.float64), np.asarray(grid, np.float64)
    sizes, rank = x.shape[2:], x.ndim - 2
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in np.ndindex(*grid.shape[:-1]):
        centre = []
        for i, n in enumerate(sizes):
            u = spots[place][rank - 1 - i]
            v = (u + 1) / 2 * (n - 1) if align_corners else ((u + 1) * n - 1) / 2
            if padding_mode == "border":
                v = min(max(v, 0), n - 1)
            elif padding_mode == "reflection":
                low, high = (0, n - 1) if align_corners else (-0.5, n - 0.5)
                while n > 1 and not low <= v <= high:
                    v = 2 * low - v if v < low else 2 * high - v
                v = min(max(v, 0), n - 1)
            centre.append(np.rint(v) if mode == "nearest" else v)
        total = np.zeros(x.shape[1])
        for corner in itertools.product(*((math.floor(v), math.floor(v) + 1) for v in centre)):
            weight = math.prod(max(0, 1 - abs(v - c)) for v, c in zip(centre, corner, strict=True))
            if weight and all(0 <= c < n for c, n in zip(corner, sizes, strict=True)):
                total += weight * x[(place[0], slice(None), *corner)]
        result[(place[0], slice(None), *place[1:])] = total
    return result


def _cubic_reference(input: np.ndarray, grid: np.ndarray, **attributes: Any) -> np.ndarray:
    """The middle of four pixels, where the cubic's weights are known: -3/32, 19/32."""
    x = np.asarray(input, np.float64)
    w = np.array([-0.09375, 0.59375, 0.59375, -0.09375])
    return np.einsum("nchw,h,w->nc", x, w, w)[..., None, None]


_IMAGE, _PLACES = ("batch", 2, 4, "width"), In(("batch", 3, 2, 2), low=-1.3, high=1.3)

CASES = (
    Case((_IMAGE, _PLACES), reference=reference, lowest=16),
    Case((_IMAGE, _PLACES), {"padding_mode": "border", "align_corners": True}, lowest=16,
         reference=reference, name="border"),
    Case((_IMAGE, _PLACES), {"padding_mode": "reflection"}, reference=reference, lowest=16,
         name="reflection"),
    Case((_IMAGE, _PLACES), {"mode": "nearest"}, reference=reference, lowest=16, name="nearest"),
    Case((("batch", 2, 4, 4), In(("batch", 1, 1, 2), values=lambda g, s: np.zeros(s))),
         {"mode": "bicubic"}, reference=_cubic_reference, lowest=16, name="bicubic"),
    Case((("batch", 2, 3, 4, 2), In(("batch", 2, 1, 3, 3), low=-1.2, high=1.2)), lowest=20,
         reference=reference, name="volumes"),
)  # fmt: skip

OPERATOR = Operator(
    "grid_sample",
    declaration=grid_sample,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={16: opset_16, 20: opset_20},
    reads="i",
    cases=CASES,
)
