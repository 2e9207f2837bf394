"""Random integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._random import draw_with
from onemodel.operators._sizes import shape_argument
from onemodel.tensors.dtypes import as_dtype, int64
from onemodel.tensors.generator import Generator
from onemodel.tensors.tensor import Tensor


def randint(
    low: int, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = None
) -> Tensor:
    """Integers drawn evenly from ``low`` (0 where only one bound is given) to below ``high``.

    ``randint(high, size)`` or ``randint(low, high, size)``. int64 unless given. A trace refuses
    to draw (OM603). Raises ValueError for bounds without an integer between.
    Source: ``torch.randint``.
    """
    source = draw_with("randint", generator)
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise ValueError(f"randint: there is no integer from {low} to below {high}")
    wanted = int64 if dtype is None else as_dtype(dtype)
    drawn = source.integers(low, high, shape_argument("randint", (size,)))
    return Tensor(np.asarray(drawn).astype(wanted))


CASES = (
    Case(
        ((2, 3),),
        call=lambda x: x + randint(-3, 9, (2, 3), generator=Generator(5)),
        reference=lambda x: x + np.random.Generator(np.random.PCG64(5)).integers(-3, 9, (2, 3)),
        trace=False,
    ),
    Case(
        ((2, 3),),
        call=lambda x: x + randint(9, (2, 3), generator=Generator(5)),
        reference=lambda x: x + np.random.Generator(np.random.PCG64(5)).integers(0, 9, (2, 3)),
        trace=False,
        name="high only",
    ),
)

OPERATOR = Composite("randint", declaration=randint, cases=CASES)
