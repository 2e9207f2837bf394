"""2-dimensional transposed convolution."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _conv_transpose
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Every element times ``weight``, added up where they overlap: the gradient of a convolution.

    Shapes: [N, C, H, W] (or [C, H, W]) with [C, M/groups, kernel] -> [N, M, ...]; each result
    size is ``(size - 1)*stride - 2*padding + dilation*(kernel - 1) + output_padding + 1``.
    One floating dtype for all. Raises ValueError for channels, groups or sizes that do not
    fit and for an output_padding not below stride or dilation, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.conv_transpose2d``; ONNX ConvTranspose-1.
    """
    return _conv_transpose.convolve_transposed(
        OPERATOR, 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


reference = _conv_transpose.reference

CASES = (
    Case((("batch", 3, 4, 5), In((3, 2, 3, 3), constant=True), In((2,), constant=True)),
         reference=reference),
    Case((("batch", 4, "height", "width"), In((4, 3, 3, 2), constant=True)),
         {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "groups": 2},
         reference=reference, name="stride, output_padding, groups"),
    Case((("batch", 2, 4, 3), In((2, 2, 2, 3), constant=True)), {"dilation": 2, "padding": 1},
         reference=reference, name="dilation"),
    Case((("batch", 3, 3, 4), In((3, 1, 2, 2), constant=True)), {"groups": 3, "stride": 2},
         reference=reference, name="depthwise"),
    Case((("batch", 2, 3, 3), (2, 3, 2, 2), (3,)), reference=reference, name="weight as input"),
)  # fmt: skip

OPERATOR = Operator(
    "conv_transpose2d",
    declaration=conv_transpose2d,
    forward=_conv_transpose.forward,
    backward=_conv_transpose.backward,
    axes=_conv_transpose.axes,
    symbolic={7: _conv_transpose.opset_7},
    reads="i",
    cases=CASES,
)
