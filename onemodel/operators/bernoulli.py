"""Random zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators._random import draw_with
from onemodel.tensors.dtypes import category
from onemodel.tensors.generator import Generator
from onemodel.tensors.tensor import Tensor


def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with the probability that each element of ``input`` says (or ``p`` for all), else 0.

    Shape and dtype are the input's; no gradient. A trace refuses to draw (OM603). Raises
    ValueError for a probability outside [0, 1], TypeError where ``input`` holds integers.
    Source: ``torch.bernoulli``.
    """
    source = draw_with("bernoulli", generator)
    tensor = as_tensor("bernoulli", "input", input)
    array = tensor._read("bernoulli()")
    if p is None and category(array.dtype) != 2:
        raise TypeError(f"bernoulli: probabilities are floating, not {array.dtype}; or pass p=")
    chance = array.astype(np.float64) if p is None else np.float64(p)
    if not np.all((chance >= 0) & (chance <= 1)):
        raise ValueError("bernoulli: a probability lies outside [0, 1]")
    return Tensor(np.asarray(source.random(array.shape) < chance).astype(array.dtype))


def reference(input: np.ndarray, p: float | None = None) -> np.ndarray:
    drawn = np.random.Generator(np.random.PCG64(5)).random(np.shape(input))
    return 1.0 * (drawn < (input if p is None else p))


CASES = (
    Case(
        (In((4, 5), low=0, high=1),),
        call=lambda x: bernoulli(x, generator=Generator(5)),
        reference=reference,
        gradient=False,
        trace=False,
    ),
    Case(
        ((4, 5),),
        {"p": 0.3},
        call=lambda x, p: bernoulli(x, p, generator=Generator(5)),
        reference=reference,
        gradient=False,
        trace=False,
        name="p",
    ),
)

OPERATOR = Composite("bernoulli", declaration=bernoulli, methods=("bernoulli",), cases=CASES)
