"""Resampling of the spatial axes: nearest, linear, cubic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, AxesError, Extent, as_extent
from onemodel.axes.size import Size
from onemodel.kernels import resize as kernel
from onemodel.kernels._dtypes import widen
from onemodel.operators import _nearest, _resample
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator, Refusal, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._resample import Axis
from onemodel.operators._sizes import shape_argument
from onemodel.operators.adaptive_avg_pool1d import adaptive_avg_pool1d
from onemodel.operators.adaptive_avg_pool2d import adaptive_avg_pool2d
from onemodel.operators.adaptive_avg_pool3d import adaptive_avg_pool3d
from onemodel.symbolic.helpers import squeeze, unsqueeze
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor

_EXACT_DENOMINATOR = 4096
"""Scale factors with a denominator up to this are followed along symbolic axes."""


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The spatial axes of ``input`` resampled to ``size`` or by ``scale_factor``.

    Shapes: [N, C, d1, ...] -> [N, C, size] or sizes ``floor(d * scale_factor)``. Modes: nearest,
    nearest-exact, linear (3-D), bilinear and bicubic (4-D), trilinear (5-D), area. With
    ``align_corners`` the corner elements coincide. ``recompute_scale_factor`` takes the scale
    from the sizes instead of the factor; ``antialias`` widens bilinear and bicubic filters where
    an axis shrinks. A symbolic axis needs a scale factor, or a size made of symbolic sizes.
    Raises ValueError for arguments that do not fit, TypeError for integers in other modes than
    nearest. Source: ``torch.nn.functional.interpolate``; ONNX Resize-11 (Upsample-7 for
    nearest by whole factors).
    """
    input = as_tensor("interpolate", "input", input)
    rank = input.ndim - 2
    if rank < 1 or rank > 3:
        raise ValueError(
            f"interpolate: expected an input [N, C, d1, ...] with 1 to 3 spatial axes, "
            f"not {list(input._array.shape)}"
        )
    sizes, factors = _target(input, size, scale_factor, rank)
    if mode == "area":
        return _area(input, sizes, factors, rank)
    _check(input, mode, align_corners, antialias, rank)
    if factors is not None and recompute_scale_factor:
        sizes, factors = _scaled_sizes(input, factors), None
    return apply(
        OPERATOR,
        (input,),
        {
            "size": sizes,
            "scale_factor": factors,
            "mode": mode,
            "align_corners": bool(align_corners),
            "antialias": bool(antialias),
        },
    )


def _target(
    input: Tensor, size: Any, scale_factor: Any, rank: int
) -> tuple[tuple[Any, ...] | None, tuple[float, ...] | None]:
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give exactly one of size and scale_factor")
    if size is not None:
        wanted = (size,) * rank if isinstance(size, (int, np.integer, Size)) else tuple(size)
        sizes = shape_argument("interpolate", (wanted,))
        if len(sizes) != rank:
            raise ValueError(f"interpolate: size needs {rank} values, not {len(sizes)}")
        return sizes, None
    given = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * rank
    factors = tuple(float(factor) for factor in given)
    if len(factors) != rank or min(factors) <= 0:
        raise ValueError(
            f"interpolate: scale_factor needs {rank} positive values, not {scale_factor}"
        )
    return None, factors


def _check(
    input: Tensor, mode: str, align_corners: bool | None, antialias: bool, rank: int
) -> None:
    if mode not in _resample.MODES:
        known = ", ".join([*_resample.MODES, "area"])
        raise ValueError(f"interpolate: mode={mode!r}; write one of {known}")
    needed = _resample.MODES[mode]
    if needed and needed != rank:
        raise ValueError(
            f"interpolate: mode {mode!r} is for {needed + 2}-D inputs, "
            f"not {list(input._array.shape)}"
        )
    if not needed and align_corners is not None:
        raise ValueError(f"interpolate: align_corners has no meaning for mode {mode!r}")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError("interpolate: antialias is for bilinear and bicubic")
    if needed and category(input._array.dtype) != 2:
        raise TypeError(f"interpolate: mode {mode!r} needs floats, not {input._array.dtype}")


