"""3-dimensional convolution."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _conv
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of ``input`` with ``weight``, plus ``bias`` per output channel.

    Shapes: [N, C, D, H, W] (or [C, D, H, W]) with [M, C/groups, kernel] -> [N, M, ...]; each result
    size is ``floor((size + 2*padding - dilation*(kernel - 1) - 1)/stride) + 1``. ``padding``
    is one number, one per axis, "same" (stride 1) or "valid". One floating dtype for all;
    the weight may be blocked (:func:`to_blocked`). Raises ValueError for channels, groups or
    sizes that do not fit, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.conv3d``; ONNX Conv-1.
    """
    return _conv.convolve(OPERATOR, 3, input, weight, bias, stride, padding, dilation, groups)


reference = _conv.reference

CASES = (
    Case((("batch", 2, 4, 5, 4), In((3, 2, 2, 3, 2), constant=True), In((3,), constant=True)),
         {"padding": (0, 1, 0)}, reference=reference),
    Case((("batch", 4, "depth", 5, 4), In((4, 2, 2, 2, 2), constant=True)),
         {"stride": (1, 2, 1), "dilation": (1, 1, 2), "groups": 2}, reference=reference,
         name="stride, dilation, groups"),
)  # fmt: skip

OPERATOR = Operator(
    "conv3d",
    declaration=conv3d,
    forward=_conv.forward,
    backward=_conv.backward,
    axes=_conv.axes,
    symbolic={7: _conv.opset_7},
    reads="i",
    cases=CASES,
)
