"""ONNX Resize (since 10, 11, 13, 18, 19): nearest, linear or cubic resampling of axes."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._resize import (
    Axis,
    coordinates,
    nearest_index,
    output_sizes,
    resample,
    weighted_taps,
)
from onemodel.kernels._shapes import integers, normalized_axes

NODE_TYPE = "Resize"


def fast(
    x: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    *,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> np.ndarray:
    """Resample ``axes`` of ``x`` (default all) to ``sizes`` or by ``scales``.

    Integers are interpolated in float and rounded.

    Raises:
        ValueError: neither or both of sizes and scales, or an unknown mode.
    """
    where = normalized_axes(axes, x.ndim, range(x.ndim))
    plan = _plan(x.shape, where, roi, scales, sizes, keep_aspect_ratio_policy)
    return _resized(
        x,
        plan,
        bool(antialias),
        coordinate_transformation_mode,
        cubic_coeff_a,
        bool(exclude_outside),
        extrapolation_value,
        mode,
        nearest_mode,
    )


def _resized(
    x: np.ndarray,
    plan: dict[int, Axis],
    antialias: bool,
    coordinate_transformation_mode: str,
    cubic_coeff_a: float,
    exclude_outside: bool,
    extrapolation_value: float,
    mode: str,
    nearest_mode: str,
) -> np.ndarray:
    if mode not in ("nearest", "linear", "cubic"):
        raise ValueError(f"Resize: mode={mode!r}; write nearest, linear or cubic")
    crop = coordinate_transformation_mode == "tf_crop_and_resize"
    result = x if mode == "nearest" or x.dtype.kind == "f" else x.astype(np.float32)
    result = result if mode == "nearest" else widen(result)
    outside: list[tuple[int, np.ndarray]] = []
    for number, axis in plan.items():
        if axis.output == axis.size and axis.scale == 1.0 and not crop:
            continue
        position = coordinates(axis, coordinate_transformation_mode)
        if crop:
            outside.append((number, (position < 0) | (position > axis.size - 1)))
        if mode == "nearest":
            result = np.take(result, nearest_index(position, axis, nearest_mode), axis=number)
        else:
            index, weight = weighted_taps(
                position, axis, mode, cubic_coeff_a, antialias, exclude_outside
            )
            result = resample(result, number, index, weight)
    result = _back(result, x.dtype)
    for number, mask in outside:
        if mask.any():
            index = (slice(None),) * number + (mask,)
            result[index] = np.asarray(extrapolation_value).astype(x.dtype)
    return result


def _plan(
    shape: Sequence[int],
    where: Sequence[int],
    roi: np.ndarray | None,
    scales: np.ndarray | None,
    sizes: np.ndarray | None,
    policy: str,
    whole_lengths: bool = False,
) -> dict[int, Axis]:
    have_scales = scales is not None and scales.size > 0
    have_sizes = sizes is not None and sizes.size > 0
    if have_scales == have_sizes:
        raise ValueError("Resize: give exactly one of scales and sizes")
    inputs = [shape[axis] for axis in where]
    if have_scales:
        factors = [float(factor) for factor in np.asarray(scales).reshape(-1)]
        outputs = output_sizes(inputs, factors)
    else:
        outputs = integers(np.asarray(sizes))
        factors = [
            float(np.float32(o) / np.float32(n)) for o, n in zip(outputs, inputs, strict=True)
        ]
        if policy in ("not_larger", "not_smaller"):
            ratios = [o / n for o, n in zip(outputs, inputs, strict=True)]
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            outputs = [int(np.floor(ratio * n + 0.5)) for n in inputs]
            factors = [ratio] * len(inputs)
        elif policy != "stretch":
            raise ValueError(
                f"Resize: keep_aspect_ratio_policy={policy!r}; "
                "write stretch, not_larger or not_smaller"
            )
    region = None
    if roi is not None and roi.size:
        region = [float(bound) for bound in roi.reshape(-1)]
    plan = {}
    for i, axis in enumerate(where):
        bounds = (region[i], region[i + len(where)]) if region is not None else (0.0, 1.0)
        length = outputs[i] if whole_lengths or have_sizes else inputs[i] * factors[i]
        plan[axis] = Axis(inputs[i], outputs[i], factors[i], length, bounds)
    return plan


def _back(result: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if result.dtype == dtype:
        return result
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        result = np.clip(np.rint(result), limits.min, limits.max)
    return result.astype(dtype)


def resize_18(
    x: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    *,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> np.ndarray:
    """Opset 18: the resized length of align_corners is the whole number of outputs."""
    where = normalized_axes(axes, x.ndim, range(x.ndim))
    plan = _plan(x.shape, where, roi, scales, sizes, keep_aspect_ratio_policy, whole_lengths=True)
    return _resized(
        x,
        plan,
        bool(antialias),
        coordinate_transformation_mode,
        cubic_coeff_a,
        bool(exclude_outside),
        extrapolation_value,
        mode,
        nearest_mode,
    )


def resize_11(
    x: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> np.ndarray:
    """Opsets 11 and 13: all axes, no antialiasing; sizes win over scales."""
    return resize_18(
        x,
        roi,
        scales if sizes is None or not sizes.size else None,
        sizes,
        coordinate_transformation_mode=coordinate_transformation_mode,
        cubic_coeff_a=cubic_coeff_a,
        exclude_outside=exclude_outside,
        extrapolation_value=extrapolation_value,
        mode=mode,
        nearest_mode=nearest_mode,
    )


def resize_10(x: np.ndarray, scales: np.ndarray, *, mode: str = "nearest") -> np.ndarray:
    """Opset 10: asymmetric coordinates; also the meaning of Upsample."""
    return resize_18(
        x,
        None,
        scales,
        coordinate_transformation_mode="asymmetric",
        mode="linear" if mode in ("linear", "bilinear") else mode,
        nearest_mode="simple",
    )


VERSIONS = {10: resize_10, 11: resize_11, 18: resize_18, 19: fast}
EXACT = VERSIONS
