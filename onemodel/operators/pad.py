"""More, or fewer, entries at both ends of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, as_extent
from onemodel.axes.size import strip_sizes
from onemodel.kernels import pad as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(input: Tensor, pad: Sequence[Any], mode: str = "constant", value: Any = 0) -> Tensor:
    """The tensor with entries added around it.

    ``pad``: two sizes per axis (before, after), the last axis first; negative ones crop.
    ``mode``: constant (``value``), reflect (without the edge), replicate (the edge) or circular.
    Raises ValueError for another mode, an odd number of sizes, or a reflection (or a circle)
    longer than the axis allows. Source: ``torch.nn.functional.pad``; ONNX Pad-2 (circular 19).
    """
    input = as_tensor("pad", "input", input)
    sizes = shape_argument("pad", (tuple(pad),))
    if mode not in _MODES:
        raise ValueError(f"pad: mode={mode!r}; write one of {', '.join(_MODES)}")
    if len(sizes) % 2 or len(sizes) > 2 * input.ndim:
        raise ValueError(
            f"pad: {len(sizes)} sizes for {input.ndim} axes; give two per axis, the last axis first"
        )
    filling = 0 if value is None else value
    return apply(OPERATOR, (input,), {"pad": sizes, "mode": mode, "value": filling})


def onnx_order(sizes: Sequence[Any], rank: int) -> list[Any]:
    """Sizes per axis from the last one on, as all begins and then all ends."""
    begins, ends = [0] * rank, [0] * rank
    for place in range(len(sizes) // 2):
        begins[rank - 1 - place] = sizes[2 * place]
        ends[rank - 1 - place] = sizes[2 * place + 1]
    return begins + ends


def forward(
    input: np.ndarray, *, pad: tuple[int, ...], mode: str, value: Any
) -> np.ndarray:  # fmt: skip
    amounts = onnx_order(pad, input.ndim)
    _check_amounts(input.shape, amounts, mode)
    if mode == "constant":
        filling = np.asarray(value).astype(input.dtype)
        return kernel.fast(input, np.asarray(amounts, np.int64), filling)
    return kernel.fast(input, np.asarray(amounts, np.int64), mode=_MODES[mode])


def _check_amounts(shape: tuple[int, ...], amounts: list[int], mode: str) -> None:
    for axis, size in enumerate(shape):
        begin, end = amounts[axis], amounts[axis + len(shape)]
        if size + min(begin, 0) + min(end, 0) < 0:
            raise ValueError(f"axis {axis} of size {size} cannot be cropped by {begin} and {end}")
        limit = {"reflect": size - 1, "circular": size}.get(mode)
        if limit is not None and max(begin, end) > max(limit, 0):
            raise ValueError(
                f"mode {mode} can add at most {max(limit, 0)} entries to axis {axis} of size {size}"
            )
        if mode != "constant" and size == 0 and max(begin, end) > 0:
            raise ValueError(f"mode {mode} has nothing to add to axis {axis} of size 0")


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    shape, mode = record.shapes[0], record.attributes["mode"]
    amounts = onnx_order(strip_sizes(record.attributes["pad"]), len(shape))
    for axis, size in enumerate(shape):
        begin, end = amounts[axis], amounts[axis + len(shape)]
        if not begin and not end:
            continue
        # Where each entry along this axis came from; -1 for the constant.
        widths = np.asarray([begin, end])
        if mode == "constant":
            origin = kernel.fast(np.arange(size), widths, np.asarray(-1))
        else:
            origin = kernel.fast(np.arange(size), widths, mode=_MODES[mode])
        inside = np.flatnonzero(origin >= 0)
        moved = np.moveaxis(grad, axis, 0)
        result = np.zeros((size, *moved.shape[1:]), grad.dtype)
        np.add.at(result, origin[inside], moved[inside])
        grad = np.moveaxis(result, 0, axis)
    return grad


def axes(input: Axes, *, pad: tuple[Any, ...], mode: str, value: Any) -> Axes:
    return rules.pad(input, onnx_order(pad, len(input)))


def opset_7(g: Any, input: Any, pad: tuple[Any, ...], mode: str, value: Any) -> Any:
    amounts = onnx_order(pad, input.rank)
    if mode == "circular" and g.opset < 19:
        return _write_circle(g, input, amounts)
    if g.accepts("Pad", input.dtype):
        return helpers.pad(g, input, amounts, _MODES[mode], value)
    wide = helpers.wider(g, "Pad", input.dtype)
    if wide is None:
        return helpers.pad(g, input, amounts, _MODES[mode], value)  # names the lowest opset
    padded = helpers.pad(g, g.cast(input, wide), amounts, _MODES[mode], value)
    return g.cast(padded, input.dtype)


def _write_circle(g: Any, input: Any, amounts: list[Any]) -> Any:
    """Axis by axis: the end, the whole, the beginning (cropped before, where negative)."""
    rank = input.rank
    result = input
    for axis in range(rank):
        begin, end = as_extent(amounts[axis]), as_extent(amounts[axis + rank])
        if begin == 0 and end == 0:
            continue
        low = -begin if begin.is_static and begin.value < 0 else as_extent(0)
        high = end if end.is_static and end.value < 0 else None
        inner = result
        if low != 0 or high is not None:
            inner = helpers.slice_(g, result, [low], [high], [axis])
        parts = [inner]
        if low == 0 and begin != 0:
            parts.insert(0, helpers.slice_(g, inner, [-begin], [None], [axis]))
        if high is None and end != 0:
            parts.append(helpers.slice_(g, inner, [0], [end], [axis]))
        result = parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=axis)
    return result


def reference(
    input: np.ndarray, pad: tuple[int, ...], mode: str = "constant", value: float = 0
) -> np.ndarray:
    widths = [(0, 0)] * input.ndim
    for place in range(len(pad) // 2):
        widths[input.ndim - 1 - place] = (pad[2 * place], pad[2 * place + 1])
    cut = tuple(
        slice(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(input.shape, widths, strict=True)
    )
    more = [(max(b, 0), max(e, 0)) for b, e in widths]
    if mode == "constant":
        return np.pad(input[cut], more, constant_values=value)
    longest = {"reflect": 1, "replicate": -np.inf, "circular": 0}[mode]
    if any(max(pair) > size - longest for pair, size in zip(more, input[cut].shape, strict=True)):
        raise ValueError("torch refuses this, NumPy repeats the pattern")
    modes: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return np.pad(input[cut], more, mode=modes[mode])


CASES = (
    Case((("batch", 3),), {"pad": (1, 2)}, reference=reference),
    Case((("batch", 2, 3),), {"pad": (1, 0, 0, 2), "value": -1.5}, reference=reference,
         name="a value"),
    Case((("batch", 5),), {"pad": (-1, 2)}, reference=reference, name="cropped"),
    Case(((1, 2, "height", "width"),), {"pad": (2, 1, 1, 1), "mode": "reflect"},
         reference=reference, name="reflect"),
    Case(((1, 2, "height", "width"),), {"pad": (2, 1, 1, 0), "mode": "replicate"},
         reference=reference, name="replicate"),
    Case(((1, 2, "height", "width"),), {"pad": (2, 1, 1, 0), "mode": "circular"},
         reference=reference, name="circular"),
    Case((("batch", 3),), call=lambda x: pad(x, (0, x.shape[0])), lowest=11,
         reference=lambda x: np.pad(x, ((0, 0), (0, len(x)))), name="a symbolic size"),
    Case((In(("batch", 3), "int64", -9, 9),), {"pad": (1, 2), "value": 7}, reference=reference,
         name="integers", lowest=11),
    Case((In(("batch", 3), "bool"),), {"pad": (1, 2), "value": True}, reference=reference,
         name="bool"),
)  # fmt: skip

OPERATOR = Operator(
    "pad",
    declaration=pad,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("pad",),
    reads="",
    size_attributes=("pad",),
    cases=CASES,
)
