"""A tensor whose values do not matter yet, as large as another."""

from __future__ import annotations

from typing import Any

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.empty import empty
from onemodel.tensors.tensor import Tensor


def empty_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Values that do not matter yet, in the shape (and dtype, unless given) of ``input``.

    Symbolic axes of ``input`` stay symbolic. Raises TypeError for anything but a tensor.
    Source: ``torch.empty_like``.
    """
    input = as_tensor("empty_like", "input", input)
    wanted = input.dtype if dtype is None else dtype
    return empty(*input.shape, dtype=wanted, requires_grad=requires_grad)


def _new(input: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """``x.new_empty(2, 3)``: a tensor to be filled in the dtype of this one."""
    wanted = input.dtype if dtype is None else dtype
    return empty(*size, dtype=wanted, requires_grad=requires_grad)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x + empty_like(x) * 0,
        reference=lambda x: x + 0,
        lowest=8,
    ),
)

OPERATOR = Composite("empty_like", declaration=empty_like, cases=CASES)

ALSO = (Composite("new_empty", declaration=_new, methods=("new_empty",), public=False),)
