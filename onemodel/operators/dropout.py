"""Random zeros in training, nothing in evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._random import draw_with
from onemodel.tensors.dtypes import category
from onemodel.tensors.generator import default_generator
from onemodel.tensors.tensor import Tensor


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Any = None,
) -> Tensor:
    """Each element zeroed with probability ``p``, the others divided by ``1 - p``.

    Shape and dtype are the input's; without ``training`` (or with p 0) the input itself.
    ``generator`` (an :class:`om.Generator`, else the default one) draws the mask. ``inplace``
    is accepted and computes out of place, so that gradients keep what they saved. Raises
    ValueError for ``p`` outside 0..1, TypeError for integers; a trace refuses training (OM601).
    Source: ``torch.nn.functional.dropout``.
    """
    input = as_tensor("dropout", "input", input)
    check_probability("dropout", p)
    if not training or p == 0:
        return input
    if category(input._array.dtype) < 2:
        raise TypeError(f"dropout: the input must be floating, not {input._array.dtype}")
    if input._mark is None:  # a traced input is refused in words of its own
        generator = draw_with("dropout", generator)
    return apply(OPERATOR, (input,), {"p": float(p), "generator": generator})


def check_probability(operator: str, p: float) -> None:
    """Raises ValueError naming the operator."""
    if not 0 <= p <= 1:
        raise ValueError(f"{operator}: p must lie between 0 and 1, not {p}")


def draw_mask(shape: tuple[int, ...], p: float, dtype: np.dtype, generator: Any) -> np.ndarray:
    """0 with probability ``p``, else ``1 / (1 - p)``."""
    if p == 1:
        return np.zeros(shape, dtype)
    keep = (generator or default_generator).random(shape) >= p
    return keep.astype(dtype) * np.asarray(1 / (1 - p), dtype)


def forward(input: np.ndarray, *, p: float, generator: Any) -> tuple[np.ndarray, np.ndarray]:
    mask = draw_mask(input.shape, p, input.dtype, generator)
    return input * mask, mask


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * record.saved


def refuses(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM601",
        "dropout in training mode draws a new random mask at every run; "
        "a graph for inference has none",
        (
            ("switch the module to evaluation before tracing", "model.eval()"),
            ("say so in the call", "om.dropout(x, p, training=False)"),
        ),
    )


CASES = (
    Case((("batch", 3),), {"training": False}, reference=lambda x, **_: x, name="evaluation"),
    Case((("batch", 3),), {"p": 1.0}, reference=lambda x, **_: np.zeros_like(x), trace=False,
         name="everything dropped"),
)  # fmt: skip

OPERATOR = Operator(
    "dropout",
    declaration=dropout,
    forward=forward,
    backward=backward,
    axes=same_axes,
    reads="",
    saves=True,
    refuses=refuses,
    random=True,
    cases=CASES,
)
