"""Pooling to a fixed number of outputs per axis, whatever the size of the axis.

Output i covers the elements floor(i*n/m) to ceil((i+1)*n/m). Where m divides n that is plain
pooling; else the mean is a product with a matrix, which a graph can build from a symbolic size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.axes.size import Size
from onemodel.kernels import average_pool, max_pool
from onemodel.kernels._dtypes import lowest, widen
from onemodel.operators._counting import counting
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.operators._spatial import as_batch, batched, check_input, result_rank
from onemodel.symbolic.helpers import reduce, slice_, unsqueeze


def adapt(operator: Operator, rank: int, input: Any, output_size: Any, **attributes: Any) -> Any:
    """Check the arguments of an adaptive pooling and run it."""
    name = operator.name
    input = as_tensor(name, "input", input)
    check_input(name, input, rank)
    if output_size is None or isinstance(output_size, (int, np.integer, Size)):
        wanted: tuple[Any, ...] = (output_size,) * rank
    else:
        wanted = tuple(output_size)
    if len(wanted) == 1:
        wanted = wanted * rank
    if len(wanted) != rank:
        raise ValueError(f"{name}: output_size needs {rank} values, not {len(wanted)}")
    shape = input.shape[-rank:]
    sizes = tuple(n if w is None else w for w, n in zip(wanted, shape, strict=True))
    attributes["output_size"] = shape_argument(name, (sizes,))
    if 0 in input._array.shape[-rank:]:
        raise ValueError(f"{name}: an axis of size 0 cannot be pooled")
    return apply(operator, (input,), attributes)


def bounds(size: int, output: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last (exclusive) element of every output."""
    place = np.arange(output, dtype=np.int64)
    return place * size // output, -(-(place + 1) * size // output)


def mean_matrix(size: int, output: int, dtype: np.dtype) -> np.ndarray:
    """(outputs, inputs) with 1/count where an element belongs to an output."""
    first, last = bounds(size, output)
    place = np.arange(size)
    inside = (place >= first[:, None]) & (place < last[:, None])
    return (inside / (last - first)[:, None]).astype(dtype)


def divides(sizes: Sequence[int], outputs: Sequence[int]) -> bool:
    return all(m and n % m == 0 for n, m in zip(sizes, outputs, strict=True))


# --- mean -----------------------------------------------------------------------------------


def mean_forward(input: np.ndarray, *, output_size: tuple[int, ...]) -> np.ndarray:
    rank = len(output_size)
    x = batched(input, rank)
    sizes = x.shape[2:]
    if divides(sizes, output_size):
        kernel = tuple(n // m for n, m in zip(sizes, output_size, strict=True))
        result = average_pool.fast(x, kernel_shape=kernel, strides=kernel)
    else:
        result = widen(x)
        for i, (n, m) in enumerate(zip(sizes, output_size, strict=True)):
            if n != m:
                result = _along(result, 2 + i, mean_matrix(n, m, result.dtype))
        result = result.astype(input.dtype, copy=False)
    return result if input.ndim == result.ndim else result[0]


def _along(x: np.ndarray, axis: int, weights: np.ndarray) -> np.ndarray:
    """Product of (outputs, inputs) with one axis of ``x``."""
    if axis == x.ndim - 1:
        return np.matmul(x, weights.T)
    if axis == x.ndim - 2:
        return np.matmul(weights, x)
    return np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), weights.T), -1, axis)


