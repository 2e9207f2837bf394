"""Mean over sliding windows of two axes."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _pool
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of every window; ``divisor_override`` replaces the number of its elements.

    Shapes: [N, C, H, W] (or [C, H, W]) -> the same with
    ``floor((size + 2*padding - kernel)/stride) + 1`` per axis (rounded up with ``ceil_mode``,
    without windows that begin behind the input). Padding counts as zeros unless
    ``count_include_pad`` is False; what ceil_mode adds never counts. Raises ValueError for
    padding above half of the kernel or a divisor of 0.
    Source: ``torch.nn.functional.avg_pool2d``; ONNX AveragePool-7 (ceil_mode 10).
    """
    if divisor_override == 0:
        raise ValueError("avg_pool2d: divisor_override must not be 0")
    attributes = {
        "kernel_size": kernel_size,
        "stride": stride,
        "padding": padding,
        "ceil_mode": ceil_mode,
        "count_include_pad": bool(count_include_pad),
        "divisor_override": divisor_override,
    }
    return _pool.pool_tensor(OPERATOR, 2, input, attributes)


reference = _pool.mean_reference(2)

CASES = (
    Case((("batch", 3, 6, 8),), {"kernel_size": 2}, reference=reference),
    Case((("batch", 2, "height", "width"),), {"kernel_size": 3, "stride": (2, 1), "padding": 1},
         reference=reference, name="symbolic sizes"),
    Case((("batch", 2, "height", "width"),),
         {"kernel_size": 3, "padding": 1, "count_include_pad": False}, reference=reference,
         name="padding does not count"),
    Case((("batch", 2, 8, 7),), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
         reference=reference, name="ceil_mode"),
    Case((("batch", 2, 8, 7),), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True,
         "count_include_pad": False}, reference=reference, name="ceil_mode without padding"),
    Case((("batch", 2, "height", "width"),), {"kernel_size": 3, "stride": 2, "ceil_mode": True},
         reference=reference, name="ceil_mode, symbolic sizes"),
    Case((("batch", 2, "height", "width"),),
         {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
         reference=reference, name="ceil_mode and padding, symbolic sizes"),
    Case((("batch", 2, 9, 7),), {"kernel_size": 2, "stride": 2, "padding": 1, "ceil_mode": True},
         reference=reference, name="a window that would begin behind the input"),
    Case((("batch", 2, "height", 6),), {"kernel_size": 2, "padding": 1, "divisor_override": 3},
         reference=reference, name="divisor_override"),
    Case(((3, 6, 5),), {"kernel_size": 2}, reference=reference, name="no batch"),
)  # fmt: skip

OPERATOR = Operator(
    "avg_pool2d",
    declaration=avg_pool2d,
    forward=_pool.mean_forward,
    backward=_pool.mean_backward,
    axes=_pool.pool_axes,
    symbolic={7: _pool.mean_opset_7},
    reads="",
    cases=CASES,
)
