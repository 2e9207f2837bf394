"""Max and mean over sliding windows: arguments, gradients, and the nodes of every opset."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, as_extent
from onemodel.kernels import average_pool, max_pool
from onemodel.kernels._dtypes import lowest, widen
from onemodel.kernels._windows import Window, padded, window
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import (
    Ints,
    as_batch,
    batched,
    check_input,
    per_axis,
    result_rank,
    spatial_sizes,
)
from onemodel.symbolic.helpers import pad, slice_

_BLOCK_BYTES = 1 << 18
"""How much of an input the gradient of the maximum goes through at once."""


def pool_tensor(operator: Operator, rank: int, input: Any, attributes: dict[str, Any]) -> Any:
    """Check the window's arguments, complete them, and run a pooling operator.

    ``attributes`` holds the arguments as the user gave them; ``stride`` None means the kernel.
    """
    name = operator.name
    input = as_tensor(name, "input", input)
    check_input(name, input, rank)
    kernel = per_axis(name, "kernel_size", attributes["kernel_size"], rank)
    stride = attributes["stride"]
    attributes["kernel_size"] = kernel
    empty = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    attributes["stride"] = kernel if empty else per_axis(name, "stride", stride, rank)
    padding = per_axis(name, "padding", attributes["padding"], rank, low=0)
    attributes["padding"] = padding
    dilation = (1,) * rank
    if "dilation" in attributes:
        dilation = attributes["dilation"] = per_axis(name, "dilation", attributes["dilation"], rank)
    for size, step, amount in zip(kernel, dilation, padding, strict=True):
        if amount * 2 > (size - 1) * step + 1:
            raise ValueError(
                f"{name}: padding {amount} is more than half of the kernel {size} "
                f"(dilation {step}): some windows would hold padding only"
            )
    attributes["ceil_mode"] = bool(attributes["ceil_mode"])
    return apply(operator, (input,), attributes)


def view_of(shape: Sequence[int], attributes: Any) -> Window:
    """The resolved window over the last axes of ``shape``."""
    kernel = attributes["kernel_size"]
    return window(
        shape[-len(kernel) :],
        kernel,
        strides=attributes["stride"],
        dilations=attributes.get("dilation"),
        pads=attributes["padding"] * 2,
        ceil_mode=int(attributes["ceil_mode"]),
    )


# --- maximum --------------------------------------------------------------------------------


def max_forward(
    input: np.ndarray,
    *,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    rank = len(kernel_size)
    x = batched(input, rank)
    options = {
        "kernel_shape": kernel_size,
        "strides": stride,
        "pads": padding * 2,
        "dilations": dilation,
        "ceil_mode": int(ceil_mode),
    }
    if not return_indices:
        result = max_pool.values(x, **options)
        return result if input.ndim == rank + 2 else result[0]
    values, indices = max_pool.fast(x, **options)
    # ONNX counts through the whole batch, PyTorch within one plane.
    indices = indices % max(1, math.prod(x.shape[2:]))
    return (values, indices) if input.ndim == rank + 2 else (values[0], indices[0])


def max_backward(record: BackwardRecord, grad: np.ndarray, *unused: np.ndarray) -> np.ndarray:
    """Each gradient goes to the first element of its window that holds the maximum."""
    input, result = record.arrays[0], record.results[0]
    view = view_of(input.shape, record.attributes)
    rank = len(view.size)
    planes = math.prod(input.shape[:-rank])
    source = padded(input.reshape(planes, *view.size), view, lowest(input.dtype))
    reach = [
        max(needed, begin + size)
        for needed, begin, size in zip(view.needed(), view.begins, view.size, strict=True)
    ]
    total = np.zeros((planes, *reach), grad.dtype)
    best, rest = result.reshape(planes, *view.output), grad.reshape(planes, *view.output)
    # A few planes at a time stay in the cache for all positions of the kernel.
    block = max(1, _BLOCK_BYTES // max(1, math.prod(reach) * grad.itemsize))
    for start in range(0, planes, block):
        part = slice(start, start + block)
        _route(source[part], best[part], rest[part], total[part], view)
    cut = (slice(b, b + n) for b, n in zip(view.begins, view.size, strict=True))
    return total[(slice(None), *cut)].reshape(input.shape)


def _route(
    source: np.ndarray, best: np.ndarray, grad: np.ndarray, total: np.ndarray, view: Window
) -> None:
    """Add each gradient to ``total`` at the first place where ``source`` is ``best``."""
    bottom = lowest(source.dtype)
    # Only where a maximum is as low as the padding can the two be mistaken for each other.
    inside = padded(np.ones(view.size, bool), view, 0) if (best == bottom).any() else None
    has_nan = bool((best != best).any())
    finite = bool(np.isfinite(grad).all())
    rest = grad.copy()
    for offset in view.offsets():
        where = (slice(None), *view.slices(offset))
        part = source[where]
        hit = part == best
        if has_nan:
            hit |= (part != part) & (best != best)
        if inside is not None:
            hit &= inside[view.slices(offset)]
        share = rest * hit if finite else np.where(hit, rest, grad.dtype.type(0))
        total[where] += share
        if finite:
            rest -= share
        else:
            rest[hit] = 0


def max_opset_7(
    g: Any,
    input: Any,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    rank = len(kernel_size)
    if set(dilation) != {1}:
        g.refuse_below(10, "max pooling with dilation")
    if return_indices:
        g.refuse_below(8, "max pooling with indices")
    axes = symbol_axes(g, input)
    pads, ceil = window_pads(g, axes, kernel_size, stride, padding, dilation, ceil_mode)
    options = {"kernel_shape": kernel_size, "strides": stride, "pads": pads}
    if g.opset >= 10:
        options["dilations"] = dilation
        options["ceil_mode"] = ceil

    def write(batch: Any) -> Any:
        if not return_indices:
            return g.op("MaxPool", batch, **options)
        values, indices = g.op("MaxPool", batch, outputs=2, **options)
        plane = g.size(_product(axes[len(axes) - rank :]))
        if g.opset >= 10:
            return values, g.op("Mod", indices, plane)
        rows = g.op("Mul", g.op("Div", indices, plane), plane)
        return values, g.op("Sub", indices, rows)

    return as_batch(g, input, rank, write, result_rank(g))


def _product(sizes: Sequence[Any]) -> Any:
    total = sizes[0]
    for size in sizes[1:]:
        total = total * size
    return total


def symbol_axes(g: Any, input: Any) -> Axes:
    """The extents of the operator's first input."""
    return tuple(as_extent(size) for size in input.shape)


