"""ONNX Pad (since 1, 2, 11, 13, 18, 19, 21, 23, 24, 25): more, or less, at both ends of axes."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers, normalized_axes

NODE_TYPE = "Pad"

_MODES = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def fast(
    data: np.ndarray,
    pads: np.ndarray,
    constant_value: np.ndarray | None = None,
    axes: np.ndarray | None = None,
    *,
    mode: str = "constant",
) -> np.ndarray:
    """``data`` with ``pads`` (all begins, then all ends; negative ones crop) on ``axes``.

    ``mode`` is constant, reflect, edge or wrap.
    """
    amounts = integers(pads)
    where = normalized_axes(axes, data.ndim, range(data.ndim))
    widths = [(0, 0)] * data.ndim
    for i, axis in enumerate(where):
        widths[axis] = (amounts[i], amounts[i + len(where)])
    if mode == "constant":
        return _constant(data, widths, constant_value)
    if mode not in _MODES:
        raise ValueError(f"Pad: mode={mode!r}; write constant, reflect, edge or wrap")
    more = [(max(begin, 0), max(end, 0)) for begin, end in widths]
    return np.pad(_cropped(data, widths), more, mode=_MODES[mode])  # type: ignore[call-overload]


def _cropped(data: np.ndarray, widths: Sequence[tuple[int, int]]) -> np.ndarray:
    return data[
        tuple(
            slice(max(-begin, 0), size - max(-end, 0))
            for size, (begin, end) in zip(data.shape, widths, strict=True)
        )
    ]


def _constant(
    data: np.ndarray, widths: Sequence[tuple[int, int]], value: np.ndarray | None
) -> np.ndarray:
    part = _cropped(data, widths)
    shape = [
        size + max(begin, 0) + max(end, 0)
        for size, (begin, end) in zip(part.shape, widths, strict=True)
    ]
    if value is None or not value.size:
        filling = "" if data.dtype == object else 0
    else:
        filling = value.reshape(-1)[0]
    result = np.full(shape, filling, dtype=data.dtype)
    inside = tuple(
        slice(max(begin, 0), max(begin, 0) + size)
        for size, (begin, _) in zip(part.shape, widths, strict=True)
    )
    result[inside] = part
    return result


def pad_11(
    data: np.ndarray,
    pads: np.ndarray,
    constant_value: np.ndarray | None = None,
    *,
    mode: str = "constant",
) -> np.ndarray:
    """Opsets 11 and 13: all axes."""
    return fast(data, pads, constant_value, mode=mode)


def pad_2(
    data: np.ndarray, *, mode: str = "constant", pads: Sequence[int], value: float = 0.0
) -> np.ndarray:
    """Opset 2: everything is an attribute."""
    return fast(data, np.asarray(pads), np.asarray(value, dtype=data.dtype), mode=mode)


def pad_1(
    data: np.ndarray, *, mode: str = "constant", paddings: Sequence[int], value: float = 0.0
) -> np.ndarray:
    """Opset 1: the amounts are called paddings."""
    return pad_2(data, mode=mode, pads=paddings, value=value)


VERSIONS = {1: pad_1, 2: pad_2, 11: pad_11, 18: fast}
EXACT = VERSIONS
