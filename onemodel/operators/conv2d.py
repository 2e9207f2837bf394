"""2-dimensional convolution."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _conv
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of ``input`` with ``weight``, plus ``bias`` per output channel.

    Shapes: [N, C, H, W] (or [C, H, W]) with [M, C/groups, kernel] -> [N, M, ...]; each result
    size is ``floor((size + 2*padding - dilation*(kernel - 1) - 1)/stride) + 1``. ``padding``
    is one number, one per axis, "same" (stride 1) or "valid". One floating dtype for all;
    the weight may be blocked (:func:`to_blocked`). Raises ValueError for channels, groups or
    sizes that do not fit, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.conv2d``; ONNX Conv-1.
    """
    return _conv.convolve(OPERATOR, 2, input, weight, bias, stride, padding, dilation, groups)


reference = _conv.reference

CASES = (
    Case((("batch", 3, 6, 5), In((4, 3, 3, 3), constant=True), In((4,), constant=True)),
         {"padding": 1}, reference=reference),
    Case((("batch", 3, "height", "width"), In((4, 3, 3, 2), constant=True)),
         {"stride": (2, 1), "padding": (1, 0)}, reference=reference, name="symbolic sizes"),
    Case((("batch", 4, 7, 7), In((6, 2, 3, 3), constant=True), In((6,), constant=True)),
         {"dilation": 2, "groups": 2, "padding": 2}, reference=reference,
         name="dilation and groups"),
    Case((("batch", 3, 5, 5), In((6, 1, 3, 3), constant=True)), {"groups": 3},
         reference=reference, name="depthwise"),
    Case((("batch", 3, 5, 4), In((2, 3, 1, 1), constant=True)), reference=reference,
         name="pointwise"),
    Case((("batch", 3, "height", 5), In((2, 3, 4, 2), constant=True)),
         {"padding": "same", "dilation": (1, 2)}, reference=reference, name="same"),
    Case((("batch", 2, 4, 4), In((2, 2, 2, 2), constant=True)), {"padding": "valid", "stride": 3},
         reference=reference, name="valid"),
    Case(((3, 6, 5), In((4, 3, 3, 3), constant=True)), reference=reference, name="no batch"),
    Case((("batch", 3, 6, 5), (4, 3, 3, 3), (4,)), reference=reference, name="weight as input"),
)  # fmt: skip

OPERATOR = Operator(
    "conv2d",
    declaration=conv2d,
    forward=_conv.forward,
    backward=_conv.backward,
    axes=_conv.axes,
    symbolic={7: _conv.opset_7},
    reads="i",
    cases=CASES,
)