def mean_backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    shape = record.shapes[0]
    rank = len(record.attributes["output_size"])
    result = widen(grad)
    first = len(shape) - rank
    for axis in range(first, len(shape)):
        n, m = shape[axis], grad.shape[axis]
        if n % m == 0:
            result = np.repeat(result, n // m, axis=axis) / result.dtype.type(n // m)
        else:
            result = _along(result, axis, mean_matrix(n, m, result.dtype).T)
    return result


def mean_opset_7(g: Any, input: Any, output_size: Any) -> Any:
    rank = len(output_size)
    sizes = [as_extent(n) for n in input.shape[-rank:]]
    outputs = g.result_axes[0][-rank:]

    def write(batch: Any) -> Any:
        if all(m == 1 for m in outputs):
            return g.op("GlobalAveragePool", batch)
        kernel = _plain_kernel(sizes, outputs)
        if kernel is not None:
            return g.op("AveragePool", batch, kernel_shape=kernel, strides=kernel)
        result = batch
        for i, (n, m) in enumerate(zip(sizes, outputs, strict=True)):
            if m == 1:
                result = reduce(g, "ReduceMean", result, [2 + i], True)
            elif n != m:
                weights = _write_matrix(g, n, m, input.dtype)
                result = _write_along(g, result, 2 + i, rank + 2, weights)
        return result if result is not batch else g.op("Identity", batch)

    return as_batch(g, input, rank, write, result_rank(g))


def _plain_kernel(sizes: Sequence[Extent], outputs: Sequence[Extent]) -> list[int] | None:
    """The kernel where every output divides its axis into whole, fixed parts."""
    kernel = []
    for n, m in zip(sizes, outputs, strict=True):
        if n == m:
            kernel.append(1)
        elif n.is_static and m.is_static and n.value % m.value == 0:
            kernel.append(n.value // m.value)
        elif m.is_static and (n // m.value) * m.value == n and (n // m.value).is_static:
            kernel.append((n // m.value).value)
        else:
            return None
    return kernel


def _write_matrix(g: Any, n: Extent, m: Extent, dtype: np.dtype) -> Any:
    """(inputs, outputs): 1/count where an element belongs to an output."""
    if n.is_static and m.is_static:
        return g.constant(np.ascontiguousarray(mean_matrix(n.value, m.value, dtype).T))
    inside, counts = _write_inside(g, n, m)
    return g.op("Div", g.cast(inside, dtype), g.cast(counts, dtype))


def _write_inside(g: Any, n: Extent, m: Extent) -> tuple[Any, Any]:
    """(bool [inputs, outputs], int64 [1, outputs] counts) of a symbolic axis."""
    g.refuse_below(11, "adaptive pooling of a symbolic axis to more than one output")
    size, output = g.size(n), g.size(m)
    place = counting(g, m)
    first = g.op("Div", g.op("Mul", place, size), output)
    after = g.op("Mul", g.op("Add", place, g.ints([1])), size)
    after = g.op("Sub", g.op("Add", after, output), g.ints([1]))
    last = g.op("Div", after, output)  # rounded up
    element = unsqueeze(g, counting(g, n), [1])
    inside = g.op("And", g.op("Not", g.op("Less", element, unsqueeze(g, first, [0]))),
                  g.op("Less", element, unsqueeze(g, last, [0])))  # fmt: skip
    return inside, unsqueeze(g, g.op("Sub", last, first), [0])


def _write_along(g: Any, x: Any, axis: int, rank: int, weights: Any) -> Any:
    """Product of one axis of ``x`` with (inputs, outputs)."""
    if axis == rank - 1:
        return g.op("MatMul", x, weights)
    perm = [d for d in range(rank) if d != axis] + [axis]
    moved = g.op("MatMul", g.op("Transpose", x, perm=perm), weights)
    return g.op("Transpose", moved, perm=[perm.index(d) for d in range(rank)])


# --- maximum --------------------------------------------------------------------------------


def max_forward(
    input: np.ndarray, *, output_size: tuple[int, ...], return_indices: bool
) -> tuple[Any, Any]:
    """((values, indices) or values, indices kept for the gradient)."""
    rank = len(output_size)
    x = batched(input, rank)
    sizes = x.shape[2:]
    if divides(sizes, output_size):
        kernel = tuple(n // m for n, m in zip(sizes, output_size, strict=True))
        values, indices = max_pool.fast(x, kernel_shape=kernel, strides=kernel)
        indices = indices % max(1, math.prod(sizes))
    else:
        values, indices = _max_windows(x, output_size)
    if input.ndim != x.ndim:
        values, indices = values[0], indices[0]
    return ((values, indices) if return_indices else values), indices


def _max_windows(x: np.ndarray, output: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    limits = [bounds(n, m) for n, m in zip(x.shape[2:], output, strict=True)]
    values = np.empty((*x.shape[:2], *output), x.dtype)
    indices = np.empty(values.shape, np.int64)
    numbers = np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:])
    for place in np.ndindex(*output):
        where = tuple(
            slice(first[i], last[i]) for i, (first, last) in zip(place, limits, strict=True)
        )
        window = x[(slice(None), slice(None), *where)]
        part = window.reshape(*x.shape[:2], math.prod(window.shape[2:]))
        best = part.argmax(axis=-1)
        target = (slice(None), slice(None), *place)
        values[target] = np.take_along_axis(part, best[..., None], axis=-1)[..., 0]
        indices[target] = numbers[where].reshape(-1)[best]
    return values, indices


def max_backward(record: BackwardRecord, grad: np.ndarray, *unused: np.ndarray) -> np.ndarray:
    shape = record.shapes[0]
    rank = len(record.attributes["output_size"])
    planes = math.prod(shape[: len(shape) - rank])
    total = np.zeros((planes, math.prod(shape[-rank:])), grad.dtype)
    rows = np.arange(planes)[:, None]
    np.add.at(total, (rows, record.saved.reshape(planes, -1)), grad.reshape(planes, -1))
    return total.reshape(shape)


def max_opset_7(g: Any, input: Any, output_size: Any, return_indices: bool) -> Any:
    rank = len(output_size)
    sizes = [as_extent(n) for n in input.shape[-rank:]]
    outputs = g.result_axes[0][-rank:]

    def write(batch: Any) -> Any:
        kernel = _plain_kernel(sizes, outputs)
        if return_indices:
            return _write_indices(g, batch, sizes, outputs, kernel)
        if all(m == 1 for m in outputs):
            return g.op("GlobalMaxPool", batch)
        if kernel is not None:
            return g.op("MaxPool", batch, kernel_shape=kernel, strides=kernel)
        result = batch
        for i, (n, m) in enumerate(zip(sizes, outputs, strict=True)):
            if m == 1:
                result = reduce(g, "ReduceMax", result, [2 + i], True)
            elif n != m:
                result = _write_max(g, result, 2 + i, rank + 2, n, m)
        return result if result is not batch else g.op("Identity", batch)

    return as_batch(g, input, rank, write, result_rank(g))


def _write_indices(
    g: Any, batch: Any, sizes: Sequence[Extent], outputs: Sequence[Extent], kernel: Any
) -> tuple[Any, Any]:
    g.refuse_below(8, "max pooling with indices")
    whole = [n.value for n in sizes] if all(n.is_static for n in sizes) else None
    if all(m == 1 for m in outputs) and kernel is None and whole is not None:
        kernel = whole
    if kernel is None:
        raise g.unsupported(
            "adaptive max pooling with indices needs outputs that divide fixed sizes"
        )
    values, indices = g.op("MaxPool", batch, kernel_shape=kernel, strides=kernel, outputs=2)
    plane = sizes[0]
    for n in sizes[1:]:
        plane = plane * n
    size = g.size(plane)
    rows = g.op("Mul", g.op("Div", indices, size), size)
    return values, g.op("Sub", indices, rows)


def _write_max(g: Any, x: Any, axis: int, rank: int, n: Extent, m: Extent) -> Any:
    """Fixed sizes: the maximum of every slice, joined. Symbolic: masked copies of the axis."""
    if n.is_static and m.is_static:
        first, last = bounds(n.value, m.value)
        parts = [
            reduce(g, "ReduceMax", slice_(g, x, [int(a)], [int(b)], [axis]), [axis], True)
            for a, b in zip(first, last, strict=True)
        ]
        return g.op("Concat", *parts, axis=axis)
    inside, _ = _write_inside(g, n, m)
    # [..., n, 1, ...] against [n, m, 1, ...]: the outputs become an axis of their own.
    tail = list(range(2, 2 + rank - axis - 1))
    wide = unsqueeze(g, x, [axis + 1])
    smallest = g.constant(np.asarray(lowest(x.dtype)).astype(x.dtype))
    kept = g.op("Where", unsqueeze(g, inside, tail), wide, smallest)
    return reduce(g, "ReduceMax", kept, [axis], False)


# --- axes and references --------------------------------------------------------------------


def axes(input: Axes, *, output_size: tuple[Any, ...], return_indices: bool = False) -> Any:
    """Axes of every adaptive pooling; twice where indices are returned."""
    sizes = tuple(as_extent(getattr(size, "extent", size)) for size in output_size)
    result = (*input[: len(input) - len(sizes)], *sizes)
    return (result, result) if return_indices else result


def reference(rank: int, reduce: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Cell by cell in float64."""

    def compute(input: np.ndarray, output_size: Any, **rest: Any) -> np.ndarray:
        wanted = output_size if isinstance(output_size, tuple) else (output_size,) * rank
        x = np.asarray(input, np.float64)
        out = [n if m is None else m for n, m in zip(x.shape[-rank:], wanted, strict=True)]
        result = np.empty((*x.shape[:-rank], *out))
        for place in np.ndindex(*out):
            where = tuple(
                slice(math.floor(i * n / m), math.ceil((i + 1) * n / m))
                for i, n, m in zip(place, x.shape[-rank:], out, strict=True)
            )
            cell = x[(Ellipsis, *where)]
            result[(Ellipsis, *place)] = reduce(cell, axis=tuple(range(-rank, 0)))
        return result

    return compute
