"""Random numbers of the standard normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._creation import finish
from onemodel.operators._operator import Composite
from onemodel.operators._random import draw_with, floating_factory
from onemodel.operators._sizes import shape_argument
from onemodel.tensors.generator import Generator
from onemodel.tensors.tensor import Tensor


def randn(
    *size: Any, generator: Any = None, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers drawn from the normal distribution (mean 0, variance 1) in the shape ``size``.

    ``generator``: an :class:`om.Generator`, else the default one. A floating dtype, the default
    one unless given. A trace refuses to draw (OM603). Raises TypeError for another dtype.
    Source: ``torch.randn``.
    """
    source, wanted = draw_with("randn", generator), floating_factory("randn", dtype)
    shape = shape_argument("randn", size)
    drawn = source.standard_normal(shape, np.float64 if wanted == np.float64 else np.float32)
    return finish(Tensor(np.asarray(drawn, wanted)), requires_grad)


def randn_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """:func:`randn` in the shape (and dtype, unless given) of ``input``."""
    wanted = input.dtype if dtype is None else dtype
    return randn(*input.shape, generator=generator, dtype=wanted, requires_grad=requires_grad)


def reference(input: np.ndarray) -> np.ndarray:
    source = np.random.Generator(np.random.PCG64(5))
    return input + source.standard_normal((2, 3), np.float32)


CASES = (
    Case(
        ((2, 3),),
        call=lambda x: x + randn(2, 3, generator=Generator(5)),
        reference=reference,
        trace=False,
    ),
)

OPERATOR = Composite("randn", declaration=randn, cases=CASES)

ALSO = (
    Composite(
        "randn_like",
        declaration=randn_like,
        cases=(
            Case(
                ((2, 3),),
                call=lambda x: x + randn_like(x, generator=Generator(5)),
                reference=reference,
                trace=False,
            ),
        ),
    ),
)