def window_pads(
    g: Any,
    axes: Axes,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> tuple[list[int], int]:
    """ONNX pads and ceil_mode.

    With fixed sizes, ceil_mode is written as padding at the end: every opset and every runtime
    counts those windows alike. With symbolic sizes the node's own ceil_mode (from 10) is used;
    below, ``stride - 1`` more at the end rounds up, where no window can begin behind the input.
    """
    rank = len(kernel)
    if not ceil_mode:
        return [*padding, *padding], 0
    sizes = spatial_sizes(axes, rank)
    if sizes is not None:
        view = window(
            sizes,
            kernel,
            strides=stride,
            dilations=dilation,
            pads=padding * 2,
            ceil_mode=1,
        )
        ends = [
            max(p, needed - begin - size)
            for p, needed, begin, size in zip(
                padding, view.needed(), view.begins, sizes, strict=True
            )
        ]
        return [*padding, *ends], 0
    if g.opset >= 10:
        return [*padding, *padding], 1
    ends = [p + s - 1 for p, s in zip(padding, stride, strict=True)]
    if any(end >= (k - 1) * d + 1 for end, k, d in zip(ends, kernel, dilation, strict=True)):
        g.refuse_below(10, "ceil_mode over a symbolic axis")
    return [*padding, *ends], 0


def pool_axes(
    input: Axes, *, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, **rest: Any
) -> Any:
    """Axes of every pooling; twice where indices are returned."""
    result = rules.pool(
        input, kernel_size, stride, padding, rest.get("dilation"), ceil_mode=ceil_mode
    )
    return (result, result) if rest.get("return_indices") else result


# --- mean -----------------------------------------------------------------------------------


def mean_forward(
    input: np.ndarray,
    *,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> np.ndarray:
    x = batched(input, len(kernel_size))
    if divisor_override is None:
        result = average_pool.fast(
            x,
            kernel_shape=kernel_size,
            strides=stride,
            pads=padding * 2,
            ceil_mode=int(ceil_mode),
            count_include_pad=int(count_include_pad),
        )
    else:
        attributes = {"kernel_size": kernel_size, "stride": stride, "padding": padding}
        view = view_of(x.shape, attributes | {"ceil_mode": ceil_mode})
        total = average_pool.window_sums(padded(widen(x), view), view)
        result = (total / total.dtype.type(divisor_override)).astype(x.dtype, copy=False)
    return result if input.ndim == result.ndim else result[0]


def mean_backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    attributes = record.attributes
    shape = record.shapes[0]
    view = view_of(shape, attributes)
    wide = widen(grad)
    divisor: Any = attributes["divisor_override"]
    if divisor is None:
        divisor = average_pool.element_counts(view, attributes["count_include_pad"])
    total = spread_sums(wide / np.asarray(divisor, wide.dtype), view)
    cut = (slice(b, b + n) for b, n in zip(view.begins, view.size, strict=True))
    return total[(Ellipsis, *cut)]


def spread_sums(grad: np.ndarray, view: Window) -> np.ndarray:
    """The transpose of window sums: each value added to all elements of its window.

    One axis after the other, so that a k x k window costs 2k additions.
    """
    rank = len(view.kernel)
    result = grad
    for spatial in reversed(range(rank)):
        axis = grad.ndim - rank + spatial
        reach = view.needed()[spatial]
        length = max(reach, view.begins[spatial] + view.size[spatial])
        shape = list(result.shape)
        shape[axis] = length
        wide = np.zeros(shape, grad.dtype)
        lead = (slice(None),) * axis
        count, step = view.output[spatial], view.strides[spatial]
        for offset in range(view.kernel[spatial]):
            start = offset * view.dilations[spatial]
            wide[(*lead, slice(start, start + (count - 1) * step + 1, step))] += result
        result = wide
    return result


def mean_opset_7(
    g: Any,
    input: Any,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    rank = len(kernel_size)
    axes = symbol_axes(g, input)
    pads, ceil = window_pads(g, axes, kernel_size, stride, padding, (1,) * rank, ceil_mode)
    inner = [*padding, *padding]

    def write(batch: Any) -> Any:
        options = {"kernel_shape": kernel_size, "strides": stride}
        if divisor_override is not None:
            if ceil:
                raise g.unsupported("ceil_mode with a divisor over a symbolic axis")
            # Zeros written out, so that every window divides by the whole kernel.
            whole = pad(g, batch, [0, 0, *pads[:rank], 0, 0, *pads[rank:]])
            mean = g.op("AveragePool", whole, **options)
            factor = math.prod(kernel_size) / divisor_override
            return g.op("Mul", mean, g.like(factor, mean))
        if count_include_pad and any(padding) and (ceil or pads != inner):
            # Padding counts, what ceil_mode adds beyond it does not.
            whole = pad(g, batch, [0, 0, *padding, 0, 0, *padding])
            rest = [0] * rank + [e - p for e, p in zip(pads[rank:], padding, strict=True)]
            mean = g.op("AveragePool", whole, pads=rest, **options, **_ceil(g, ceil))
            # Padding that was written out hides where the input ends: such windows are cut off.
            late = [
                i
                for i in range(rank)
                if ceil and padding[i] + stride[i] > kernel_size[i] and padding[i]
            ]
            ends = [g.result_axes[0][i - rank] for i in late]
            dims = [i + 2 for i in late]
            return slice_(g, mean, [0] * len(late), ends, dims) if late else mean
        include = int(count_include_pad and any(padding))
        return g.op(
            "AveragePool",
            batch,
            pads=pads,
            count_include_pad=include,
            **options,
            **_ceil(g, ceil),
        )

    return as_batch(g, input, rank, write, result_rank(g))


def _ceil(g: Any, ceil: int) -> dict[str, int]:
    return {"ceil_mode": ceil} if g.opset >= 10 else {}


# --- references -----------------------------------------------------------------------------


def reference(
    input: np.ndarray,
    kernel_size: Any,
    reduce: Callable[[np.ndarray, int, int], Any],
    rank: int,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> np.ndarray:
    """Window by window: ``reduce(elements inside the input, with padding, whole kernel)``."""
    kernel = np.broadcast_to(kernel_size, rank)
    step = kernel if stride is None else np.broadcast_to(stride, rank)
    pads, spread = np.broadcast_to(padding, rank), np.broadcast_to(dilation, rank)
    sizes = input.shape[-rank:]
    out = []
    for n, k, s, p, d in zip(sizes, kernel, step, pads, spread, strict=True):
        room = n + 2 * p - (d * (k - 1) + 1)
        count = (-(-room // s) if ceil_mode else room // s) + 1
        out.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    result = np.empty((*input.shape[:-rank], *out))
    for place in np.ndindex(*out):
        index, in_pad = [], 1
        for q, n, k, s, p, d in zip(place, sizes, kernel, step, pads, spread, strict=True):
            positions = q * s - p + d * np.arange(k)
            index.append(positions[(positions >= 0) & (positions < n)])
            in_pad *= int((positions < n + p).sum())
        elements = input[(Ellipsis, *np.ix_(*index))]
        flat = np.asarray(elements, np.float64).reshape(*input.shape[:-rank], -1)
        result[(Ellipsis, *place)] = reduce(flat, in_pad, int(np.prod(kernel)))
    return result


def max_reference(rank: int) -> Callable[..., np.ndarray]:
    """Reference of the maximum over ``rank`` axes."""

    def compute(input: np.ndarray, kernel_size: Any, **attributes: Any) -> np.ndarray:
        attributes.pop("return_indices", None)
        return reference(input, kernel_size, lambda x, *_: x.max(axis=-1), rank, **attributes)

    return compute


def mean_reference(rank: int) -> Callable[..., np.ndarray]:
    """Reference of the mean over ``rank`` axes."""

    def compute(
        input: np.ndarray,
        kernel_size: Any,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        **attributes: Any,
    ) -> np.ndarray:
        def reduce(x: np.ndarray, in_pad: int, whole: int) -> Any:
            count = in_pad if count_include_pad else x.shape[-1]
            return x.sum(axis=-1) / (divisor_override or count)

        return reference(input, kernel_size, reduce, rank, **attributes)

    return compute