def _scaled_sizes(input: Tensor, factors: Sequence[float]) -> tuple[Any, ...]:
    """floor(size * factor) per axis; symbolic sizes stay symbolic."""
    sizes: list[Any] = []
    for axis, (size, factor) in enumerate(zip(input.shape[2:], factors, strict=True), start=2):
        if isinstance(size, Size):
            try:
                exact = _exact(size.extent, factor)
                sizes.append(size * exact.numerator // exact.denominator)
                continue
            except AxesError as error:
                if input._mark is None:
                    raise
                reason = Refusal(error.code, error.message, tuple(error.rewrites))
                input._mark.on_refuse("interpolate", reason)
        sizes.append(math.floor(input._array.shape[axis] * factor))
    return tuple(sizes)


def _area(
    input: Tensor, sizes: tuple[Any, ...] | None, factors: tuple[float, ...] | None, rank: int
) -> Tensor:
    pool = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1]
    return pool(input, sizes or _scaled_sizes(input, factors or ()))


def _exact(extent: Extent, factor: float) -> Fraction:
    """The factor as a fraction by which a symbolic size is multiplied exactly."""
    exact = Fraction(factor)
    if exact.denominator > _EXACT_DENOMINATOR:
        raise AxesError(
            f"scale factor {factor} of the symbolic axis {extent} is no short binary fraction: "
            "whether the product is rounded up or down would depend on the size",
            code="OM408",
            extents=(extent,),
            rewrites=(("use an exact factor", "scale_factor=0.5"),),
        )
    return exact


def _axis_plan(
    shape: Sequence[int],
    size: Sequence[int] | None,
    scale_factor: Sequence[float] | None,
    align_corners: bool,
    antialias: bool,
) -> list[Axis]:
    plan = []
    for i, length in enumerate(shape):
        if size is None:
            assert scale_factor is not None
            output, step = math.floor(length * scale_factor[i]), 1 / scale_factor[i]
        else:
            output, step = size[i], length / size[i] if size[i] else 1.0
        if output < 1 or length < 1:
            raise ValueError(f"an axis of size {length} cannot be resampled to {output}")
        plan.append(Axis(length, output, step, align_corners, antialias))
    return plan


