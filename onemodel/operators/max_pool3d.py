"""Maximum over sliding windows of three axes."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _pool
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of every window; with ``return_indices`` also where it lies.

    Shapes: [N, C, D, H, W] (or [C, D, H, W]) -> the same with
    ``floor((size + 2*padding - dilation*(kernel - 1) - 1)/stride) + 1`` per axis (rounded up
    with ``ceil_mode``, without windows that begin behind the input). ``stride`` None means the
    kernel. Padding never wins; indices (int64) count within one plane. The gradient goes to
    the first maximum. Raises ValueError for padding above half of the kernel.
    Source: ``torch.nn.functional.max_pool3d``; ONNX MaxPool-1 (indices 8, dilation 10).
    """
    attributes = {
        "kernel_size": kernel_size,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "ceil_mode": ceil_mode,
        "return_indices": bool(return_indices),
    }
    return _pool.pool_tensor(OPERATOR, 3, input, attributes)


reference = _pool.max_reference(3)

CASES = (
    Case((("batch", 2, 4, 6, 4),), {"kernel_size": 2}, reference=reference),
    Case((("batch", 2, "depth", 5, 6),),
         {"kernel_size": (1, 3, 3), "stride": 2, "padding": (0, 1, 1)},
         reference=reference, name="padding"),
    Case((("batch", 1, 5, 5, 5),), {"kernel_size": 2, "stride": 2, "ceil_mode": True},
         reference=reference, name="ceil_mode"),
)  # fmt: skip

OPERATOR = Operator(
    "max_pool3d",
    declaration=max_pool3d,
    forward=_pool.max_forward,
    backward=_pool.max_backward,
    axes=_pool.pool_axes,
    symbolic={7: _pool.max_opset_7},
    reads="io",
    cases=CASES,
)
