"""A random order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._random import draw_with
from onemodel.tensors.dtypes import as_dtype, int64
from onemodel.tensors.generator import Generator
from onemodel.tensors.tensor import Tensor


def randperm(n: int, *, generator: Any = None, dtype: Any = None) -> Tensor:
    """The integers from 0 to below ``n`` in random order; int64 unless given.

    A trace refuses to draw (OM603). Raises ValueError for a negative ``n``.
    Source: ``torch.randperm``.
    """
    source = draw_with("randperm", generator)
    count = operator.index(n)
    if count < 0:
        raise ValueError(f"randperm: n must be 0 or more, not {count}")
    wanted = int64 if dtype is None else as_dtype(dtype)
    return Tensor(source.permutation(count).astype(wanted))


CASES = (
    Case(
        ((4,),),
        call=lambda x: x + randperm(4, generator=Generator(5)),
        reference=lambda x: x + np.random.Generator(np.random.PCG64(5)).permutation(4),
        trace=False,
    ),
)

OPERATOR = Composite("randperm", declaration=randperm, cases=CASES)
