"""Affine map of the last axis, ``input @ weight.T + bias``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.axes.rules import same_extent
from onemodel.kernels import add as add_kernel
from onemodel.kernels import gemm as gemm_kernel
from onemodel.kernels import mat_mul as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands
from onemodel.symbolic.helpers import arithmetic, transpose
from onemodel.tensors.tensor import Tensor


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """``input @ weight.T + bias`` over the last axis.

    Shapes: input [..., in], weight [out, in], bias [out] -> [..., out]. Dtype: where the
    operands meet by promotion. Raises ValueError where the sizes do not fit. Source:
    ``torch.nn.functional.linear``; ONNX Gemm-7 for matrices, else MatMul-1 and Add-7.
    """
    given = (input, weight) if bias is None else (input, weight, bias)
    tensors, _ = operands("linear", *given)
    return apply(OPERATOR, tensors)


def forward(input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    _check_shapes(input, weight, bias)
    if input.ndim == 2 and bias is not None:
        return gemm_kernel.fast(input, weight, bias, transB=1)
    product = kernel.fast(input, weight.T)
    return product if bias is None else add_kernel.fast(product, bias)


def _check_shapes(input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> None:
    if weight.ndim != 2:
        raise ValueError("weight must have the shape [out, in]")
    if input.ndim == 0 or input.shape[-1] != weight.shape[1]:
        raise ValueError(f"the last axis of input must have the size {weight.shape[1]}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias must have the shape [{weight.shape[0]}]")


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, ...]:
    input, weight = record.arrays[:2]
    rows = grad.reshape(-1, weight.shape[0])
    result: list[Any] = [
        np.matmul(grad, weight) if record.needs[0] else None,
        np.matmul(rows.T, input.reshape(-1, weight.shape[1])) if record.needs[1] else None,
    ]
    if len(record.needs) == 3:
        result.append(rows.sum(axis=0) if record.needs[2] else None)
    return tuple(result)


def axes(input: Axes, weight: Axes, bias: Axes | None = None) -> Axes:
    same_extent(input[-1], weight[1], "the inner axes of linear")
    if bias is not None:
        same_extent(bias[0], weight[0], "the bias of linear")
    return (*input[:-1], weight[0])


def opset_7(g: Any, input: Any, weight: Any, bias: Any = None) -> Any:
    if input.rank == 2 and bias is not None and input.dtype.kind not in "iu":
        return arithmetic(g, "Gemm", input, weight, bias, transB=1)
    product = arithmetic(g, "MatMul", input, transpose(g, weight, [1, 0]))
    return product if bias is None else arithmetic(g, "Add", product, bias)


def reference(input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    product = np.einsum("...i,oi->...o", input, weight, dtype=np.float64)
    return product if bias is None else product + bias


CASES = (
    Case(
        (In(("batch", 3), "int64", -9, 9), In((4, 3), "int64", -9, 9), In((4,), "int64", -9, 9)),
        reference=lambda x, w, b: x @ w.T + b,
        lowest=9,
        name="integers",
    ),
    Case((("batch", 3), (4, 3), (4,)), reference=reference),
    Case((("batch", 3), (4, 3)), reference=reference, name="no bias"),
    Case((("batch", "time", 3), (5, 3), (5,)), reference=reference, name="3-d"),
    Case((("batch", 2, 2, 3), (5, 3)), reference=reference, name="4-d without bias"),
    Case((("in",), (2, "in"), (2,)), reference=reference, name="vector"),
    Case((("batch", 3), In((4, 3), constant=True), In((4,), constant=True)), reference=reference,
         name="constant weights"),
)  # fmt: skip

OPERATOR = Operator(
    "linear",
    declaration=linear,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)
