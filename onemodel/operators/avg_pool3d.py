"""Mean over sliding windows of three axes."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _pool
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of every window; ``divisor_override`` replaces the number of its elements.

    Shapes: [N, C, D, H, W] (or [C, D, H, W]) -> the same with
    ``floor((size + 2*padding - kernel)/stride) + 1`` per axis (rounded up with ``ceil_mode``,
    without windows that begin behind the input). Padding counts as zeros unless
    ``count_include_pad`` is False; what ceil_mode adds never counts. Raises ValueError for
    padding above half of the kernel or a divisor of 0.
    Source: ``torch.nn.functional.avg_pool3d``; ONNX AveragePool-7 (ceil_mode 10).
    """
    if divisor_override == 0:
        raise ValueError("avg_pool3d: divisor_override must not be 0")
    attributes = {
        "kernel_size": kernel_size,
        "stride": stride,
        "padding": padding,
        "ceil_mode": ceil_mode,
        "count_include_pad": bool(count_include_pad),
        "divisor_override": divisor_override,
    }
    return _pool.pool_tensor(OPERATOR, 3, input, attributes)


reference = _pool.mean_reference(3)

CASES = (
    Case((("batch", 2, 4, 6, 4),), {"kernel_size": 2}, reference=reference),
    Case((("batch", 2, "depth", 5, 6),),
         {"kernel_size": (1, 3, 3), "stride": 2, "padding": (0, 1, 1)},
         reference=reference, name="padding"),
    Case((("batch", 1, 5, 5, 5),), {"kernel_size": 2, "stride": 2, "ceil_mode": True},
         reference=reference, name="ceil_mode"),
)  # fmt: skip

OPERATOR = Operator(
    "avg_pool3d",
    declaration=avg_pool3d,
    forward=_pool.mean_forward,
    backward=_pool.mean_backward,
    axes=_pool.pool_axes,
    symbolic={7: _pool.mean_opset_7},
    reads="",
    cases=CASES,
)
