"""A tensor of ones, as large as another."""

from __future__ import annotations

from typing import Any

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.ones import ones
from onemodel.tensors.tensor import Tensor


def ones_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape (and dtype, unless given) of ``input``.

    Symbolic axes of ``input`` stay symbolic. Raises TypeError for anything but a tensor.
    Source: ``torch.ones_like``.
    """
    input = as_tensor("ones_like", "input", input)
    wanted = input.dtype if dtype is None else dtype
    return ones(*input.shape, dtype=wanted, requires_grad=requires_grad)


def _new(input: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """``x.new_ones(2, 3)``: a tensor of ones in the dtype of this one."""
    wanted = input.dtype if dtype is None else dtype
    return ones(*size, dtype=wanted, requires_grad=requires_grad)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + ones_like(x),
        reference=lambda x: x + 1,
        lowest=8,
    ),
)

OPERATOR = Composite("ones_like", declaration=ones_like, cases=CASES)

ALSO = (Composite("new_ones", declaration=_new, methods=("new_ones",), public=False),)
