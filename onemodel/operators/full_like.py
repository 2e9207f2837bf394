"""A tensor of one value, as large as another."""

from __future__ import annotations

from typing import Any

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.full import full
from onemodel.tensors.tensor import Tensor


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """``fill_value`` everywhere, in the shape (and dtype, unless given) of ``input``.

    Symbolic axes of ``input`` stay symbolic. Raises TypeError for anything but a tensor.
    Source: ``torch.full_like``.
    """
    input = as_tensor("full_like", "input", input)
    wanted = input.dtype if dtype is None else dtype
    return full(input.shape, fill_value, dtype=wanted, requires_grad=requires_grad)


def _new(
    input: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """``x.new_full((2, 3), 1.5)``: a tensor of one value in the dtype of this one."""
    wanted = input.dtype if dtype is None else dtype
    return full(size, fill_value, dtype=wanted, requires_grad=requires_grad)


CASES = (
    Case(
        (("batch", 3),),
        call=lambda x: x * full_like(x, 2.5),
        reference=lambda x: x * 2.5,
        lowest=8,
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x * x.new_full((x.shape[0], 1), 2.5),
        reference=lambda x: x * 2.5,
        lowest=8,
        name="new_full",
    ),
)

OPERATOR = Composite("full_like", declaration=full_like, cases=CASES)

ALSO = (Composite("new_full", declaration=_new, methods=("new_full",), public=False),)
