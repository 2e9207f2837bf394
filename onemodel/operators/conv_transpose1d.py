"""1-dimensional transposed convolution."""

from __future__ import annotations

from typing import Any

from onemodel.operators import _conv_transpose
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def conv_transpose1d(
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

    Shapes: [N, C, L] (or [C, L]) with [C, M/groups, kernel] -> [N, M, ...]; each result
    size is ``(size - 1)*stride - 2*padding + dilation*(kernel - 1) + output_padding + 1``.
    One floating dtype for all. Raises ValueError for channels, groups or sizes that do not
    fit and for an output_padding not below stride or dilation, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.conv_transpose1d``; ONNX ConvTranspose-1.
    """
    return _conv_transpose.convolve_transposed(
        OPERATOR, 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


reference = _conv_transpose.reference

CASES = (
    Case((("batch", 3, "time"), In((3, 4, 3), constant=True), In((4,), constant=True)),
         {"stride": 2, "padding": 1}, reference=reference),
    Case(((4, "time"), In((4, 2, 2), constant=True)), {"groups": 2}, reference=reference,
         name="no batch"),
)  # fmt: skip

OPERATOR = Operator(
    "conv_transpose1d",
    declaration=conv_transpose1d,
    forward=_conv_transpose.forward,
    backward=_conv_transpose.backward,
    axes=_conv_transpose.axes,
    symbolic={7: _conv_transpose.opset_7},
    reads="i",
    cases=CASES,
)
