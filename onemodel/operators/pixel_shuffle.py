"""Channels turned into pixels, pixels into channels, and channels shuffled among groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, AxesError, as_extent
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.permute import permute
from onemodel.operators.reshape import reshape
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """[..., C*r*r, H, W] -> [..., C, H*r, W*r]: each pixel becomes a square of r*r.

    Raises ValueError for fewer than three axes or channels that are no multiple of r*r.
    Source: ``torch.nn.functional.pixel_shuffle``; ONNX DepthToSpace-11 (CRD).
    """
    input = as_tensor("pixel_shuffle", "input", input)
    return apply(OPERATOR, (input,), {"upscale_factor": int(upscale_factor)})


def forward(input: np.ndarray, *, upscale_factor: int) -> np.ndarray:
    factor = upscale_factor
    if input.ndim < 3 or factor < 1 or input.shape[-3] % factor**2:
        raise ValueError(
            "expected at least three axes, [..., C*r*r, H, W], and a number of channels that is "
            "a multiple of upscale_factor squared"
        )
    *lead, channels, height, width = input.shape
    parts = input.reshape(*lead, channels // factor**2, factor, factor, height, width)
    order = _order(len(lead))
    moved = np.array(parts.transpose(order), order="C")  # always new memory: it is no view
    return moved.reshape(*lead, channels // factor**2, height * factor, width * factor)


def _order(lead: int) -> list[int]:
    """[..., C, r, r, H, W] -> [..., C, H, r, W, r]."""
    return [*range(lead + 1), *(lead + offset for offset in (3, 1, 4, 2))]


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    factor = record.attributes["upscale_factor"]
    *lead, channels, height, width = record.shapes[0]
    parts = grad.reshape(*lead, channels // factor**2, height, factor, width, factor)
    return parts.transpose(np.argsort(_order(len(lead)))).reshape(record.shapes[0])


def axes(input: Axes, *, upscale_factor: int) -> Axes:
    *lead, channels, height, width = input
    count = channels // upscale_factor**2
    if count * upscale_factor**2 != channels:
        raise AxesError(
            f"pixel_shuffle: {channels} channels are no multiple of {upscale_factor**2} at every "
            "size",
            extents=(channels,),
        )
    return (*lead, count, height * upscale_factor, width * upscale_factor)


def opset_7(g: Any, input: Any, upscale_factor: int) -> Any:
    if g.opset >= 11 and input.rank == 4:
        return g.op("DepthToSpace", input, blocksize=upscale_factor, mode="CRD")
    *lead, _, height, width = (as_extent(size) for size in input.shape)
    count = g.result_axes[0][len(lead)]
    parts = [*lead, count, upscale_factor, upscale_factor, height, width]
    split = helpers.reshape(g, input, parts)
    moved = g.op("Transpose", split, perm=_order(len(lead)))
    return helpers.reshape(g, moved, g.result_axes[0])


def reference(input: np.ndarray, upscale_factor: int) -> np.ndarray:
    r = upscale_factor
    *lead, channels, height, width = input.shape
    result = np.empty((*lead, channels // r**2, height * r, width * r), input.dtype)
    for i in range(r):
        for j in range(r):
            result[..., i::r, j::r] = input[..., i * r + j :: r**2, :, :]
    return result


CASES = (
    Case((("batch", 8, "height", "width"),), {"upscale_factor": 2}, reference=reference),
    Case(((9, "height", "width"),), {"upscale_factor": 3}, reference=reference, name="3-d"),
)

OPERATOR = Operator(
    "pixel_shuffle",
    declaration=pixel_shuffle,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="",
    cases=CASES,
)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """[..., C, H*r, W*r] -> [..., C*r*r, H, W], the inverse of :func:`pixel_shuffle`.

    Raises ValueError where height or width are no multiples of r. Source:
    ``torch.nn.functional.pixel_unshuffle``.
    """
    input = as_tensor("pixel_unshuffle", "input", input)
    factor = int(downscale_factor)
    found = input._array.shape
    if input.ndim < 3 or factor < 1 or found[-2] % factor or found[-1] % factor:
        raise ValueError(
            f"pixel_unshuffle: a tensor of shape {list(found)} has no height and width that are "
            f"multiples of {factor}"
        )
    *lead, channels, height, width = input.shape
    parts = (*lead, channels, height // factor, factor, width // factor, factor)
    first = len(lead)
    order = [*range(first + 1), *(first + offset for offset in (2, 4, 1, 3))]
    moved = permute(reshape(input, parts), order)
    return reshape(moved, (*lead, channels * factor**2, height // factor, width // factor))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """[N, C, ...]: channels dealt out, one from each of ``groups`` groups in turn.

    Raises ValueError where C is no multiple of ``groups``. Source:
    ``torch.nn.functional.channel_shuffle``.
    """
    input = as_tensor("channel_shuffle", "input", input)
    if input.ndim < 3 or groups < 1 or input._array.shape[1] % groups:
        raise ValueError(
            f"channel_shuffle: a tensor of shape {list(input._array.shape)} has no channels that "
            f"are a multiple of {groups} groups"
        )
    batch, channels, *rest = input.shape
    parts = reshape(input, (batch, groups, channels // groups, *rest))
    moved = permute(parts, [0, 2, 1, *range(3, input.ndim + 1)])
    return reshape(moved, input.shape)


def _unshuffled(input: np.ndarray, downscale_factor: int) -> np.ndarray:
    r = downscale_factor
    *lead, channels, height, width = input.shape
    result = np.empty((*lead, channels * r**2, height // r, width // r), input.dtype)
    for i in range(r):
        for j in range(r):
            result[..., i * r + j :: r**2, :, :] = input[..., i::r, j::r]
    return result


def _shuffled(input: np.ndarray, groups: int) -> np.ndarray:
    return np.concatenate([input[:, i :: input.shape[1] // groups] for i in
                           range(input.shape[1] // groups)], axis=1)  # fmt: skip


ALSO = (
    Composite("pixel_unshuffle", declaration=pixel_unshuffle, cases=(
        Case((("batch", 2, 4, 6),), {"downscale_factor": 2}, reference=_unshuffled),
    )),
    Composite("channel_shuffle", declaration=channel_shuffle, cases=(
        Case((("batch", 6, "height", "width"),), {"groups": 2}, reference=_shuffled),
    )),
)  # fmt: skip
