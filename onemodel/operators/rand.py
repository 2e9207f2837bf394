"""Random numbers, uniform in [0, 1)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._creation import finish
from onemodel.operators._operator import Composite
from onemodel.operators._random import draw_with, floating_factory
from onemodel.operators._sizes import shape_argument
from onemodel.tensors.generator import Generator
from onemodel.tensors.tensor import Tensor


def rand(
    *size: Any, generator: Any = None, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers drawn evenly from [0, 1) in the shape ``size``.

    ``generator``: an :class:`om.Generator`, else the default one. A floating dtype, the default
    one unless given. A trace refuses to draw (OM603). Raises TypeError for another dtype.
    Source: ``torch.rand``.
    """
    source, wanted = draw_with("rand", generator), floating_factory("rand", dtype)
    shape = shape_argument("rand", size)
    drawn = source.random(shape, np.float64 if wanted == np.float64 else np.float32)
    if wanted.itemsize < 4:  # rounding must not reach 1
        below_one = 1 - float(ml_dtypes.finfo(wanted).epsneg)
        drawn = np.minimum(drawn, np.float32(below_one))
    return finish(Tensor(np.asarray(drawn, wanted)), requires_grad)


def rand_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """:func:`rand` in the shape (and dtype, unless given) of ``input``."""
    wanted = input.dtype if dtype is None else dtype
    return rand(*input.shape, generator=generator, dtype=wanted, requires_grad=requires_grad)


CASES = (
    Case(
        ((2, 3),),
        call=lambda x: x + rand(2, 3, generator=Generator(5)),
        reference=lambda x: x + np.random.Generator(np.random.PCG64(5)).random((2, 3), np.float32),
        trace=False,
    ),
)

OPERATOR = Composite("rand", declaration=rand, cases=CASES)

ALSO = (
    Composite(
        "rand_like",
        declaration=rand_like,
        cases=(
            Case(
                ((2, 3),),
                call=lambda x: x + rand_like(x, generator=Generator(5)),
                reference=CASES[0].reference,
                trace=False,
            ),
        ),
    ),
)