def forward(
    input: np.ndarray,
    *,
    size: tuple[int, ...] | None,
    scale_factor: tuple[float, ...] | None,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> np.ndarray:
    plan = _axis_plan(input.shape[2:], size, scale_factor, align_corners, antialias)
    result = input if mode.startswith("nearest") else widen(input)
    for dim, axis in enumerate(plan, start=2):
        if not axis.same:
            result = _resample.resample(result, dim, axis, mode)
    return input.copy() if result is input else result.astype(input.dtype, copy=False)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    a = record.attributes
    size = None if a["size"] is None else record.result_specs[0][0][2:]
    shape = record.shapes[0][2:]
    plan = _axis_plan(shape, size, a["scale_factor"], a["align_corners"], a["antialias"])
    result = widen(grad)
    for dim, axis in enumerate(plan, start=2):
        if not axis.same:
            result = _resample.transpose(result, dim, axis, a["mode"])
    return result


def axes(
    input: Axes,
    *,
    size: tuple[Any, ...] | None,
    scale_factor: tuple[float, ...] | None,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Axes:
    spatial = []
    for i, length in enumerate(input[2:]):
        if size is not None:
            wanted = as_extent(size[i])
            if wanted.is_static and not length.is_static:
                raise _needs_factor(length, wanted)
            spatial.append(wanted)
        elif length.is_static:
            assert scale_factor is not None
            spatial.append(Extent.of(math.floor(length.value * scale_factor[i])))
        else:
            assert scale_factor is not None
            exact = _exact(length, scale_factor[i])
            spatial.append(length * exact.numerator // exact.denominator)
    return (*input[:2], *spatial)


def _needs_factor(length: Extent, wanted: Extent) -> AxesError:
    return AxesError(
        f"interpolate to the fixed size {wanted} along the symbolic axis {length}: how far the "
        "axis is stretched would differ from run to run",
        code="OM408",
        extents=(length,),
        rewrites=(
            ("use scale factors instead of a size", "om.interpolate(x, scale_factor=2.0)"),
            ("declare the spatial axis static", ""),
        ),
    )


# --- nodes ----------------------------------------------------------------------------------


def opset_7(
    g: Any,
    input: Any,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Any:
    """Nearest by Gather, the others by matrices; symbolic axes by Upsample with whole factors."""
    plan = _static_plan(g, input, size, scale_factor, align_corners, antialias)
    if plan is not None:
        return _write_static(g, input, plan, mode)
    factors = scale_factor or ()
    whole = bool(factors) and all(factor >= 1 and factor == int(factor) for factor in factors)
    if mode != "nearest" or not whole or not _nearest.resize_agrees(g, input, factors, mode):
        g.refuse_below(11, f"interpolation ({mode}) along a symbolic axis")
    scales = np.asarray([1, 1, *factors], np.float32)
    if g.opset >= 10:
        return g.op("Resize", input, scales, mode="nearest")
    if g.opset >= 9:
        return g.op("Upsample", input, scales, mode="nearest")
    return g.op("Upsample", input, scales=[float(s) for s in scales], mode="nearest")


def opset_11(
    g: Any,
    input: Any,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Any:
    plan = _static_plan(g, input, size, scale_factor, align_corners, antialias)
    widespread = input.dtype.kind == "f" or input.dtype in (np.int32, np.int8, np.uint8)
    if plan is not None and not (widespread and _agrees(plan, scale_factor, mode)):
        return _write_static(g, input, plan, mode)
    if antialias and g.opset < 18:
        if plan is not None:
            return _write_static(g, input, plan, mode)
        g.refuse_below(18, "interpolation with antialias along a symbolic axis")
    nearest = plan is None and mode.startswith("nearest")
    if nearest and not _nearest.resize_agrees(g, input, scale_factor, mode):
        return _nearest.write_gathers(g, input, scale_factor, mode)
    options = _node_options(mode, align_corners)
    if antialias:
        # The filter of an antialiased cubic is the sharper one, and what is outside counts not.
        options |= {"antialias": 1, "exclude_outside": 1}
        options |= {"cubic_coeff_a": -0.5} if mode == "bicubic" else {}
    rank = len(g.result_axes[0]) - 2
    flat = rank == 1 and mode == "linear"
    if flat:  # a single axis is resampled as the last of two
        input = unsqueeze(g, input, [2])
    extra = [1] if flat else []
    scales, sizes, where = _write_target(g, scale_factor, align_corners, extra)
    roi = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
    if scales is None and g.opset < 13:
        scales = g.constant(np.zeros(0, np.float32))
    result = g.op("Resize", input, roi, scales, sizes, axes=where, **options)
    return squeeze(g, result, [2]) if flat else result


def _static_plan(
    g: Any, input: Any, size: Any, factors: Any, align_corners: bool, antialias: bool
) -> list[Axis] | None:
    lengths = [as_extent(n) for n in input.shape[2:]]
    outputs = g.result_axes[0][2:]
    if not all(n.is_static for n in (*lengths, *outputs)):
        return None
    known = None if size is None else [n.value for n in outputs]
    return _axis_plan([n.value for n in lengths], known, factors, align_corners, antialias)


def _agrees(plan: Sequence[Axis], scale_factor: Any, mode: str) -> bool:
    """Whether Resize, which divides by the inverse scale in float32, picks eager's elements."""
    for i, axis in enumerate(plan):
        if scale_factor is not None:
            scale = np.float32(scale_factor[i])
            if int(np.floor(np.float32(axis.size) * scale)) != axis.output:
                return False
        else:
            scale = np.float32(axis.output) / np.float32(axis.size)
        if not mode.startswith("nearest"):
            continue
        out = np.arange(axis.output, dtype=np.float32)
        if mode == "nearest":
            index = np.floor(out / scale)
        else:
            index = np.floor((out + np.float32(0.5)) / scale - np.float32(0.5) + np.float32(0.5))
        index = np.clip(index, 0, axis.size - 1).astype(np.int64)
        if not np.array_equal(index, _resample.nearest(axis, mode)):
            return False
    return True


def _node_options(mode: str, align_corners: bool) -> dict[str, Any]:
    if mode == "nearest":
        return {
            "mode": "nearest",
            "coordinate_transformation_mode": "asymmetric",
            "nearest_mode": "floor",
        }
    if mode == "nearest-exact":
        return {
            "mode": "nearest",
            "coordinate_transformation_mode": "half_pixel",
            "nearest_mode": "round_prefer_ceil",
        }
    return {
        "mode": "cubic" if mode == "bicubic" else "linear",
        "coordinate_transformation_mode": "align_corners" if align_corners else "half_pixel",
    }


def _write_target(
    g: Any, scale_factor: Any, align_corners: bool, extra: list[int]
) -> tuple[Any, Any, Any]:
    """(scales, sizes, axes) of the Resize node; from 18 on only the spatial axes are named."""
    result = g.result_axes[0]
    dims = list(range(2, len(result) + len(extra)))
    if scale_factor is not None and not align_corners:
        factors = [*(float(n) for n in extra), *scale_factor]
        lead = [] if g.opset >= 18 else [1.0, 1.0]
        scales = g.constant(np.asarray([*lead, *factors], np.float32))
        return scales, None, dims if g.opset >= 18 else None
    sizes = [*extra, *result[2:]]
    if g.opset >= 18:
        return None, g.sizes(sizes), dims
    return None, g.sizes([*result[:2], *sizes]), None


def _write_static(g: Any, input: Any, plan: Sequence[Axis], mode: str) -> Any:
    """Fixed sizes without Resize: Gather along each axis, or products with constant matrices."""
    result, rank = input, len(plan) + 2
    for dim, axis in enumerate(plan, start=2):
        if axis.same:
            continue
        if mode.startswith("nearest"):
            index = g.constant(_resample.nearest(axis, mode))
            result = g.op("Gather", result, index, axis=dim)
            continue
        weights = _resample.matrix(axis, mode, input.dtype)
        if dim == rank - 1:
            result = g.op("MatMul", result, g.constant(np.ascontiguousarray(weights.T)))
        elif dim == rank - 2:
            result = g.op("MatMul", g.constant(weights), result)
        else:
            perm = [d for d in range(rank) if d != dim] + [dim]
            moved = g.op("Transpose", result, perm=perm)
            moved = g.op("MatMul", moved, g.constant(np.ascontiguousarray(weights.T)))
            result = g.op("Transpose", moved, perm=[perm.index(d) for d in range(rank)])
    return result if result is not input else g.op("Identity", input)


# --- cases and other names ------------------------------------------------------------------


def reference(
    input: np.ndarray,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    **rest: Any,
) -> np.ndarray:
    """Position by position, in exact fractions where an index is chosen."""
    x = np.asarray(input, np.float64)
    rank = x.ndim - 2
    for i in range(rank):
        n = x.shape[2 + i]
        if size is None:
            factor = scale_factor[i] if isinstance(scale_factor, tuple) else scale_factor
            out, step = math.floor(n * factor), 1 / Fraction(factor)
        else:
            out = size[i] if isinstance(size, tuple) else size
            step = Fraction(n, out)
        columns = []
        for j in range(out):
            if mode.startswith("nearest"):
                place = (j + Fraction(1, 2)) * step if mode != "nearest" else j * step
                columns.append(np.take(x, min(int(place), n - 1), axis=2 + i))
                continue
            if align_corners:
                place = j * Fraction(n - 1, out - 1) if out > 1 else Fraction(0)
            else:
                place = (j + Fraction(1, 2)) * step - Fraction(1, 2)
            cubic = mode == "bicubic"
            place = place if cubic else max(place, Fraction(0))
            first = math.floor(place)
            total = np.zeros(np.take(x, 0, axis=2 + i).shape)
            for k in range(first - 1, first + 3):
                d = abs(float(place) - k)
                near = 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else 0
                far = -0.75 * (d**3 - 5 * d**2 + 8 * d - 4) if 1 < d < 2 else 0
                w = near + far if cubic else max(0.0, 1 - d)
                total += w * np.take(x, min(max(k, 0), n - 1), axis=2 + i)
            columns.append(total)
        x = np.stack(columns, axis=2 + i)
    return x


_FREE = ("batch", 2, "height", "width")
_FIXED = ("batch", 2, 5, 4)

CASES = (
    Case((_FREE,), {"scale_factor": 2}, reference=reference),
    Case((_FREE,), {"scale_factor": (0.5, 1.5)}, reference=reference, lowest=11,
         name="nearest, fractions"),
    Case((_FIXED,), {"size": (7, 9)}, reference=reference, name="nearest to a size"),
    Case((_FIXED,), {"size": (3, 6), "mode": "nearest-exact"}, reference=reference,
         name="nearest-exact"),
    Case((_FREE,), {"scale_factor": 2.0, "mode": "bilinear"}, reference=reference, lowest=11,
         name="bilinear, symbolic sizes"),
    Case((_FIXED,), {"size": (7, 3), "mode": "bilinear"}, reference=reference, name="bilinear"),
    Case((_FIXED,), {"size": (8, 7), "mode": "bilinear", "align_corners": True},
         reference=reference, name="aligned corners"),
    Case((_FREE,), {"scale_factor": 1.5, "mode": "bilinear", "align_corners": True},
         reference=reference, lowest=11, name="aligned corners, symbolic sizes"),
    Case((_FIXED,), {"scale_factor": (1.7, 0.6), "mode": "bilinear"}, reference=reference,
         name="bilinear, odd factors"),
    Case((_FIXED,), {"size": (9, 6), "mode": "bicubic"}, reference=reference, name="bicubic"),
    Case((_FREE,), {"scale_factor": 2.0, "mode": "bicubic"}, reference=reference, lowest=11,
         tolerance=1e-4, name="bicubic, symbolic sizes"),
    Case((_FIXED,), {"size": (9, 3), "mode": "bicubic", "align_corners": True},
         reference=reference, name="bicubic, aligned corners"),
    Case((("batch", 3, 5),), {"size": 8, "mode": "linear"}, reference=reference, name="linear"),
    Case((("batch", 3, "time"),), {"scale_factor": 2.0, "mode": "linear"}, reference=reference,
         lowest=11, name="linear, symbolic axis"),
    Case((("batch", 1, 3, 4, 2),), {"size": (5, 2, 3), "mode": "trilinear"},
         reference=reference, name="trilinear"),
    Case((("batch", 2, 4, 6),), {"size": (2, 3), "mode": "area"}, name="area",
         reference=lambda x, **_: x.reshape(*x.shape[:2], 2, 2, 3, 2).mean((3, 5))),
    Case((("batch", 2, 4, 4),), {"size": 1, "mode": "bilinear"}, reference=reference,
         name="a single element"),
    Case((_FREE,), {"scale_factor": 1.0}, reference=reference, name="nothing to do"),
    Case((In(("batch", 2, 5), "int64", 0, 9),), {"size": 7}, reference=reference,
         name="integers"),
    Case((_FIXED,), {"size": (3, 7), "mode": "bilinear", "antialias": True},
         reference=lambda x, **_: kernel.fast(
             np.asarray(x, np.float64), sizes=np.array([*x.shape[:2], 3, 7]), mode="linear",
             antialias=1, exclude_outside=1), name="antialias"),
)  # fmt: skip

OPERATOR = Operator(
    "interpolate",
    declaration=interpolate,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 11: opset_11},
    reads="",
    size_attributes=("size",),
    cases=CASES,
)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """:func:`interpolate` under its older name. Source: ``torch.nn.functional.upsample``."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def resize2d(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """:func:`interpolate` of images [N, C, H, W]. Raises ValueError for other ranks."""
    input = as_tensor("resize2d", "input", input)
    if input.ndim != 4:
        raise ValueError(f"resize2d: expected [N, C, H, W], not {list(input._array.shape)}")
    return interpolate(input, size, scale_factor, mode, align_corners, antialias=antialias)


def _alias_cases(attributes: Mapping[str, Any]) -> tuple[Case, ...]:
    return (Case((_FREE,), attributes, reference=reference),)


ALSO = (
    Composite("upsample", declaration=upsample, cases=_alias_cases({"scale_factor": 3})),
    Composite("resize2d", declaration=resize2d, cases=_alias_cases({"scale_factor": 2})),
)
