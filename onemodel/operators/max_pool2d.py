"""Maximum over sliding windows of two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators import _pool
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of every window; with ``return_indices`` also where it lies.

    Shapes: [N, C, H, W] (or [C, H, W]) -> the same with
    ``floor((size + 2*padding - dilation*(kernel - 1) - 1)/stride) + 1`` per axis (rounded up
    with ``ceil_mode``, without windows that begin behind the input). ``stride`` None means the
    kernel. Padding never wins; indices (int64) count within one plane. The gradient goes to
    the first maximum. Raises ValueError for padding above half of the kernel.
    Source: ``torch.nn.functional.max_pool2d``; ONNX MaxPool-1 (indices 8, dilation 10).
    """
    attributes = {
        "kernel_size": kernel_size,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "ceil_mode": ceil_mode,
        "return_indices": bool(return_indices),
    }
    return _pool.pool_tensor(OPERATOR, 2, input, attributes)


reference = _pool.max_reference(2)


def _indices(input: np.ndarray) -> np.ndarray:
    """Where the maximum of every 2 x 2 block lies in its plane."""
    rows, width = input.shape[-2] // 2, input.shape[-1]
    blocks = input[..., : rows * 2, : width // 2 * 2]
    blocks = blocks.reshape(*input.shape[:2], rows, 2, width // 2, 2).swapaxes(3, 4)
    inner = blocks.reshape(*blocks.shape[:4], 4).argmax(axis=-1)
    top, left = np.arange(rows)[:, None] * 2, np.arange(width // 2) * 2
    return (top + inner // 2) * width + left + inner % 2


CASES = (
    Case((("batch", 3, 6, 8),), {"kernel_size": 2}, reference=reference),
    Case((("batch", 2, "height", "width"),), {"kernel_size": 3, "stride": (2, 1), "padding": 1},
         reference=reference, name="symbolic sizes"),
    Case((("batch", 2, 8, 7),), {"kernel_size": (3, 2), "stride": 3, "ceil_mode": True},
         reference=reference, name="ceil_mode"),
    Case((("batch", 2, "height", "width"),), {"kernel_size": 3, "stride": 2, "ceil_mode": True},
         reference=reference, name="ceil_mode, symbolic sizes"),
    Case((("batch", 2, 9, 7),), {"kernel_size": 2, "stride": 2, "padding": 1, "ceil_mode": True},
         reference=reference, name="a window that would begin behind the input"),
    Case((("batch", 2, 9, "width"),), {"kernel_size": 3, "stride": 1, "dilation": 2},
         reference=reference, lowest=10, name="dilation"),
    Case((("batch", 2, 6, "width"),), {"kernel_size": 2, "return_indices": True},
         call=lambda x, **a: max_pool2d(x, **a),
         reference=lambda x, **a: (reference(x, **a), _indices(x)), lowest=8, name="indices"),
    Case(((3, 6, 5),), {"kernel_size": 2}, reference=reference, name="no batch"),
    Case((In((1, 2, "height", 4), low=-9, high=-3),), {"kernel_size": 3, "padding": 1},
         reference=reference, name="padding never wins"),
)  # fmt: skip

OPERATOR = Operator(
    "max_pool2d",
    declaration=max_pool2d,
    forward=_pool.max_forward,
    backward=_pool.max_backward,
    axes=_pool.pool_axes,
    symbolic={7: _pool.max_opset_7},
    reads="io",
    cases=CASES,
)
