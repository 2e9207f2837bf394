"""Sliding windows: padding, output sizes and strided views for convolutions and pools."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onemodel.kernels._scratch import scratch


@dataclass(frozen=True)
class Window:
    """A window over the spatial axes of one input size, everything resolved.

    ``begins`` and ``ends`` are the paddings, ``output`` the number of positions.
    """

    size: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    output: tuple[int, ...]

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Every position inside the kernel, row by row."""
        return itertools.product(*map(range, self.kernel))

    def needed(self) -> tuple[int, ...]:
        """How far the last window reaches, per axis, counted from the padded start."""
        return tuple(
            (n - 1) * s + (k - 1) * d + 1
            for n, s, k, d in zip(
                self.output, self.strides, self.kernel, self.dilations, strict=True
            )
        )

    def slices(self, offset: Sequence[int]) -> tuple[slice, ...]:
        """The elements of the padded array under kernel position ``offset``, all windows."""
        return tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, n, s in zip(offset, self.dilations, self.output, self.strides, strict=True)
        )


def window(
    size: Sequence[int],
    kernel: Sequence[int],
    *,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Window:
    """Resolve ONNX's window attributes for spatial ``size``.

    Raises:
        ValueError: a window that fits nowhere, or an unknown ``auto_pad``.
    """
    rank = len(size)
    stride = tuple(strides) if strides else (1,) * rank
    dilation = tuple(dilations) if dilations else (1,) * rank
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    begins, ends, output = [], [], []
    for i in range(rank):
        begin, end, count = _one_axis(size[i], reach[i], stride[i], pads, i, auto_pad, ceil_mode)
        if count < 1 and size[i] + begin + end > 0:
            raise ValueError(
                f"a window of {reach[i]} does not fit spatial axis {i} of size {size[i]} "
                f"with padding {begin} and {end}"
            )
        begins.append(begin)
        ends.append(end)
        output.append(max(count, 0))
    return Window(
        tuple(size), tuple(kernel), stride, dilation, tuple(begins), tuple(ends), tuple(output)
    )


def _one_axis(
    size: int,
    reach: int,
    stride: int,
    pads: Sequence[int] | None,
    axis: int,
    auto_pad: str,
    ceil_mode: int,
) -> tuple[int, int, int]:
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        count = -(-size // stride)
        total = max((count - 1) * stride + reach - size, 0)
        less, more = total // 2, total - total // 2
        return (less, more, count) if auto_pad == "SAME_UPPER" else (more, less, count)
    if auto_pad not in ("NOTSET", "VALID", ""):
        raise ValueError(f"auto_pad={auto_pad!r}; write NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    begin, end = 0, 0
    if pads and auto_pad != "VALID":
        begin, end = pads[axis], pads[axis + len(pads) // 2]
    room = size + begin + end - reach
    count = room // stride + 1
    if ceil_mode and room % stride:
        # One more window, unless it would start behind the input and its left padding.
        count += count * stride < size + begin
    return begin, end, count


def padded(
    x: np.ndarray,
    window: Window,
    value: float = 0.0,
    reach: Sequence[int] | None = None,
    work: bool = False,
) -> np.ndarray:
    """``x`` with its trailing axes padded (or cropped) to ``reach``, or to what windows reach.

    With ``work`` the result may lie in work memory: it must not leave the kernel.
    """
    lead = x.ndim - len(window.size)
    needed = tuple(reach) if reach is not None else window.needed()
    if not any(window.begins):
        if needed == window.size:
            return x
        if all(n <= s for n, s in zip(needed, window.size, strict=True)):
            return x[(Ellipsis, *(slice(n) for n in needed))]
    shape = x.shape[:lead] + needed
    result = scratch("padded", shape, x.dtype) if work else np.empty(shape, x.dtype)
    source, target = [slice(None)] * lead, [slice(None)] * lead
    for i, (size, begin, need) in enumerate(
        zip(window.size, window.begins, needed, strict=True), start=lead
    ):
        first, before = max(-begin, 0), max(begin, 0)
        length = max(min(size - first, need - before), 0)
        source.append(slice(first, first + length))
        target.append(slice(before, before + length))
        axis = (slice(None),) * i
        result[(*axis, slice(None, before))] = value
        result[(*axis, slice(before + length, None))] = value
    result[tuple(target)] = x[tuple(source)]
    return result
