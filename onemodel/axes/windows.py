"""Axis rules of sliding windows and of cutting: convolution, pooling, padding, slicing.

``strides``, ``dilations`` and kernels hold one integer per spatial axis. ``pads`` holds either one
size per spatial axis (the same at both ends) or ONNX's order, all begins and then all ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from onemodel.axes.extent import Axes, AxesError, Extent, as_extent, axes_text

Sizes = Sequence[int | Extent]


def split_pads(pads: Sizes, count: int) -> tuple[list[Extent], list[Extent]]:
    """``pads`` of ``count`` axes as begins and ends.

    Raises:
        AxesError: where ``pads`` has neither ``count`` nor ``2 * count`` entries.
    """
    sizes = [as_extent(pad) for pad in pads]
    if len(sizes) == count:
        return sizes, list(sizes)
    if len(sizes) == 2 * count:
        return sizes[:count], sizes[count:]
    raise AxesError(f"{len(sizes)} pads do not fit {count} axes: give {count} or {2 * count}")


def window(
    size: Extent,
    kernel: int | Extent,
    stride: int,
    begin: int | Extent,
    end: int | Extent,
    dilation: int,
) -> Extent:
    """How many positions a window has along one axis.

    ``floor((size + begin + end - dilation*(kernel - 1) - 1)/stride) + 1``.
    """
    span = (as_extent(kernel) - 1) * dilation
    return (size + begin + end - span - 1) // stride + 1


def conv(
    axes: Axes, weight: Axes, strides: Sequence[int], pads: Sizes, dilations: Sequence[int]
) -> Axes:
    """Axes of a convolution of ``[N, C, *spatial]`` with ``[M, C/groups, *kernel]``.

    Stride 1 with 'same' padding gives exactly the input's spatial extents.
    """
    count = len(axes) - 2
    _same_rank("conv", axes, weight)
    begins, ends = split_pads(pads, count)
    spatial = (
        window(axes[2 + i], weight[2 + i], strides[i], begins[i], ends[i], dilations[i])
        for i in range(count)
    )
    return (axes[0], weight[0], *spatial)


def conv_transpose(
    axes: Axes,
    weight: Axes,
    strides: Sequence[int],
    pads: Sizes,
    dilations: Sequence[int],
    output_padding: Sequence[int] | None = None,
    groups: int = 1,
) -> Axes:
    """Axes of a transposed convolution of ``[N, C, *spatial]`` with ``[C, M/groups, *kernel]``."""
    count = len(axes) - 2
    _same_rank("conv_transpose", axes, weight)
    begins, ends = split_pads(pads, count)
    extra = output_padding or [0] * count
    spatial = (
        (axes[2 + i] - 1) * strides[i]
        - begins[i]
        - ends[i]
        + (weight[2 + i] - 1) * dilations[i]
        + extra[i]
        + 1
        for i in range(count)
    )
    return (axes[0], weight[1] * groups, *spatial)


def pool(
    axes: Axes,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sizes,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Axes:
    """Axes of a pooling over the last ``len(kernel)`` axes.

    With ``ceil_mode`` a last, partial window counts if it begins inside the input or its left
    padding, as in PyTorch and ONNX.
    """
    count = len(kernel)
    first = len(axes) - count
    begins, ends = split_pads(pads, count)
    steps = dilations or [1] * count
    spatial = []
    for i in range(count):
        size = axes[first + i]
        if ceil_mode:
            covered = size + begins[i] + ends[i] - steps[i] * (kernel[i] - 1) - 1
            windows = covered.ceildiv(strides[i]) + 1
            spatial.append(windows.minimum((size + begins[i]).ceildiv(strides[i])))
        else:
            spatial.append(window(size, kernel[i], strides[i], begins[i], ends[i], steps[i]))
    return (*axes[:first], *spatial)


def pad(axes: Axes, pads: Sizes) -> Axes:
    """Axes after padding; ``pads`` has one entry per axis or begins and then ends."""
    begins, ends = split_pads(pads, len(axes))
    return tuple(size + begins[i] + ends[i] for i, size in enumerate(axes))


def slice_(
    axes: Axes,
    dim: int,
    start: int | Extent | None = None,
    stop: int | Extent | None = None,
    step: int = 1,
) -> Axes:
    """Axes of Python's ``x[start:stop:step]`` along ``dim``.

    A static bound of a symbolic axis is clamped as Python clamps it (``x[:4]`` is ``min(b, 4)``).
    A symbolic bound of a static axis is taken not to exceed it, so that ``positions[:t]`` has
    the extent ``t``: what runs beyond the table is no model.

    Raises:
        AxesError: OM404 where a symbolic bound may change its sign (a negative bound counts from
            the end), and for a partial slice with a negative step of a symbolic axis.
        ValueError: for step 0.
    """
    if step == 0:
        raise ValueError("slice step cannot be zero")
    dim = dim % len(axes)
    size = axes[dim]
    if size.is_static and all(bound is None or isinstance(bound, int) for bound in (start, stop)):
        length = Extent(len(range(*slice(start, stop, step).indices(size.value))))
    elif step < 0:
        length = _reversed(size, start, stop, -step)
    else:
        begin = Extent(0) if start is None else _bound(size, as_extent(start))
        end = size if stop is None else _bound(size, as_extent(stop))
        length = end - begin
        if not (size.is_static and stop is None):
            length = length.maximum(0)
        length = length.ceildiv(step)
    return (*axes[:dim], length, *axes[dim + 1 :])


def _bound(size: Extent, bound: Extent) -> Extent:
    """A slice bound as an offset from the start, clamped into ``0..size``."""
    low, high = bound.bounds()
    if low is not None and low >= 0:
        return bound if size.is_static and not bound.is_static else bound.minimum(size)
    if high is not None and high < 0:
        counted = size + bound
        return counted if size.is_static and not bound.is_static else size - size.minimum(-bound)
    rewrites = [("declare the axis static", "")]
    back = size - bound
    if back.is_static and back.value > 0:
        rewrites.insert(0, ("count from the end, which holds at every size", f"x[:-{back}]"))
    raise AxesError(
        f"the slice bound {bound} of the axis {size} can be negative at some sizes, and a negative "
        "bound counts from the end: no one extent describes the result",
        code="OM404",
        extents=(size, bound),
        rewrites=rewrites,
    )


def _reversed(size: Extent, start: object, stop: object, step: int) -> Extent:
    if start is None and stop is None:
        return size.ceildiv(step)
    raise AxesError(
        f"a partial slice with a negative step of the axis {size} has no one extent",
        code="OM404",
        extents=(size,),
        rewrites=(("slice first, then flip the whole axis", "om.flip(x[start:stop], 0)"),),
    )


def _same_rank(operation: str, axes: Axes, weight: Axes) -> None:
    if len(axes) != len(weight) or len(axes) < 3:
        raise AxesError(
            f"{operation} needs an input and a weight of equal rank, at least 3; they are "
            f"{axes_text(axes)} and {axes_text(weight)}",
            extents=(*axes, *weight),
        )
