"""Power mean over sliding windows of one axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.operators import _pool
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import per_axis
from onemodel.operators.avg_pool1d import avg_pool1d
from onemodel.operators.mul import mul
from onemodel.operators.pow import pow
from onemodel.tensors.tensor import Tensor


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """``sum(x ** norm_type) ** (1 / norm_type)`` of every window.

    Shapes as :func:`avg_pool1d` without padding. Elements are not made positive first: an odd
    power of negative ones may give NaN, as in PyTorch. Raises ValueError for a norm_type of 0.
    Source: ``torch.nn.functional.lp_pool1d``.
    """
    if norm_type == 0:
        raise ValueError("lp_pool1d: norm_type must not be 0")
    input = as_tensor("lp_pool1d", "input", input)
    kernel = per_axis("lp_pool1d", "kernel_size", kernel_size, 1)
    mean = avg_pool1d(pow(input, norm_type), kernel, stride, 0, ceil_mode)
    return pow(mul(mean, float(math.prod(kernel))), 1.0 / norm_type)


def reference(
    input: np.ndarray, norm_type: float, kernel_size: Any, stride: Any = None
) -> np.ndarray:
    def power(x: np.ndarray, *_: int) -> np.ndarray:
        return (x**norm_type).sum(axis=-1) ** (1 / norm_type)

    return _pool.reference(input, kernel_size, power, 1, stride)


_INPUT = In(("batch", 2, "time"), low=0.2)

CASES = (
    Case((_INPUT,), {"norm_type": 2, "kernel_size": 2}, reference=reference),
    Case((_INPUT,), {"norm_type": 3.0, "kernel_size": 3, "stride": 1}, reference=reference,
         name="cubes"),
)  # fmt: skip

OPERATOR = Composite("lp_pool1d", declaration=lp_pool1d, cases=CASES)
