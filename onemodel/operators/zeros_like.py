"""A tensor of zeros, as large as another."""

from __future__ import annotations

from typing import Any

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.zeros import zeros
from onemodel.tensors.tensor import Tensor


def zeros_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape (and dtype, unless given) of ``input``.

    Symbolic axes of ``input`` stay symbolic. Raises TypeError for anything but a tensor.
    Source: ``torch.zeros_like``.
    """
    input = as_tensor("zeros_like", "input", input)
    wanted = input.dtype if dtype is None else dtype
    return zeros(*input.shape, dtype=wanted, requires_grad=requires_grad)


def _new(input: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """``x.new_zeros(2, 3)``: a tensor of zeros in the dtype of this one."""
    wanted = input.dtype if dtype is None else dtype
    return zeros(*size, dtype=wanted, requires_grad=requires_grad)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + zeros_like(x),
        reference=lambda x: x + 0,
        lowest=8,
    ),
)

OPERATOR = Composite("zeros_like", declaration=zeros_like, cases=CASES)

ALSO = (Composite("new_zeros", declaration=_new, methods=("new_zeros",), public=False),)
